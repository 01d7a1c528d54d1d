#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Another machine's libraries, to build and try the program for it here: tools/aarch64.sh DIR
# Leaves in DIR/root what `make` needs of arm64's packages, and DIR/dial9-prof, which runs ../dial9-prof, that of
# DIR's parent, in an emulator. Nothing of this machine's own packages or their lists is changed. What is there stays.
# Exit status: 0 it is there, 77 it cannot be had from here.
set -eu

[ $# -eq 1 ] || { echo "usage: tools/aarch64.sh DIR" >&2; exit 1; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
[ ! -e "$dir/whole" ] || exit 0

none() {
	echo "aarch64: $*" >&2
	exit 77
}

for tool in aarch64-linux-gnu-gcc qemu-aarch64 apt-get dpkg-deb; do
	command -v "$tool" >/dev/null 2>&1 || none "no $tool"
done
rm -rf "$dir/root" "$dir/apt"
mkdir -p "$dir/root" "$dir/apt/state/lists/partial" "$dir/apt/cache/archives/partial"
: >"$dir/apt/status"

# With lists and a state of its own, in which nothing is installed.
apt() {
	timeout 300 apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
		-o "Dir::State=$dir/apt/state" -o "Dir::State::status=$dir/apt/status" \
		-o "Dir::Cache=$dir/apt/cache" -o APT::Sandbox::User=root "$@" >"$dir/apt/log" 2>&1
}

apt update || none "no package lists for arm64: see $dir/apt/log"
# A list of words on purpose.
# shellcheck disable=SC2046
apt install -y --no-install-recommends --download-only libc6-dev $(sh tools/deps.sh --print debian libraries) ||
	none "no packages for arm64: see $dir/apt/log"
for deb in "$dir"/apt/cache/archives/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
cat >"$dir/dial9-prof" <<EOF
#!/bin/sh
exec qemu-aarch64 -L "$dir/root" "$(dirname "$dir")/dial9-prof" "\$@"
EOF
chmod +x "$dir/dial9-prof"
rm -rf "$dir/apt/cache"
: >"$dir/whole"
