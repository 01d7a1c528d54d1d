#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A machine that has not everything: tests/run-deps.sh
#   - tools/deps.sh knows what to install on four distributions, and calls their package managers (which are made up
#     here) with what is missing, or not at all
#   - `make` says in one line what is missing, before it compiles anything; `make lib` needs a C compiler only
set -u

top=$(realpath "${D9_TOP:-.}")
cc=${CC:-gcc}
make=${MAKE:-make}
# shellcheck source=tests/limit.sh
. "$top/tests/limit.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$top" || exit 1

die() {
	echo "FAILED deps: $1" >&2
	[ ! -f "$dir/log" ] || cat "$dir/log" >&2
	exit 1
}

# ---- tools/deps.sh ------------------------------------------------------------------------------

prints() { # DISTRIBUTION SET PACKAGE...
	sh tools/deps.sh --print "$1" "$2" >"$dir/log" || die "--print $1 $2"
	[ "$(sort "$dir/log" | uniq -d)" = "" ] || die "--print $1 $2 names a package twice"
	list="$1 $2"
	shift 2
	for package; do
		grep -qx -e "$package" "$dir/log" || die "$package is not in --print $list"
	done
}

prints debian build make gcc clang bpftool libbpf-dev libiberty-dev
prints debian check make libbpf-dev libcriterion-dev musl-tools
prints debian packages make libbpf-dev debhelper lintian
prints debian libraries libbpf-dev zlib1g-dev
! grep -qx gcc "$dir/log" || die "--print debian libraries has more than libraries"
prints fedora build make gcc clang bpftool libbpf-devel elfutils-devel zlib-devel xz-devel binutils-devel
prints fedora check gcc-c++ perf nodejs
prints arch build make gcc clang bpf libbpf libelf zlib xz
prints alpine build make gcc musl-dev linux-headers clang bpftool libbpf-dev elfutils-dev zlib-dev xz-dev
for args in '--print plan9' '--print debian everything' everything 'build check' libraries; do
	# Words on purpose.
	# shellcheck disable=SC2086
	! sh tools/deps.sh $args >"$dir/log" 2>&1 || die "tools/deps.sh $args is accepted"
	grep -q '^usage:' "$dir/log" || die "tools/deps.sh $args does not print the usage"
done

# Where Debian's own lists are, they know each of the names.
if [ -n "$(apt-cache show make 2>/dev/null)" ]; then
	{ sh tools/deps.sh --print debian check && sh tools/deps.sh --print debian packages; } | sort -u >"$dir/names"
	xargs apt-cache show --no-all-versions <"$dir/names" 2>"$dir/log" | sed -n 's/^Package: //p' | sort -u >"$dir/known"
	unknown=$(comm -23 "$dir/names" "$dir/known" | tr '\n' ' ')
	[ -z "$unknown" ] || die "Debian has no package $unknown"
fi

# Package managers that note what they install. All but $HAVE is missing.
mkdir "$dir/bin"
for tool in sh awk cat grep timeout uname env; do
	ln -s "$(command -v "$tool")" "$dir/bin/$tool"
done
stub() { # NAME; the commands come on standard input
	{ echo '#!/bin/sh' && cat; } >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
}
manager() { # NAME
	stub "$1" <<-'EOT'
		for last; do :; done
		case "${0##*/} $*" in
		"rpm -q"* | "pacman -T"* | "apk info"*)
			case " $HAVE " in *" $last "*) exit 0 ;; esac
			exit 1
			;;
		esac
		echo "${0##*/} $*" >>"$NOTES"
	EOT
}
echo 'echo 0' | stub id
deps() { # HAVE
	: >"$dir/notes"
	PATH=$dir/bin NOTES=$dir/notes HAVE=$1 limited "$dir/bin/sh" tools/deps.sh >"$dir/log" 2>&1
}
installs() { # DISTRIBUTION COMMAND
	deps 'make gcc' || die "tools/deps.sh on $1"
	[ "$(wc -l <"$dir/notes")" -eq 1 ] || die "on $1, tools/deps.sh calls more than one command"
	grep -q "^$2 " "$dir/notes" || die "on $1, tools/deps.sh calls: $(cat "$dir/notes")"
	! grep -qw gcc "$dir/notes" || die "on $1, tools/deps.sh installs what is there"
	grep -qw clang "$dir/notes" || die "on $1, tools/deps.sh does not install what is missing"
	deps "$(sh tools/deps.sh --print "$1" build | tr '\n' ' ')" || die "tools/deps.sh on $1, with all that is needed"
	[ ! -s "$dir/notes" ] || die "on $1, tools/deps.sh calls: $(cat "$dir/notes")"
}
manager rpm
manager dnf
installs fedora 'dnf install -y --setopt=install_weak_deps=False'
rm "$dir/bin/dnf"
manager pacman
installs arch 'pacman -S --needed --noconfirm'
rm "$dir/bin/pacman"
manager apk
installs alpine 'apk add'
rm "$dir/bin/apk"
! deps '' || die "no package manager, and no failure"
grep -q 'clang 14 or later' "$dir/log" || die "without a package manager it does not say what is needed"

# ---- make ---------------------------------------------------------------------------------------

misses() { # TEXT MAKE-ARGUMENT...
	text=$1
	shift
	! limited "$make" O="$dir/build" "$@" >"$dir/log" 2>&1 || die "make $* builds"
	[ "$(wc -l <"$dir/log")" -eq 1 ] || die "make $* prints more than a line"
	grep -qF "missing: $text; run: sh tools/deps.sh && make" "$dir/log" || die "make $* does not name: $text"
	[ ! -e "$dir/build" ] || die "make $* left $(ls "$dir/build")"
}

# It is not the make that runs this.
unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir -p "$dir/zstd" "$dir/old/bpf"
echo '#error' >"$dir/zstd/zstd.h"
echo '#define LIBBPF_MAJOR_VERSION 0' >"$dir/old/bpf/libbpf.h"
misses 'clang with the BPF target, bpftool' CLANG=false BPFTOOL=false
misses bpftool BPFTOOL=false check-unit
misses zstd "CC=$cc -isystem $dir/zstd"
misses 'libbpf 1.1 or later' "CC=$cc -isystem $dir/old"
misses 'a C compiler (false)' CC=false
limited "$make" CLANG=false BPFTOOL=false O="$dir/build" help >"$dir/log" 2>&1 || die "make help wants more than make"
limited "$make" CLANG=false BPFTOOL=false O="$dir/build" clean >"$dir/log" 2>&1 || die "make clean wants more than make"

# What was found is not looked for again.
stub cc <<EOT
echo asked >>"$dir/notes"
exec $cc "\$@"
EOT
: >"$dir/notes"
ask() {
	sh tools/have-deps.sh "$dir/stamp" "$dir/bin/cc" "${CLANG:-clang}" true -lz >"$dir/log" || die "tools/have-deps.sh"
	[ ! -s "$dir/log" ] || die "tools/have-deps.sh misses something"
}
ask
asked=$(wc -l <"$dir/notes")
[ "$asked" -gt 0 ] || die "the compiler is not tried"
ask
[ "$(wc -l <"$dir/notes")" -eq "$asked" ] || die "the compiler is tried again"
echo "deps: passed"
