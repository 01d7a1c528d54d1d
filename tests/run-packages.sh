#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What `make static` and its like leave, as those see it who install it: tests/run-packages.sh PART...
#   static  one file of at most 8 MB; it records and reads in a directory that has nothing else but /proc and /sys
#   deb     lintian finds nothing; a second build, elsewhere, gives equal files; installed in an overlay of this system,
#           they pass debian/tests and are removed without a rest
#   image   the container image holds the static program, and that runs
#   rpm     rpm can read the spec, and it asks for what tools/deps.sh installs; quick
# A part that cannot be tested here prints SKIPPED and why; with D9_REQUIRE_PACKAGES=1 that is a failure.
set -u

top=$(realpath "${D9_TOP:-.}")
build=$(realpath "${D9_BUILD:-build}")
cc=${CC:-gcc}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
part=

die() {
	echo "FAILED packages: $part: $1" >&2
	[ ! -f "$dir/log" ] || cat "$dir/log" >&2
	exit 1
}

skip() {
	echo "packages: $part: SKIPPED: $1"
	[ "${D9_REQUIRE_PACKAGES:-0}" != 1 ] || exit 1
}

# With what the log of a command must hold.
holds() {
	grep -q "$1" "$dir/log" || die "no line matches '$1'"
}

# ---- static -------------------------------------------------------------------------------------

# In mounts of its own, that end with it: the root directory, with the kernel's file systems.
in_root() { # ROOT COMMAND...
	# shellcheck disable=SC2016
	limited unshare -m sh -c '
		mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$@"
}

check_static() {
	file=$build/static/dial9-prof
	size=$(stat -c %s "$file") || die "there is no $file"
	[ "$size" -le 8000000 ] || die "the file has $size bytes"
	readelf -lS "$file" >"$dir/log"
	! grep -q INTERP "$dir/log" || die "an interpreter is needed"
	! grep -q '\.symtab' "$dir/log" || die "it is not stripped"
	readelf -d "$file" >"$dir/log"
	! grep -q NEEDED "$dir/log" || die "libraries are needed"
	echo "packages: static: $size bytes, no interpreter, no library"

	root=$dir/root
	mkdir -p "$root/proc" "$root/sys"
	cp "$file" "$root/dial9-prof"
	"$file" --version >"$dir/log" 2>&1 || die "it does not run"
	[ "$(id -u)" -eq 0 ] || { skip "recording needs root"; return; }
	in_root "$root" /dial9-prof check >"$dir/log" 2>&1 || { skip "this kernel cannot be recorded"; return; }

	in_root "$root" /dial9-prof -a -d 1 -o /all.bin >"$dir/log" 2>&1 || die "-a in an empty directory"
	in_root "$root" /dial9-prof info --verify /all.bin >"$dir/log" 2>&1 || die "info --verify of -a"
	in_root "$root" /dial9-prof info /all.bin >"$dir/log" 2>&1 || die "info of -a"
	holds '^accounting  *produced [1-9][0-9,]* = written [0-9,]* + lost 0$'
	sed -n 's/^accounting  */packages: static: -a in an empty directory: /p' "$dir/log"
	in_root "$root" /dial9-prof -o /list.bin -- /dial9-prof list >"$dir/log" 2>&1 || die "-- /dial9-prof list"
	in_root "$root" /dial9-prof info /list.bin >"$dir/log" 2>&1 || die "info of -- /dial9-prof list"
	holds '^target  *command /dial9-prof$'
	holds '^accounting  *produced [1-9][0-9,]* = written [0-9,]* + lost 0$'

	# Symbols, of a program that has some.
	limited "$cc" -O1 -g -static -pthread -D_GNU_SOURCE -o "$root/spinner" "$top/tests/stimuli/spinner.c" ||
		die "cannot build the workload"
	in_root "$root" /dial9-prof -o /spin.bin -- /spinner --now 70 1000 >"$dir/log" 2>&1 || die "-- /spinner"
	in_root "$root" /dial9-prof report /spin.bin >"$dir/log" 2>&1 || die "report of -- /spinner"
	holds ' hot_a  *spinner$'
	holds '100.00%  *[0-9]*  *[0-9.]*  main  *spinner$'
	sed -n 's/^\( *[0-9.]*%.* hot_a .*\)/packages: static: \1/p' "$dir/log"

	# The C library's own modules are for another version of it.
	mkdir -p "$root/etc"
	echo 'passwd: nosuchmodule' >"$root/etc/nsswitch.conf"
	echo 'joe:x:4711:4711::/:/bin/sh' >"$root/etc/passwd"
	in_root "$root" /dial9-prof -a -u joe -d 0.1 -o /joe.bin >"$dir/log" 2>&1 || die "-u joe"
	rm "$root/etc/passwd"
	! in_root "$root" /dial9-prof -a -u joe -d 0.1 -o /joe.bin >"$dir/log" 2>&1 || die "-u joe, who does not exist"
	holds "there is no user 'joe'"
}

# ---- deb ----------------------------------------------------------------------------------------

# This system, on top of which anything may be written; it ends with its mounts.
in_overlay() { # COMMAND...; $dir is there as well
	mkdir -p "$dir/overlay"
	# shellcheck disable=SC2016
	limited unshare -m sh -c '
		mount -t tmpfs tmpfs "$0/overlay" && mkdir "$0/overlay/upper" "$0/overlay/work" "$0/overlay/root" &&
		mount -t overlay -o "lowerdir=/,upperdir=$0/overlay/upper,workdir=$0/overlay/work" overlay "$0/overlay/root" &&
		for fs in proc sys dev; do mount --rbind "/$fs" "$0/overlay/root/$fs" || exit; done &&
		mkdir -p "$0/overlay/root$0" && mount --bind "$0" "$0/overlay/root$0" &&
		exec chroot "$0/overlay/root" "$@"' "$dir" "$@"
}

sums() { # DIRECTORY
	(cd "$1" && sha256sum ./*.deb)
}

check_deb() {
	deb=$build/deb
	for library in $(sh "$top/tools/deps.sh" --print debian libraries); do
		grep -Eq "^ $library( \\(.*\\))?,\$" "$top/tools/package/debian/control" || die "Build-Depends lacks $library"
	done
	lintian --fail-on error,warning --info "$deb"/*.changes >"$dir/log" 2>&1 || die "lintian"
	! grep '^[EWO]:' "$dir/log" || die "lintian"
	echo "packages: deb: lintian finds nothing"

	D9_CASE_TIMEOUT=1800 CCACHE_DISABLE=1 limited sh "$top/tools/package/deb.sh" "$dir/elsewhere" >"$dir/log" 2>&1 || die "the second build"
	sums "$deb" >"$dir/one"
	sums "$dir/elsewhere" >"$dir/log"
	cmp -s "$dir/one" "$dir/log" || die "two builds differ: $(cat "$dir/one")"
	sed 's/^/packages: deb: twice /' "$dir/one"

	[ "$(id -u)" -eq 0 ] || { skip "installing needs root"; return; }
	in_overlay true >"$dir/log" 2>&1 || { skip "no overlay of / is possible here"; return; }
	cp "$deb"/dial9-prof_*.deb "$deb"/libdial9-0_*.deb "$deb"/libdial9-dev_*.deb "$dir"
	cp "$top"/tools/package/debian/tests/* "$dir"
	# shellcheck disable=SC2016
	in_overlay sh -c '
		cd "$0" && dpkg -i ./*.deb && ./record && ./library && dpkg --purge dial9-prof libdial9-0 libdial9-dev &&
		! find /usr /etc /var/lib/systemd -name "*dial9*" | grep .' "$dir" >"$dir/log" 2>&1 || die "debian/tests"
	sed -n 's/^accounting  */packages: deb: debian\/tests\/record: /p' "$dir/log"
}

# ---- image --------------------------------------------------------------------------------------

check_image() {
	command -v skopeo >/dev/null 2>&1 || { skip "no skopeo"; return; }
	skopeo copy --quiet "oci-archive:$build/dial9-prof.oci.tar" "dir:$dir/copied" >"$dir/log" 2>&1 ||
		die "skopeo cannot read the image"
	skopeo inspect --config "oci-archive:$build/dial9-prof.oci.tar" >"$dir/log" 2>&1 || die "skopeo cannot read the configuration"
	holds '"/dial9-prof"'
	sh "$top/tools/package/container/image.sh" "$build/static/dial9-prof" "$dir/again.tar" >"$dir/log" || die "image.sh"
	cmp -s "$build/dial9-prof.oci.tar" "$dir/again.tar" || die "the same program gives another image"
	layer=$(sed -n '/"layers"/s/.*"layers".*sha256:\([0-9a-f]*\).*/\1/p' "$dir/copied/manifest.json")
	mkdir "$dir/root"
	tar -xzf "$dir/copied/$layer" -C "$dir/root" || die "the layer cannot be unpacked"
	cmp -s "$dir/root/dial9-prof" "$build/static/dial9-prof" || die "the image has another program"
	echo "packages: image: $(stat -c %s "$build/dial9-prof.oci.tar") bytes, twice the same; skopeo copies it"
	[ "$(id -u)" -eq 0 ] || { skip "running it needs root"; return; }
	[ "$(in_root "$dir/root" /dial9-prof --version)" = "$("$build/static/dial9-prof" --version)" ] || die "it does not run"
}

# ---- rpm ----------------------------------------------------------------------------------------

check_rpm() {
	spec=$top/tools/package/rpm/dial9-prof.spec
	command -v rpmspec >/dev/null 2>&1 || { skip "no rpmspec"; return; }
	rpmspec -P "$spec" >"$dir/parsed" 2>"$dir/log" || die "rpmspec cannot read the spec"
	[ ! -s "$dir/log" ] || die "rpmspec warns"
	version=$(sed -n 's/^.define DIAL9_VERSION_[MP][A-Z]* *//p' "$top/include/dial9.h" | paste -sd.)
	grep -q "^Version: *$version\$" "$dir/parsed" || die "the spec is not of version $version"
	sed -n 's/^BuildRequires: *\([^ ]*\).*/\1/p' "$dir/parsed" | sort >"$dir/asked"
	sh "$top/tools/deps.sh" --print fedora build | sort >"$dir/log"
	cmp -s "$dir/asked" "$dir/log" || die "BuildRequires differs from tools/deps.sh"
	if command -v rpmlint >/dev/null 2>&1; then
		rpmlint -c "$top/tools/package/rpm/rpmlint.toml" "$spec" >"$dir/log" 2>&1 || die "rpmlint"
		holds ' 0 errors, 0 warnings,'
	fi
	echo "packages: rpm: the spec of $version parses"
}

# ---- all of them --------------------------------------------------------------------------------

for part; do
	case $part in
	static) check_static ;;
	deb) check_deb ;;
	image) check_image ;;
	rpm) check_rpm ;;
	*) die "there is no such part" ;;
	esac
	rm -rf "${dir:?}"/*
done
echo "packages: passed"
