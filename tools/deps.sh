#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what is missing, and nothing when nothing is: tools/deps.sh build|check
#   build  what `make` needs
#   check  that, and what `make lint check` needs
# tools/deps.sh libraries only prints the packages of the libraries.
# Debian and Ubuntu by apt, as root or through sudo. Elsewhere it prints what to install.
set -eu

LIBRARIES="libbpf-dev libdw-dev libelf-dev zlib1g-dev liblzma-dev libtraceevent-dev libiberty-dev
	libsnappy-dev libzstd-dev libbrotli-dev"
BUILD="make gcc libc6-dev binutils clang bpftool $LIBRARIES"
CHECK="libcriterion-dev libclang-rt-14-dev clang-format-14 llvm g++ rustc shellcheck valgrind linux-perf
	groff-base procps apitrace nodejs xz-utils gzip python3 sqlite3 openssl jq golang-go protobuf-compiler
	chromium-headless-shell libdebuginfod1 qemu-user stress-ng"
[ "$(uname -m)" = aarch64 ] || CHECK="$CHECK gcc-aarch64-linux-gnu"

# Where node comes without it.
command -v npm >/dev/null 2>&1 || CHECK="$CHECK npm"

case ${1:-build} in
build) wanted=$BUILD ;;
check) wanted="$BUILD $CHECK" ;;
libraries)
	# A list of words on purpose.
	# shellcheck disable=SC2086
	echo $LIBRARIES
	exit 0
	;;
*)
	echo "usage: tools/deps.sh build|check" >&2
	exit 1
	;;
esac

if ! command -v apt-get >/dev/null 2>&1; then
	cat >&2 <<-EOT
		tools/deps.sh: this system has no apt-get; please install, with headers:
		  a C compiler, GNU make, binutils (with libiberty's archive and headers),
		  clang 14 or later with the BPF target, bpftool,
		  libbpf >= 1.1, elfutils >= 0.188 (libdw, libelf), zlib, libtraceevent >= 1.7,
		  snappy, zstd, brotli
		and for the tests:
		  criterion >= 2.4, clang's ASan and libFuzzer run-times, clang-format 14, llvm-dwp, g++, rustc,
		  shellcheck, valgrind, perf, groff, bash, apitrace, node >= 18 with npm,
		  xz, gzip, python3, sqlite3, openssl (whose stacks are unwound), jq, go (for its pprof), protoc,
		  the debuginfod client of elfutils, gcc for aarch64 and qemu's user emulation of it, stress-ng
		then build with \`make\` and test with \`make lint check\`.
	EOT
	exit 1
fi

installed() {
	case $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) in
	*" installed") return 0 ;;
	esac
	return 1
}

candidate() {
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'
}

missing=
for pkg in $wanted; do
	installed "$pkg" || missing="$missing $pkg"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v sudo >/dev/null 2>&1; then
	sudo=sudo
else
	echo "tools/deps.sh: neither root nor sudo; please install as root:$missing" >&2
	exit 1
fi

DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
for pkg in $missing; do
	if ! candidate "$pkg"; then
		$sudo apt-get -q update
		break
	fi
done

# Ubuntu has bpftool and perf in packages of other names.
names=
for pkg in $missing; do
	if ! candidate "$pkg"; then
		case $pkg in
		bpftool | linux-perf) pkg="linux-tools-common linux-tools-generic" ;;
		libclang-rt-14-dev) pkg=libclang-rt-dev ;;
		chromium-headless-shell) continue ;; # a snap there; the tests of the page are skipped
		esac
	fi
	names="$names $pkg"
done

echo "tools/deps.sh: installing$names"
# A list of words on purpose. Package lists may be older than the archive: refresh them and try again.
# shellcheck disable=SC2086
install_all() {
	$sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends $names
}
install_all || { $sudo apt-get -q update && install_all; }
