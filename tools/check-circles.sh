#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No circle between the files of one folder: where X.c uses Y.c, by whatever way, Y.c does not use X.c.
# Otherwise neither can be read, tested or changed without the other. A private header X_impl.h is no exception.
# tools/check-circles.sh OBJDIR
set -u

out=${1:-build}

# Edges within folders: a file that uses a symbol, and the file that defines it.
circles=$(find user -mindepth 2 -name '*.c' | sort | sed "s,^,$out/obj/,; s,\.c\$,.o," |
	while read -r obj; do [ ! -f "$obj" ] || echo "$obj"; done | xargs nm -A -g | awk -v from="$out/obj/" '
		{
			file = substr($1, length(from) + 1)
			sub(/\.o:.*/, "", file)
			folder = file
			sub(/\/[^\/]*$/, "", folder)
			key = folder " " $NF
		}
		$(NF - 1) == "U" { uses[file " " key] = 1; next }
		{ owner[key] = file }
		END {
			for (u in uses) {
				split(u, a, " ")
				key = a[2] " " a[3]
				if ((key in owner) && owner[key] != a[1])
					print a[1], owner[key]
			}
		}' | sort -u | tsort 2>&1 >/dev/null)
[ -n "$circles" ] || exit 0
echo "$circles" | sed "s,^tsort: -: .*,these files use each other in a circle:,; s,^tsort:,	," >&2
exit 1
