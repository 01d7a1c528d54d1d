#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what is missing, and nothing when nothing is: tools/deps.sh [build|check|packages]
#   build     what `make` needs (the default)
#   check     that, and what `make lint check` needs
#   packages  build, and what `make check-packages` needs
# tools/deps.sh --print debian|fedora|arch|alpine [build|check|packages|libraries] prints the packages and installs
# nothing; of "libraries", those with the libraries only.
# On Debian and Ubuntu, Fedora, Arch Linux and Alpine Linux, as root or through sudo.
set -eu

# Packages by set and distribution; "-": another package has it, or there is none.
table() {
	cat <<-'EOT'
		# set     debian                 fedora                      arch                   alpine
		build     make                   make                        make                   make
		build     gcc                    gcc                         gcc                    gcc
		build     libc6-dev              glibc-devel                 glibc                  musl-dev
		build     -                      kernel-headers              linux-api-headers      linux-headers
		build     binutils               binutils                    binutils               binutils
		build     clang                  clang                       clang                  clang
		build     bpftool                bpftool                     bpf                    bpftool
		libraries libbpf-dev             libbpf-devel                libbpf                 libbpf-dev
		libraries libdw-dev              elfutils-devel              -                      elfutils-dev
		libraries libelf-dev             elfutils-libelf-devel       libelf                 -
		libraries zlib1g-dev             zlib-devel                  zlib                   zlib-dev
		libraries liblzma-dev            xz-devel                    xz                     xz-dev
		libraries libtraceevent-dev      libtraceevent-devel         libtraceevent          libtraceevent-dev
		libraries libiberty-dev          binutils-devel              -                      binutils-dev
		libraries libsqlite3-dev         sqlite-devel                sqlite                 sqlite-dev
		libraries libcurl4-openssl-dev   libcurl-devel               curl                   curl-dev
		libraries libsnappy-dev          snappy-devel                snappy                 snappy-dev
		libraries libzstd-dev            libzstd-devel               zstd                   zstd-dev
		libraries libbrotli-dev          brotli-devel                brotli                 brotli-dev
		check     libcriterion-dev       criterion-devel             -                      criterion-dev
		check     libclang-rt-14-dev     compiler-rt                 compiler-rt            compiler-rt
		check     clang-format-14        clang-tools-extra           -                      clang-extra-tools
		check     llvm                   llvm                        llvm                   llvm
		check     g++                    gcc-c++                     -                      g++
		check     rustc                  rust                        rust                   rust
		check     shellcheck             ShellCheck                  shellcheck             shellcheck
		check     valgrind               valgrind                    valgrind               valgrind
		check     linux-perf             perf                        perf                   perf
		check     groff-base             groff-base                  groff                  groff
		check     procps                 procps-ng                   procps-ng              procps-ng
		check     apitrace               apitrace                    apitrace               -
		check     nodejs                 nodejs                      nodejs                 nodejs
		check     npm                    nodejs-npm                  npm                    npm
		check     xz-utils               xz                          -                      xz
		check     gzip                   gzip                        gzip                   gzip
		check     clickhouse-server      -                           -                      -
		check     python3                python3                     python                 python3
		check     sqlite3                sqlite                      sqlite                 sqlite
		check     openssl                openssl                     openssl                openssl
		check     jq                     jq                          jq                     jq
		check     golang-go              golang                      go                     go
		check     protobuf-compiler      protobuf-compiler           protobuf               protoc
		check     chromium-headless-shell chromium-headless          chromium               chromium
		check     libdebuginfod1         elfutils-debuginfod-client  debuginfod             libdebuginfod
		check     clickhouse-server      -                           -                      -
		check     qemu-user              qemu-user                   qemu-user              qemu-aarch64
		check     qemu-system-x86        qemu-system-x86-core        qemu-system-x86        qemu-system-x86_64
		check     qemu-system-arm        qemu-system-aarch64-core    qemu-system-aarch64    qemu-system-aarch64
		check     busybox-static         busybox                     busybox                busybox-static
		check     cpio                   cpio                        cpio                   cpio
		check     debootstrap            debootstrap                 debootstrap            debootstrap
		check     e2fsprogs              e2fsprogs                   e2fsprogs              e2fsprogs
		check     stress-ng              stress-ng                   stress-ng              stress-ng
		check     strace                 strace                      strace                 strace
		check     bpftrace               bpftrace                    bpftrace               bpftrace
		check     musl-tools             musl-gcc                    musl                   -
		check     gcc-aarch64-linux-gnu  gcc-aarch64-linux-gnu       aarch64-linux-gnu-gcc  -
		check     g++-aarch64-linux-gnu  gcc-c++-aarch64-linux-gnu   -                      -
		check     rpm                    rpm-build                   rpm-tools              rpm
		packages  g++                    gcc-c++                     -                      g++
		packages  dpkg-dev               dpkg-dev                    dpkg                   dpkg-dev
		packages  debhelper              debhelper                   -                      debhelper
		packages  fakeroot               fakeroot                    fakeroot               fakeroot
		packages  lintian                -                           -                      -
		packages  autopkgtest            -                           -                      -
		packages  rpm                    rpm-build                   rpm-tools              rpm
		packages  rpmlint                rpmlint                     -                      -
		packages  skopeo                 skopeo                      skopeo                 skopeo
	EOT
}

usage() {
	echo "usage: tools/deps.sh [build|check|packages], or tools/deps.sh --print debian|fedora|arch|alpine [SET]" >&2
	exit 1
}

# The packages of a distribution for a set, one a line.
packages() { # DISTRIBUTION SET
	case $2 in
	libraries) sets=' libraries ' ;;
	build) sets=' build libraries ' ;;
	check) sets=' build libraries check ' ;;
	packages) sets=' build libraries packages ' ;;
	*) usage ;;
	esac
	case $1 in
	debian) column=2 ;;
	fedora) column=3 ;;
	arch) column=4 ;;
	alpine) column=5 ;;
	*) usage ;;
	esac
	table | awk -v sets="$sets" -v column="$column" \
		'index(sets, " " $1 " ") && $column != "-" && !seen[$column]++ { print $column }'
}

if [ "${1:-}" = --print ]; then
	[ $# -eq 2 ] || [ $# -eq 3 ] || usage
	packages "$2" "${3:-build}"
	exit 0
fi
[ $# -le 1 ] || usage
set=${1:-build}
[ "$set" != libraries ] || usage

if command -v apt-get >/dev/null 2>&1; then
	distribution=debian
elif command -v dnf >/dev/null 2>&1; then
	distribution=fedora
elif command -v pacman >/dev/null 2>&1; then
	distribution=arch
elif command -v apk >/dev/null 2>&1; then
	distribution=alpine
else
	cat >&2 <<-EOT
		tools/deps.sh: this system has none of apt-get, dnf, pacman and apk; please install, with headers:
		  a C compiler, GNU make, binutils (with libiberty's archive),
		  clang 14 or later with the BPF target, bpftool,
		  libbpf >= 1.1, elfutils >= 0.188 (libdw, libelf), zlib, xz, libtraceevent >= 1.7,
		  SQLite >= 3.38, snappy, zstd, brotli
		For the tests, \`sh tools/deps.sh --print debian check\` prints what Debian calls the rest.
		Then build with \`make\` and test with \`make lint check\`.
	EOT
	exit 1
fi

installed() {
	case $distribution in
	debian)
		case $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) in
		*" installed") return 0 ;;
		esac
		return 1
		;;
	fedora) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
	arch) pacman -T "$1" >/dev/null 2>&1 ;;
	alpine) apk info -e "$1" >/dev/null 2>&1 ;;
	esac
}

candidate() {
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'
}

wanted=$(packages "$distribution" "$set")
missing=
for pkg in $wanted; do
	case $pkg in
	npm) ! command -v npm >/dev/null 2>&1 || continue ;;
	gcc-aarch64-linux-gnu | g++-aarch64-linux-gnu | aarch64-linux-gnu-gcc) [ "$(uname -m)" != aarch64 ] || continue ;;
	esac
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

# Ubuntu has bpftool and perf in packages of other names.
names=$missing
if [ "$distribution" = debian ]; then
	for pkg in $missing; do
		if ! candidate "$pkg"; then
			$sudo apt-get -q update
			break
		fi
	done
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
fi

apt_install() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

echo "tools/deps.sh: installing$names"
# Lists of words on purpose.
# shellcheck disable=SC2086
case $distribution in
# Package lists may be older than the archive: refresh them and try again.
debian) apt_install $names || { $sudo apt-get -q update && apt_install $names; } ;;
fedora) $sudo dnf install -y --setopt=install_weak_deps=False $names ;;
arch) $sudo pacman -S --needed --noconfirm $names ;;
alpine) $sudo apk add $names ;;
esac
