#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs command-line cases: tests/run-cli.sh PROGRAM [CASE.t...]   (default: all of tests/cli)
#
# A .t file is any number of cases, read top to bottom, in a fresh empty directory per file:
#
#	# comment
#	$ shell command, in which dial9-prof is the program, and $T the tests directory
#	expected line of standard output
#	! expected line of standard error
#	? expected exit status (0 where there is no such line)
#
# Expected text is literal, but <N> stands for a number (12, 1,204, 3.5) and <*> for any text. A line
# that would start with one of "$!?#" is written with a backslash before it.
set -u

script=$0
prog=$(realpath "$1")
shift
top=$(realpath "${D9_TOP:-.}")
T=$top/tests
export T
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
[ -x "$prog" ] || { echo "run-cli: no program $prog" >&2; exit 1; }
[ $# -gt 0 ] || set -- "$T"/cli/*.t
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Of several files D9_JOBS run at a time, each by its own run of this script.
run_files() {
	# $0, $1 and $2 belong to the inner shell.
	# shellcheck disable=SC2016
	printf '%s\0' "$@" | xargs -0 -n 1 -P "${D9_JOBS:-$(nproc)}" sh -c '
		sh "$0" "$1" "$3" >"$2/${3##*/}.log" 2>&1' "$script" "$prog" "$work"
	awk '
	FNR == 1 { files++ }
	/^cli: [0-9]+ cases passed, [0-9]+ failed$/ { passed += $2; failed += $5; summed++; next }
	!/^FAILED cli$/
	END {
		print "cli: " passed + 0 " cases passed, " failed + 0 " failed"
		exit failed || !passed || summed != '$#'
	}' "$work"/*.log || {
		echo "FAILED cli" >&2
		exit 1
	}
}
if [ $# -gt 1 ]; then
	run_files "$@"
	exit
fi

mkdir "$work/bin"
ln -s "$prog" "$work/bin/dial9-prof"
PATH=$work/bin:$PATH
export PATH LC_ALL=C

passed=0
failed=0

# Compares expected text (with its wildcards) to what came; prints nothing when they agree.
compare() { # LABEL EXPECTED ACTUAL
	awk -v label="$1" '
	function same(pattern, text,	i, j, kind, rest) {
		i = index(pattern, "<N>")
		j = index(pattern, "<*>")
		if (!i && !j)
			return pattern == text
		kind = (i && (!j || i < j)) ? "N" : "*"
		if (kind == "*")
			i = j
		if (substr(pattern, 1, i - 1) != substr(text, 1, i - 1))
			return 0
		rest = substr(pattern, i + 3)
		text = substr(text, i)
		if (kind == "N") {
			if (!match(text, /^-?[0-9][0-9,]*(\.[0-9]+)?/))
				return 0
			return same(rest, substr(text, RLENGTH + 1))
		}
		for (i = 1; i <= length(text) + 1; i++)
			if (same(rest, substr(text, i)))
				return 1
		return 0
	}
	FILENAME == ARGV[1] { want[++n] = $0; next }
	{ have[++m] = $0 }
	END {
		ok = n == m
		for (k = 1; ok && k <= n; k++)
			ok = same(want[k], have[k])
		if (ok)
			exit 0
		print "  " label " differs (- expected, + actual):"
		for (k = 1; k <= n; k++) print "  - " want[k]
		for (k = 1; k <= m; k++) print "  + " have[k]
	}' "$2" "$3"
}

run_case() { # uses: cmd, line, file, want_rc and the files below $work
	[ -n "$cmd" ] || return 0
	(cd "$work/dir" && limited sh -c "$cmd") >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	diff=$(
		[ "$rc" -eq "$want_rc" ] || echo "  exit status is $rc, expected $want_rc"
		compare "standard output" "$work/want_out" "$work/out"
		compare "standard error" "$work/want_err" "$work/err"
	)
	if [ -z "$diff" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '%s:%d: $ %s\n%s\n' "${file#"$top"/}" "$line" "$cmd" "$diff"
	fi
}

for file in "$@"; do
	rm -rf "$work/dir"
	mkdir "$work/dir"
	cmd=
	line=0
	at=0
	while IFS= read -r text || [ -n "$text" ]; do
		at=$((at + 1))
		case $text in
		'$ '*)
			run_case
			cmd=${text#??}
			line=$at
			want_rc=0
			: >"$work/want_out"
			: >"$work/want_err"
			;;
		'? '*) want_rc=${text#??} ;;
		'!') echo >>"$work/want_err" ;;
		'! '*) printf '%s\n' "${text#??}" >>"$work/want_err" ;;
		'#'*) ;;
		\\*) printf '%s\n' "${text#?}" >>"$work/want_out" ;;
		*) [ -z "$cmd" ] || printf '%s\n' "$text" >>"$work/want_out" ;;
		esac
	done <"$file"
	run_case
done

echo "cli: $passed cases passed, $failed failed"
if [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ]; then
	echo "FAILED cli" >&2
	exit 1
fi
