#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs test programs: tests/run.sh NAME PROGRAM...
# D9_JOBS of them run at a time (1). Output is shown for what fails or skips. A program that exits 77 was skipped: its
# last line of output is the reason. With D9_REQUIRE_ROOT=1 a skip is a failure, so that CI cannot go green on tests
# that never ran. D9_TEST_TIMEOUT bounds each program (seconds, 300), and tests/support/limit.c each test.
# What takes longest starts first: D9_TIMES names a file that keeps the durations for the next run. Programs that are
# not in it start before the others, in the given order.
set -u

name=$1
shift
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT

if [ $# -eq 0 ]; then
	echo "FAILED $name: no test programs were given" >&2
	exit 1
fi

times=${D9_TIMES:-}
if [ -n "$times" ]; then
	sorted=$(printf '%s\n' "$@" | awk -v times="$times" '
	BEGIN {
		while ((getline line < times) > 0) {
			split(line, part, " ")
			took[substr(line, length(part[1]) + 2)] = part[1]
		}
	}
	{
		at = index($0, "tests/")
		short = at ? substr($0, at + 6) : $0
		print (short in took ? took[short] : 1000000000), NR, $0
	}' | sort -k 1,1nr -k 2,2n | cut -d ' ' -f 3-)
	set -f
	IFS='
'
	# One a line.
	# shellcheck disable=SC2086
	set -- $sorted
	unset IFS
	set +f
fi

# Each leaves its output and its exit status, by its number.
number=0
# $0 and $1 belong to the inner shell.
# shellcheck disable=SC2016
for prog in "$@"; do
	number=$((number + 1))
	printf '%s\0%s\0' "$prog" "$logs/$number"
done | D9_TEST_TIMEOUT=${D9_TEST_TIMEOUT:-300} xargs -0 -n 2 -P "${D9_JOBS:-1}" sh -c '
	began=$(date +%s%N)
	timeout -k 10 "$D9_TEST_TIMEOUT" "$0" >"$1.log" 2>&1 </dev/null
	echo $? >"$1.rc"
	echo $((($(date +%s%N) - began) / 1000000)) "${0#*tests/}" >"$1.ms"
'

# A directory that cannot be written has no durations.
if [ -n "$times" ] && [ -w "${times%/*}" ]; then
	cat "$logs"/*.ms "$times" 2>/dev/null | awk '!seen[substr($0, index($0, " "))]++' >"$logs/times"
	mv -f "$logs/times" "$times"
fi

passed=0
failed=0
skipped=0
bad=
number=0
for prog in "$@"; do
	number=$((number + 1))
	log=$logs/$number.log
	short=${prog#*tests/}
	rc=$(cat "$logs/$number.rc" 2>/dev/null || echo none)
	case $rc in
	0)
		passed=$((passed + 1))
		[ -z "${V:-}" ] || cat "$log"
		;;
	77)
		skipped=$((skipped + 1))
		echo "SKIPPED $short: $(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		bad="$bad $short"
		case $rc in
		124 | 137) echo "---- $short (took longer than ${D9_TEST_TIMEOUT:-300} s, or was killed)" ;;
		*) echo "---- $short (exit $rc)" ;;
		esac
		cat "$log"
		;;
	esac
done

echo "$name: $passed programs passed, $failed failed, $skipped skipped"
if [ "$number" -gt 20 ]; then
	echo "$name: slowest, in ms: $(sort -rn "$logs"/*.ms | head -n "${D9_SLOWEST:-5}" | paste -sd ' ')"
fi
if [ "$failed" -ne 0 ]; then
	echo "FAILED $name:$bad" >&2
	exit 1
fi
if [ "$skipped" -ne 0 ]; then
	echo "NOTE $name: $skipped programs did NOT run" >&2
	if [ "${D9_REQUIRE_ROOT:-0}" = 1 ]; then
		echo "FAILED $name: skips are failures here (D9_REQUIRE_ROOT=1)" >&2
		exit 1
	fi
fi
exit 0
