#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Boots other kernels in an emulator and tries the built program there: tools/kernels.sh [OPTION]... [PATTERN]...
#   PATTERN          kernels whose name has it (all): --list prints their names
#   --kernel FILE    this kernel image, not one of a package; may be repeated
#   --arch MACHINE   of these images: amd64 (default) or arm64
#   --program FILE   this program (build/dial9-prof; for arm64 build/aarch64/dial9-prof)
#   --static         the static programs: build/static/dial9-prof, for arm64 build/aarch64/static/dial9-prof
#   --checks LIST    scripts of tests/kernels, without .sh, separated by commas (programs,record,unwind)
#   --configurations LIST  of the check of programs: which configurations (all), see dial9-prof check --programs
#   --append WORDS   more of a kernel's command line
#   --jobs N         guests at a time (2)
#   --out DIR        packages, images and results (build/kernels)
#   --list           print the names of the kernels
# Packages are Debian's, kept in DIR once they are there. Each guest has two CPUs, no disk and no network; what its
# checks leave is compared with their truth here, by tests/kernels/verify.sh.
# Exit status: 0 all passed, 1 one failed, 77 no kernel could be had.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
out=$top/build/kernels
checks=programs,record,unwind
program=
static=
arch=amd64
append=
configurations=
images=
patterns=
list=
jobs=2

# name, machine, suite (- for this system's own), expression that the package's name matches, newest last
kernels() {
	cat <<-'EOT'
		6.1-cloud-amd64 amd64 - ^linux-image-6\.1\.[^ ]*-cloud-amd64-unsigned$
		6.12-cloud-amd64 amd64 - ^linux-image-6\.12\.[^ ]*-cloud-amd64-unsigned$
		6.1-rt-amd64 amd64 - ^linux-image-6\.1\.[^ ]*-rt-amd64-unsigned$
		6.12-rt-amd64 amd64 - ^linux-image-6\.12\.[^ ]*-rt-amd64-unsigned$
		newest-cloud-amd64 amd64 sid ^linux-binary-[0-9][^ ]*-cloud-amd64(-unsigned)?$
		6.1-cloud-arm64 arm64 - ^linux-image-6\.1\.[^ ]*-cloud-arm64-unsigned$
		6.12-cloud-arm64 arm64 - ^linux-image-6\.12\.[^ ]*-cloud-arm64-unsigned$
		newest-16k-arm64 arm64 sid ^linux-binary-[0-9][^ ]*-arm64-16k(-unsigned)?$
	EOT
}

usage() {
	sed -n '3,/^# Exit/s/^# \{0,1\}//p' "$0" >&2
	exit 1
}

while [ $# -gt 0 ]; do
	case $1 in
	--kernel | --arch | --program | --checks | --configurations | --append | --jobs | --out) [ $# -ge 2 ] || usage ;;
	esac
	case $1 in
	--kernel) images="$images $(realpath "$2")" && shift ;;
	--arch) arch=$2 && shift ;;
	--program) program=$(realpath "$2") && shift ;;
	--static) static=static/ ;;
	--checks) checks=$2 && shift ;;
	--configurations) configurations=$2 && shift ;;
	--append) append=$2 && shift ;;
	--jobs) jobs=$2 && shift ;;
	--out) mkdir -p "$2" && out=$(cd "$2" && pwd) && shift ;;
	--list) list=1 ;;
	-*) usage ;;
	*) patterns="$patterns $1" ;;
	esac
	shift
done
if [ -n "$list" ]; then
	kernels | cut -d' ' -f1
	exit 0
fi
mkdir -p "$out"

skip() {
	echo "kernels: SKIPPED: $*" >&2
	exit 77
}

# ---- packages -----------------------------------------------------------------------------------

# apt with lists of a machine and a suite, in which nothing is installed; this system's own for its own.
apt_for() { # MACHINE SUITE COMMAND ARG...
	apt_arch=$1 apt_suite=$2
	shift 2
	if [ "$apt_arch $apt_suite" = "$(dpkg --print-architecture) -" ]; then
		"$@"
		return
	fi
	state=$out/apt/$apt_arch-$apt_suite
	tool=$1
	shift
	set -- "$tool" -q -o "APT::Architecture=$apt_arch" -o "APT::Architectures::=$apt_arch" -o "Dir::State=$state" \
		-o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root "$@"
	[ "$apt_suite" = - ] || set -- "$@" -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=-
	"$@"
}

# The lists of a machine and a suite, fetched once.
lists_for() { # MACHINE SUITE
	state=$out/apt/$1-$2
	[ ! -e "$state/whole" ] || return 0
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	if [ "$2" != - ]; then
		# Not the shell's.
		# shellcheck disable=SC2016
		site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian$' | head -n 1)
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $2 main" >"$state/sources.list"
	fi
	apt_for "$1" "$2" apt-get update >"$state/log" 2>&1 && : >"$state/whole"
}

newest_package() { # MACHINE SUITE EXPRESSION
	apt_for "$1" "$2" apt-cache search --names-only "$3" | cut -d' ' -f1 | sort -V | tail -n 1
}

# Prints the path of the image of a kernel, whose package is fetched if it is not there.
image_of() { # NAME MACHINE SUITE EXPRESSION
	lists_for "$2" "$3" || return 1
	package=$(newest_package "$2" "$3" "$4")
	[ -n "$package" ] || return 1
	dir=$out/$package
	if [ ! -e "$dir/whole" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		(cd "$dir" && apt_for "$2" "$3" apt-get download "$package" >log 2>&1) || return 1
		dpkg-deb --fsys-tarfile "$dir"/*.deb | tar x -O --wildcards './*/vmlinuz*' >"$dir/vmlinuz"
		rm -f "$dir"/*.deb
		[ -s "$dir/vmlinuz" ] || return 1
		: >"$dir/whole"
	fi
	echo "$dir/vmlinuz"
}

# ---- what a guest starts with -------------------------------------------------------------------

# The libraries that programs ask for, with their loader, from this system or from arm64's packages.
copy_libraries() { # MACHINE ROOT PROGRAM...
	machine=$1 root=$2
	shift 2
	if [ "$machine" = "$(dpkg --print-architecture)" ]; then
		ldd "$@" 2>/dev/null | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p; s|^[[:space:]]*\(/[^ ]*\) (.*|\1|p' | sort -u |
			while read -r file; do
				mkdir -p "$root$(dirname "$file")"
				cp -L "$file" "$root$file"
			done
		return
	fi
	packages=$top/build/aarch64/packages/root
	mkdir -p "$root/lib" "$root/usr/lib"
	cp -L "$packages"/lib/ld-linux-aarch64.so.1 "$root/lib/"
	mkdir -p "$root/lib/aarch64-linux-gnu"
	for file in $(cd "$packages" && find lib/aarch64-linux-gnu usr/lib/aarch64-linux-gnu -maxdepth 1 -name 'lib*.so.[0-9]*'); do
		case ${file##*/} in
		libbpf.* | libelf.* | libdw.* | libz.* | liblzma.* | libtraceevent.* | libsnappy.* | libsqlite3.* | libzstd.* | libbrotli* | libc.* | libm.* | \
			libgcc_s.* | libstdc++.* | libbz2.* | libpthread.* | libdl.*)
			cp -L "$packages/$file" "$root/lib/aarch64-linux-gnu/"
			;;
		esac
	done
}

busybox_of() { # MACHINE
	if [ "$1" = "$(dpkg --print-architecture)" ] && [ -x /bin/busybox ]; then
		echo /bin/busybox
		return
	fi
	dir=$out/busybox-$1
	if [ ! -x "$dir/bin/busybox" ]; then
		lists_for "$1" - && mkdir -p "$dir" || return 1
		(cd "$dir" && apt_for "$1" - apt-get download busybox-static >log 2>&1 && dpkg-deb -x busybox-static*.deb .) || return 1
	fi
	echo "$dir/bin/busybox"
}

# Packs DIR/root-MACHINE.cpio.gz; the same one serves all kernels of a machine.
pack_root() { # MACHINE PROGRAM STIMULI STRIP
	root=$out/root-$1
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/checks" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/lib64"
	busybox=$(busybox_of "$1") || return 1
	cp "$busybox" "$root/bin/busybox"
	cp "$top"/tests/kernels/*.sh "$root/checks/"
	cp "$top/tests/kernels/init" "$root/init"
	chmod +x "$root/init"
	"$4" -g -o "$root/bin/dial9-prof" "$2"
	for name in sleeper spinner unwind_chain; do
		cp "$3/$name" "$root/bin/"
	done
	copy_libraries "$1" "$root" "$root/bin/dial9-prof" "$root"/bin/s*er "$root/bin/unwind_chain"
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc 2>/dev/null | gzip -1) >"$root.cpio.gz"
}

prepare() { # MACHINE
	case $1 in
	amd64) pack_root amd64 "${program:-$top/build/${static}dial9-prof}" "$top/build/stimuli" strip ;;
	arm64) pack_root arm64 "${program:-$top/build/aarch64/${static}dial9-prof}" "$top/build/aarch64/stimuli" aarch64-linux-gnu-strip ;;
	esac
}

# ---- guests -------------------------------------------------------------------------------------

has_ended() {
	grep -q '^@@END' "$results/console"
}

# Seconds of CPU time that a process has used.
cpu_seconds_of() { # PID
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk -v hz="$(getconf CLK_TCK)" '{ print int(($12 + $13) / hz) }'
}

# Ends an emulator that makes no progress: no line on the console in 240 s of CPU time, or in 600 s. Its CPU time counts,
# because other work may leave it none for minutes.
watch_guest() { # PID
	size=-1 used=0 since=0 now=0
	while kill -0 "$1" 2>/dev/null; do
		new_size=$(stat -c %s "$results/console" 2>/dev/null || echo 0)
		new_used=$(cpu_seconds_of "$1")
		if [ "$new_size" -ne "$size" ]; then
			size=$new_size used=${new_used:-0} since=$now
		elif [ $((${new_used:-0} - used)) -gt 240 ] || [ $((now - since)) -gt 600 ]; then
			kill -9 "$1"
		fi
		sleep 2
		now=$((now + 2))
	done
}

# Once, from an empty directory of results.
boot() { # MACHINE IMAGE
	rm -rf "$results"
	mkdir -p "$results"
	words="no_timer_check mitigations=off rcupdate.rcu_expedited=1 quiet panic=-1 checks=$checks ${configurations:+configurations=$configurations }$append"
	case $1 in
	amd64)
		qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 2G -nodefaults -display none -no-reboot \
			-kernel "$2" -initrd "$out/root-$1.cpio.gz" -append "console=ttyS0 $words" \
			-serial "file:$results/console" -serial "file:$results/packed" -monitor none </dev/null >"$results/qemu" 2>&1 &
		;;
	arm64)
		qemu-system-aarch64 -M virt,gic-version=3 -accel tcg,thread=single -cpu max,pauth-impdef=on -smp 2 -m 2G \
			-nodefaults -display none -no-reboot -kernel "$2" -initrd "$out/root-$1.cpio.gz" \
			-append "console=ttyAMA0 $words" -serial "file:$results/console" -monitor none </dev/null >"$results/qemu" 2>&1 &
		;;
	esac
	guest=$!
	watch_guest $guest
	wait $guest || :
	[ "$1" = amd64 ] || sed -n '/^@@RESULTS/,/^@@END/{/^@@/d; s/\r$//; p;}' "$results/console" >"$results/packed"
}

# Runs the checks on a kernel; what they leave is in DIR/results/NAME. Both CPUs of a guest run in one thread: in two, now
# and then a CPU meets the breakpoint of a jump label after the kernel has removed it, and the kernel dies or stands
# still. A guest that did not reach its end boots again, twice at most.
run_guest() { # NAME MACHINE IMAGE
	results=$out/results/$1
	for attempt in 1 2 3; do
		boot "$2" "$3"
		if has_ended; then
			base64 -d "$results/packed" | tar xz -C "$results"
			rm "$results/packed"
			return
		fi
		echo "note: boot $attempt of 3 did not reach its end: $(grep -m 1 -E 'Oops|BUG|panic|stall' "$results/console" ||
			tail -n 1 "$results/console")" | tr -d '\r'
		mv "$results/console" "$out/results/$1.console.$attempt"
	done
	echo "FAILED: the guest did not reach its end: $out/results/$1.console.*"
	return 1
}

# One kernel, from boot to verdict, in one block of output.
try_kernel() { # NAME MACHINE IMAGE
	began=$(date +%s)
	verdicts=$out/results/$1.verdicts
	if run_guest "$1" "$2" "$3" >"$verdicts" 2>&1; then
		sed -n 's/\r$//; s/^[a-z]*: \(ok\|FAILED\) /\1 /p' "$out/results/$1/console" >>"$verdicts"
		sh "$top/tests/kernels/verify.sh" "$out/results/$1" >>"$verdicts" 2>&1 || echo "FAILED verify.sh" >>"$verdicts"
	fi
	passed=$(grep -c '^ok ' "$verdicts" || :)
	failed=$(grep -c '^FAILED' "$verdicts" || :)
	[ "$passed" -gt 0 ] || failed=$((failed + 1))
	# The verifier's logs of refused programs; the last lines are what it did not like.
	if [ -e "$out/results/$1/programs.json" ]; then
		jq -r '.programs[] | select(.loaded | not) | "\(.configuration): \(.program): \(.reason)\n\(.log)"' \
			"$out/results/$1/programs.json" >"$out/results/$1/programs.refused" || :
	fi
	for log in "$out/results/$1"/*.refused; do
		[ ! -s "$log" ] || { echo "kernels: $1: the end of $log:" && tail -n 30 "$log"; }
	done
	grep -E '^(FAILED|note:)' "$verdicts" | sed "s/^/kernels: $1: /" || :
	echo "kernels: $1 ($(cat "$out/results/$1/release" 2>/dev/null || echo '?')): $passed passed, $failed failed, $(($(date +%s) - began)) s"
	[ "$failed" -eq 0 ]
}

wanted() { # NAME
	[ -n "$patterns$images" ] || return 0
	for pattern in $patterns; do
		case $1 in *"$pattern"*) return 0 ;; esac
	done
	return 1
}

for tool in qemu-system-x86_64 cpio busybox jq; do
	command -v "$tool" >/dev/null 2>&1 || skip "no $tool: sh tools/deps.sh check"
done
mkdir -p "$out/results"
rm -f "$out"/todo.*
kernels >"$out/table"
missing=
while read -r name machine suite expression; do
	wanted "$name" || continue
	if image=$(image_of "$name" "$machine" "$suite" "$expression"); then
		echo "$name $machine $image" >>"$out/todo.$machine"
	else
		missing="$missing $name"
		echo "kernels: $name SKIPPED: its package cannot be fetched" >&2
	fi
done <"$out/table"
for image in $images; do
	echo "$(basename "$image") $arch $image" >>"$out/todo.$arch"
done
cat "$out"/todo.* >"$out/todo" 2>/dev/null || skip "no kernel's package could be fetched:$missing"
for machine in amd64 arm64; do
	[ ! -e "$out/todo.$machine" ] || prepare "$machine" || skip "nothing for guests of $machine: make all, make aarch64"
done

failures=$out/failures
rm -f "$failures"
running=0
while read -r name machine image; do
	{ try_kernel "$name" "$machine" "$image" || echo "$name" >>"$failures"; } &
	running=$((running + 1))
	if [ "$running" -ge "$jobs" ]; then
		wait
		running=0
	fi
done <"$out/todo"
wait
if [ -s "$failures" ]; then
	echo "FAILED kernels: $(tr '\n' ' ' <"$failures")(results in $out/results)" >&2
	exit 1
fi
[ -z "$missing" ] || echo "kernels: NOT tried:$missing" >&2
