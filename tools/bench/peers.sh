#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What recording costs, by dial9-prof and by other recorders that are installed: perf, wprof, offcputime and runqlat
# (of bcc), trace-cmd and bpftrace. All record the same load in turn. One that does not start here is skipped.
# tools/bench/peers.sh LOAD [ROUNDS [RECORDER...]]   (5, all; needs root, perf and bash)
# LOAD: pipe, messaging; or the requests to a server: redis, nginx, postgres, whose CPU time is the load's.
# D9_BENCH_DIR=DIR keeps the figures: a later run with the same load adds its rounds.
#
# Columns: CPU time of the load per operation, its least and median over all rounds, and what the recorder adds to
# them; least and median CPU time of the recorder while the load runs; bytes of its file per context switch of the
# system; losses in the median round; rounds that count.
set -eu

load=${1:?pipe, messaging, redis, nginx or postgres}
rounds=${2:-5}
prog=${D9_BUILD:-build}/dial9-prof
dir=${D9_BENCH_DIR:-$(mktemp -d)}
recorder=
server=

stop() {
	[ -n "$recorder" ] || return 0
	kill -INT "$recorder" 2>/dev/null || :
	wait "$recorder" 2>/dev/null || :
	recorder=
}

finish() {
	stop
	[ -z "$server" ] || { kill "$server" && wait "$server"; } || :
	[ -n "${D9_BENCH_DIR:-}" ] || rm -rf "$dir"
}
trap finish EXIT

fail() {
	echo "bench: $*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || fail "recording needs root"
command -v perf >/dev/null || fail "perf is not installed (linux-perf)"
[ -x "$prog" ] || fail "no $prog: run make"
mkdir -p "$dir"
# shellcheck source=tools/bench/servers.sh
. "$(dirname "$0")/servers.sh"

# ---- the loads ------------------------------------------------------------------------------------------------------

# Prints the CPU time of a command and its children in microseconds per operation.
cpu_usecs() { # OPERATIONS COMMAND...
	# shellcheck disable=SC2016 # bash is to expand it
	bash -c 'n=$1; shift; TIMEFORMAT="%U %S $n"; time "$@" >/dev/null' - "$@" 2>&1 |
		awk '{ printf "%.3f\n", ($1 + $2) * 1e6 / $3 }'
}

# Nanoseconds that a process and its threads ran.
ran_ns() { # PID...
	for pid; do
		cat "/proc/$pid"/task/*/schedstat 2>/dev/null || :
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

children() { pgrep -P "$server" | wc -l; }

# CPU time of the server, its children and its ended children in microseconds.
served_us() {
	for pid in "$server" $(pgrep -P "$server"); do
		sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null || :
	done | awk -v hz="$(getconf CLK_TCK)" '{ n += $12 + $13 + $14 + $15 } END { printf "%.0f\n", n * 1e6 / hz }'
}

# Prints the CPU time of the server per operation while a client runs.
request_usecs() { # OPERATIONS CLIENT...
	before=$(served_us)
	processes=$(children)
	n=$1
	shift
	"$@" >/dev/null
	# those that serve a client end after it, and count when the server has waited for them
	while [ "$(children)" -gt "$processes" ]; do sleep 0.01; done
	echo "$before $(served_us) $n" | awk '{ printf "%.3f\n", ($2 - $1) / $3 }'
}

run_load() {
	case $load in
	pipe) cpu_usecs 200000 taskset -c 0 perf bench sched pipe -l 200000 ;;
	messaging) cpu_usecs 160000 perf bench sched messaging -g 2 -l 200 ;;
	redis) request_usecs 600000 redis-benchmark -q -s "$dir/redis" -n 600000 -c 20 -t get ;;
	nginx) request_usecs 100000 curl -s --unix-socket "$dir/nginx" 'http://x/[1-100000]' ;;
	postgres)
		request_usecs 200000 runuser -u nobody -- pgbench -h "$dir/database" -n -c 2 -t 100000 -b select-only \
			postgres 2>/dev/null
		;;
	esac
}

operations() {
	case $load in
	pipe) echo 200000 ;;
	messaging) echo 160000 ;;
	redis) echo 600000 ;;
	nginx) echo 100000 ;;
	postgres) echo 200000 ;;
	esac
}

need() { # PROGRAM
	command -v "$1" >/dev/null || fail "$1 is not installed"
}

await() { # COMMAND...
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || fail "the server does not start"
		sleep 0.05
	done
}

case $load in
pipe | messaging) ;;
redis)
	need redis-server
	serve_redis >/dev/null &
	server=$!
	await redis-cli -s "$dir/redis" ping
	;;
nginx)
	need nginx
	need curl
	write_nginx_conf
	serve_nginx &
	server=$!
	await curl -s --unix-socket "$dir/nginx" http://x/
	;;
postgres)
	need initdb
	write_database >/dev/null
	serve_postgres >"$dir/server" 2>&1 &
	server=$!
	await runuser -u nobody -- psql -h "$dir/database" -c '' postgres
	fill_database 2>/dev/null
	;;
*) fail "no load '$load'" ;;
esac

# ---- the recorders --------------------------------------------------------------------------------------------------

program_of() { # RECORDER
	case $1 in
	ours*) echo "$prog" ;;
	perf*) echo perf ;;
	wprof*) echo wprof ;;
	trace-cmd*) echo trace-cmd ;;
	*) echo "$1" ;;
	esac
}

# Starts a recorder; it is ready when the file grows or its first line appears.
start() { # RECORDER
	out=$dir/out
	case $1 in
	none) return ;;
	ours) "$prog" -a -q -o "$out" & ;;
	ours-pid) "$prog" -p "${server:-$$}" -q -o "$out" & ;;
	ours-switch) "$prog" -a -q --no-samples --no-sched -e sched:sched_switch --switch-stacks none -o "$out" & ;;
	ours-stacks) "$prog" -a -q --no-samples --no-sched -e sched:sched_switch --switch-stacks both -o "$out" & ;;
	perf) perf record -q -B -N -e sched:sched_switch -a -o "$out" & ;;
	perf-g) perf record -q -B -N -e sched:sched_switch -g -a -o "$out" & ;;
	perf-pid) perf record -q -F 99 -g -p "${server:-$$}" -o "$out" & ;;
	perf-dwarf) perf record -q -F 99 --call-graph dwarf -p "${server:-$$}" -o "$out" & ;;
	perf-sched) perf sched record -q -B -N -o "$out" 2>/dev/null & ;;
	wprof) stdbuf -oL wprof -d 1h --stats -D "$out" >"$dir/log" 2>&1 & ;;
	wprof-stacks) stdbuf -oL wprof -d 1h --stats -S -D "$out" >"$dir/log" 2>&1 & ;;
	offcputime | runqlat) stdbuf -oL "$1" >"$dir/log" 2>&1 & ;;
	trace-cmd) stdbuf -oL trace-cmd record -e sched:sched_switch -o "$out" >"$dir/log" 2>&1 & ;;
	trace-cmd-stacks) stdbuf -oL trace-cmd record -T -e sched:sched_switch -o "$out" >"$dir/log" 2>&1 & ;;
	bpftrace)
		stdbuf -oL bpftrace -e 'interval:ms:100 { printf("ready\n"); }
			tracepoint:sched:sched_switch { @[args->prev_pid] = count(); }' >"$dir/log" 2>&1 &
		;;
	*) fail "no recorder '$1'" ;;
	esac
	recorder=$!
}

is_ready() { # RECORDER
	case $1 in
	none) ;;
	ours* | perf*) [ -s "$dir/out" ] ;;
	wprof*) grep -q Running "$dir/log" ;;
	offcputime) find "/proc/$recorder/fd" -lname '*bpf_link*' | grep -q . ;; # some versions print nothing
	runqlat) grep -q Tracing "$dir/log" ;;
	trace-cmd*) grep -q 'Hit Ctrl' "$dir/log" ;;
	*) grep -q ready "$dir/log" ;;
	esac 2>/dev/null
}

lost() { # RECORDER
	case $1 in
	ours*) "$prog" dump "$dir/out" | sed -n 's/.*RecorderStats .* lost=\([0-9]*\) .*/\1/p' | tail -n 1 ;;
	perf*) perf report -i "$dir/out" --stats 2>/dev/null |
		awk '/LOST_SAMPLES|LOST events/ { n += $NF } END { print n + 0 }' ;;
	trace-cmd*) trace-cmd report --stat -i "$dir/out" 2>/dev/null |
		awk '/overrun:/ { n += $2 } END { print n + 0 }' ;;
	wprof*) sed -n 's/.*TOTAL:.*rescued ([^)]*), \([0-9]*\) .*dropped.*/\1/p' "$dir/log" ;;
	*) echo - ;;
	esac
}

# With the processes below it: helper processes are part of the cost.
tree() {
	[ -n "$recorder" ] || return 0
	echo "$recorder"
	cat "/proc/$recorder"/task/*/children 2>/dev/null || :
}

switches() { awk '$1 == "ctxt" { print $2 }' /proc/stat; }

# One line: load's us/op, recorder's us/op, bytes per switch, lost.
measure() { # RECORDER
	rm -f "$dir"/out* "$dir/log"
	start "$1"
	tries=0
	until is_ready "$1"; do
		tries=$((tries + 1))
		if [ $tries -ge 400 ] || ! kill -0 "$recorder" 2>/dev/null; then
			echo "bench: $1 does not start here: $(tail -n 1 "$dir/log" 2>/dev/null)" >&2
			stop 2>/dev/null
			return 1
		fi
		sleep 0.05
	done
	sleep 0.5
	# shellcheck disable=SC2046 # a list
	cpu=$(ran_ns $(tree))
	count=$(switches)
	usecs=$(run_load)
	count=$(($(switches) - count))
	# shellcheck disable=SC2046
	cpu=$(echo "$cpu $(ran_ns $(tree)) $(operations)" | awk '{ printf "%.3f", ($2 - $1) / $3 / 1000 }')
	stop 2>/dev/null
	bytes=$(cat "$dir"/out* 2>/dev/null | wc -c)
	echo "$usecs $cpu $(echo "$bytes $count" | awk '{ printf "%.1f", $1 / $2 }') $(lost "$1")" >>"$dir/$load-$1"
}

if [ $# -gt 2 ]; then
	shift 2
	all="none $*"
else
	all="none"
	for name in ours-switch ours-stacks ours ours-pid perf perf-g perf-pid perf-dwarf perf-sched wprof \
		wprof-stacks offcputime runqlat trace-cmd trace-cmd-stacks bpftrace; do
		command -v "$(program_of $name)" >/dev/null && all="$all $name" || echo "bench: no $name here" >&2
	done
fi
round=0
failed=
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	for name in $all; do
		case " $failed " in
		*" $name "*) ;;
		*) measure "$name" || failed="$failed $name" ;;
		esac
	done
done

# ---- the table ------------------------------------------------------------------------------------------------------

median_of() { sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

# The rounds of a recorder. One whose file has less than half the usual bytes per switch did not record the load.
counted() { # RECORDER COLUMN
	usual=$(awk '{ print $3 }' "$dir/$load-$1" | median_of)
	awk -v c="$2" -v usual="$usual" '$3 >= usual / 2 { print $c }' "$dir/$load-$1"
}

least() { counted "$1" "$2" | sort -n | head -n 1; }
median() { counted "$1" "$2" | median_of; }
added() { echo "$("$1" "$2" 1) $("$1" none 1)" | awk '{ printf "%.3f", $1 - $2 }'; }

printf '%-16s %8s %8s %8s %8s %12s %8s %12s %8s %6s\n' "$load" us/op added median added 'recorder us' median \
	bytes/switch lost rounds
for name in $all; do
	[ -e "$dir/$load-$name" ] || continue
	printf '%-16s %8s %8s %8s %8s %12s %8s %12s %8s %6s\n' "$name" "$(least "$name" 1)" "$(added least "$name")" \
		"$(median "$name" 1)" "$(added median "$name")" "$(least "$name" 2)" "$(median "$name" 2)" \
		"$(median "$name" 3)" "$(median "$name" 4)" "$(counted "$name" 1 | wc -l)"
done
