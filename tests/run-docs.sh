#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The documentation against the program: tests/run-docs.sh PROGRAM
#   - the manual page of each command has the options of its --help, and no others
#   - bash completion offers the same options; zsh's and fish's know the same commands
#   - the manual pages format without a warning
#   - README's example of libdial9 compiles and links with nothing but libdial9
set -u

prog=$(realpath "$1")
top=$(realpath "${D9_TOP:-.}")
cc=${CC:-gcc}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
checks=0

fail() {
	echo "docs: $1" >&2
	bad=1
}

same() { # WHAT FILE-OF-THE-HELP OTHER-FILE
	checks=$((checks + 1))
	if ! diff "$2" "$3" >"$dir/diff"; then
		fail "$1 (< the program's --help, > what is documented):"
		cat "$dir/diff" >&2
	fi
}

# Options as words, from lines whose margin holds them.
help_options() { # COMMAND
	limited "$prog" "$1" --help | sed -n 's/^ \{2,6\}\(-.*\)/\1/p' | sed 's/  .*//' | only_options
}
man_options() { # PAGE
	awk 'tag { print; tag = 0 } /^\.T[PQ]/ { tag = 1 }' "$1" | sed 's/\\-/-/g; s/\\f.//g; s/[,"]/ /g' |
		sed 's/^\.[A-Z]* *//; s/ -\([a-z-]\)/\n-\1/g; s/^ *//' | only_options
}
only_options() {
	tr ' ' '\n' | tr ',' '\n' | sed -n 's/^\(--\{0,1\}[A-Za-z][a-z0-9-]*\).*/\1/p' | sort -u
}

for page in "$top"/tools/man/dial9-prof-*.1; do
	command=${page##*/dial9-prof-}
	command=${command%.1}
	help_options "$command" >"$dir/help"
	[ -s "$dir/help" ] || fail "$command --help has no options"
	man_options "$page" >"$dir/man"
	same "dial9-prof-$command.1" "$dir/help" "$dir/man"
	limited "$prog" help 2>/dev/null | grep -qw "$command" || limited "$prog" --help | grep -qw "$command" ||
		fail "--help does not name the command $command"
	for shell in dial9-prof.bash _dial9-prof dial9-prof.fish; do
		checks=$((checks + 1))
		grep -qw "$command" "$top/tools/completion/$shell" || fail "$shell: no $command"
	done
	grep -q '^--' "$dir/help" || continue
	grep '^--' "$dir/help" >"$dir/long"
	# The program is bash's.
	# shellcheck disable=SC2016
	limited env "PATH=$(dirname "$prog"):$PATH" bash -c '
		. "$1"/tools/completion/dial9-prof.bash
		COMP_WORDS=(dial9-prof "$2" --) COMP_CWORD=2
		_dial9_prof
		printf "%s\n" "${COMPREPLY[@]}"
	' sh "$top" "$command" | sort -u >"$dir/bash"
	same "bash completion of $command" "$dir/long" "$dir/bash"
done

# What bash offers in place of the last word, on one line.
offers() { # WORD...
	# The program is bash's.
	# shellcheck disable=SC2016
	limited env "PATH=$(dirname "$prog"):$PATH" bash -c '
		. "$1"/tools/completion/dial9-prof.bash
		shift
		COMP_WORDS=(dial9-prof "$@") COMP_CWORD=$#
		_dial9_prof
		echo "${COMPREPLY[*]}"
	' sh "$top" "$@"
}
offered() { # WANT WORD...
	checks=$((checks + 1))
	want=$1
	shift
	got=$(offers "$@")
	[ "$got" = "$want" ] || fail "bash completion of '$*': '$got', not '$want'"
}
offered 'latency timehist map summary' sched ''
offered 'summary' sched s
offered 'tid pid comm' sched latency --by ''
offered '--no-pager --next' sched timehist --n
offered '--cgroup --color --cols --comm --cpu' sched map --c
offered 'comm,pid comm,part' report -s comm,p
offered 'stack state' offcpu --by st
offered 'offcpu' diff --kind o

for page in "$top"/tools/man/*.[1-8]; do
	checks=$((checks + 1))
	limited groff -man -Tutf8 -ww -z "$page" >"$dir/groff" 2>&1
	[ ! -s "$dir/groff" ] || fail "$page: $(cat "$dir/groff")"
done

checks=$((checks + 1))
# The backquotes are the fence of the README.
# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$top/README.md" | sed '/^```/d' >"$dir/example.c"
if ! limited "$cc" -std=gnu11 -Wall -Wextra -Werror "-I$top/include" -o "$dir/example" "$dir/example.c" \
	"$(dirname "$prog")/libdial9.a"; then
	fail "README.md: the example of libdial9 does not compile"
elif ! limited "$dir/example" | limited "$prog" dump --json - >"$dir/dump"; then
	fail "README.md: what the example wrote is no trace"
elif ! grep -q '"ts":1000,"fields":\[\["name",7,{"pool":0,"str":"index"}\],\["bytes",9,4096\]\]' "$dir/dump"; then
	fail "README.md: the example wrote: $(cat "$dir/dump")"
fi

[ "$bad" -eq 0 ] || { echo "FAILED docs" >&2; exit 1; }
echo "docs: $checks checks passed"
