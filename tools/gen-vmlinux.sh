#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Writes every type of the running kernel as C, for looking up a type that vmlinux/vmlinux.h lacks:
# tools/gen-vmlinux.sh [FILE]   (default: build/vmlinux-full.h)
# The build does not use it: the programs see only the small header, and CO-RE finds the rest by name.
set -eu

out=${1:-build/vmlinux-full.h}
btf=/sys/kernel/btf/vmlinux
PATH=$PATH:/usr/sbin:/sbin

[ -r "$btf" ] || { echo "gen-vmlinux: $btf is missing: this kernel has no BTF" >&2; exit 1; }
command -v bpftool >/dev/null || { echo "gen-vmlinux: bpftool is not installed" >&2; exit 1; }
mkdir -p "$(dirname "$out")"
bpftool btf dump file "$btf" format c >"$out.tmp"
mv "$out.tmp" "$out"
echo "$out: $(wc -l <"$out") lines"
