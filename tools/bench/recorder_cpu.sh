#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# CPU time of the recorders themselves: all processes of dial9-prof, and of `perf record` for the same question, while
# the same workload runs: by default a fixed number of operations of `perf bench sched pipe` pinned to one CPU. The
# recorders run in turn, so that noise on the machine affects all alike. Start and end of the recorders do not count.
# Prints the least and the median of all rounds, and both as a part of perf's (with stacks: perf -g).
# D9_LOAD='stress-ng --cpu 4' runs next to it. D9_WORK='COMMAND' replaces the workload.
# tools/bench/recorder_cpu.sh [ROUNDS [OPERATIONS [MODE...]]]   (5 300000 all; needs root, perf and setsid)
set -eu

rounds=${1:-5}
ops=${2:-300000}
prog=${D9_BUILD:-build}/dial9-prof
work=${D9_WORK:-taskset -c 0 perf bench sched pipe -l $ops}
dir=$(mktemp -d)
recorder=
load=

stop() {
	[ -z "$recorder" ] || kill -INT "$recorder" 2>/dev/null || :
	[ -z "$recorder" ] || wait "$recorder" || :
	recorder=
}

clean_up() {
	stop
	[ -z "$load" ] || kill -s KILL -- "-$load" 2>/dev/null || :
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# shellcheck source=tools/bench/needs.sh
. "$(dirname "$0")/needs.sh"

# Nanoseconds on a CPU, of all threads of the recorder and of its children.
cpu_ns() {
	for pid in "$recorder" $(pgrep -P "$recorder"); do
		cat "/proc/$pid/task/"*/schedstat 2>/dev/null || :
	done | awk '{ n += $1 } END { printf "%d\n", n }'
}

# The recorder is attached when its output has grown past its header.
await() { # FILE
	tries=0
	while [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt 1 ]; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { echo "bench: $1 does not grow" >&2; exit 1; }
		sleep 0.05
	done
}

ours() { # NAME OPTION...
	name=$1
	shift
	"$prog" -a -q --no-samples --no-sched -e sched:sched_switch -o "$dir/$name" "$@" &
}

theirs() { # NAME OPTION...
	name=$1
	shift
	perf record -q -B -N -e sched:sched_switch -a -o "$dir/$name" "$@" &
}

measure() { # NAME
	case $1 in
	ours) ours ours --switch-stacks none ;;
	ours-user) ours ours-user --switch-stacks user ;;
	ours-both) ours ours-both --switch-stacks both ;;
	ours-0.3) ours ours-0.3 --switch-stacks both --spec 0.3 ;;
	default) "$prog" -a -q -o "$dir/default" & ;;
	perf) theirs perf ;;
	perf-g) theirs perf-g -g ;;
	*) echo "bench: unknown recorder '$1'" >&2; exit 1 ;;
	esac
	recorder=$!
	await "$dir/$1"
	sleep 1.5
	before=$(cpu_ns)
	$work >/dev/null 2>&1
	sleep 0.3
	echo $(($(cpu_ns) - before)) >>"$dir/times-$1"
	stop 2>/dev/null
	rm -f "$dir/$1" "$dir/$1.old"
}

if [ -n "${D9_LOAD:-}" ]; then
	# shellcheck disable=SC2086 # a command line
	setsid $D9_LOAD >/dev/null 2>&1 &
	load=$!
fi
if [ $# -gt 2 ]; then
	shift 2
	modes=$*
else
	modes="ours perf ours-user ours-both ours-0.3 perf-g default"
fi
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	for mode in $modes; do
		measure "$mode"
	done
done

# Milliseconds: the least and the median of one mode's rounds.
least() { sort -n "$dir/times-$1" | awk 'NR == 1 { print $1 / 1e6 }'; }
median() { sort -n "$dir/times-$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] / 1e6 }'; }
part() { # FUNCTION MODE BY
	[ -e "$dir/times-$3" ] || { echo -; return; }
	echo "$("$1" "$2") $("$1" "$3")" | awk '{ printf "%.2f", $2 ? $1 / $2 : 0 }'
}

printf '%-10s %9s %9s %15s\n' recorder "least ms" "median ms" "of perf"
for mode in $modes; do
	case $mode in
	ours | perf) by=perf ;;
	*) by=perf-g ;;
	esac
	printf '%-10s %9.1f %9.1f %7s %7s\n' "$mode" "$(least "$mode")" "$(median "$mode")" \
		"$(part least "$mode" $by)" "$(part median "$mode" $by)"
done
