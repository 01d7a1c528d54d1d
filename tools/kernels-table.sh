#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The tables of dial9-prof-kernels(7), from what guests left: tools/kernels-table.sh RESULTS [MAN-PAGE]
# RESULTS is build/kernels/results, as tools/kernels.sh leaves it after all kernels. Prints the tables, or replaces those
# of the page, which stand between its lines "begin NAME" and "end NAME".
# Expressions are jq's and awk's.
# shellcheck disable=SC2016
set -eu

[ $# -ge 1 ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 1; }
results=$1
page=${2:-}

passed() { # KERNEL NAME: whether every verdict on a recording is good
	! grep -q "^FAILED $2" "$results/$1.verdicts" && grep -q "^ok $2" "$results/$1.verdicts"
}

mark() { # KERNEL NAME
	if passed "$1" "$2"; then echo yes; else echo no; fi
}

kernel_stacks() { # KERNEL
	jq -rs 'if any(.[].programs[]; .loaded and (.program | test("_orc$"))) then "ORC" else "helper" end' "$results/$1/programs.json"
}

names() {
	for file in "$results"/*.verdicts; do
		name=$(basename "$file" .verdicts)
		[ ! -e "$results/$name/default.info" ] || echo "$name"
	done
}

features() {
	printf '%-28s %-8s %-7s %-7s %-6s %-9s %-7s %-6s %s\n' Kernel Machine default command events min-block summary flight 'kernel stacks'
	names | while read -r name; do
		printf '%-28s %-8s %-7s %-7s %-6s %-9s %-7s %-6s %s\n' "$(cat "$results/$name/release")" \
			"$(jq -r .metadata.arch "$results/$name/default.info")" "$(mark "$name" default)" "$(mark "$name" command)" \
			"$(mark "$name" everything)" "$(mark "$name" min-block)" "$(mark "$name" summary)" "$(mark "$name" flight)" \
			"$(kernel_stacks "$name")"
	done | sort -V
}

# The most of all configurations; the small ones, which never change, are left out.
instructions() {
	for file in "$results"/*/programs.json; do
		[ -e "$file" ] || continue
		jq -c --arg kernel "$(cut -d- -f1 "$(dirname "$file")/release")$(sed -n 's/.*-\(rt\|16k\)-.*/-\1/p; s/.*-\(16k\)$/-\1/p' "$(dirname "$file")/release")" \
			'.machine as $m | .programs[] | select(.loaded) | {program, insns, kernel: ($kernel + " " + $m)}' "$file"
	done | jq -rs '
		group_by(.kernel) | map({key: .[0].kernel, value: (group_by(.program) | map({key: .[0].program, value: (map(.insns) | max)}) | from_entries)})
		| sort_by(.key | split(" ")[0] | split("[.-]"; null) | map(tonumber? // 0)) as $kernels
		| (["program"] + ($kernels | map(.key | gsub(" "; "/")))) as $head
		| ($kernels | map(.value | keys) | add | unique | map(select(. as $p | any($kernels[]; (.value[$p] // 0) >= 1000)))) as $programs
		| ($head, ($programs[] as $p | [$p] + ($kernels | map(.value[$p] // "-" | tostring)))) | @tsv' |
		awk -F'\t' '{ printf "%-28s", $1; for (i = 2; i <= NF; i++) printf " %14s", $i; print "" }'
}

replace() { # NAME FILE: the lines between the marks of the page
	awk -v name="$1" -v file="$2" '
		$0 == ".\\\" end " name { skip = 0 }
		!skip
		$0 == ".\\\" begin " name {
			skip = 1
			while ((getline line <file) > 0) {
				gsub(/\\/, "\\e", line)
				gsub(/-/, "\\-", line)
				print line
			}
		}' "$page" >"$page.new"
	mv "$page.new" "$page"
}

if [ -z "$page" ]; then
	features
	echo
	instructions
	exit 0
fi
table=$(mktemp)
trap 'rm -f "$table"' EXIT
features >"$table"
replace features "$table"
instructions >"$table"
replace instructions "$table"
