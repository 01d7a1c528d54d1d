#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No circle between the files of one folder: where X.c uses Y.c, by whatever way, Y.c does not use X.c.
# Otherwise neither can be read, tested or changed without the other. A private header X_impl.h is no exception.
# tools/check-circles.sh OBJDIR
set -u

out=${1:-build}
bad=0

# "OBJECT SYMBOL-KIND SYMBOL" for all files of a folder.
symbols() {
	for src in "$1"/*.c; do
		obj=$out/obj/${src%.c}.o
		[ -f "$obj" ] || continue
		name=$(basename "$src" .c)
		nm -g "$obj" | awk -v name="$name" '{ print name, $(NF - 1), $NF }'
	done
}

for dir in $(find user -mindepth 1 -type d | sort); do
	circles=$(symbols "$dir" | awk '
		$2 == "U" { uses[$1 " " $3] = 1; next }
		{ owner[$3] = $1 }
		END {
			for (u in uses) {
				split(u, a, " ")
				if ((a[2] in owner) && owner[a[2]] != a[1])
					print a[1], owner[a[2]]
			}
		}' | sort -u | tsort 2>&1 >/dev/null)
	[ -n "$circles" ] || continue
	echo "$circles" | sed "s,^tsort: -: .*,$dir: these files use each other in a circle:,; s,^tsort:,	," >&2
	bad=1
done
exit $bad
