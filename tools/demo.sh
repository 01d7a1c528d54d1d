#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# From a bare machine to a profile: installs what is missing, builds, records three seconds of the bundled
# workload on the live kernel, and prints the report. Needs root, or sudo.
set -eu

cd "$(dirname "$0")/.."
sh tools/deps.sh build
make -j"$(nproc)" all build/stimuli/demo

if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v sudo >/dev/null 2>&1; then
	sudo=sudo
else
	echo "tools/demo.sh: recording needs root, and there is no sudo; please run it as root" >&2
	exit 1
fi

build/stimuli/demo --now 60 >/dev/null &
pid=$!
trap 'kill $pid 2>/dev/null || :' EXIT

echo
echo "\$ ${sudo:+$sudo }build/dial9-prof -p $pid -d 3 -o build/demo.bin"
$sudo build/dial9-prof -p $pid -d 3 -o build/demo.bin
echo
echo "\$ build/dial9-prof report build/demo.bin"
build/dial9-prof report build/demo.bin
echo
echo "\$ build/dial9-prof offcpu --limit 3 build/demo.bin"
build/dial9-prof offcpu --limit 3 build/demo.bin
