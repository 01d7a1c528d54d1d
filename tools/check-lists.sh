#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Makefile's source lists against the tree: tools/check-lists.sh FILE...
# A file that no list names is never built, and a test that no list names never runs.
set -u

listed=$(mktemp) || exit 1
present=$(mktemp) || exit 1
trap 'rm -f "$listed" "$present"' EXIT

printf '%s\n' "$@" | sort -u >"$listed"
{
	find user bpf -name '*.c'
	find tests -name '*_test.c' -o -path 'tests/stimuli/*.c' -o -path 'tests/stimuli/*.cpp' \
		-o -path 'tests/stimuli/unwind_*.rs' \
		-o -name '*_fuzz.c'
} | sort -u >"$present"

bad=$(
	comm -13 "$listed" "$present" | sed 's/$/: in no list of the Makefile/'
	comm -23 "$listed" "$present" | sed 's/$/: listed in the Makefile, but there is no such file/'
)
[ -z "$bad" ] || { printf '%s\n' "$bad" >&2; exit 1; }
