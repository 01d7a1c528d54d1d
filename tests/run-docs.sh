#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The documentation against the program: tests/run-docs.sh PROGRAM
#   - each subcommand has a manual page, and each page documents the options of its subcommand, with their arguments,
#     and no others; dial9-prof(1) and README.md list each subcommand and export format, and no others
#   - bash completion offers the program's options and words
#   - the manual pages format without a warning
#   - dial9-prof-query(1) has the tables, columns and functions of query --schema, and the named queries
#   - dial9-trace.5 has the fields of user/events/own_events.h
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

same() { # WHAT FILE-OF-THE-PROGRAM OTHER-FILE
	checks=$((checks + 1))
	if ! diff "$2" "$3" >"$dir/diff"; then
		fail "$1 (< only in the program, > only there):"
		sed -n '/^[<>]/p' "$dir/diff" >&2
	fi
}

# What the program has, by its own account: words, and options as "-p, --pid=LIST".
listing() { # [SUBCOMMAND [WORD]]
	limited "$prog" "$@" --completion 2>/dev/null
}
words() { # [SUBCOMMAND]
	listing "$@" | cut -f 2 | sed '/^-/d'
}
# A subcommand's options, or those of all its words that have some.
options() { # SUBCOMMAND
	listing "$1" | grep -q "	--help	" && listing "$1"
	for word in $(words "$1"); do
		listing "$1" "$word"
	done
}
forms() { # lines of the completion
	awk -F '\t' '$2 ~ /^-/ {
		name = $2 == "-" ? $1 : ($1 == "-" ? "" : $1 ", ") $2
		mark = $2 == "-" ? " " : "="
		if ($3 ~ /^\[/)
			name = name "[" mark substr($3, 2)
		else if ($3 != "-")
			name = name mark $3
		print name
	}' | sort -u
}

# A page without its bodies at the margin: headings, entries at column 3 or 7, and their text further right.
plain() { # PAGE
	awk '{ print } tag { print ".br" } { tag = /^\.T[PQ]/ }' "$1" | groff -man -Tascii -P-cbou -rLL=200n 2>/dev/null
}
section() { # PAGE NAME
	plain "$1" | sed -n "/^$2\$/,/^[A-Z]/p"
}
# Options of a page in the same form. Where the program lists choices, the page may have a word for them.
page_forms() { # PAGE FORMS
	section "$1" OPTIONS | sed -n 's/^ \{7\}-/-/p' | sed 's/^\(-.\)\[[^]]*\], --/\1, --/; s/\(=[^ ]*\), --/\1\n--/' |
		awk -v forms="$2" '
			BEGIN {
				while ((getline line < forms) > 0)
					if (match(line, /=[^=]*\|/))
						choices[substr(line, 1, RSTART)] = line
			}
			{ at = index($0, "="); start = substr($0, 1, at) }
			at && start in choices { $0 = choices[start] }
			{ print }' | sort -u
}
entries() { # PAGE SECTION
	section "$1" "$2" | sed -n 's/^ \{3,7\}\([a-z][a-z-]*\)\( .*\)\{0,1\}$/\1/p' | sort -u
}

readme_has() { # WORD
	checks=$((checks + 1))
	grep -qE "(\`|dial9-prof[- ]|export )$1[\` (]" "$top/README.md" || fail "README.md: no table has $1"
}

man=$top/tools/man
words | sort >"$dir/words"
[ -s "$dir/words" ] || fail "--completion prints no subcommands"
find "$man" -name 'dial9-prof-*.1' | sed 's/.*dial9-prof-\(.*\)\.1$/\1/' | sort >"$dir/pages"
same "subcommands and pages tools/man/dial9-prof-SUBCOMMAND.1" "$dir/words" "$dir/pages"
entries "$man/dial9-prof.1" SUBCOMMANDS >"$dir/entries"
same "tools/man/dial9-prof.1: SUBCOMMANDS" "$dir/words" "$dir/entries"
words export | sort >"$dir/formats"
entries "$man/dial9-prof-export.1" FORMATS >"$dir/entries"
same "tools/man/dial9-prof-export.1: FORMATS" "$dir/formats" "$dir/entries"
words sched | sort >"$dir/tables"
entries "$man/dial9-prof-sched.1" SUBCOMMANDS >"$dir/entries"
same "tools/man/dial9-prof-sched.1: SUBCOMMANDS" "$dir/tables" "$dir/entries"
words query | sort >"$dir/queries"
entries "$man/dial9-prof-query.1" "NAMED QUERIES" >"$dir/entries"
same "tools/man/dial9-prof-query.1: NAMED QUERIES" "$dir/queries" "$dir/entries"
# Tables, columns and functions, with types and descriptions; blanks may differ.
limited "$prog" query --schema | sed 's/  */ /g; s/^ //; /^$/d' | sort >"$dir/schema"
awk '/^\.SH/ { on = $2 == "TABLES" || $2 == "FUNCTIONS"; next }
	!on { next }
	/^\.SS/ { tables = 1; sub(/^\.SS /, ""); name = $0; getline; sub(/\.$/, ""); print name " " $0; next }
	/^\.SH FUNCTIONS/ { tables = 1 }
	/^\.TP/ { getline name; getline; print name " " $0 }' "$man/dial9-prof-query.1" |
	sed 's/\\f[BIP]//g; s/\\-/-/g; s/  */ /g' | sort >"$dir/entries"
same "tools/man/dial9-prof-query.1: TABLES and FUNCTIONS" "$dir/schema" "$dir/entries"
for word in $(words) $(words export); do
	readme_has "$word"
done

while read -r command; do
	page=$man/dial9-prof-$command.1
	[ -f "$page" ] || continue
	options "$command" | forms >"$dir/forms"
	[ -s "$dir/forms" ] || fail "$command --completion prints no options"
	twice=$(listing "$command" | cut -f 1,2 | tr '\t' '\n' | sed -n '/^-./p' | sort | uniq -d)
	[ -z "$twice" ] || fail "$command has two options of one name: $twice"
	page_forms "$page" "$dir/forms" >"$dir/man"
	same "tools/man/dial9-prof-$command.1: OPTIONS" "$dir/forms" "$dir/man"
	listing "$command" | cut -f 2 | sed -n '/^--/p' | sort -u >"$dir/long"
	[ -s "$dir/long" ] || continue
	# The program is bash's.
	# shellcheck disable=SC2016
	limited env "PATH=$(dirname "$prog"):$PATH" bash -c '
		. "$1"/tools/completion/dial9-prof.bash
		COMP_WORDS=(dial9-prof "$2" --) COMP_CWORD=2
		_dial9_prof
		printf "%s\n" "${COMPREPLY[@]}"
	' sh "$top" "$command" | sort -u >"$dir/bash"
	same "bash completion of $command" "$dir/long" "$dir/bash"
done <"$dir/words"

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
offered "$(words | tr '\n' ' ' | sed 's/ $//')" ''
offered "$(words export | tr '\n' ' ' | sed 's/ $//')" export ''
offered 'latency timehist map summary' sched ''
offered '--kind' export folded --k
offered 'cpu offcpu runq wall' export folded --kind = ''
offered 'summary' sched s
offered '--help' sched --
offered 'tid pid comm cgroup' sched latency --by ''
offered '--next --no-pager' sched timehist --n
offered '--comm --cgroup --cpu --cols --color' sched map --c
offered 'comm,pid comm,part' report -s comm,p
offered 'stack state' offcpu --by st
offered 'offcpu' diff --kind o
offered 'gzip zstd' --compress = ''
offered 'signal' --switch-output = s

for page in "$top"/tools/man/*.[1-8]; do
	checks=$((checks + 1))
	limited groff -man -Tutf8 -ww -z "$page" >"$dir/groff" 2>&1
	[ ! -s "$dir/groff" ] || fail "$page: $(cat "$dir/groff")"
done

checks=$((checks + 1))
limited sh "$top/tools/man-fields.sh" >"$dir/fields"
sed -n '/man-fields.sh --write/,/^\.\\" end of fields/p' "$top/tools/man/dial9-trace.5" | sed '1d;$d' >"$dir/man"
if ! [ -s "$dir/fields" ] || ! diff "$dir/fields" "$dir/man" >"$dir/diff"; then
	fail "dial9-trace.5: run tools/man-fields.sh --write (< own_events.h, > the page):"
	cat "$dir/diff" >&2
fi

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
