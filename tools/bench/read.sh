#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Events that the reading commands take in per second of CPU time, and the memory that they need, beside perf, over
# recordings of the same workload: CPU samples, switches and wakings with stacks for `report`, what `perf sched record`
# takes for `sched`. Ours is repeated to be as long as wanted. Interleaved, least and median of all rounds; what is
# printed goes nowhere.
# tools/bench/read.sh [ROUNDS [OPERATIONS [COPIES]]]   (3 200000 10; needs root, perf, GNU time and repeat_trace: `make bench-read` builds and runs)
# D9_PROGRAMS="build/dial9-prof other/dial9-prof" compares builds of ours.
set -eu

rounds=${1:-3}
ops=${2:-200000}
copies=${3:-10}
build=${D9_BUILD:-build}
programs=${D9_PROGRAMS:-$build/dial9-prof}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 1; }
command -v perf >/dev/null || { echo "bench: perf is not installed (linux-perf)" >&2; exit 1; }
[ -x /usr/bin/time ] || { echo "bench: GNU time is not installed (time)" >&2; exit 1; }
[ -x "$build/bench/repeat_trace" ] || { echo "bench: no repeat_trace: make bench-read builds it" >&2; exit 1; }
for prog in $programs; do
	[ -x "$prog" ] || { echo "bench: no $prog: run make" >&2; exit 1; }
done

bench() {
	perf bench sched pipe -l "$ops" >/dev/null
}

bench & # the whole system is recorded, and it runs meanwhile
"${programs%% *}" -q -a -d 5 -F 999 -o "$dir/once"
wait
"$build/bench/repeat_trace" "$dir/once" "$copies" >"$dir/ours"
perf record -q -a -g -e cpu-clock -e sched:sched_switch -e sched:sched_waking -o "$dir/all" -- \
	perf bench sched pipe -l "$ops" >/dev/null
perf sched record -o "$dir/sched" -- perf bench sched pipe -l "$ops" >/dev/null 2>&1

events() { # FILE
	case $1 in
	"$dir/ours") "${programs%% *}" info "$1" | awk '$1 == "events" { gsub(",", "", $2); print $2 }' ;;
	*) perf report --stats -i "$1" 2>/dev/null | awk '/TOTAL events/ { print $3 }' ;;
	esac
}

# Appends the CPU time in seconds and the memory in MB of one run.
run() { # NAME FILE COMMAND...
	name=$1
	file=$2
	shift 2
	echo "$file $*" >"$dir/command-$name"
	/usr/bin/time -a -o "$dir/times-$name" -f '%U %S %M' "$@" "$file" >/dev/null 2>&1 ||
		echo "bench: failed: $*" >&2
}

one_round() {
	run perf-report "$dir/all" perf report --stdio --no-children -i
	run perf-latency "$dir/sched" perf sched latency -i
	run perf-timehist "$dir/sched" perf sched timehist -i
	n=0
	for prog in $programs; do
		n=$((n + 1))
		run "$n-report" "$dir/ours" "$prog" report
		run "$n-comm" "$dir/ours" "$prog" report -s comm
		run "$n-wall" "$dir/ours" "$prog" report --wall
		run "$n-offcpu" "$dir/ours" "$prog" offcpu
		run "$n-latency" "$dir/ours" "$prog" sched latency
		run "$n-summary" "$dir/ours" "$prog" sched summary
		run "$n-timehist" "$dir/ours" "$prog" sched timehist
		run "$n-wakeup" "$dir/ours" "$prog" wakeup
	done
}

while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	one_round
done
for file in ours all sched; do
	events "$dir/$file" >"$dir/events-$file"
done
printf '%8s %8s %10s %10s %6s  %s\n' least median events events/s MB command
for times in "$dir"/times-*; do
	read -r file command <"$dir/command-${times##*/times-}"
	sort -n "$times" | awk -v events="$(cat "$dir/events-${file##*/}")" -v command="$command" '
		$1 ~ /^[0-9.]+$/ { s[++n] = $1 + $2; if ($3 > mem) mem = $3 }
		END {
			for (i = 2; i <= n; i++)
				for (k = i; k > 1 && s[k] < s[k - 1]; k--) { t = s[k]; s[k] = s[k - 1]; s[k - 1] = t }
			printf "%8.2f %8.2f %10d %10.0f %6.0f  %s\n", s[1], s[int((n + 1) / 2)], events,
				s[1] ? events / s[1] : 0, mem / 1024, command
		}'
done
