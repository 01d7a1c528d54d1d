#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whether everything that `make` needs is there: tools/have-deps.sh STAMP CC CLANG BPFTOOL LIBS
# Prints what is missing, in one line, or nothing. If nothing is missing, STAMP is written, and the same question is
# not asked again.
set -u

stamp=$1
cc=$2
clang=$3
bpftool=$4
libs=$5

now="$cc|$clang|$bpftool|$libs"
[ "$(cat "$stamp" 2>/dev/null)" != "$now" ] || exit 0

# Each library: a header, what must hold of it, and its name on a command line of the linker.
libraries() {
	cat <<-'EOT'
		bpf/libbpf.h LIBBPF_MAJOR_VERSION>=1 -lbpf libbpf 1.1 or later
		dwarf.h 1 - libdw
		libelf.h 1 -lelf libelf
		zlib.h 1 -lz zlib
		lzma.h 1 -llzma liblzma
		traceevent/event-parse.h 1 -ltraceevent libtraceevent
		sqlite3.h SQLITE_VERSION_NUMBER>=3038000 -lsqlite3 SQLite 3.38 or later
		curl/curl.h LIBCURL_VERSION_NUM>=0x075500 - libcurl 7.85 or later
		snappy-c.h 1 -lsnappy snappy
		zstd.h 1 -lzstd zstd
		brotli/decode.h 1 -lbrotlidec brotli
		stdio.h 1 -l:libiberty.a libiberty
	EOT
}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# The compilers are words on purpose: `ccache gcc`, `gcc --sysroot=DIR`.
# shellcheck disable=SC2086
links() { # LIBRARY...; the source comes on standard input
	cat >"$dir/x.c"
	$cc -o "$dir/x" "$dir/x.c" "$@" >/dev/null 2>&1
}

all_there() {
	{
		libraries | while read -r header condition _; do
			printf '#include <%s>\n#if !(%s)\n#error\n#endif\n' "$header" "$condition"
		done
		echo 'int main(void) { return 0; }'
	} >"$dir/all.c"
	# shellcheck disable=SC2086
	links $libs <"$dir/all.c"
}

missing=
add() {
	missing="$missing${missing:+, }$1"
}

if ! echo 'int main(void) { return 0; }' | links; then
	add "a C compiler ($cc)"
elif ! all_there; then
	libraries >"$dir/list"
	while read -r header condition library name; do
		[ "$library" != - ] || library=
		# shellcheck disable=SC2086
		printf '#include <%s>\n#if !(%s)\n#error\n#endif\nint main(void) { return 0; }\n' "$header" "$condition" |
			links $library || add "$name"
	done <"$dir/list"
	[ -n "$missing" ] || add "libraries ($libs)"
fi
# shellcheck disable=SC2086
echo 'int x;' | $clang -target bpf -x c -c -o "$dir/x.o" - >/dev/null 2>&1 || add "clang with the BPF target"
"$bpftool" version >/dev/null 2>&1 || add bpftool

if [ -n "$missing" ]; then
	echo "$missing"
else
	mkdir -p "$(dirname "$stamp")" && echo "$now" >"$stamp"
fi
