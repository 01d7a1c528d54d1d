#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Do the tests notice when the code is wrong? Changes one token at a time (== to !=, < to <=, + to -, && to ||, 0 to 1,
# true to false, other constants, a return value, a statement left out) in the files of a folder below user/, builds,
# runs the tests, and prints the changes that no test noticed:
#	tools/mutate/mutate.sh FOLDER [SEED [COUNT]]		as in: mutate.sh libdial9 1 30
#
# Works in a copy of the tree. The test of the changed file comes first, then the others of its folder, then those of
# MUTATE_ALSO; the first that fails ends it. Changes that do not compile, or make the same code, do not count. A test
# that takes longer than the limit has noticed.
#	MUTATE_ALSO	more tests ("cmd/info_test trace/trace_test"); the default depends on the folder
#	MUTATE_SKIP	tests to leave out, likewise
#	MUTATE_LIMIT	seconds for a test (60)
#	MUTATE_FILES	only these files of the folder ("put.c value.c")
#	MUTATE_MAKE	arguments for make ("-j4 CC=clang")
# Some survivors change nothing that anybody could see (a larger buffer, a hint): judge each.
set -u

top=$(realpath "$(dirname "$0")/../..")
folder=${1:?usage: mutate.sh FOLDER [SEED [COUNT]]}
seed=${2:-1}
count=${3:-30}
limit=${MUTATE_LIMIT:-60}
skip=" ${MUTATE_SKIP:-} "
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM

case $folder in
libdial9) also=${MUTATE_ALSO-cmd/info_test} ;;
trace | profile) also=${MUTATE_ALSO-cmd/info_test cmd/report_test cmd/script_test} ;;
*) also=${MUTATE_ALSO-} ;;
esac

cd "$top" || exit 1
[ -d "user/$folder" ] || { echo "mutate: no folder user/$folder" >&2; exit 1; }
git ls-files -z --cached --others --exclude-standard | tar c --null -T - | tar x -C "$copy" || exit 1
cd "$copy" || exit 1

files=
for f in ${MUTATE_FILES:-$(cd "user/$folder" && echo *.c)}; do
	files="$files user/$folder/$f"
done
tests=
for t in $(cd "tests/$folder" && ls ./*_test.c) $also; do
	t=${t#./}
	t=${t%.c}
	case $t in */*) ;; *) t=$folder/$t ;; esac
	case $skip in *" $t "*) ;; *) tests="$tests $t" ;; esac
done

# An out-of-date build is worse than a slow one: make decides what is to be built.
build() {
	# shellcheck disable=SC2086
	WERROR='' make ${MUTATE_MAKE:--j2} "$@" >log 2>&1
}

run_test() { # true if it fails
	! D9_TOP=$copy D9_BUILD=$copy/build timeout -k 5 "$limit" "build/tests/$1" >log 2>&1
}

echo "mutate: building user/$folder and its tests"
programs=$([ "$folder" != symbol ] || echo stimuli)
for t in $tests; do
	programs="$programs build/tests/$t"
done
# shellcheck disable=SC2086
build $programs || { tail log; exit 1; }
for t in $tests; do
	run_test "$t" && { tail log; echo "mutate: $t fails without a change; fix it, or name it in MUTATE_SKIP" >&2; exit 1; }
done

# The changed file's own test first.
order() {
	own=$folder/$(basename "$1" .c)_test
	for t in $tests; do [ "$t" != "$own" ] || echo "$t"; done
	for t in $tests; do [ "$t" = "$own" ] || echo "$t"; done
}

# Whether two objects hold the same code, wherever its lines are.
is_same() {
	strip -g -o a.o "$1" && strip -g -o b.o "$2" && cmp -s a.o b.o
}

# One change: 0 noticed, 1 survived, 2 does not count.
try() { # FILE LINE COLUMN LENGTH REPLACEMENT
	obj=build/obj/${1%.c}.o
	cp -p "$1" original.c
	cp "$obj" original.o
	awk -v n="$2" -v col="$3" -v len="$4" -v to="$5" '
		FNR == n { $0 = substr($0, 1, col - 1) to substr($0, col + len) }
		{ print }' original.c >"$1"
	verdict=2
	if build "$obj" && ! is_same "$obj" original.o; then
		verdict=1
		for t in $(order "$1"); do
			build "build/tests/$t" || { verdict=2; break; }
			run_test "$t" && { verdict=0; break; }
		done
	fi
	cp "$1" changed.c
	cp original.c "$1"
	return $verdict
}

# shellcheck disable=SC2086
awk -v seed="$seed" -f "$top/tools/mutate/candidates.awk" $files | sort -n >candidates
echo "mutate: $count of $(wc -l <candidates) changes, seed $seed, $(echo "$tests" | wc -w) tests"
found=0
tried=0
void=0
tab=$(printf '\t')
while [ "$tried" -lt "$count" ] && IFS=$tab read -r _ file line col len to; do
	try "$file" "$line" "$col" "$len" "$to" </dev/null
	case $? in
	0) found=$((found + 1)) ;;
	1)
		echo "survived $file:$line:"
		diff original.c changed.c | sed -n 's/^\([<>]\)[ \t]*/	\1 /p'
		;;
	*)
		void=$((void + 1))
		continue
		;;
	esac
	tried=$((tried + 1))
done <candidates
echo "mutate: found $found of $tried in user/$folder, seed $seed ($void more did not compile or changed nothing)"
[ "$found" -eq "$tried" ]
