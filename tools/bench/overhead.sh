#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What recording costs: time added to each operation of `perf bench sched pipe` pinned to one CPU, by
# dial9-prof and by perf, both system-wide, interleaved so that the machine's moods fall on all alike, the least
# of all rounds; then bytes a switch and events lost in the last round. "default" is what we record unasked.
# tools/bench/overhead.sh [ROUNDS [OPERATIONS]]   (7 200000; needs root and perf)
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

# Ours takes the same event as perf, with no stacks, user stacks, both, and both pooled.
ours() { # NAME OPTION...
	name=$1
	shift
	"$prog" -a -q --no-samples --no-sched -e sched:sched_switch -o "$dir/$name" "$@" &
}

measure() { # NAME
	case $1 in
	none) ;;
	ours) ours ours --switch-stacks none ;;
	ours-user) ours ours-user --switch-stacks user ;;
	ours-both) ours ours-both --switch-stacks both ;;
	ours-pool) ours ours-pool --switch-stacks both --spec 0.4 ;;
	default) "$prog" -a -q -o "$dir/default" & ;;
	perf) perf record -q -B -N -e sched:sched_switch -a -o "$dir/perf" & ;;
	perf-g) perf record -q -B -N -e sched:sched_switch -g -a -o "$dir/perf-g" & ;;
	esac
	if [ "$1" != none ]; then
		recorder=$!
		await "$dir/$1" 1
		sleep 0.5
	fi
	pipe_usecs >>"$dir/times-$1"
	stop 2>/dev/null
}

modes="none ours perf ours-user ours-both ours-pool perf-g default"
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	for mode in $modes; do
		measure "$mode"
	done
done

switches() {
	case $1 in
	perf*) perf script -i "$dir/$1" -F event 2>/dev/null | grep -c sched_switch || : ;;
	*) "$prog" dump "$dir/$1" | grep -c ' event .* sched:sched_switch ' || : ;;
	esac
}

lost() {
	case $1 in
	perf*) perf report -i "$dir/$1" --stats 2>/dev/null |
		awk '/LOST_SAMPLES|LOST events/ { n += $NF } END { print n + 0 }' ;;
	*) "$prog" dump "$dir/$1" | sed -n 's/.*RecorderStats .* lost=\([0-9]*\) .*/\1/p' | tail -n 1 ;;
	esac
}

base=$(sort -n "$dir/times-none" | head -n 1)
printf '%-10s %10s %12s %14s %8s\n' recorder us/op "added us/op" "bytes/switch" lost
for mode in $modes; do
	best=$(sort -n "$dir/times-$mode" | head -n 1)
	added=$(echo "$best $base" | awk '{ printf "%.3f", $1 - $2 }')
	if [ "$mode" = none ]; then
		printf '%-10s %10s\n' none "$best"
		continue
	fi
	bytes=$(stat -c %s "$dir/$mode" | awk -v n="$(switches "$mode")" '{ printf "%.1f", n ? $1 / n : 0 }')
	printf '%-10s %10s %12s %14s %8s\n' "$mode" "$best" "$added" "$bytes" "$(lost "$mode")"
done
