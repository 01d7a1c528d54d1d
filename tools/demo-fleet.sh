#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# From a bare machine to a fleet: installs what is missing, builds, starts two ClickHouse servers on loopback and three
# recorders with host names of their own, which ship while they record, and answers six questions. Stops and removes
# everything at the end. Needs root. Takes less than five minutes; D9_DEMO_SECONDS=20 records longer than 12 s.
set -eu

cd "$(dirname "$0")/.."
seconds=${D9_DEMO_SECONDS:-12}
port_a=${D9_DEMO_PORT:-18310} port_b=$((${D9_DEMO_PORT:-18310} + 10))

if [ "$(id -u)" -ne 0 ]; then
	echo "tools/demo-fleet.sh: needs root: it records, and sets host names in namespaces" >&2
	exit 1
fi
sh tools/deps.sh build
for package in clickhouse-server curl; do
	command -v $package >/dev/null 2>&1 || apt-get install -y -q $package >/dev/null || {
		echo "tools/demo-fleet.sh: cannot install $package; Debian has it" >&2
		exit 1
	}
done
make -j"$(nproc)" all

dir=$(mktemp -d /tmp/dial9-fleet.XXXXXX)
# Version 2, which the recorder reads; some machines have it nowhere.
cgroups=/sys/fs/cgroup
[ -e $cgroups/cgroup.controllers ] || {
	cgroups=$dir/cgroup
	mkdir "$cgroups"
	mount -t cgroup2 none "$cgroups" 2>/dev/null || :
}
groups=$cgroups/dial9-demo-$$
recorders=
stop() {
	trap - EXIT INT TERM
	for pid in $recorders; do
		kill "$pid" 2>/dev/null || :
	done
	wait
	sh tools/clickhouse.sh kill "$dir/a"
	sh tools/clickhouse.sh kill "$dir/b"
	rmdir "$groups"/* "$groups" 2>/dev/null || :
	umount "$dir/cgroup" 2>/dev/null || :
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM

# ---- servers: each host writes to one of them -----------------------------------------------------

echo "== two servers below $dir"
sh tools/clickhouse.sh start "$dir/a" "$port_a"
sh tools/clickhouse.sh start "$dir/b" "$port_b"
for port in "$port_a" "$port_b"; do
	sh tools/clickhouse.sh sql "$port" 'CREATE DATABASE fleet'
done

# ---- hosts: a service in two builds, next to a batch job ------------------------------------------

mkdir -p "$dir/new" "$dir/old" "$dir/bin"
for build in old new; do
	[ $build = new ] && level=-O0 || level=-O2
	${CC:-cc} -g "$level" -pthread -fno-omit-frame-pointer -D_GNU_SOURCE -Itests/stimuli -Iinclude -Wl,--build-id \
		tests/stimuli/demo.c -o "$dir/$build/api"
done
build_id() {
	readelf -n "$dir/$1/api" | sed -n 's/.*Build ID: //p'
}
old=$(build_id old) new=$(build_id new)
if [ -e "$cgroups/cgroup.procs" ] && mkdir -p "$groups/api" "$groups/batch" 2>/dev/null; then
	join='echo $$ >'"$groups"
else
	join='echo $$ >/dev/null ; :'
fi
cat >"$dir/host.sh" <<HOST
hostname \$1
mount --bind $dir/\$2 $dir/bin
sh -c '$join/api/cgroup.procs; exec $dir/bin/api --now $((seconds + 2))' >/dev/null &
api=\$!
sh $dir/batch.sh &
exec build/dial9-prof record -q --neighbours -e 'raw_syscalls:*' --ship http://127.0.0.1:\$3/fleet --label demo=yes \
	--switch-output=5s -o $dir/spool-\$1/trace.bin -d $seconds -p \$api,\$!
HOST
cat >"$dir/batch.sh" <<BATCH
$join/batch/cgroup.procs
end=\$((\$(date +%s) + $seconds + 2))
while [ \$(date +%s) -lt \$end ]; do
	gzip -1 <$dir/new/api >/dev/null
	dd if=/dev/zero of=$dir/\$(hostname) bs=64k count=16 conv=fsync 2>/dev/null
done
BATCH
echo "== three recorders for $seconds s: edge-1 and edge-3 have the old build of the service, edge-2 the new one"
for host in "edge-1 old $port_a" "edge-2 new $port_b" "edge-3 old $port_a"; do
	# shellcheck disable=SC2086
	unshare --uts --mount sh "$dir/host.sh" $host &
	recorders="$recorders $!"
done
for pid in $recorders; do
	wait "$pid" || echo "a recorder ended with status $?" >&2
done
recorders=

# ---- six answers ----------------------------------------------------------------------------------

fleet="--at http://127.0.0.1:$port_a/fleet --at http://127.0.0.1:$port_b/fleet"
ask() { # TITLE ARGUMENT...
	echo
	echo "== $1"
	shift
	# shellcheck disable=SC2086 # options
	build/dial9-prof query $fleet "$@"
}

ask "hosts, with their losses" hosts
ask "1. functions by CPU time, over all hosts" top-functions --param limit=8
ask "2. p99 run-queue latency of each service, by minute" runq-latency
ask "3. off-CPU stacks of edge-1" offcpu-stacks --param host=edge-1 --param limit=6
ask "4. what the new build changed: shares of CPU time by function" build-diff --param "before=$old" --param "after=$new" \
	--param limit=6
ask "5. the slowest system call of edge-2, and what ran around it" slowest-request --param host=edge-2
ask "6. noisy neighbours: which threads ran while a service waited for a CPU" noisy-neighbours --param limit=8
ask "rows that were sent and rows at the servers" "SELECT host, sum(sent) AS sent, sum(seen) AS seen FROM (
	SELECT host, batch, any(rows) AS sent, any(rows_seen) AS seen FROM ledger GROUP BY host, batch)
	GROUP BY host ORDER BY host"
echo
echo "answered after $(($(date +%s) - $(stat -c %Y "$dir/host.sh"))) s; servers, recorders and data are now removed"
