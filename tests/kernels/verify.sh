#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a guest's recordings say, against the truth of the workloads: tests/kernels/verify.sh DIR
# Prints a line that begins with "ok" or "FAILED" for each thing that was compared.
# Expressions are jq's; their variables are not the shell's.
# shellcheck disable=SC2016
set -eu

dir=$1
prof=${D9_PROGRAM:-$(cd "$(dirname "$0")/../.." && pwd)/build/dial9-prof}

equal() { # NAME WANTED FOUND
	if [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: $3, not $2"; fi
}

# @jq's expression over a file is true.
holds() { # NAME FILE EXPRESSION
	if jq -e "$3" "$2" >/dev/null 2>&1; then
		echo "ok $1"
	else
		echo "FAILED $1: not so in $2: $3"
	fi
}

truth() { # RECORDING KEY
	sed -n "s/.*\b$2=\([0-9]*\).*/\1/p" "$dir/$1.truth" | tail -n 1
}

nothing_lost() { # RECORDING
	"$prof" info --json "$dir/$1.bin" >"$dir/$1.info"
	holds "$1: produced = written, nothing lost" "$dir/$1.info" \
		'.stats.balanced and .stats.lost == 0 and .stats.produced == .stats.written and .stats.produced > 0'
}

# Of events in interrupts, some that hit another one's program are lost where the kernel runs no two at a time. An
# emulator without CPU time may stop a CPU in the middle of a metadata record, which the recorder reports.
little_lost() { # RECORDING
	"$prof" info --json "$dir/$1.bin" >"$dir/$1.info"
	holds "$1: produced = written + lost, a few nested ones" "$dir/$1.info" \
		'.stats.balanced and .stats.produced == .stats.written + .stats.lost and .stats.lost * 20 <= .stats.produced
		 and all(.lost[]; .kind | test("^nested|^sample_estimate|^sideband_stalled"))'
}

# The end of the thread is not there: the recorder ended before it.
switches() { # RECORDING
	equal "$1: switches of the thread, as the kernel counts them" "$(truth "$1" switches)" \
		"$("$prof" script "$dir/$1.bin" | grep -c "sched:sched_switch:.* prev_pid=$(truth "$1" tid) ")"
}

# Each nap that the kernel counts as a voluntary switch is one interval; an emulator that gets no CPU time lets a nap end
# before its thread has slept. An interval is shorter than the timer's period by the time from arming the timer to the
# switch, which such an emulator draws out, and longer where the timer is late. Where events were lost an interval may
# have no known end, and is not among these. Some naps are over before libc's unwind table is there, which takes its
# time here: one that has it is enough.
naps() { # RECORDING
	"$prof" offcpu --json -t "$(truth "$1" tid)" "$dir/$1.bin" >"$dir/$1.offcpu"
	naps=$(truth "$1" naps)
	fewest=$naps
	[ "$(jq .stats.lost "$dir/$1.info")" -eq 0 ] || fewest=$((naps / 2))
	# Those that began late may be below its limit.
	[ "$1" != min-block ] || fewest=$((naps * 3 / 4))
	slept='[.rows[] | select(any(.stack[]; .sym == "do_nanosleep")) | select(.cut == 0)] | (map(.intervals) | add) as $waits |'
	holds "$1: off-CPU intervals of the naps" "$dir/$1.offcpu" "$slept \$waits >= $fewest and \$waits <= $naps"
	holds "$1: as long as the naps" "$dir/$1.offcpu" \
		"$slept (map(.ns) | add) as \$ns | \$ns >= \$waits * $(($(truth "$1" nap_us) * 800)) and
		 \$ns < \$waits * $(($(truth "$1" nap_us) * 5000))"
	holds "$1: stacks with symbols of the kernel, libc and the program" "$dir/$1.offcpu" \
		'any(.rows[]; (.stack | map(.sym)) as $s | ["schedule", "clock_nanosleep", "sleep_times", "main", "_start"] - $s == [])'
}

chains() {
	"$prof" script -F comm,tid,event,sym,end "$dir/chains.bin" | awk -f "$(dirname "$0")/chains.awk" >"$dir/chains.json"
	holds "chains: stacks of every kind of frame are whole, or say that they are not" "$dir/chains.json" \
		'.wrong == 0 and .whole >= 20 and .whole >= .chains * 0.3'
	holds "chains: stacks go through the frames of signals" "$dir/chains.json" '.handlers > 0'
	holds "chains: stacks of naps are whole" "$dir/chains.json" '.sleeps >= 10'
	"$prof" info --json "$dir/chains.bin" >"$dir/chains.info"
	holds "chains: no rule of the program is unknown" "$dir/chains.info" \
		'[.user_stacks.modules[] | select(.end == "unsupported" and (.path | endswith("unwind_chain")))] == []'
	"$prof" wakeup --json "$dir/chains.bin" >"$dir/chains.wakeup"
	holds "chains: a timer ends the naps" "$dir/chains.wakeup" \
		"([.rows[] | select(.waker.context == \"timer\" and .comm == \"unwind_chain\") | .wakeups] | add) >= $(truth chains rounds) * 0.9 and
		 all(.rows[]; .waker.context != \"irq\" or .comm != \"unwind_chain\")"
	"$prof" script -F comm,tid,event,sym,end "$dir/chains-fp.bin" | awk -f "$(dirname "$0")/chains.awk" >"$dir/chains-fp.json"
	# A sample may be between a function's entry and its frame; the others have a frame pointer to follow.
	holds "chains-fp: callers of the leaf have symbols" "$dir/chains-fp.json" '.chains >= 20 and .callers >= .chains * 0.9'
}

[ ! -e "$dir/chains.bin" ] || chains
# Other checks leave no such recordings.
[ -e "$dir/default.bin" ] || exit 0

nothing_lost default
switches default
naps default
little_lost everything
switches everything
naps everything
nothing_lost min-block
naps min-block

nothing_lost command
"$prof" report --json "$dir/command.bin" >"$dir/command.report"
holds "command: samples of both functions, whose stacks reach main" "$dir/command.report" \
	'(.rows | map({(.sym // ""): .total}) | add) as $t | $t.hot_a > 0 and $t.hot_b > 0 and $t.main >= ($t.hot_a + $t.hot_b) * 0.9'

"$prof" sched latency --json "$dir/summary.bin" >"$dir/summary.latency"
holds "summary: switches of the workload, as the kernel counts them" "$dir/summary.latency" \
	"any(.rows[]; .pid == $(truth summary tid) and .comm == \"sleeper\" and .switches == $(truth summary switches))"
"$prof" info --json "$dir/flight.0.bin" >"$dir/flight.info"
holds "flight: the events that were kept" "$dir/flight.info" '.events > 100'
