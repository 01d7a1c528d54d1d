#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Global symbols start with the name of the file that defines them, of its folder, of its layer (user/LAYER), or of a
# struct that a header of the layer declares. So a call says where to look. libdial9 exports dial9_* and nothing else.
# tools/check-symbols.sh OBJDIR
set -u

out=${1:-build}
bad=0
objects_of=
objects=

# "|X" for each struct X that a header of the layer declares.
objects() {
	find "user/$1" -name '*.h' -exec cat {} + | sed -n 's/^struct \([a-z0-9_]*\)\( {\|;\).*/|\1/p' | sort -u | tr -d '\n'
}

# "OBJECT PATTERN" for each file: what its global symbols match.
patterns() {
	find user -mindepth 2 -name '*.c' | sort | while read -r src; do
		obj=$out/obj/${src%.c}.o
		if [ ! -f "$obj" ]; then
			echo "$src: not built ($obj)" >&2
			continue
		fi
		base=${src##*/}
		base=${base%.c}
		dir=${src%/*}
		folder=${dir##*/}
		layer=${dir#user/}
		layer=${layer%%/*}
		case $src in
		user/base/alloc.c) ok='^(x[a-z]*(alloc|allocarray|dup)$|array_)' ;;
		user/libdial9/*) ok="^(${base}|dial9)_" ;;
		*)
			if [ "$layer" != "$objects_of" ]; then
				objects=$(objects "$layer")
				objects_of=$layer
			fi
			# One folder has a long name and a short prefix.
			[ "$folder" = tonbandgeraet ] && folder=tonband
			ok="^($base|$folder|$layer$objects)(_|\$)"
			;;
		esac
		echo "$obj $ok"
	done
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
patterns >"$tmp/patterns" 2>"$tmp/wrong"
cut -d ' ' -f 1 "$tmp/patterns" | xargs nm -A --defined-only -g | awk '
	NR == FNR { pattern[$1] = $2; next }
	{
		obj = $1
		sub(/:[0-9a-f]*$/, "", obj)
		if ($NF !~ pattern[obj])
			wrong[obj] = wrong[obj] " " $NF
	}
	END {
		for (obj in wrong)
			print obj ": defines" wrong[obj]
	}' "$tmp/patterns" - | sort >>"$tmp/wrong"
if [ -s "$tmp/wrong" ]; then
	cat "$tmp/wrong" >&2
	bad=1
fi

# The shared library has what its headers declare, and each symbol has the version of a release, the newest of which
# is this one.
if [ -f "$out/libdial9.so" ]; then
	nm -D --defined-only "$out/libdial9.so" | awk '$2 != "A" { print $3 }' | sort >"$tmp/versioned"
	sed 's/@.*//' "$tmp/versioned" >"$tmp/exported"
	"${CC:-gcc}" -E -P include/dial9.h | tr '\n' ' ' | tr ';' '\n' | grep 'visibility("default")' |
		grep -o 'dial9_[a-z0-9_]*(' | tr -d '(' | sort >"$tmp/declared"
	if ! diff "$tmp/declared" "$tmp/exported" >"$tmp/diff"; then
		echo "libdial9.so does not export what dial9.h declares (< declared, > exported):" >&2
		cat "$tmp/diff" >&2
		bad=1
	fi
	release=DIAL9_$(sed -n 's/^#define DIAL9_VERSION_M[A-Z]* *//p' include/dial9.h | paste -sd.)
	newest=$(sed -n 's/^\(DIAL9_[0-9.]*\) {.*/\1/p' user/libdial9/libdial9.map | sort -V | tail -n 1)
	if [ "$newest" != "$release" ]; then
		echo "libdial9.map ends with $newest, but this is release $release" >&2
		bad=1
	fi
	if grep -v '@@*DIAL9_[0-9]*\.[0-9]*$' "$tmp/versioned" >&2; then
		echo "libdial9.so: these symbols have no version of a release" >&2
		bad=1
	fi
fi
exit $bad
