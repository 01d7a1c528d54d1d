#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The container image of Containerfile, as an OCI archive, without a container engine: image.sh PROGRAM OUT.tar
# `podman load -i OUT.tar` takes it. The same program gives the same bytes; times are $SOURCE_DATE_EPOCH (0).
set -eu

[ $# -eq 2 ] || { echo "usage: tools/package/container/image.sh PROGRAM OUT.tar" >&2; exit 1; }
program=$1
out=$2
top=$(cd "$(dirname "$0")/../../.." && pwd)
version=$(sed -n 's/^.define DIAL9_VERSION_[MP][A-Z]* *//p' "$top/include/dial9.h" | paste -sd.)
seconds=${SOURCE_DATE_EPOCH:-0}
created=$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)
# As images name machines.
case $(readelf -h "$program" | sed -n 's/^ *Machine: *//p') in
*X86-64) machine=amd64 ;;
AArch64) machine=arm64 ;;
*) echo "image: $program is for neither x86-64 nor arm64" >&2; exit 1 ;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

same_tar() { # DIRECTORY FILE...
	from=$1
	shift
	tar -c -C "$from" --format=ustar --sort=name --mtime="@$seconds" --owner=0 --group=0 --numeric-owner "$@"
}

blobs=$dir/image/blobs/sha256
mkdir -p "$dir/root/data" "$dir/root/proc" "$dir/root/sys" "$dir/root/tmp" "$blobs"
chmod 755 "$dir/root"/*
chmod 1777 "$dir/root/tmp"
install -m 755 "$program" "$dir/root/dial9-prof"
install -m 644 "$top/LICENSE" "$dir/root/LICENSE"
same_tar "$dir/root" LICENSE data dial9-prof proc sys tmp >"$dir/layer"

sum() {
	sha256sum "$1" | cut -d' ' -f1
}
# Moves FILE to the blobs; sets $digest and $size.
blob() {
	digest=$(sum "$1")
	size=$(stat -c %s "$1")
	mv "$1" "$blobs/$digest"
}

layer_sum=$(sum "$dir/layer")
gzip -9 -n <"$dir/layer" >"$dir/layer.gz"
blob "$dir/layer.gz"
layer="{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"sha256:$digest\",\"size\":$size}"
printf '{"created":"%s","architecture":"%s","os":"linux","config":{"Entrypoint":["/dial9-prof"],"WorkingDir":"/data","Labels":{"org.opencontainers.image.title":"dial9-prof","org.opencontainers.image.version":"%s"}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
	"$created" "$machine" "$version" "$layer_sum" >"$dir/config"
blob "$dir/config"
config="{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"sha256:$digest\",\"size\":$size}"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
	"$config" "$layer" >"$dir/manifest"
blob "$dir/manifest"
printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s,"annotations":{"org.opencontainers.image.ref.name":"dial9-prof:%s"}}]}' \
	"$digest" "$size" "$version" >"$dir/image/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' >"$dir/image/oci-layout"
find "$dir/image" -type d -exec chmod 755 {} +
find "$dir/image" -type f -exec chmod 644 {} +
same_tar "$dir/image" blobs index.json oci-layout >"$out"
echo "image: $out: dial9-prof:$version for $machine, $(stat -c %s "$out") bytes"
