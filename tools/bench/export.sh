#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Events that `export` takes in per second of CPU time, the memory that it needs, and how much it writes, by format: of
# a recording with CPU samples, switches and wakings with stacks, repeated to be as long as wanted. The least of all
# rounds.
# tools/bench/export.sh [ROUNDS [EVENTS [OPERATIONS]]]   (1 10000000 200000; needs root, perf, GNU time and repeat_trace:
# `make bench-export` builds and runs)
# D9_PROGRAMS="build/dial9-prof other/dial9-prof" compares builds of ours; D9_TRACE=FILE takes that recording.
set -eu

rounds=${1:-1}
events=${2:-10000000}
ops=${3:-200000}
build=${D9_BUILD:-build}
programs=${D9_PROGRAMS:-$build/dial9-prof}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

[ -x /usr/bin/time ] || { echo "bench: GNU time is not installed (time)" >&2; exit 1; }
[ -x "$build/bench/repeat_trace" ] || { echo "bench: no repeat_trace: make bench-export builds it" >&2; exit 1; }
for prog in $programs; do
	[ -x "$prog" ] || { echo "bench: no $prog: run make" >&2; exit 1; }
done
formats=$("${programs%% *}" export --completion | cut -f 2 | sed '/^-/d')

count() { # FILE
	"${programs%% *}" info "$1" | awk '$1 == "events" { gsub(",", "", $2); print $2 }'
}

once=${D9_TRACE:-$dir/once}
if [ -z "${D9_TRACE:-}" ]; then
	[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 1; }
	command -v perf >/dev/null || { echo "bench: perf is not installed (linux-perf)" >&2; exit 1; }
	perf bench sched pipe -l "$ops" >/dev/null & # the whole system is recorded, and it runs meanwhile
	"${programs%% *}" -q -a -d 5 -F 999 -o "$once"
	wait
fi
of_one=$(count "$once")
"$build/bench/repeat_trace" "$once" $(((events + of_one - 1) / of_one)) >"$dir/long"
events=$(count "$dir/long")

# Appends seconds, kB and bytes.
run() { # PROGRAM FORMAT
	/usr/bin/time -o "$dir/time" -f '%U %S %M' "$1" export "$2" "$dir/long" 2>"$dir/err" | wc -c >"$dir/bytes"
	echo "$(tail -n 1 "$dir/time") $(cat "$dir/bytes")"
}

printf '%-12s %8s %10s %8s %9s  %s\n' format seconds events/s RSS/MB B/event program
for format in $formats; do
	for prog in $programs; do
		left=$rounds
		while [ "$left" -gt 0 ]; do
			left=$((left - 1))
			run "$prog" "$format"
		done | awk -v format="$format" -v prog="$prog" -v events="$events" '
			$1 ~ /^[0-9.]+$/ {
				s = $1 + $2
				least = least && least < s ? least : s
				memory = $3 > memory ? $3 : memory
				bytes = $4
			}
			END {
				printf "%-12s %8.2f %10.0f %8.1f %9.1f  %s\n", format, least,
					least ? events / least : 0, memory / 1024, bytes / events, prog
			}'
	done
done
