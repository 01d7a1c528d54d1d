#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What recording costs: time added to each operation of `perf bench sched pipe` pinned to one CPU, by
# dial9-prof and by perf, both system-wide, interleaved so that the machine's moods fall on all alike; then
# bytes an event and events lost. "switch" is sched_switch alone, as perf records it here; "ours" is the
# whole default set of scheduler events. tools/bench/overhead.sh [ROUNDS [OPERATIONS]]   (7 200000; needs root and perf)
set -eu

rounds=${1:-7}
ops=${2:-200000}
prog=${D9_BUILD:-build}/dial9-prof
dir=$(mktemp -d)
recorder=
trap 'stop; rm -rf "$dir"' EXIT

stop() {
	[ -n "$recorder" ] || return 0
	kill -INT "$recorder" 2>/dev/null || :
	wait "$recorder" || :
	recorder=
}

[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 1; }
command -v perf >/dev/null || { echo "bench: perf is not installed (linux-perf)" >&2; exit 1; }
[ -x "$prog" ] || { echo "bench: no $prog: run make" >&2; exit 1; }

# Microseconds an operation, from perf bench's own clock.
pipe_usecs() {
	taskset -c 0 perf bench sched pipe -l "$ops" | awk '/usecs\/op/ { print $1 }'
}

# Ready is when the output has grown past its header: the recorder is attached then.
await() { # FILE MIN_BYTES
	tries=0
	while [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { echo "bench: $1 does not grow" >&2; exit 1; }
		sleep 0.05
	done
}

measure() { # NAME
	case $1 in
	none) ;;
	switch) "$prog" -a -q --no-samples --no-sched -e sched:sched_switch --switch-stacks none \
		-o "$dir/switch" & ;;
	ours) "$prog" -a -q --no-samples --switch-stacks none -o "$dir/ours" & ;;
	ours-user) "$prog" -a -q --no-samples --switch-stacks user -o "$dir/ours-user" & ;;
	ours-both) "$prog" -a -q --no-samples --switch-stacks both -o "$dir/ours-both" & ;;
	perf) perf record -q -e sched:sched_switch -a -o "$dir/perf" & ;;
	perf-both) perf record -q -e sched:sched_switch -g -a -o "$dir/perf-both" & ;;
	esac
	if [ "$1" != none ]; then
		recorder=$!
		await "$dir/$1" 1
		sleep 0.5
	fi
	pipe_usecs >>"$dir/times-$1"
	stop 2>/dev/null
}

modes="none switch ours perf ours-user ours-both perf-both"
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	for mode in $modes; do
		measure "$mode"
	done
done

base=$(sort -n "$dir/times-none" | head -n 1)
printf '%-10s %10s %12s\n' recorder us/op "added us/op"
for mode in $modes; do
	best=$(sort -n "$dir/times-$mode" | head -n 1)
	printf '%-10s %10s %12s\n' "$mode" "$best" "$(echo "$best $base" | awk '{ printf "%.3f", $1 - $2 }')"
done
echo
for mode in switch ours ours-both; do
	echo "$mode: $(stat -c %s "$dir/$mode") bytes"
	"$prog" info "$dir/$mode" | grep -E '^account|^lost|sched:sched_switch$' || :
done
for mode in perf perf-both; do
	switches=$(perf script -i "$dir/$mode" -F event 2>/dev/null | grep -c sched_switch || :)
	stat -c %s "$dir/$mode" | awk -v n="$switches" -v m="$mode" \
		'{ printf "%s: %d bytes, %d switches, %.1f bytes each\n", m, $1, n, n ? $1 / n : 0 }'
done
