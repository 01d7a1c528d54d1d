#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installation, as a packager and a user of the library see it: tests/run-install.sh
#   - libdial9 builds where there is neither clang nor bpftool, and in no other directory than asked for
#   - `make install` puts everything below DESTDIR; programs in C and C++, linked with the shared library and
#     with the archive, build against what is there and run
#   - `make uninstall` leaves nothing
set -u

top=$(realpath "${D9_TOP:-.}")
cc=${CC:-gcc}
cxx=${CXX:-g++}
make=${MAKE:-make}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

die() {
	echo "FAILED install: $1" >&2
	[ ! -f "$dir/log" ] || cat "$dir/log" >&2
	exit 1
}

cd "$top" || exit 1
limited "$make" lib O="$dir/lib" CLANG=false BPFTOOL=false >"$dir/log" 2>&1 || die "libdial9 does not build alone"
[ ! -e "$dir/lib/bpf" ] || die "make lib built BPF programs"
for f in libdial9.a libdial9.so; do
	[ -f "$dir/lib/$f" ] || die "make lib left no $f"
done

limited "$make" install DESTDIR="$dir/root" prefix=/opt/d9 >"$dir/log" 2>&1 || die "make install"
usr=$dir/root/opt/d9
for f in bin/dial9-prof include/dial9.h include/dial9_event.h lib/libdial9.a lib/libdial9.so lib/pkgconfig/libdial9.pc \
	share/man/man1/dial9-prof-record.1 share/bash-completion/completions/dial9-prof \
	share/dial9-prof/decode.js share/doc/dial9-prof/FORMAT.md \
	share/zsh/site-functions/_dial9-prof share/fish/vendor_completions.d/dial9-prof.fish; do
	[ -f "$usr/$f" ] || die "$f is not installed"
done
[ "$(limited "$usr/bin/dial9-prof" --version)" = "dial9-prof $(sed -n 's/^Version: //p' "$usr/lib/pkgconfig/libdial9.pc")" ] ||
	die "the program and the library's .pc disagree about the version"

for f in tools/man/*.[1-8]; do
	[ -f "$usr/share/man/man${f##*.}/${f##*/}" ] || die "$f is not installed"
done
for f in tools/package/systemd/*.service; do
	[ -f "$f" ] || continue
	grep -q '^ExecStart=/opt/d9/bin/dial9-prof ' "$usr/lib/systemd/system/${f##*/}" || die "$f does not start what is installed"
done

# What the library exports is what packagers are told.
nm -D --defined-only "$usr/lib/libdial9.so" | sed 's/.* //; s/@@/@/; s/^DIAL9_[0-9.]*$/&@&/' | sort >"$dir/exported"
sed -n 's/^ \([^ ]*\) .*/\1/p' tools/package/debian/libdial9-0.symbols | sort >"$dir/log"
cmp -s "$dir/exported" "$dir/log" || die "tools/package/debian/libdial9-0.symbols differs from the library: $(diff "$dir/exported" "$dir/log")"

# The example of the README, linked with the shared library by its soname.
# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$dir/example.c"
limited "$cc" -std=gnu11 -Werror "-I$usr/include" -o "$dir/example" "$dir/example.c" "-L$usr/lib" -ldial9 \
	>"$dir/log" 2>&1 || die "no program builds against the installed library"
limited env "LD_LIBRARY_PATH=$usr/lib" "$dir/example" | limited "$usr/bin/dial9-prof" dump - >"$dir/log" 2>&1 ||
	die "a program built against the installed library writes no trace"

# In C++: what is declared there is what the library has, whether shared or static.
cat >"$dir/outside.cc" <<'CXX'
#include <dial9.h>
#include <cstdio>

#define HIT_FIELDS(X) X(VARINT, bytes) X(STRING, path) X(OPT_U32, status)
DIAL9_EVENT(hit, "Hit", HIT_FIELDS)

int main()
{
	dial9_fd out = {};
	dial9_enc_opts opts = {};
	dial9_event_type type = {};
	dial9_schema *schema = nullptr;
	dial9_enc *enc = nullptr;
	hit h = {};

	out.fd = fileno(stdout);
	opts.sz = sizeof(opts);
	opts.write = dial9_write_fd;
	opts.ctx = &out;
	h.timestamp_ns = 1000;
	h.bytes = 4096;
	h.path.ptr = "index";
	h.path.len = 5;
	if (hit_schema(&schema) || dial9_enc_new(&opts, &enc))
		return 1;
	type.schema = schema;
	int err = hit_write(enc, &type, &h);
	if (!err)
		err = dial9_enc_flush(enc);
	dial9_enc_free(enc);
	dial9_schema_free(schema);
	return err ? 2 : 0;
}
CXX
for lib in -ldial9 "$usr/lib/libdial9.a"; do
	limited "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror "-I$usr/include" -o "$dir/outside" "$dir/outside.cc" \
		"-L$usr/lib" "$lib" >"$dir/log" 2>&1 || die "no C++ program builds against the installed $lib"
	limited env "LD_LIBRARY_PATH=$usr/lib" "$dir/outside" | limited "$usr/bin/dial9-prof" dump - >"$dir/log" 2>&1
	grep -q '0.000001000 Hit bytes=4096 path="index"' "$dir/log" ||
		die "a C++ program built against the installed $lib writes no trace"
done

limited "$make" uninstall DESTDIR="$dir/root" prefix=/opt/d9 >"$dir/log" 2>&1 || die "make uninstall"
left=$(find "$dir/root" ! -type d)
[ -z "$left" ] || die "make uninstall left $left"
left=$(find "$dir/root" -type d -name dial9-prof)
[ -z "$left" ] || die "make uninstall left $left"
echo "install: passed"
