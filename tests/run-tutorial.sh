#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The programs of the tutorial, built against libdial9 as C and as C++, static and shared, and what they
# print: tests/run-tutorial.sh BUILD-DIRECTORY
# In the page, "```c NAME" begins a program and "```text NAME" what is printed.
set -u

top=$(realpath "${D9_TOP:-.}")
build=$(realpath "$1")
cc=${CC:-gcc}
cxx=${CXX:-g++}
page=$top/user/libdial9/TUTORIAL.md
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

die() {
	echo "FAILED tutorial: $1" >&2
	[ ! -f log ] || cat log >&2
	exit 1
}

# block KIND NAME OUT: what stands between the fences
block() {
	awk -v start="\`\`\`$1 $2" '$0 == start { on = 1; next } /^```$/ { on = 0 } on' "$page" >"$3"
}

for prog in writer runtime reader; do
	block c $prog.c $prog.c
	[ -s $prog.c ] || die "no program $prog.c in the page"
	# The archive for one, the shared library for the others.
	lib="$build/libdial9.a"
	[ $prog = writer ] || lib="-L$build -ldial9"
	# shellcheck disable=SC2086
	limited "$cc" -std=gnu11 -Wall -Wextra -Werror "-I$top/include" -o $prog $prog.c $lib >log 2>&1 ||
		die "$prog.c does not build"
done
# Shared objects are found by their soname.
ln -s "$build/libdial9.so" libdial9.so.0
LD_LIBRARY_PATH=$dir
export LD_LIBRARY_PATH

limited ./writer >writer.d9 2>log || die "writer"
limited ./runtime >runtime.d9 2>refused || die "runtime"
block text runtime.c want
cmp -s want refused || { diff want refused >log; die "runtime prints something else"; }

head -c 100 writer.d9 >torn.d9
{ head -c 91 writer.d9; printf '\0'; } >damaged.d9
{
	limited ./reader <writer.d9
	echo --
	limited ./reader <runtime.d9
	echo --
	limited ./reader <torn.d9
	echo --
	limited ./reader <damaged.d9
} >got 2>&1
block text reader.c want
cmp -s want got || { diff want got >log; die "reader prints something else"; }

# The header in C++, with all warnings, each kind of field, and the calls that an outside program makes.
cat >outside.cc <<'CXX'
#include <dial9.h>
#include <cstring>

#define KINDS(X) X(VARINT, v) X(STRING, s) X(OPT_STACK, k) X(BOOL, b) X(BYTES, y) X(OPT_F64, f)
DIAL9_EVENT(outside, "Outside", KINDS)

int main()
{
	dial9_event_type type = {};
	dial9_schema *schema = nullptr;
	dial9_reader *reader = nullptr;
	dial9_enc *enc = nullptr;
	dial9_dec *dec = nullptr;
	dial9_frame frame;
	outside in = {}, out = {};

	if (outside_schema(&schema) || outside_reader(&reader) || dial9_enc_new(nullptr, &enc))
		return 1;
	type.schema = schema;
	in.v = 300;
	in.s.ptr = "text";
	in.s.len = 4;
	if (outside_write(enc, &type, &in))
		return 2;
	dial9_dec_opts opts = {};
	opts.sz = sizeof(opts);
	opts.data = dial9_enc_data(enc, &opts.data_sz);
	if (dial9_dec_new(&opts, &dec))
		return 3;
	while (dial9_dec_next(dec, &frame) == 1)
		if (frame.kind == DIAL9_FRAME_EVENT && outside_read(reader, dec, &frame.event, &out) != 1)
			return 4;
	bool same = out.v == 300 && out.s.len == 4 && !std::memcmp(out.s.ptr, "text", 4) && !out.k.present;
	dial9_reader_free(reader);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	dial9_schema_free(schema);
	return same ? 0 : 5;
}
CXX
limited "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Werror "-I$top/include" -o outside outside.cc \
	"-L$build" -ldial9 >log 2>&1 || die "the header does not compile as C++"
limited ./outside || die "the C++ program fails with $?"
echo "tutorial: passed"
