#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One program with whole and with split debug information: tests/stimuli/split.sh DIR CC CXX FLAG...
# DIR gets the programs "whole" and "split", and the .dwo files of "split". CXX "none": without the unit of C++.
# Their build directory is /tmp/d9-symbol-XXXXXX, for which tests write the directory that they copy them to. The bytes
# depend neither on DIR nor on the directory of the sources.
set -eu

rm -rf "$1"
mkdir -p "$1"
for file in inlined.c numbers.c cxx.cpp stimulus.h; do
	cp "${0%/*}/$file" "$1"
done
cd -P "$1"
cc=$2
cxx=$3
shift 3

compile() { # NAME UNIT COMPILER FLAG... SOURCE
	object=$1-$2.o
	shift 2
	"$@" "-fdebug-prefix-map=$PWD=/tmp/d9-symbol-XXXXXX" "-frandom-seed=$object" -c -o "$object"
}

echo 'int main(void) { return 0; }' >main.c
linker=$cc
[ "$cxx" = none ] || linker=$cxx
split=
for name in whole split; do
	for unit in main inlined numbers; do
		compile $name $unit "$cc" -std=gnu11 "-Dmain=$unit" "$@" $split $unit.c
	done
	[ "$cxx" = none ] || compile $name cxx "$cxx" -std=gnu++17 -Dmain=cxx "$@" $split cxx.cpp
	"$linker" -Wl,--build-id -o $name $name-*.o
	split=-gsplit-dwarf
done
rm -- *.o *.c *.cpp *.h
