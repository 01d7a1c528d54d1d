#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whether any stack is wrong that was not walked, or not sent, because it was known: records the whole system with
# --debug=verify-stacks, which walks and sends each stack anyway and compares. Programs that switch often run one after
# the other, with stacks of all depths, until the system has switched SWITCHES times.
# Exit status: 0 no stack differs, 1 one does or few were compared, 77 it cannot be measured here.
# tools/bench/stacks.sh [SWITCHES]   (10000000; needs root; perf, stress-ng, python3, node and redis if installed)
set -eu

wanted=${1:-10000000}
build=${D9_BUILD:-build}
prog=$(realpath "$build/dial9-prof")
stimuli=$(realpath "$build/stimuli")
turn=10 # seconds of each load
port=17998
dir=$(mktemp -d)
workers=
recorder=

end_load() {
	for pid in $workers; do
		kill -s KILL -- "-$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	workers=
}

finish() {
	end_load
	[ -z "$recorder" ] || kill -TERM "$recorder" 2>/dev/null || :
	wait 2>/dev/null || :
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

[ "$(id -u)" -eq 0 ] || { echo "stacks: recording needs root"; exit 77; }
if [ ! -x "$prog" ] || [ ! -x "$stimuli/unwind_maze" ]; then
	echo "stacks: run make and make stimuli" >&2
	exit 1
fi
# shellcheck source=tools/bench/work.sh
. "$(dirname "$0")/work.sh"

switches() { awk '$1 == "ctxt" { print $2 }' /proc/stat; }

# In a session of its own, so that end_load() reaches its children, and in $dir, where some leave files.
start() { # COMMAND...
	command -v "$1" >/dev/null || { echo "stacks: no $1 here" >&2; return 0; }
	(cd "$dir" && exec setsid "$@") >/dev/null 2>&1 </dev/null &
	workers="$workers $!"
}

# What the round runs: several programs at once, so that stacks of one CPU alternate.
start_load() { # ROUND
	case $(($1 % 5)) in
	0)
		start perf bench sched pipe -l 1000000000
		start perf bench sched messaging -t -g 2 -l 1000000
		;;
	1)
		start stress-ng --switch 2 --futex 2 --mq 2 --sem 2 --timeout 1h
		start python3 "$dir/work.py"
		;;
	2)
		start redis-server --port $port --bind 127.0.0.1 --save ''
		sleep 0.5
		start redis-benchmark -q -p $port -l -c 20 -t get,set,lrange
		start node "$dir/work.js"
		;;
	3)
		start perf bench sched messaging -g 2 -l 1000000
		start "$stimuli/unwind_maze"
		start stress-ng --pipe 1 --sock 1 --fork 1 --poll 1 --timeout 1h
		;;
	4)
		start stress-ng --class scheduler --sequential 1 --timeout 1
		start perf bench futex requeue -r $turn
		;;
	esac
}

"$prog" -a -q --debug verify-stacks --switch-stacks both --waker-stacks both --switch-output=256M --switch-max-files 2 \
	-o "$dir/t" &
recorder=$!
until ls "$dir"/t.* >/dev/null 2>&1; do
	kill -0 $recorder || exit 1
	sleep 0.1
done
begun=$(switches)
round=0
while [ $(($(switches) - begun)) -lt "$wanted" ]; do
	kill -0 $recorder
	start_load $round
	sleep $turn
	end_load
	round=$((round + 1))
done
total=$(($(switches) - begun))
kill -INT "$recorder"
wait "$recorder" || :
recorder=

for file in "$dir"/t.*; do
	"$prog" dump "$file"
done | awk -v total="$total" '
	/ RecorderStats / {
		for (i = 1; i <= NF; i++)
			if (split($i, part, "=") == 2 && part[2] + 0 > most[part[1]] + 0)
				most[part[1]] = part[2] + 0
	}
	END {
		printf "switches %d, records lost %d; stacks compared %d, differing %d\n", total, most["lost"],
			most["stacks_compared"], most["stacks_differing"]
		walked = most["kernel_stacks_walked"]
		reused = most["user_stacks_reused"]
		printf "of these: kernel stacks walked %d, user stacks reused %d, stacks sent by number %d\n", walked,
			reused, most["stacks_compared"] - walked - reused
		exit most["stacks_differing"] > 0 || most["stacks_compared"] < total / 2
	}'
