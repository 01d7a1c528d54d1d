#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Global symbols start with the name of the file that defines them, of its folder, or of an object: a
# struct that a header of the folder declares. So a call says where to look. libdial9 exports dial9_*
# and nothing else.
# tools/check-symbols.sh OBJDIR
set -u

out=${1:-build}
bad=0

# "|X" for each struct X that a header of the folder declares.
objects() {
	cat "$1"/*.h | sed -n 's/^struct \([a-z0-9_]*\)\( {\|;\).*/|\1/p' | sort -u | tr -d '\n'
}

for src in $(find user -mindepth 2 -name '*.c' | sort); do
	obj=$out/obj/${src%.c}.o
	base=$(basename "$src" .c)
	dir=$(dirname "$src")
	folder=$(basename "$dir")
	case $src in
	user/base/alloc.c) ok='^(x[a-z]*(alloc|allocarray|dup)$|array_)' ;;
	user/libdial9/*) ok="^(${base}|dial9)_" ;;
	*)
		# One folder has a long name and a short prefix.
		[ "$folder" = tonbandgeraet ] && folder=tonband
		ok="^($base|$folder$(objects "$dir"))(_|\$)"
		;;
	esac
	if [ ! -f "$obj" ]; then
		echo "$src: not built ($obj)" >&2
		bad=1
		continue
	fi
	wrong=$(nm --defined-only -g "$obj" | awk 'NF == 3 { print $3 }' | grep -Ev "$ok")
	if [ -n "$wrong" ]; then
		printf '%s: defines %s\n' "$src" "$(echo "$wrong" | tr '\n' ' ')" >&2
		bad=1
	fi
done

if [ -f "$out/libdial9.so" ]; then
	wrong=$(nm -D --defined-only "$out/libdial9.so" | awk '$2 != "A" { print $3 }' |
		sed 's/@.*//' | grep -v '^dial9_')
	if [ -n "$wrong" ]; then
		printf 'libdial9.so exports %s\n' "$(echo "$wrong" | tr '\n' ' ')" >&2
		bad=1
	fi
fi
exit $bad
