# SPDX-License-Identifier: BSD-2-Clause
# For the checks that run in a guest: verdicts, and workloads that take turns with the recorder. Sourced.
# shellcheck shell=sh
verdict() { # NAME EXIT-STATUS WHY
	if [ "$2" -eq 0 ]; then
		echo "ok $1"
	else
		echo "FAILED $1: exit status $2: $3"
	fi
}

# Fails the check when the guest is too slow for ever: the host's own limit would name no check.
until_true() { # COMMAND...
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 1200 ] || return 1
		usleep 50000
	done
}

# Starts a workload of tests/stimuli: it waits for the first line on descriptor 3. Sets $load.
load_start() { # PROGRAM ARG...
	rm -f load.in load.out
	mkfifo load.in
	"$@" <load.in >load.out 2>load.err &
	load=$!
	exec 3>load.in
	until_true grep -q '^ready' load.out
}

load_run() {
	echo go >&3
	until_true grep -q '^done' load.out && until_true is_asleep "$load"
}

load_end() {
	exec 3>&-
	wait "$load"
}

is_asleep() { # PID
	grep -q '^State:[[:space:]]*S' "/proc/$1/status"
}

# Context switches of a thread as the kernel counts them.
switches_of() { # PID
	awk '/ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$1/status"
}

voluntary_of() { # PID
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$1/status"
}

# Starts the recorder; returns when it records: its file has a head then. Sets $recorder.
record_start() { # FILE ARG...
	file=$1
	shift
	dial9-prof record -o "$file" "$@" 2>"$file.err" &
	recorder=$!
	until_true recording_or_gone "$file"
	[ -s "$file" ]
}

recording_or_gone() { # FILE
	[ -s "$1" ] || ! kill -0 "$recorder" 2>/dev/null
}

record_end() {
	kill -INT "$recorder" 2>/dev/null
	wait "$recorder"
}

why_not() { # FILE: what the recorder said, in one line
	tr '\n' ' ' <"$1.err" | cut -c1-300
}
