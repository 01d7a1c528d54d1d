#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tries tools/package/systemd with Debian's systemd as the first process of an emulated machine:
# tools/systemd-guest.sh [OUT]   (default build/systemd)
# OUT keeps Debian's minimal system, the kernel and the two disks. The second disk is small, and holds the recordings.
# The guest boots twice; tests/systemd/check.sh is what it does. Exit status: 0 all as expected, 1 not, 77 no packages.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$top/build/systemd}"
out=$(cd "${1:-$top/build/systemd}" && pwd)
kernel='^linux-image-6\.12\.[^ ]*-cloud-amd64-unsigned$'

skip() {
	echo "systemd: SKIPPED: $*" >&2
	exit 77
}

for tool in debootstrap mke2fs cpio qemu-system-x86_64 xz /bin/busybox; do
	command -v "$tool" >/dev/null || skip "no $tool (see tools/deps.sh)"
done
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"

# ---- packages -----------------------------------------------------------------------------------

fetch_kernel() {
	[ ! -e "$out/kernel/whole" ] || return 0
	rm -rf "$out/kernel" && mkdir -p "$out/kernel"
	package=$(apt-cache search --names-only "$kernel" | cut -d' ' -f1 | sort -V | tail -n 1)
	[ -n "$package" ] || return 1
	(cd "$out/kernel" && apt-get download "$package" >log 2>&1 && dpkg-deb -x ./*.deb . && rm ./*.deb) || return 1
	: >"$out/kernel/whole"
}

fetch_system() {
	[ ! -e "$out/system.tar" ] || return 0
	# Not the shell's.
	# shellcheck disable=SC2016
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian$' | head -n 1)
	rm -rf "$out/system"
	debootstrap --variant=minbase --include=systemd,systemd-sysv bookworm "$out/system" "$site" >"$out/log" 2>&1 || return 1
	rm -rf "$out/system/var/cache/apt" "$out/system/var/lib/apt/lists" "$out/system/usr/share/doc" "$out/system/usr/share/locale"
	tar cf "$out/system.tar.part" -C "$out/system" . && mv "$out/system.tar.part" "$out/system.tar"
	rm -rf "$out/system"
}

fetch_kernel || skip "no kernel package could be fetched"
fetch_system || skip "no system could be fetched: $(tail -n 1 "$out/log")"

# ---- disks --------------------------------------------------------------------------------------

root=$out/root
rm -rf "$root"
mkdir -p "$root"
tar xf "$out/system.tar" -C "$root"
strip -g -o "$root/usr/bin/dial9-prof" "$top/build/dial9-prof"
ldd "$root/usr/bin/dial9-prof" | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p' | while read -r file; do
	[ -e "$root$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"; }
done
cp "$top"/tools/package/systemd/*.service "$top"/tests/systemd/*.service "$root/usr/lib/systemd/system/"
mkdir -p "$root/d9" "$root/etc/default" "$root/etc/systemd/system/dial9-prof.service.d" \
	"$root/etc/systemd/system/multi-user.target.wants"
cp "$top/tests/systemd/check.sh" "$root/d9/"
for unit in dial9-prof d9-check; do
	ln -s "/usr/lib/systemd/system/$unit.service" "$root/etc/systemd/system/multi-user.target.wants/"
done
echo 'DIAL9_PROF_OPTIONS="--switch-output=4M --disk-budget=24M -v"' >"$root/etc/default/dial9-prof"
# A guest is slow, but not as slow as its watchdog's default is patient.
printf '[Service]\nWatchdogSec=20\n' >"$root/etc/systemd/system/dial9-prof.service.d/guest.conf"
mkdir -p "$root/var/lib/private/dial9-prof"
chmod 700 "$root/var/lib/private"
: >"$root/etc/machine-id"

systemd-analyze verify --man=no --root="$root" dial9-prof.service dial9-prof@victim.service >"$out/verify" 2>&1 || true
if [ -s "$out/verify" ]; then
	echo "systemd: systemd-analyze verify reports:" >&2
	cat "$out/verify" >&2
	exit 1
fi

rm -f "$out/root.img" "$out/state.img"
mke2fs -q -t ext4 -d "$root" "$out/root.img" 600M
mke2fs -q -t ext4 "$out/state.img" 64M
rm -rf "$root"

initrd=$out/initrd
rm -rf "$initrd"
mkdir -p "$initrd/bin" "$initrd/dev" "$initrd/proc" "$initrd/sys" "$initrd/root" "$initrd/modules"
cp /bin/busybox "$initrd/bin/"
cp "$top/tests/systemd/init" "$initrd/init"
chmod +x "$initrd/init"
find "$out/kernel" -name 'virtio_blk.ko*' -exec cp {} "$initrd/modules/" \;
find "$initrd/modules" -name '*.xz' -exec xz -d {} \;
(cd "$initrd" && find . | LC_ALL=C sort | cpio -o -H newc 2>/dev/null | gzip -1) >"$out/initrd.gz"

# ---- the guest ----------------------------------------------------------------------------------

# One thread for both CPUs: with more, the emulator may run code that the kernel has just patched for a tracepoint as it
# was before, and the kernel stops with "Oops: int3".
boot() { # NUMBER
	timeout -k 10 1800 qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1536M -nodefaults -display none -no-reboot \
		-kernel "$out"/kernel/boot/vmlinuz-* -initrd "$out/initrd.gz" \
		-append "console=ttyS0 no_timer_check quiet panic=-1 systemd.show_status=0" \
		-drive "file=$out/root.img,if=none,id=root,format=raw,cache=unsafe" -device virtio-blk-pci,drive=root \
		-drive "file=$out/state.img,if=none,id=state,format=raw,cache=unsafe" -device virtio-blk-pci,drive=state \
		-serial "file:$out/boot$1" -monitor none </dev/null || true
	tr -d '\r' <"$out/boot$1" | sed -n 's/^@@//p'
}

failed=0
for number in 1 2; do
	output=$(boot "$number")
	printf '%s\n' "$output" | grep -v '^end$' || true
	case $output in
	*"not ok"*) failed=1 ;;
	esac
	case $output in
	*end) ;;
	*)
		echo "systemd: boot $number did not come to its end: $out/boot$number" >&2
		failed=1
		break
		;;
	esac
done
if [ $failed = 1 ]; then
	echo "FAILED systemd: see $out/boot1 and $out/boot2" >&2
	exit 1
fi
echo "systemd: all as expected"
