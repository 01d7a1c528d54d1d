#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The whole test suite, from a bare machine: installs what is missing, builds with gcc and clang,
# lints, and runs every test, those on the live kernel included. Needs root, or sudo for those.
set -eu

cd "$(dirname "$0")/.."
sh tools/deps.sh check

jobs=-j$(nproc)
PATH=$PATH:/usr/sbin:/sbin
WERROR=1
export PATH WERROR
if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v sudo >/dev/null 2>&1; then
	sudo=sudo
else
	echo "tools/check.sh: neither root nor sudo: the tests on the live kernel will be skipped" >&2
	sudo=
fi

# Where programs can be loaded, a test that skips is a test that is broken.
D9_REQUIRE_ROOT=0
if [ -r /sys/kernel/btf/vmlinux ] && $sudo bpftool prog list >/dev/null 2>&1; then
	D9_REQUIRE_ROOT=1
fi
export D9_REQUIRE_ROOT

D9_REQUIRE_BROWSER=0
if command -v chromium-headless-shell >/dev/null 2>&1; then
	D9_REQUIRE_BROWSER=1
fi
export D9_REQUIRE_BROWSER

# Those whose packages cannot be fetched from here are skipped.
D9_REQUIRE_CONSUMERS=0
if sh tools/consumers.sh build/consumers; then
	D9_REQUIRE_CONSUMERS=$D9_REQUIRE_BROWSER
fi
export D9_REQUIRE_CONSUMERS

D9_REQUIRE_CLICKHOUSE=0
if command -v clickhouse-server >/dev/null 2>&1; then
	D9_REQUIRE_CLICKHOUSE=1
fi
export D9_REQUIRE_CLICKHOUSE

# The same of another machine's packages.
D9_REQUIRE_AARCH64=0
if sh tools/aarch64.sh build/aarch64/packages; then
	D9_REQUIRE_AARCH64=1
fi
export D9_REQUIRE_AARCH64

step() {
	echo "== $*"
	began=$(date +%s)
	"$@"
	echo "== $(($(date +%s) - began)) s"
}

# Everything is built before anything runs.
step make "$jobs" all tests replay benches
step make check-clang
step make "$jobs" O=build/san SYM=build/stimuli/symbol SAN=address,undefined all unit-tests
step make "$jobs" aarch64
step make "$jobs" lint
# Other kernels, in an emulator, on the CPU time that the tests leave idle.
setsid nice -n 19 make check-kernels-quick >build/kernels.log 2>&1 &
kernels=$!
trap 'kill -- -$kernels 2>/dev/null || :' EXIT
step make "$jobs" -Otarget check-cli check-docs check-install check-tutorial check-js check-page check-consumers check-aarch64 check-deps rpm-check check-musl check-static check-self fuzz-replay
step $sudo env WERROR=1 "PATH=$PATH" make check-fleet FLEET_ROUNDS=5
step make check-unit
kernels_end() {
	wait $kernels || code=$?
	cat build/kernels.log
	return "${code:-0}"
}
step make check-san
step kernels_end
trap - EXIT
# The tests on the live kernel run alone.
step $sudo env "D9_REQUIRE_ROOT=$D9_REQUIRE_ROOT" WERROR=1 "PATH=$PATH" make check-root
echo "all checks passed"
