#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hostile programs next to innocent ones: every hostile program of tests/stimuli runs at once, again and again, beside
# redis-benchmark and make -j2, while dial9-prof and perf record the whole system. Before that, the innocents are
# recorded alone. At the end it must hold that no event was lost, that the innocents have no unnamed function that has
# a name when they run alone, that all processes of the recorder together took at most twice the CPU time of
# `perf record -g -a` for the same events, and that they stayed below 300 MB (PSS). Both write files; perf resolves no
# symbols.
# Exit status: 0 all of that holds, 1 not, 77 it cannot be measured here.
# tools/bench/steady.sh [SECONDS [OPTION...]]   (1800; options are the recorder's; needs root, jq, perf and redis)
set -eu

seconds=${1:-1800}
[ $# -eq 0 ] || shift
build=${D9_BUILD:-build}
prog=$(realpath "$build/dial9-prof")
stimuli=$(realpath "$build/stimuli")
dir=$(mktemp -d)
workers=
recorder=
perf=
bad=

stop() {
	[ -z "$recorder" ] || kill -TERM "$recorder" 2>/dev/null || :
	for pid in $workers $perf; do
		kill -s KILL -- "-$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

[ "$(id -u)" -eq 0 ] || { echo "steady: recording needs root"; exit 77; }
for tool in jq perf redis-server redis-benchmark setsid; do
	command -v $tool >/dev/null || { echo "steady: $tool is not installed"; exit 77; }
done
[ -x "$stimuli/storm" ] || { echo "steady: no $stimuli: run make stimuli" >&2; exit 1; }

complain() {
	echo "steady: $*" >&2
	bad=1
}

# In a session of its own, so that stop() reaches its children.
start() { # COMMAND...
	setsid "$@" >/dev/null 2>&1 </dev/null &
	workers="$workers $!"
}

# A hostile program that ended, or ran for 15 seconds, starts again.
start_again() { # NAME ARG...
	name=$1
	shift
	# shellcheck disable=SC2016 # the new shell expands it
	start sh -c 'while :; do timeout --foreground -s KILL 15 "$@"; done' - "$stimuli/$name" "$@"
}

start_innocents() {
	start redis-server --port 0 --unixsocket "$dir/redis.sock" --save ''
	# shellcheck disable=SC2016 # the new shell expands it
	start sh -c 'while :; do redis-benchmark -q -s "$1/redis.sock" -n 100000 -c 8 -t set,get,lpush; sleep 1; done' - "$dir"
	mkdir -p "$dir/work"
	for i in 1 2 3 4; do
		echo "#include <stdio.h>
int f$i(int n) { char line[64]; return snprintf(line, sizeof(line), \"%d\", n) + $i; }" >"$dir/work/f$i.c"
	done
	printf 'all: f1.o f2.o f3.o f4.o\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >"$dir/work/Makefile"
	# shellcheck disable=SC2016
	start sh -c 'cd "$1" && while :; do make -s -j2; rm -f ./*.o; done' - "$dir/work"
}

start_hostile() {
	start_again storm --now 500
	for kind in siblings ranges names debuglink zlib xz; do
		mkdir -p "$dir/elf-$kind"
		start_again enemy_elf --now $kind "$dir/elf-$kind"
	done
	for kind in flood paths names; do
		mkdir -p "$dir/maps-$kind"
		start_again enemy_maps --now $kind "$dir/maps-$kind"
	done
	mkdir -p "$dir/fuse" "$dir/swap"
	start_again enemy_fuse --now "$dir/fuse"
	start_again enemy_swap --now "$dir/swap" 50
	for i in 1 2 3 4; do
		start_again many_maps --now 8000
	done
}

# Functions of the innocents without a name, as "comm symbol". A module whose status is "named" was read to its end: what
# has no name there has none in the file, which is stripped.
unnamed() { # FILE
	"$prog" info --json "$1" |
		jq '[.modules[] | select(.status == "named" and .path != null) | "[" + (.path | split("/") | last) + "]"]' >"$dir/read"
	"$prog" report --json -s comm,sym --comm 'redis-*' --comm make --comm gcc --comm cc1 --comm as "$1" |
		jq -r --slurpfile read "$dir/read" '.rows[] | select(.sym != null and (.sym | test("^(\\[|0x)"))) |
			select(.sym as $s | $read[0] | index($s) | not) | .comm + " " + .sym' | sort -u
}

# The clock of -d: it stands still where the machine does.
uptime_s() {
	cut -d. -f1 /proc/uptime
}

# Clock ticks of user and system time, of children that ended too.
ticks() { # PID...
	for pid in "$@"; do
		sed 's/^.*) //' "/proc/$pid/stat" 2>/dev/null || :
	done | awk '{ n += $12 + $13 + $14 + $15 } END { print n + 0 }'
}

# A process and all that descend from it: the readers of files have a parent of their own.
family() { # PID
	echo "$1"
	for child in $(pgrep -P "$1" 2>/dev/null || :); do
		family "$child"
	done
}

pss_kb() { # PID...
	for pid in "$@"; do
		cat "/proc/$pid/smaps_rollup" 2>/dev/null || :
	done | awk '/^Pss:/ { n += $2 } END { print n + 0 }'
}

read_file() { # FILE
	unnamed "$1" >>"$dir/unnamed"
	"$prog" info --json "$1" >"$dir/info" || complain "$1 cannot be read"
	rm -f "$1"
	files=$((files + 1))
}

start_innocents
"$prog" -a -q -d 20 -o "$dir/alone.bin"
unnamed "$dir/alone.bin" >"$dir/unnamed-alone"

start_hostile
"$prog" -a -q --switch-output=60s -o "$dir/steady.bin" -d "$seconds" "$@" 2>"$dir/said" &
recorder=$!
# perf 6.1 aborts now and then beside the hostile programs.
# shellcheck disable=SC2016 # the new shell expands it
setsid sh -c 'while :; do
	perf record -q -g -a -e cpu-clock/freq=99/ -e sched:sched_switch -e sched:sched_waking \
		--switch-output=60s --switch-max-files=2 -o "$1/perf.data"
done >/dev/null 2>&1' - "$dir" &
perf=$!
began=$(uptime_s)
next=0
files=0
most=0
last_ours=0
last_theirs=0
: >"$dir/unnamed"
while kill -0 $recorder 2>/dev/null; do
	# shellcheck disable=SC2046 # lists of numbers
	ours=$(ticks $(family $recorder))
	# shellcheck disable=SC2046
	theirs=$(ticks $(family $perf))
	# shellcheck disable=SC2046
	kb=$(pss_kb $(family $recorder))
	[ "$kb" -le "$most" ] || most=$kb
	[ "$ours" -eq 0 ] || { last_ours=$ours; last_theirs=$theirs; }
	[ $(($(uptime_s) - began)) -le $((seconds + 60)) ] || { complain "the recorder does not end"; break; }
	# one at a time: on this machine reading may take as long as recording, and CPU time is to be seen in between
	if [ -e "$dir/steady.$((next + 1)).bin" ] && [ -e "$dir/steady.$next.bin" ]; then
		read_file "$dir/steady.$next.bin"
		next=$((next + 1))
	fi
	sleep 1
done
code=0
wait $recorder || code=$?
recorder=
[ $code -eq 0 ] || complain "the recorder ended with status $code"
for rest in "$dir"/steady.*.bin; do
	[ ! -e "$rest" ] || read_file "$rest"
done

sort -u "$dir/unnamed" | comm -13 "$dir/unnamed-alone" - >"$dir/missing"
lost=$(jq '.stats.lost' "$dir/info")
printf '%-34s %15d\n' "files" $files "produced" "$(jq '.stats.produced' "$dir/info")" "lost" "$lost" \
	"CPU time of the recorder, ms" $((last_ours * 10)) "CPU time of perf, ms" $((last_theirs * 10)) \
	"memory of the recorder, most kB" "$most" "functions without a name" "$(wc -l <"$dir/missing")"
cat "$dir/missing" "$dir/said"
[ "$lost" -eq 0 ] || complain "events were lost"
[ "$last_ours" -le $((last_theirs * 2)) ] || complain "the recorder took more than twice the CPU time of perf"
[ "$most" -le 300000 ] || complain "the recorder used more than 300 MB"
[ ! -s "$dir/missing" ] || complain "functions of innocent programs have no name"
[ -z "$bad" ] || exit 1
