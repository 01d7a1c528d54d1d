#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Debian packages of the files of this checkout, changed or not: tools/package/deb.sh OUTDIR
# OUTDIR gets the packages; OUTDIR/dial9-prof-VERSION is where they are built, with tools/package/debian as debian.
set -eu

[ $# -eq 1 ] || { echo "usage: tools/package/deb.sh OUTDIR" >&2; exit 1; }
top=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^.define DIAL9_VERSION_[MP][A-Z]* *//p' "$top/include/dial9.h" | paste -sd.)
named=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/tools/package/debian/changelog")
if [ "$version" != "$named" ]; then
	echo "deb: include/dial9.h has version $version, tools/package/debian/changelog has $named; add an entry there" >&2
	exit 1
fi
command -v dh >/dev/null 2>&1 || { echo "deb: no debhelper here; run: sh tools/deps.sh packages" >&2; exit 1; }

mkdir -p "$1"
out=$(cd "$1" && pwd)
tree=$out/dial9-prof-$version
rm -rf "$tree" "$out"/*.deb "$out"/*.buildinfo "$out"/*.changes
mkdir "$tree"

cd "$top"
if [ -e .git ]; then
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$tree"
else
	tar -c --exclude=./build . | tar -x -C "$tree"
fi
cp -r tools/package/debian "$tree/debian"

# Not those of the make that runs this.
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CPPFLAGS LDFLAGS
cd "$tree"
if ! dpkg-buildpackage -us -uc -b "-j$(nproc)" >"$out/log" 2>&1; then
	tail -n 40 "$out/log" >&2
	echo "deb: dpkg-buildpackage failed: see $out/log" >&2
	exit 1
fi
for deb in "$out"/*.deb; do
	echo "deb: $deb"
done
