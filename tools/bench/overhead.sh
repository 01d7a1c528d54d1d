#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What recording costs: CPU time added to each operation of `perf bench sched pipe` pinned to one CPU, by
# dial9-prof and by perf, both system-wide, interleaved so that the machine's moods fall on all alike: the least
# and the median of all rounds, and that as a part of what perf adds (with stacks: perf -g); then bytes a switch
# and events lost in the last round. "default" is what we record unasked, "summary" is --summary. Time of the
# clock would count whoever else runs on that CPU; the benchmark never waits, so that its CPU time is all there is.
# tools/bench/overhead.sh [ROUNDS [OPERATIONS [MODE...]]]   (7 200000 all; needs root, perf and bash)
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

# shellcheck source=tools/bench/needs.sh
. "$(dirname "$0")/needs.sh"

# Microseconds an operation, of the benchmark's processes in user mode and in the kernel.
pipe_usecs() {
	# shellcheck disable=SC2016 # bash is to expand it
	bash -c 'TIMEFORMAT="%U %S"; time taskset -c 0 perf bench sched pipe -l "$1" >/dev/null' - "$ops" 2>&1 |
		awk -v n="$ops" '{ printf "%.3f\n", ($1 + $2) * 1e6 / n }'
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

# Ours takes the same event as perf, with no stacks, user stacks, both, and both at level 0.3.
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
	ours-0.3) ours ours-0.3 --switch-stacks both --spec 0.3 ;;
	default) "$prog" -a -q -o "$dir/default" & ;;
	summary) "$prog" -a -q --summary -o "$dir/summary" & ;;
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

if [ $# -gt 2 ]; then
	shift 2
	modes="none $*"
else
	modes="none ours perf ours-user ours-both ours-0.3 perf-g default summary"
fi
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

# Of one mode's times: the least, or the median.
least() { sort -n "$dir/times-$1" | head -n 1; }
median() { sort -n "$dir/times-$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

# What a mode adds, by least or median; and that by what the other adds, where that was measured.
added() { echo "$("$1" "$2") $("$1" none)" | awk '{ printf "%.3f", $1 - $2 }'; }
part() {
	[ -e "$dir/times-$3" ] || { echo -; return; }
	echo "$(added "$1" "$2") $(added "$1" "$3")" | awk '{ printf "%.2f", $2 ? $1 / $2 : 0 }'
}

printf '%-10s %8s %8s %8s %8s %13s %14s %8s\n' recorder us/op added median added 'of perf' "bytes/switch" lost
for mode in $modes; do
	if [ "$mode" = none ]; then
		printf '%-10s %8s %8s %8s\n' none "$(least none)" '' "$(median none)"
		continue
	fi
	case $mode in
	ours | perf) by=perf ;;
	*) by=perf-g ;;
	esac
	bytes=$(stat -c %s "$dir/$mode" | awk -v n="$(switches "$mode")" '{ printf "%.1f", n ? $1 / n : 0 }')
	printf '%-10s %8s %8s %8s %8s %6s %6s %14s %8s\n' "$mode" "$(least "$mode")" "$(added least "$mode")" \
		"$(median "$mode")" "$(added median "$mode")" "$(part least "$mode" $by)" \
		"$(part median "$mode" $by)" "$bytes" "$(lost "$mode")"
done
