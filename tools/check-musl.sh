#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All of user/ must compile where the C library is musl: tools/check-musl.sh OUTDIR
# The compiler only checks: no library here is built for musl. Their headers are read through links in OUTDIR/musl.
# Exit status: 0 it compiles, 1 it does not, 77 there is no musl-gcc.
set -eu

[ $# -eq 1 ] || { echo "usage: tools/check-musl.sh OUTDIR" >&2; exit 1; }
command -v musl-gcc >/dev/null 2>&1 || { echo "musl: SKIPPED: no musl-gcc"; exit 77; }
out=$1

rm -rf "$out/musl"
mkdir -p "$out/musl"
for header in asm asm-generic bpf brotli curl dwarf.h libiberty gelf.h libelf.h linux lzma lzma.h snappy-c.h sqlite3.h traceevent \
	zconf.h zlib.h zstd.h; do
	for from in /usr/include "/usr/include/$(gcc -print-multiarch)"; do
		[ ! -e "$from/$header" ] || ln -sfn "$from/$header" "$out/musl/$header"
	done
done

# Calls of functions that musl lacks are only warnings otherwise. A list of words on purpose.
sources=$(find user -name '*.c' | LC_ALL=C sort)
# shellcheck disable=SC2086
musl-gcc -std=gnu11 -fsyntax-only -Werror=implicit-function-declaration -Werror=int-conversion \
	-Werror=incompatible-pointer-types -D_GNU_SOURCE -Iinclude -Iuser "-I$out/bpf" "-I$out/gen" \
	'-DPROF_VERSION="0"' -isystem "$out/musl" $sources || { echo "FAILED musl" >&2; exit 1; }
echo "musl: $(echo "$sources" | wc -l) files compile"
