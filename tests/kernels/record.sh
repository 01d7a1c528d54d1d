# SPDX-License-Identifier: BSD-2-Clause
# In a guest: recordings of a workload whose truth is known, in the ways that options select.
# shellcheck shell=sh
# shellcheck source=tests/kernels/lib.sh
. /checks/lib.sh

naps=30
nap_us=30000

# A recording of a workload that sleeps, and the kernel's own count of its switches meanwhile.
recording() { # NAME p|a OPTION...
	name=$1 target=$2
	shift 2
	load_start sleeper $naps $nap_us || { verdict "$name" 1 "no workload: $(cat load.err)"; return; }
	if [ "$target" = a ]; then set -- -a "$@"; else set -- -p "$load" "$@"; fi
	if record_start "/out/$name.bin" "$@"; then
		before=$(switches_of "$load") slept=$(voluntary_of "$load")
		load_run
		after=$(switches_of "$load") slept=$(($(voluntary_of "$load") - slept))
		record_end
		code=$?
		# The last one is the wait for a line.
		echo "tid=$load switches=$((after - before)) naps=$((slept - 1)) nap_us=$nap_us" >"/out/$name.truth"
	else
		record_end
		code=1
		# The verifier's log, for whoever mends it.
		dial9-prof record -vv -o /out/refused.bin -d 0.1 "$@" >"/out/$name.refused" 2>&1
	fi
	load_end
	verdict "$name" $code "$(why_not "/out/$name.bin")"
}

# A command, from its first instruction; it spins so that samples have stacks.
command_samples() {
	dial9-prof record -o /out/command.bin -- spinner --now 70 400 >/out/command.truth 2>/out/command.bin.err
	verdict command $? "$(why_not /out/command.bin)"
}

# The last events, written when the recorder is asked to: no file is there before.
flight() {
	load_start sleeper $naps $nap_us
	dial9-prof record -o /out/flight.bin -a --flight 30s,64M --trigger-latency 'runq>10s' 2>/out/flight.bin.err &
	recorder=$!
	until_true flight_or_gone
	load_run
	kill -USR2 "$recorder"
	until_true [ -s /out/flight.0.bin ]
	record_end
	code=$?
	load_end
	verdict flight $code "$(why_not /out/flight.bin)"
}

flight_or_gone() {
	grep -q 'keeps the last' /out/flight.bin.err || ! kill -0 "$recorder"
}

readers() {
	for reader in info report offcpu "sched latency" script; do
		# The subcommand may be two words.
		# shellcheck disable=SC2086
		dial9-prof $reader /out/default.bin >/tmp/read 2>&1 && [ -s /tmp/read ]
		verdict "read $reader" $? "$(head -n 1 /tmp/read)"
	done
}

uname -r >/out/release
recording default p
command_samples
recording everything p --neighbours --switch-stacks both --waker-stacks both --event-stacks both \
	-e 'irq:*' -e 'timer:*' -e 'raw_syscalls:*'
recording min-block p --min-block 10ms
recording summary a --summary
flight
readers
