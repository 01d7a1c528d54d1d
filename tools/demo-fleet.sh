#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# From a bare machine to a fleet: installs what is missing, builds, starts two ClickHouse servers on loopback and three
# recorders with host names of their own, which ship while they record, and answers six questions in SQL. Stops and removes
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
for package in clickhouse-server clickhouse-client curl; do
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
exec build/dial9-prof record -q --neighbours --ship http://127.0.0.1:\$3/fleet --label demo=yes \
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

# A table of both servers.
both() {
	echo "remote('127.0.0.1:$((port_a + 1)),127.0.0.1:$((port_b + 1))', fleet.$1)"
}
names="SELECT frame, max(function) AS function FROM $(both frames) WHERE depth = 0 GROUP BY frame"
leaves="SELECT stack, any(frames[1]) AS frame FROM $(both stacks) GROUP BY stack"
ask() {
	echo
	echo "== $1"
	clickhouse-client --host 127.0.0.1 --port $((port_a + 1)) --format PrettyCompactNoEscapes --query "$2"
}

ask "rows of each host" "SELECT host, count() AS slices, min(wall) < max(wall) AS has_time, uniq(batch) AS inserts
	FROM $(both slices) GROUP BY host ORDER BY host"

ask "1. functions by CPU time, over all hosts" "
SELECT round(sum(ns) / 1e9, 3) AS cpu_s, function FROM (
	SELECT frame, ns FROM (SELECT stack, sum(weight) AS ns FROM $(both samples) WHERE source = 'cpu' GROUP BY stack)
	ANY LEFT JOIN ($leaves) USING stack)
ANY LEFT JOIN ($names) USING frame GROUP BY function ORDER BY cpu_s DESC LIMIT 8"

ask "2. p99 run-queue latency of each service" "
SELECT host, service, count() AS waits, round(quantileExact(0.99)(dur) / 1e6, 3) AS p99_ms, round(max(dur) / 1e6, 3) AS max_ms
FROM $(both slices) WHERE state = 'runnable' AND NOT cut AND NOT recorder
GROUP BY host, service ORDER BY p99_ms DESC LIMIT 8"

ask "3. off-CPU stacks" "
SELECT round(ns / 1e9, 3) AS blocked_s, n, comm, substring(folded, 1, 100) AS stack_outermost_first FROM (
	SELECT stack, comm, sum(dur) AS ns, count() AS n FROM $(both slices)
	WHERE state = 'blocked' AND NOT recorder AND stack != 0 GROUP BY stack, comm ORDER BY ns DESC LIMIT 6)
ANY LEFT JOIN (
	SELECT stack, arrayStringConcat(groupArray(function), ';') AS folded FROM (
		SELECT stack, i, function FROM (
			SELECT stack, frame, i FROM (SELECT stack, any(frames) AS f FROM $(both stacks) GROUP BY stack)
			ARRAY JOIN arrayReverse(f) AS frame, arrayEnumerate(f) AS i)
		ANY LEFT JOIN ($names) USING frame ORDER BY stack, i)
	GROUP BY stack) USING stack
ORDER BY blocked_s DESC"

shares="SELECT stack, sumIf(weight, build = '$new') AS new_ns, sumIf(weight, build = '$old') AS old_ns
	FROM $(both samples) WHERE source = 'cpu' AND build IN ('$new', '$old') GROUP BY stack"
total() {
	echo "(SELECT sum(weight) FROM $(both samples) WHERE source = 'cpu' AND build = '$1')"
}
ask "4. what the new build changed: shares of CPU time by function" "
SELECT round(100 * sum(new_ns) / $(total "$new"), 1) AS new_percent, round(100 * sum(old_ns) / $(total "$old"), 1) AS old_percent,
	function FROM (
	SELECT frame, new_ns, old_ns FROM ($shares) ANY LEFT JOIN ($leaves) USING stack)
ANY LEFT JOIN ($names) USING frame GROUP BY function ORDER BY abs(new_percent - old_percent) DESC LIMIT 6"

longest=$(clickhouse-client --host 127.0.0.1 --port $((port_a + 1)) --query "SELECT argMax(ts, dur) FROM $(both slices)
	WHERE host = 'edge-2' AND state != 'running' AND comm = 'cruncher' AND NOT cut AND NOT recorder")
ask "5. the longest time without a CPU of a worker of the service on edge-2, and what ran around it" "
SELECT round((ts - $longest) / 1e6, 3) AS at_ms, comm, state, round(dur / 1e6, 3) AS ms, cpu, waker_comm, ran_comm
FROM $(both slices) WHERE host = 'edge-2' AND NOT recorder AND ts >= $longest - 1000000 AND ts <= $longest + 20000000
ORDER BY ts LIMIT 12"

ask "6. noisy neighbours: who ran while a service waited for a CPU" "
SELECT service, ran_comm, ran_service, count() AS waits, round(sum(ran_ns) / 1e6, 1) AS ran_ms
FROM $(both slices) WHERE state = 'runnable' AND NOT recorder GROUP BY service, ran_comm, ran_service
ORDER BY ran_ms DESC LIMIT 8"

ask "rows that were sent and rows that are there" "
SELECT host, sum(sent) AS sent, sum(seen) AS seen FROM (
	SELECT host, batch, any(rows) AS sent, any(rows_seen) AS seen FROM $(both ledger) GROUP BY host, batch)
GROUP BY host ORDER BY host"
echo
echo "answered after $(($(date +%s) - $(stat -c %Y "$dir/host.sh"))) s; servers, recorders and data are now removed"
