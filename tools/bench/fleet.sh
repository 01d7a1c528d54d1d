#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a fleet costs, from one host: records the whole machine under the bundled workload, ships it to a local ClickHouse
# server, and prints bytes and CPU time per row, then the same for fleets. dial9-prof-fleet(7) has its output.
#
#   fleet.sh [SECONDS (60)] [SLICES SAMPLES per second and host of the fleet (5000 400)]
#
# Needs root and clickhouse-server. CPU time counts, so a busy machine changes the figures little.
set -eu

cd "$(dirname "$0")/../.."
# A network of its own, so that the loopback's counters are those of ship.
if [ -z "${D9_BENCH_NET:-}" ]; then
	D9_BENCH_NET=1 exec unshare --net sh tools/bench/fleet.sh "$@"
fi
ip link set lo up
seconds=${1:-60} slices=${2:-5000} samples=${3:-400}
port=${D9_BENCH_PORT:-18510}
dir=$(mktemp -d /tmp/dial9-bench-fleet.XXXXXX)
stop() {
	trap - EXIT
	sh tools/clickhouse.sh kill "$dir/server"
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM

sql() {
	sh tools/clickhouse.sh sql "$port" "$1"
}
# CPU seconds of a process, all threads.
cpu() {
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"
}

make -s all build/stimuli/demo
build/stimuli/demo --now $((seconds + 1)) >/dev/null &
mkdir "$dir/spool"
build/dial9-prof record -a -q -d "$seconds" --switch-output=1min -o "$dir/spool/t.bin"
trace_bytes=$(cat "$dir"/spool/*.bin | wc -c)
gzip_bytes=$(cat "$dir"/spool/*.bin | gzip -1 | wc -c)
files=$(find "$dir/spool" -name '*.bin' | wc -l)

sh tools/clickhouse.sh start "$dir/server" "$port"
sql 'CREATE DATABASE fleet'
server=$(cat "$dir/server/pid")
server_before=$(cpu "$server")
received() {
	awk '$1 == "lo:" { print $2 }' /proc/net/dev
}
wire_before=$(received)
ship_cpu=$({ bash -c 'TIMEFORMAT="%U %S"; time build/dial9-prof ship "$1" --to "http://127.0.0.1:$2/fleet" --once 2>"$3"' \
	ship "$dir/spool" "$port" "$dir/ship.log"; } 2>&1 | awk '{ print $1 + $2 }')
wire=$(($(received) - wire_before))
inserts=$(sed -n 's/.* in \([0-9]*\) inserts.*/\1/p' "$dir/ship.log")
# merges belong to the cost
for table in samples slices spans waits_rollup offcpu_rollup cpu_rollup; do
	sql "OPTIMIZE TABLE fleet.$table"
done
server_cpu=$(echo "$(cpu "$server") $server_before" | awk '{ print $1 - $2 }')
rows() {
	sql "SELECT count() FROM fleet.$1"
}
disk() {
	sql "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'fleet' AND table = '$1'" |
		awk '{ print $1 + 0 }'
}
n_slices=$(rows slices) n_samples=$(rows samples) n_stacks=$(rows stacks) n_frames=$(rows frames)
all=$((n_slices + n_samples + n_stacks + n_frames))

awk -v seconds="$seconds" -v trace="$trace_bytes" -v gz="$gzip_bytes" -v files="$files" -v inserts="$inserts" -v n_slices="$n_slices" \
	-v n_samples="$n_samples" -v n_stacks="$n_stacks" -v all="$all" -v wire="$wire" -v ship="$ship_cpu" -v server="$server_cpu" \
	-v d_slices="$(disk slices)" -v d_samples="$(disk samples)" -v d_rest="$(($(disk stacks) + $(disk frames)))" -v d_rollups="$(($(disk waits_rollup) + $(disk offcpu_rollup) + $(disk cpu_rollup)))" \
	-v slices="$slices" -v samples="$samples" '
function size(b) {
	return b < 1e6 ? sprintf("%.0f kB", b / 1e3) : b < 1e9 ? sprintf("%.1f MB", b / 1e6) : \
		b < 1e12 ? sprintf("%.1f GB", b / 1e9) : sprintf("%.1f TB", b / 1e12)
}
BEGIN {
	facts = n_slices + n_samples
	printf "measured: %d s, %d slices and %d samples per second, %d files\n", seconds, n_slices / seconds, n_samples / seconds, files
	printf "trace: %.0f kB/s, %.1f bytes per slice and sample; gzip -1 %.1f\n", trace / seconds / 1e3, trace / facts, gz / facts
	printf "rows: %d, of these %d stacks; wire %.1f bytes per slice and sample\n", all, n_stacks, wire / facts
	printf "disk: %.1f bytes per slice, %.1f per sample, %s of stacks and frames, %s of rollups\n", d_slices / n_slices, d_samples / n_samples, size(d_rest), size(d_rollups)
	printf "inserts: %.1f per file\n", inserts / files
	printf "CPU: ship %.2f s, server %.2f s per million slices and samples\n", ship / facts * 1e6, server / facts * 1e6
	printf "fleet of hosts with %d slices and %d samples per second, a file per minute:\n", slices, samples
	printf "%8s %14s %12s %12s %12s %14s\n", "hosts", "rows/s", "inserts/s", "network/s", "disk/day", "server CPUs"
	for (i = 1; i <= 3; i++) {
		hosts = i == 1 ? 10 : i == 2 ? 1000 : 100000
		rate = hosts * (slices + samples)
		printf "%8d %14d %12.1f %12s %12s %14.1f\n", hosts, rate, hosts * inserts / files / 60, size(rate * wire / facts), \
			size(hosts * 86400 * (slices * d_slices / n_slices + samples * d_samples / n_samples)), rate * server / facts
	}
}'
