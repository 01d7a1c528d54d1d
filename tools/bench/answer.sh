#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# CPU time of a question from start to answer: recording, reading the file and printing, by dial9-prof and by perf, of
# the same load in turn. Counts all processes of both programs. Prints the least and the median of all rounds in
# milliseconds, and both as a part of perf's.
# tools/bench/answer.sh [ROUNDS [SECONDS [QUESTION...]]]   (5 5 all; needs root, perf and GNU time)
#
# cpu      where programs spend CPU time: samples with stacks at 99 Hz of the machine, and a report
# runq     how long threads wait for a CPU: switches and wakeups of the machine, and latencies of threads
# offcpu   where threads sleep: switches with user stacks of the machine, and sums by stack; perf, which has no sums,
#          prints each wait with its stack
set -eu

rounds=${1:-5}
seconds=${2:-5}
prog=${D9_BUILD:-build}/dial9-prof
dir=$(mktemp -d)
load=

clean_up() {
	[ -z "$load" ] || kill -s KILL -- "-$load" 2>/dev/null || :
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# shellcheck source=tools/bench/needs.sh
. "$(dirname "$0")/needs.sh"
[ -x /usr/bin/time ] || { echo "bench: GNU time is not installed (time)" >&2; exit 1; }

# Some 20,000 switches a second between six processes, with work between them.
start_load() {
	# shellcheck disable=SC2016 # the shell in it is to expand it
	setsid sh -c '
		while :; do perf bench sched pipe -l 20000; done >/dev/null 2>&1 &
		for i in 1 2; do while :; do seq 20000 | sort -R | md5sum; done >/dev/null 2>&1 & done
		wait' &
	load=$!
}

timed() {
	/usr/bin/time -q -a -o "$dir/time" -f '%U %S' "$@" >/dev/null 2>"$dir/errors" ||
		{ echo "bench: '$*' failed: $(tail -n 1 "$dir/errors")" >&2; exit 1; }
}

ours() { # ANSWER RECORDING...
	answer=$1
	shift
	timed "$prog" record -a -q -o "$dir/ours" --duration "$seconds" "$@"
	# shellcheck disable=SC2086 # its words
	timed "$prog" $answer "$dir/ours"
}

theirs() { # ANSWER RECORDING...
	answer=$1
	shift
	timed perf "$@" -a -o "$dir/theirs" -- sleep "$seconds"
	# shellcheck disable=SC2086 # its words
	timed perf $answer -i "$dir/theirs"
}

ask() { # QUESTION WHO
	case $1-$2 in
	cpu-ours) ours report --no-sched ;;
	cpu-perf) theirs 'report --stdio' record -F 99 -g ;;
	runq-ours) ours 'sched latency' --no-samples --switch-stacks none ;;
	runq-perf) theirs 'sched latency' sched record ;;
	offcpu-ours) ours offcpu --no-samples --switch-stacks user ;;
	offcpu-perf) theirs 'sched timehist' record -e sched:sched_switch,sched:sched_waking --call-graph fp ;;
	*) echo "bench: unknown question '$1'" >&2; exit 1 ;;
	esac
}

measure() { # QUESTION WHO
	rm -f "$dir/time"
	ask "$@"
	awk '{ n += $1 + $2 } END { printf "%.0f\n", n * 1000 }' "$dir/time" >>"$dir/$1-$2"
}

least() { sort -n "$dir/$1" | head -n 1; }
median() { sort -n "$dir/$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

if [ $# -gt 2 ]; then
	shift 2
	questions=$*
else
	questions="cpu runq offcpu"
fi
start_load
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	for question in $questions; do
		measure "$question" ours
		measure "$question" perf
	done
done

printf '%-10s %9s %9s %9s %9s %15s\n' question "ours ms" median "perf ms" median "of perf"
for question in $questions; do
	echo "$question $(least "$question-ours") $(median "$question-ours") $(least "$question-perf") $(median "$question-perf")"
done | awk '{ printf "%-10s %9d %9d %9d %9d %7.2f %7.2f\n", $1, $2, $3, $4, $5, $2 / $4, $3 / $5 }'
