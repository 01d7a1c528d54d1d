#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Events turned into text per second of CPU time: our `script`, `script --json` and `dump --json` beside `perf
# script`, over recordings of the same workload with the same events, switches with kernel and user stacks.
# Interleaved, the best of all rounds; the text goes nowhere.
# tools/bench/script.sh [ROUNDS [OPERATIONS]]   (3 200000; needs root and perf)
set -eu

rounds=${1:-3}
ops=${2:-200000}
prog=${D9_BUILD:-build}/dial9-prof
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# shellcheck source=tools/bench/needs.sh
. "$(dirname "$0")/needs.sh"

"$prog" -q --no-sched --no-samples -e sched:sched_switch -o "$dir/ours" -- \
	perf bench sched pipe -l "$ops" >/dev/null
# perf 6.1 dies over some of its own recordings: until there is one that it can read
tries=0
until perf record -q -B -N -e sched:sched_switch -g -o "$dir/perf" -- \
	perf bench sched pipe -l "$ops" >/dev/null && perf script -i "$dir/perf" >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ $tries -lt 10 ] || { echo "bench: perf script fails on what perf records" >&2; exit 1; }
done

print() { # NAME
	case $1 in
	perf-script) perf script -i "$dir/perf" 2>/dev/null ;;
	script) "$prog" script "$dir/ours" ;;
	script-json) "$prog" script --json "$dir/ours" ;;
	dump-json) "$prog" dump --json "$dir/ours" ;;
	esac
}

# A switch counts once, with its stack; dump has nothing but frames.
events() { # NAME
	case $1 in
	dump-json) print "$1" | wc -l ;;
	*) print "$1" | grep -c 'sched:sched_switch[":]' ;;
	esac
}

# Seconds of CPU time that the children of this shell have taken so far.
spent() {
	times >"$dir/spent" # in a subshell they would be another's
	seconds=$(awk 'NR == 2 { gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4 }' "$dir/spent")
}

names="perf-script script script-json dump-json"
while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	for name in $names; do
		spent
		before=$seconds
		print "$name" >/dev/null
		spent
		echo "$before $seconds" >>"$dir/times-$name"
	done
done
printf '%-12s %10s %8s %12s %8s\n' program events seconds events/s x
for name in $names; do
	awk -v name="$name" -v events="$(events "$name")" -v base="${base:-0}" '
		NR == 1 || $2 - $1 < best { best = $2 - $1 }
		END {
			rate = best ? events / best : 0
			printf "%-12s %10d %8.2f %12.0f %8.1f\n", name, events, best, rate, base ? rate / base : 1
		}' "$dir/times-$name" | tee "$dir/line"
	base=${base:-$(awk '{ print $4 }' "$dir/line")}
done
