#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Proves that the harness can fail. Each program below has one fault of a kind that a test run must
# catch; if any of them comes out of tests/run.sh green, so could a broken project.
set -u

top=$(realpath "${D9_TOP:-.}")
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cc=${CC:-gcc}
san="-g -fsanitize=address,undefined -fno-sanitize-recover=all"
bad=0
checks=0

export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=1:detect_leaks=1}"

build() { # NAME FLAGS...; the body of the test comes on standard input
	self_name=$1
	shift
	{
		echo '#include <criterion/criterion.h>'
		echo '#include <stdlib.h>'
		echo "Test(self, $self_name)"
		cat
	} >"$dir/$self_name.c"
	# The flags are a list on purpose.
	# shellcheck disable=SC2086
	$cc -w "$@" -o "$dir/$self_name" "$dir/$self_name.c" -lcriterion || exit 1
}

expect() { # pass|fail NAME [ENV=VALUE...]
	checks=$((checks + 1))
	want=$1
	prog=$2
	shift 2
	if limited env "$@" sh "$top/tests/run.sh" self "$dir/$prog" >"$dir/log" 2>&1; then
		got=pass
	else
		got=fail
	fi
	if [ "$got" != "$want" ]; then
		echo "self: $prog $*: expected the run to $want, but it did not:"
		cat "$dir/log"
		bad=1
	fi
}

expect_text() { # TEXT of the run before
	checks=$((checks + 1))
	grep -qF "$1" "$dir/log" || {
		echo "self: missing in the output: '$1':"
		cat "$dir/log"
		bad=1
	}
}

# shellcheck disable=SC2086
{
	build good $san <<-'EOT'
		{ cr_assert_eq(1, 1); }
	EOT
	build assertion <<-'EOT'
		{ cr_assert_eq(1, 2); }
	EOT
	build crash <<-'EOT'
		{ *(volatile int *)8 = 1; }
	EOT
	build leak $san <<-'EOT'
		{ char *volatile p = malloc(64); cr_assert(p); p = NULL; }
	EOT
	build overrun $san <<-'EOT'
		{ char *p = malloc(4); volatile int i = 4; p[i] = 1; free(p); }
	EOT
	build overflow $san <<-'EOT'
		{ volatile int i = 0x7fffffff; i = i + 1; }
	EOT
	build hang "$top/tests/support/limit.c" <<-'EOT'
		{ for (volatile int i = 0; i < 1; ) ; }
	EOT
}
printf '#!/bin/sh\necho no kernel here\nexit 77\n' >"$dir/skip"
chmod +x "$dir/skip"

expect pass good
expect fail assertion
expect fail crash
expect fail leak
expect fail overrun
expect fail overflow
expect fail hang D9_TEST_TIMEOUT=1
expect_text "hang (took longer than 1 s"
expect fail hang D9_TEST_LIMIT=1
expect_text "self::hang: Timed out"
expect pass skip D9_REQUIRE_ROOT=0
expect fail skip D9_REQUIRE_ROOT=1
expect fail does-not-exist

# With durations from the last run the slowest program starts first; one without a duration starts before it.
for prog in quick slow new; do
	printf '#!/bin/sh\necho %s >>%s\n' $prog "$dir/started" >"$dir/$prog"
	chmod +x "$dir/$prog"
done
starts() { # ORDER PROGRAM...
	checks=$((checks + 1))
	want=$1
	shift
	rm -f "$dir/started"
	(cd "$dir" && D9_TIMES="$dir/times" D9_JOBS=1 limited sh "$top/tests/run.sh" self "$@" >"$dir/log")
	[ "$(paste -sd ' ' "$dir/started")" = "$want" ] || {
		echo "self: expected the order $want: $(paste -sd ' ' "$dir/started")"
		bad=1
	}
}
starts "quick slow" ./quick ./slow
starts "quick" ./quick
[ "$(cut -d ' ' -f 2 "$dir/times" | sort | paste -sd ' ')" = "./quick ./slow" ] || {
	echo "self: durations of both were to be kept: $(paste -sd ' ' "$dir/times")"
	bad=1
}
printf '9 ./quick\n100 ./slow\n' >"$dir/times"
starts "new slow quick" ./quick ./slow ./new

# A case of the command line that hangs, or that starts what hangs, is found, and the next one runs.
printf '#!/bin/sh\necho up\n' >"$dir/program"
chmod +x "$dir/program"
cli() { # pass|fail
	checks=$((checks + 1))
	if limited env D9_CASE_TIMEOUT=1 sh "$top/tests/run-cli.sh" "$dir/program" "$dir/"*.t >"$dir/log" 2>&1
	then got=pass; else got=fail; fi
	[ "$got" = "$1" ] || {
		echo "self: a case of the command line: expected a $1:"
		cat "$dir/log"
		bad=1
	}
}
printf '$ dial9-prof\nup\n' >"$dir/case.t"
cli pass
printf '$ sleep 1000 | cat\n$ dial9-prof\nup\n' >"$dir/case.t"
cli fail
expect_text "took longer than 1 s and was killed: sh -c sleep 1000 | cat"
expect_text "cli: 1 cases passed, 1 failed"
printf '$ dial9-prof\nup\n' >"$dir/other.t"
cli fail
expect_text "took longer than 1 s and was killed: sh -c sleep 1000 | cat"
expect_text "cli: 2 cases passed, 1 failed"
printf '$ dial9-prof\nup\n$ dial9-prof\nup\n' >"$dir/case.t"
cli pass
expect_text "cli: 3 cases passed, 0 failed"
rm "$dir/other.t"

# The check of bounds in BPF code: each raw form is found, and what is bounded passes.
bounds() { # pass|fail LINE
	checks=$((checks + 1))
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/bpf"
	printf 'void f(void)\n{\n\t%s\n}\n' "$2" >"$dir/tree/bpf/f.bpf.c"
	if sh "$top/tools/check-bounds.sh" "$dir/tree" 2>/dev/null; then got=pass; else got=fail; fi
	[ "$got" = "$1" ] || { echo "self: $2: expected a $1" >&2; bad=1; }
}
bounds pass 'x = a[PROF_BOUND_INDEX(i, LEN)];'
bounds pass 'if (cfg & FLAG && a[i] & 7) x = y % PAGE_SIZE;'
bounds pass 'bpf_probe_read_user(to, sizeof(to->words), from);'
bounds pass 'bpf_ringbuf_output(ring, data, PROF_BOUND_SIZE(n, LEN), 0);'
bounds fail 'x = a[i & (LEN - 1)];'
bounds fail 'x = a[i & MASK];'
bounds fail 'i = tid & (LEN - 1);'
bounds fail 'if (bpf_probe_read_user(to, sz, from)) x = 0;'
bounds fail 'bpf_probe_read_kernel(&to[at(1, 2)], n * 8, from);'
bounds fail 'bpf_ringbuf_output(ring, data, size, 0);'

# The layering check: legal trees, then one forbidden include of each kind. A second FILE and LINE make a circle.
includes() { # pass|fail FILE LINE [FILE LINE]
	checks=$((checks + 1))
	want=$1
	shift
	what=$*
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/bpf" "$dir/tree/include" "$dir/tree/user"
	while [ $# -gt 0 ]; do
		mkdir -p "$dir/tree/$(dirname "$1")"
		echo "#include $2" >>"$dir/tree/$1"
		shift 2
	done
	if sh "$top/tools/check-includes.sh" "$dir/tree" 2>/dev/null; then got=pass; else got=fail; fi
	[ "$got" = "$want" ] || { echo "self: $what: expected a $want" >&2; bad=1; }
}
includes pass user/record/capture/rings.c '"prof_abi.h"'
includes pass user/symbol/dwarf/dwarf.c '<elfutils/libdw.h>'
includes pass user/cmd/record/record.c '"record/recorder.h"'
includes pass user/cmd/record/record.c '"record/control/pause.h"'
includes pass user/formats/heph/scan.c '"formats/heph/wire.h"'
includes pass user/formats/heph/scan.c '"formats/foreign.h"'
includes pass user/record/symbols/frames.c '"record/symbols/frames_impl.h"'
includes pass user/record/encode/x.c '"record/symbols/x.h"' user/record/symbols/y.c '"record/process/y.h"'
includes fail user/trace/read/events.c '"prof_abi.h"'
includes fail user/record/capture/rings.c '"trace/source/source.h"'
includes fail user/libdial9/wire.c '"base/log.h"'
includes fail user/export/folded/folded.c '"dial9.h"'
includes fail user/profile/sums/tree.c '"cmd/report/report.h"'
includes fail user/kernel/perf.c '<bpf/libbpf.h>'
includes fail user/cmd/report/report.c '<elfutils/libdw.h>'
includes fail user/formats/heph/scan.c '"formats/apitrace/parse.h"'
includes fail user/cmd/inspect/info.c '"formats/heph/scan.h"'
includes fail user/base/str.c '"../kernel/proc.h"'
includes fail user/cmd/report/report.c '"record/encode/translate.h"'
includes fail user/cmd/report/report.c '"events/emit.h"'
includes fail user/cmd/report/report.c '"prof_abi.h"'
includes fail user/cmd/report/report.c '"prof_select.h"'
includes fail user/cmd/common/input.c '"cmd/report/report.h"'
includes fail user/rewrite/merge/merge.c '"cmd/common/cmd.h"'
includes fail user/record/process/tasks.c '"record/symbols/frames.h"'
includes fail user/record/encode/translate.c '"record/symbols/frames_impl.h"'
includes fail user/kernel/perf.c '"prof_unknown.h"'
includes fail include/prof_unknown.h '<stdint.h>'
includes fail user/shed/x.c '"base/str.h"'
includes fail user/base/x.c '"shed/x.h"'
includes fail user/record/encode/x.c '"record/symbols/x.h"' user/record/symbols/y.c '"record/encode/y.h"'

# The page's modules.
requires() { # pass|fail FOLDER OF
	checks=$((checks + 1))
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/user/web/$2" "$dir/tree/bpf" "$dir/tree/include"
	echo "const { a } = require('../$3/a.js');" >"$dir/tree/user/web/$2/b.js"
	if sh "$top/tools/check-includes.sh" "$dir/tree" 2>/dev/null; then got=pass; else got=fail; fi
	[ "$got" = "$1" ] || { echo "self: web/$2 requiring $3: expected a $1" >&2; bad=1; }
}
requires pass view model
requires fail read model
requires fail model view

# Circles between files of a folder, also of those that share a private header.
circle() { # pass|fail LINE-OF-a.c LINE-OF-b.c
	checks=$((checks + 1))
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/user/x" "$dir/tree/build/obj/user/x"
	printf '#include "x/x_impl.h"\n%s\n' "$2" >"$dir/tree/user/x/a.c"
	printf '#include "x/x_impl.h"\n%s\n' "$3" >"$dir/tree/user/x/b.c"
	echo 'void a(void); void b(void);' >"$dir/tree/user/x/x_impl.h"
	for f in a b; do
		"${CC:-gcc}" -c "-I$dir/tree/user" -o "$dir/tree/build/obj/user/x/$f.o" "$dir/tree/user/x/$f.c"
	done
	if (cd "$dir/tree" && sh "$top/tools/check-circles.sh" build 2>/dev/null); then got=pass; else got=fail; fi
	[ "$got" = "$1" ] || { echo "self: circle of $2 and $3: expected a $1" >&2; bad=1; }
}
circle pass 'void a(void) { b(); }' 'void b(void) {}'
circle fail 'void a(void) { b(); }' 'void b(void) { a(); }'

# The check of English: words in comments, strings, names of tests, documents and messages of scripts, and long sentences.
english() { # pass|fail FILE TEXT [EXPECTED-FINDING]
	checks=$((checks + 1))
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/$(dirname "$2")"
	printf '%b\n' "$3" >"$dir/tree/$2"
	if sh "$top/tools/check-words.sh" "$dir/tree" 2>"$dir/log"; then got=pass; else got=fail; fi
	[ "$got" = "$1" ] || { echo "self: $2 with '$3': expected a $1" >&2; bad=1; }
	[ -z "${4:-}" ] || expect_text "$4"
}
english pass user/x/x.c '/* Waits for the worker. */\nint told = 1; /* the index */'
english fail user/x/x.c 'int a; /* what the\n * kernel is so\n * long about */' 'user/x/x.c:2: "so long": write: '
english fail user/x/x.c 'int a = f("/*"); // the bytes behind it' 'write: after'
english pass user/x/x.c 'const char *key = "told";'
english fail user/x/x.c 'f("the value %s is "\n  "not told", x);' 'user/x/x.c:2: "told": write: reports'
english pass bpf/x.h '#define P(c) ((c) == 39) /* fine */'
english fail user/x/x.h "char c = '\"'; /* whoever reads it */" '"whoever"'
english fail tests/x/x_test.c '/* the bytes behind it */' 'tests/x/x_test.c:1: "behind": write: after'
english pass tests/x/x_test.c 'const char *want = "is told";\nTest(told, names_are_printed)\n{'
english fail tests/x/x_test.c 'Test(x, the_loss_is_told)\n{' 'tests/x/x_test.c:1: "told": write: reports'
english fail tests/x/x_test.c 'Test(x,\n     it_is_as_long_as_it_was, .init = f)' 'tests/x/x_test.c:1: "as long as"'
english fail tests/x/x_test.c 'ParameterizedTest(enum kind *k, x, what_is_written)' '"what": write: name the thing'
english pass tests/x/x.test.js "test('a name', () => {\n\tok('so long');"
# shellcheck disable=SC2016
english fail tests/x/x.test.js 'for (const k of kinds)\n\ttest(`reads ${k} anew`, f);' 'tests/x/x.test.js:2: "anew"'
english pass tools/man/x.1 'The program prints\n.B told\nand skips it.'
english fail tools/man/x.1 'The files take\nturns.' 'tools/man/x.1:1: "take turns"'
english fail README.md 'The program tells more.\n' 'README.md:1: "tells"'
# shellcheck disable=SC2016
english pass README.md '```\ntells\n```\nThe option `tells` is fine.\n'
english fail tools/x.sh 'echo "x: is told" >&2' 'tools/x.sh:1: "told"'
english pass tools/x.sh '# A comment that is told.\necho "x: fine"'
long='The program reads each of the files that the user named one after the other and then prints a table of them.'
english pass tools/man/x.1 "$long\nIt ends. Then it prints a line."
english fail tools/man/x.1 "$long" 'tools/man/x.1: 22.0 words per sentence'
english pass tools/man/x.1 "Short text here.\n.EX\n$long\n.EE"

if [ "$bad" -ne 0 ]; then
	echo "FAILED self: the harness lets faults through" >&2
	exit 1
fi
echo "self: $checks checks of the harness passed"
