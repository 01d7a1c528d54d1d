#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The recorder as it is left on: the whole system under stress-ng, a gzipped file every few seconds, each read
# and removed as soon as it is complete. At the end it must hold that every file was read whole, that readers
# counted each event that the recorder says it wrote, that what was produced was written or is told as lost,
# and that the recorder's memory did not grow after the first minute (of shorter runs, the first third).
# Exit status: 0 all of that holds, 1 not, 77 it cannot be tested here. Half a minute of it is part of check-root.
# tools/bench/soak.sh [SECONDS [OPTION...]]   (30; options are the recorder's; needs root, stress-ng and jq)
set -eu

seconds=${1:-30}
[ $# -eq 0 ] || shift
prog=${D9_BUILD:-build}/dial9-prof
dir=$(mktemp -d)
recorder=
stress=
bad=

# Both end what they started.
stop() {
	[ -z "$recorder" ] || kill -INT "$recorder" 2>/dev/null || :
	[ -z "$stress" ] || kill -TERM "$stress" 2>/dev/null || :
	wait 2>/dev/null || :
	rm -rf "$dir"
}
trap stop EXIT

[ "$(id -u)" -eq 0 ] || { echo "soak: recording needs root"; exit 77; }
for tool in stress-ng jq; do
	command -v $tool >/dev/null || { echo "soak: $tool is not installed"; exit 77; }
done
[ -x "$prog" ] || { echo "soak: no $prog: run make" >&2; exit 1; }
"$prog" check >/dev/null 2>&1 || { echo "soak: recording cannot start here: dial9-prof check"; exit 77; }

settle=$((seconds / 3))
[ $settle -le 60 ] || settle=60
turn=$((seconds / 10))
[ $turn -ge 2 ] || turn=2
[ $turn -le 15 ] || turn=15
# What may come on top of what it had by then: late names, and an eighth. What waits for a slow disk is given back:
# it is the least of the last third that counts.
slack_kb=16384

# Processes and threads that come and go, switches, wakings from timers and from tasks, and mappings that change.
# Whoever reads along has a turn too.
nice -n 5 stress-ng -q --timeout $((seconds + 30)) --temp-path "$dir" --fork 1 --fork-ops $((seconds * 500)) --switch 1 \
	--switch-freq 5000 --timer 1 --timer-freq 2000 --futex 1 --pthread 1 --pthread-max 8 --exec 1 \
	--exec-max 2 --mmap 1 --mmap-bytes 4M --cpu 1 --cpu-load 30 >/dev/null 2>&1 &
stress=$!

"$prog" -a -q -z --switch-output="${turn}s" -o "$dir/soak.bin" -d "$seconds" "$@" &
recorder=$!
began=$(date +%s)

complain() {
	echo "soak: $*" >&2
	bad=1
}

# One line of figures for each file: its events, and what it tells of those that were lost.
read_file() { # FILE
	"$prog" info --verify "$1" >"$dir/verdict" 2>&1 || complain "$(cat "$dir/verdict")"
	"$prog" info --json "$1" >"$dir/info" || complain "$1 cannot be read"
	jq -r '[([.types[] | select(.name | contains(":")) | .events] | add), .accounting.lost_events,
		.samples, .accounting.lost_samples, .stats.produced, .stats.written, .stats.lost, .stats.samples,
		.stats.elapsed_ns, .stats.cpu_ns, .stats.bpf_ns, .stats.ring_fill_max_bytes,
		.bytes, .stats.unwind_bytes] | map(. // 0) | @tsv' "$dir/info" >>"$dir/figures"
	packed=$((packed + $(stat -c %s "$1")))
	files=$((files + 1))
	rm -f "$1"
}

read_complete() {
	while [ -e "$dir/soak.$next.bin.gz" ]; do
		read_file "$dir/soak.$next.bin.gz"
		next=$((next + 1))
	done
}

packed=0
files=0
next=0
: >"$dir/figures"
: >"$dir/memory"
while kill -0 "$recorder" 2>/dev/null; do
	now=$(($(date +%s) - began))
	kb=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$recorder/status" 2>/dev/null || :)
	[ -z "$kb" ] || [ $now -gt "$seconds" ] || echo "$now $kb" >>"$dir/memory"
	read_complete
	[ $now -le $((seconds + 60)) ] || { complain "the recorder does not end"; break; }
	sleep 1
done
code=0
wait "$recorder" || code=$?
recorder=
[ $code -eq 0 ] || complain "the recorder ended with status $code"
read_complete
for rest in "$dir"/soak.*; do
	[ ! -e "$rest" ] || complain "$rest was left behind"
done
[ $files -gt 1 ] || complain "$files files are no rotation"

# The last file has the sums of all; what readers counted and found told as lost is summed up here.
awk -v packed=$packed -v files=$files '
	{
		if ($2)
			where = where sprintf("  %d:%d", NR - 1, $2)
		read += $1; told += $2; samples += $3; samples_lost += $4
		produced = $5; written = $6; lost = $7; sampled = $8
		elapsed = $9; cpu = $10; bpf = $11; fill = $12 > fill ? $12 : fill; raw += $13
		tables = tables sprintf("  %d", $14 / 1024)
	}
	END {
		events = written ? written : 1
		printf "%-34s %15d\n", "files", files
		printf "%-34s %15d\n", "seconds", elapsed / 1e9
		printf "%-34s %15d\n", "produced, by the recorder", produced
		printf "%-34s %15d\n", "written, by the recorder", written
		printf "%-34s %15d\n", "written, by readers", read
		printf "%-34s %15d\n", "lost, by the recorder", lost
		printf "%-34s %15d\n", "lost, by readers", told
		if (where)
			print "lost, by files:" where
		printf "%-34s %15d\n", "samples, by the recorder", sampled
		printf "%-34s %15d\n", "samples, by readers", samples
		printf "%-34s %15d\n", "samples lost", samples_lost
		printf "%-34s %15.1f\n", "bytes per event", raw / events
		printf "%-34s %15.1f\n", "bytes per event, gzipped", packed / events
		printf "%-34s %14.1f%%\n", "CPU of the recorder", 100 * cpu / (elapsed + 1)
		printf "%-34s %14.1f%%\n", "CPU of its programs", 100 * bpf / (elapsed + 1)
		printf "%-34s %15d\n", "fullest ring, bytes", fill
		print "of memory, tables by files, kB:" tables
		exit !(written && read == written && told == lost && produced == written + lost && samples == sampled)
	}' "$dir/figures" || complain "the counts do not agree"

awk -v settle=$settle -v slack=$slack_kb '
	{ at[NR] = $1; kb[NR] = $2 }
	$1 <= settle { before = $2 > before ? $2 : before }
	$1 > settle { after = $2 > after ? $2 : after }
	END {
		for (i = NR - int(NR / 3); i <= NR; i++)
			last = !last || kb[i] < last ? kb[i] : last
		printf "%-34s %15d\n", "memory, first " settle " s, most kB", before
		printf "%-34s %15d\n", "memory, after that, most kB", after
		printf "%-34s %15d\n", "memory, last third, least kB", last
		for (i = 1; i <= NR; i += int(NR / 10) + 1)
			line = line sprintf("  %d:%d", at[i], kb[i])
		print "memory by seconds, kB:" line
		exit !(after && last <= before * 1.125 + slack)
	}' "$dir/memory" || complain "memory grows"
[ -z "$bad" ] || exit 1
