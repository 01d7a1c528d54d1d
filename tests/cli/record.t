# Recording: what a command line that cannot be meant gets, and what --help promises. None of this
# needs privileges: it is said before anything is asked of the kernel.
#
$ dial9-prof record --help
Usage: dial9-prof [record] [OPTIONS] [-- COMMAND [ARG...]]

Records until the target ends, the time is over, or Ctrl-C.

Target:
  -a, --all-cpus            the whole system
  -p, --pid=PID[,PID]       processes, with their threads and children, present
                            and later
  -t, --tid=TID[,TID]       single threads
  -G, --cgroup=PATH         tasks in this cgroup (version 2) or below;
                            repeatable
  -u, --user=USER           tasks of this user, by name or number; repeatable
      --comm=GLOB           processes of this name (* and ?); repeatable
      --thread=GLOB         threads of this name; repeatable
      --no-comm=GLOB        no processes of this name; repeatable
      --no-kthread          no kernel threads
      --include-self        samples and stacks of the recorder, too
  -C, --cpu=CPUS            only what happens on these CPUs: 0-3,8
      --no-inherit          neither the children that a process has nor new
                            threads and children
      --as-root             run COMMAND as root, not as the user behind sudo
      --neighbours          also who is switched, whoever it is, on a CPU for
                            which a target waits

Events:
  -e, --event=SYS:EVENT     also this tracepoint; globs, comma lists, repeatable
                            (dial9-prof list)
      --filter=EXPR         of the events of the -e before it only those for
                            which this is true: prev_state == 2 && next_comm ~
                            "kworker*"
      --no-sched            leave out the scheduler's events
      --summary[=SEC]       no events: how long threads waited, were blocked and
                            ran, per process, summed up by the kernel each
                            second
      --min-block=DUR       no switches, but whole stays off the CPU, of at
                            least DUR: 10ms, or 100 (microseconds)
      --max-block=DUR       likewise, of at most DUR
      --no-samples          take no CPU samples
  -F, --freq=HZ             CPU samples a second on each CPU (default 99)
      --switch-stacks=none|user|both
                            stacks of threads that leave the CPU (default both)
      --waker-stacks=none|user|both
                            stacks of threads that wake others (default none)
      --event-stacks=none|user|both
                            stacks of the tracepoints that -e names (default
                            none)
      --call-graph=auto|fp|no|dwarf
                            how user stacks are walked: auto and dwarf by unwind
                            tables, fp by frame pointers alone, no: not at all
                            (default auto)
      --max-stack=N         frames of a user stack at most (default 127)
      --unwind-mem=SIZE     memory for unwind tables in the kernel (default
                            128M)
      --no-names            do not look up functions of user code
      --names-wait=SEC      wait so long at the end for names that keep coming
                            (default 10)

Output:
  -o, --output=FILE         default dial9.bin; - is standard output; unix:PATH
                            and tcp:HOST:PORT are where somebody listens
      --switch-output[=SIZE|TIME|signal]
                            rotate the output: start a new file, FILE.N.bin,
                            every SIZE (500M) or TIME (30s, 5min, 1h), and on
                            SIGUSR2 and SIGHUP
      --switch-max-files=N  keep N of these files, those of earlier runs
                            included: delete the oldest
      --disk-budget=SIZE    never let all files of this name together, those of
                            earlier runs included, take more than SIZE
      --on-full=stop|pause|drop-oldest
                            when the disk is full or the budget is used up: end
                            with an error, lose and count events until there is
                            room, or delete the oldest file (default stop;
                            drop-oldest with --disk-budget)
      --max-size=SIZE       end when so much was written
      --timestamp-filename  the time of the start becomes part of the name
  -z, --compression-level[=LEVEL]
                            compress, by gzip if --compress does not say
                            otherwise: 1 is quick
      --compress=gzip|zstd|none
                            compress that way
      --app-trace=DIR       at the end merge what the application wrote there
                            meanwhile as dial9
      --spec=0.3|0.4        dial9 level; 0.4 pools stacks and says what fields
                            are, which older readers cannot read (default 0.3)
  -d, --duration=DUR        stop after so long: 10 (seconds), 500ms, 5m, 1h
  -D, --delay=MS            begin so many milliseconds later; -1: when --control
                            asks for it
      --start-at=TIME       begin at 03:00, at 2030-01-31T23:59:00Z, or, as
                            /10s, at the next multiple of that
  -k, --clockid=mono|boot|monotonic|boottime
                            of the trace: boot also counts while the machine is
                            suspended (default mono)
      --control=fifo:PATH[,PATH]|fd:N[,N]
                            take enable, disable, snapshot, ping and stop from
                            there, as perf does, and answer to the second with
                            ack
      --ready-fd=FD         write a newline to descriptor FD, and close it, when
                            recording runs
      --meta=KEY=VALUE      also say this of the recording; repeatable
  -m, --ring-size=SIZE      buffer for each CPU (default 4M)
      --rings=N             so many buffers at most, which CPUs share (default
                            and most 64)
      --mem-max=SIZE        memory for what is remembered of programs (default
                            512M)

Flight recorder:
      --flight=TIME[,SIZE]  keep the last 30s, in 256M of memory at most, and
                            write it, as FILE.0.bin, FILE.1.bin, at SIGUSR2, at
                            a trigger, and at the end
      --trigger=SYS:EVENT[/FILTER/]
                            record this tracepoint, and write when it happens;
                            repeatable
      --trigger-latency=offcpu|runq>DUR
                            write when a thread was blocked, or waited for a
                            CPU, for longer
      --post=DUR            record so long behind a trigger before it is written
                            (default 0)
      --rearm=DUR           then take no other trigger for so long (default 1s)

Recorder:
  -r, --realtime=PRIO       real-time priority while buffers fill (default 1; 0
                            for none)
      --nice=N              its nice value otherwise (default -15)
      --sched-sample=1/N    record one in N slices of 50 ms, all that happens in
                            it; the trace says which are left out
      --max-overhead=PCT    of the CPU time of all CPUs: beyond that stacks of
                            switches are left out, then slices of time, which
                            the trace says
      --btf=FILE            Read the types of this kernel from FILE, if
                            /sys/kernel/btf/vmlinux is hidden
      --no-orc              take kernel stacks by the kernel's own helper: the
                            same ones, but slowly
      --verify-stacks       compare each stack that is walked or reused with
                            what the slow way finds

Messages:
  -q, --quiet               only errors
  -v, --verbose             say what it does without; -vv libbpf's messages too
      --progress            show progress and summary also where standard error
                            is no terminal
      --no-progress         do not show them on a terminal either
  -h, --help                Print this help

Examples:
  sudo dial9-prof -p 1234 -d 10
  sudo dial9-prof -a -e 'block:*' -o disk.bin
  sudo dial9-prof -F 999 -- ./server --port 80
  sudo dial9-prof -p 1234 -o - | dial9-prof report -
#
# The subcommand may be left out.
$ dial9-prof record --help >a; dial9-prof -h >b; dial9-prof record -h >c; cmp a c; head -n 1 b
Usage: dial9-prof [RECORD-OPTIONS] [-- COMMAND [ARG...]]
#
# Whom to record is said once, and not at all is no answer.
$ dial9-prof record
! dial9-prof: record: whom to record? -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -q -v --progress --no-progress --switch-stacks none
! dial9-prof: record: whom to record? -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof --
! dial9-prof: record: whom to record? -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -p 1 -t 1
! dial9-prof: record: -p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND (to stop after a time: --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -a -p 1
! dial9-prof: record: -p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND (to stop after a time: --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -a -p 1 -- true
! dial9-prof: record: -p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND (to stop after a time: --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -p 1 -- true
! dial9-prof: record: -p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND (to stop after a time: --duration 10); see dial9-prof record --help
? 1
#
# What adds to a recording of some has nothing to add to one of all, nor to one without switches.
$ dial9-prof -a --neighbours
! dial9-prof: record: --neighbours adds to the scheduler's events of -p, -t or a COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --neighbours --no-sched
! dial9-prof: record: --neighbours adds to the scheduler's events of -p, -t or a COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -C 0 --neighbours
! dial9-prof: record: --neighbours adds to the scheduler's events of -p, -t or a COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -p 1 -C 0 --neighbours
! dial9-prof: record: --neighbours goes where targets wait, -C to some CPUs alone; see dial9-prof record --help
? 1
$ dial9-prof -C 0 --summary
! dial9-prof: record: --summary sums up what threads do on all CPUs: not with -C; see dial9-prof record --help
? 1
#
# What narrows is no target, unless it names somebody; and of a target that is known it is said in vain.
$ dial9-prof --no-kthread
! dial9-prof: record: whom to record? -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof --no-comm 'kworker*' --include-self
! dial9-prof: record: whom to record? -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -u 0 --no-inherit
! dial9-prof: record: --no-inherit is for -p and a COMMAND: of the whole system whoever matches is a target, new or not; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --include-self
! dial9-prof: record: --include-self is for -a: the recorder is none of -p, -t or a COMMAND; see dial9-prof record --help
? 1
$ dial9-prof --no-kthread -- true
! dial9-prof: record: --no-kthread is for -a: of -p, -t and a COMMAND you know what they are; see dial9-prof record --help
? 1
$ dial9-prof -C 3-1
! dial9-prof: record: -C 3-1: want CPU numbers such as 0-3,8
? 1
$ dial9-prof --comm ''
! dial9-prof: record: --comm needs a value, and '' is none; see dial9-prof record --help
? 1
#
$ dial9-prof -a --sched-sample=0
! dial9-prof: record: --sched-sample 0: want 1/N, N up to 1000
? 1
$ dial9-prof -a --sched-sample=1/x
! dial9-prof: record: --sched-sample 1/x: want 1/N, N up to 1000
? 1
$ dial9-prof -a --sched-sample=1/2 --summary
! dial9-prof: record: --sched-sample leaves out time, of which --summary has no events; see dial9-prof record --help
? 1
$ dial9-prof -a --max-overhead=0
! dial9-prof: record: --max-overhead 0: want per cent, such as 2 or 0.5
? 1
$ dial9-prof -a --max-overhead=2.5x
! dial9-prof: record: --max-overhead 2.5x: want per cent, such as 2 or 0.5
? 1
#
# Sums take the place of events.
$ dial9-prof -a --summary -e 'sched:*'
! dial9-prof: record: --summary records no events: not with -e, --no-sched, --neighbours or --app-trace; see dial9-prof record --help
? 1
$ dial9-prof -a --summary=1ms
! dial9-prof: record: --summary wants 200ms to 10m; see dial9-prof record --help
? 1
#
# Numbers.
$ dial9-prof -p 0
! dial9-prof: record: -p 0: want numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -p 1,,2
! dial9-prof: record: -p 1,,2: want numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -t 1,x
! dial9-prof: record: -t 1,x: want numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -F 0 -a
! dial9-prof: record: -F 0: want a number from 1 to 100000
? 1
$ dial9-prof --freq=fast -a
! dial9-prof: record: --freq fast: want a number from 1 to 100000
? 1
$ dial9-prof -m 3 -a
! dial9-prof: record: -m 3: want a size from 4K to 1G
? 1
$ dial9-prof -m 2G -a
! dial9-prof: record: -m 2G: want a size from 4K to 1G
? 1
$ dial9-prof --rings 0 -a
! dial9-prof: record: --rings 0: want a number from 1 to 64
? 1
$ dial9-prof --rings 65 -a
! dial9-prof: record: --rings 65: want a number from 1 to 64
? 1
$ dial9-prof --mem-max 31M -a
! dial9-prof: record: --mem-max 31M: want a size of 32M or more
? 1
$ dial9-prof --call-graph lbr -a
! dial9-prof: record: --call-graph lbr: want one of auto, fp, no, dwarf
? 1
$ dial9-prof --max-stack 128 -a
! dial9-prof: record: --max-stack 128: want a number from 1 to 127
? 1
$ dial9-prof --unwind-mem 2G -a
! dial9-prof: record: --unwind-mem 2G: want a size from 1M to 1G
? 1
$ dial9-prof -d 0 -a
! dial9-prof: record: -d 0: want a time above 0 such as 10 (seconds), 500ms or 5m
? 1
$ dial9-prof -r 100 -a
! dial9-prof: record: -r 100: want a number from 0 to 99
? 1
$ dial9-prof --nice=20 -a
! dial9-prof: record: --nice 20: want a number from -20 to 19
? 1
$ dial9-prof -p '1 x'
! dial9-prof: record: -p 1 x: want numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -p 1 2 0
! dial9-prof: record: -p 0: want numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof --duration= -a
! dial9-prof: record: --duration '': want a time above 0 such as 10 (seconds), 500ms or 5m
? 1
$ dial9-prof --names-wait soon -a
! dial9-prof: record: --names-wait soon: want a time such as 10 (seconds), 500ms or 5m
? 1
#
# When to record, who may say so, and what else to say.
$ dial9-prof -a -D soon
! dial9-prof: record: -D soon: want milliseconds, such as 500, a time with a unit, or -1
? 1
$ dial9-prof -a -D 0.5
! dial9-prof: record: -D 0.5: want milliseconds, such as 500, a time with a unit, or -1
? 1
$ dial9-prof -a -D -1
! dial9-prof: record: -D -1 waits for --control, and there is none; see dial9-prof record --help
? 1
$ dial9-prof -a -D 5 --start-at 03:00
! dial9-prof: record: -D and --start-at exclude each other; see dial9-prof record --help
? 1
$ dial9-prof -a --start-at 2001-01-01T00:00:00Z
! dial9-prof: record: --start-at 2001-01-01T00:00:00Z: that is over
? 1
$ dial9-prof -a --start-at tomorrow
! dial9-prof: record: --start-at tomorrow: want a time such as 03:00, 2030-01-31T23:59:00Z or /10s
? 1
$ dial9-prof -a -k raw
! dial9-prof: record: -k raw: want one of mono, boot, monotonic, boottime
? 1
$ dial9-prof -a --control=pipe
! dial9-prof: record: --control pipe: want fifo:PATH[,ANOTHER] or fd:N[,N]
? 1
$ dial9-prof -a --control fifo:ctl,ctl
! dial9-prof: record: --control fifo:ctl,ctl: want fifo:PATH[,ANOTHER] or fd:N[,N]
? 1
$ dial9-prof -a --meta release
! dial9-prof: record: --meta release: want KEY=VALUE, of up to 64 and 4096 bytes
? 1
$ dial9-prof -a --meta a=1 --meta host=me
! dial9-prof: record: --meta host=me: the recorder itself says this of a recording
? 1
$ dial9-prof -a --meta a=1 --meta a=2
! dial9-prof: record: --meta a=2: the key is given twice
? 1
#
# The flight recorder.
$ dial9-prof -a --flight soon
! dial9-prof: record: --flight takes a time, and a size behind a comma: 30s,256M; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s,1M
! dial9-prof: record: --flight takes no less than 1s and 4M; see dial9-prof record --help
? 1
$ dial9-prof -a --trigger sched:sched_process_exit
! dial9-prof: record: --trigger, --trigger-latency, --post and --rearm are for --flight; see dial9-prof record --help
? 1
$ dial9-prof -a --rearm 1s
! dial9-prof: record: --trigger, --trigger-latency, --post and --rearm are for --flight; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger sched_process_exit
! dial9-prof: record: --trigger takes one SYS:EVENT each time; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger-latency 'runq<20ms'
! dial9-prof: record: --trigger-latency takes offcpu>DUR or runq>DUR, such as 'runq>20ms', and no time of 0; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger-latency 'offcpu>0'
! dial9-prof: record: --trigger-latency takes offcpu>DUR or runq>DUR, such as 'runq>20ms', and no time of 0; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s -o - | cat
! dial9-prof: record: --flight writes files of its own: to no stream, and without --switch-output, --max-size and --app-trace; see dial9-prof record --help
$ dial9-prof -a --flight 30s -o unix:/tmp/none
! dial9-prof: record: --flight writes files of its own: to no stream, and without --switch-output, --max-size and --app-trace; see dial9-prof record --help
? 1
#
# An empty name is none.
$ dial9-prof -o '' -a
! dial9-prof: record: -o needs a value, and '' is none; see dial9-prof record --help
? 1
$ dial9-prof --output= -a
! dial9-prof: record: --output needs a value, and '' is none; see dial9-prof record --help
? 1
$ dial9-prof -a -e ''
! dial9-prof: record: -e needs a value, and '' is none; see dial9-prof record --help
? 1
#
# Stays off the CPU.
$ dial9-prof -a --min-block soon
! dial9-prof: record: --min-block soon: want a time such as 10ms, 1s or 100 (microseconds)
? 1
$ dial9-prof -a --min-block 0.005
! dial9-prof: record: --min-block 0.005: want a time such as 10ms, 1s or 100 (microseconds)
? 1
$ dial9-prof -a --min-block 2ms --max-block 1999
! dial9-prof: record: --max-block 1999: no stay is as short and as long as --min-block
? 1
$ dial9-prof -a --max-block 0
! dial9-prof: record: --max-block 0: no stay is as short
? 1
$ dial9-prof -p 1 --min-block 1ms --neighbours
! dial9-prof: record: --min-block and --max-block record whole stays in place of switches and wakings: not with --no-sched, --neighbours, --summary or --waker-stacks; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --max-block 1ms --summary
! dial9-prof: record: --min-block and --max-block record whole stays in place of switches and wakings: not with --no-sched, --neighbours, --summary or --waker-stacks; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --max-block 1ms --sched-sample 1/10
! dial9-prof: record: --min-block and --max-block record whole stays, which --sched-sample and --max-overhead would cut; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --min-block 1ms --max-overhead 2
! dial9-prof: record: --min-block and --max-block record whole stays, which --sched-sample and --max-overhead would cut; see dial9-prof record --help
? 1
#
# A filter is of the events before it.
$ dial9-prof -a --filter 'pid == 1' -e sched:sched_waking
! dial9-prof: record: --filter belongs to the -e before it; see dial9-prof record --help
? 1
$ dial9-prof -a -e sched:sched_waking --filter 'pid == 1' --filter 'prio > 3'
! dial9-prof: record: --filter belongs to the -e before it, which has one; see dial9-prof record --help
? 1
$ dial9-prof -a -e cpu-clock --filter 'pid == 1'
! dial9-prof: record: --filter is for tracepoints, not for samples; see dial9-prof record --help
? 1
#
# Choices.
$ dial9-prof --spec=0.5 -a
! dial9-prof: record: --spec 0.5: want one of 0.3, 0.4
? 1
$ dial9-prof --no-sched --no-samples -a
! dial9-prof: record: --no-sched and --no-samples leave nothing to record; name events with -e; see dial9-prof record --help
? 1
#
# Files that take turns, and how they are packed.
$ dial9-prof --switch-output=100 -a
! dial9-prof: record: --switch-output takes a size (500M), a time (30s, 5min, 1h) or the word signal; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=soon -a
! dial9-prof: record: --switch-output takes a size (500M), a time (30s, 5min, 1h) or the word signal; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=4K -a
! dial9-prof: record: --switch-output takes no less than 64K: each file says everything again that it needs; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1ms -a
! dial9-prof: record: --switch-output takes no less than 10ms; see dial9-prof record --help
? 1
$ dial9-prof -a --switch-output 1s
! dial9-prof: record: the value of --switch-output needs '=': use --switch-output=1s, or ./1s if that is the command
? 1
$ dial9-prof --switch-output 64M -a
! dial9-prof: record: the value of --switch-output needs '=': use --switch-output=64M, or ./64M if that is the command
? 1
$ dial9-prof --switch-max-files 3 -a
! dial9-prof: record: --switch-max-files is for --switch-output and --flight; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1min --switch-max-files 0 -a
! dial9-prof: record: --switch-max-files 0: want a number of 1 or more
? 1
$ dial9-prof --disk-budget 10M -a
! dial9-prof: record: --disk-budget is for --switch-output and --flight; use --max-size for one file; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1min --disk-budget 100K -a
! dial9-prof: record: --disk-budget 100K: want a size of 1M or more
? 1
$ dial9-prof --on-full drop-oldest -a
! dial9-prof: record: --on-full drop-oldest is for --switch-output and --flight: one file has nothing to delete; see dial9-prof record --help
? 1
$ dial9-prof --on-full wait -a
! dial9-prof: record: --on-full wait: want one of stop, pause, drop-oldest
? 1
$ dial9-prof --on-full pause -o - -a | cat
! dial9-prof: record: --on-full is for files: -o FILE; see dial9-prof record --help
$ dial9-prof --flight 30s,64M --disk-budget 20M -a
! dial9-prof: record: --disk-budget is less than the memory of --flight, and so less than one of its files; see dial9-prof record --help
? 1
$ dial9-prof --switch-output -o - -a | cat
! dial9-prof: record: --switch-output and --timestamp-filename are for files: -o FILE; see dial9-prof record --help
$ dial9-prof --timestamp-filename -o tcp:localhost:1 -a
! dial9-prof: record: --switch-output and --timestamp-filename are for files: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --flight 30s --switch-max-files 3 -o /dev/null -a
! dial9-prof: record: --flight writes files, whose names begin as that of -o: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --switch-output -o /dev/null -a
! dial9-prof: record: --switch-output and --timestamp-filename are for files: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof -o tcp:127.0.0.1:99999 -a
! dial9-prof: record: -o tcp:HOST:PORT takes a port from 1 to 65535; see dial9-prof record --help
? 1
$ dial9-prof -o tcp:127.0.0.1 -a
! dial9-prof: record: -o tcp:HOST:PORT takes a host and a port, as in tcp:10.0.0.1:9000; see dial9-prof record --help
? 1
$ dial9-prof -o unix: -a
! dial9-prof: record: -o unix:PATH takes the path of a socket; see dial9-prof record --help
? 1
$ dial9-prof -o udp:1:2 -a
! dial9-prof: record: -o takes tcp:HOST:PORT and unix:PATH, and no other word before a colon: for a file of that name put ./ before it; see dial9-prof record --help
? 1
$ dial9-prof --app-trace . -o unix:/tmp/x -a
! dial9-prof: record: --app-trace wants one plain file to merge into: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --max-size 0 -a
! dial9-prof: record: --max-size 0: want a size of 1 or more
? 1
$ dial9-prof --compress lzma -a
! dial9-prof: record: --compress takes gzip, zstd or none; see dial9-prof record --help
? 1
$ dial9-prof -z --compress none -a
! dial9-prof: record: -z and --compress none exclude each other; see dial9-prof record --help
? 1
$ dial9-prof -z10 -a
! dial9-prof: record: levels of gzip are 1 to 9: --compress zstd has more; see dial9-prof record --help
? 1
$ dial9-prof -z --app-trace . -a
! dial9-prof: record: --app-trace wants one plain file to merge into: -o FILE; see dial9-prof record --help
? 1
#
# The newline of --ready-fd is no part of a trace.
$ dial9-prof -a -d 0.1 -o - --ready-fd=3 3>&1
! dial9-prof: record: --ready-fd is where the trace goes: choose another descriptor; see dial9-prof record --help
? 1
$ dial9-prof -a -d 0.1 -o ready --ready-fd=3 3>ready
! dial9-prof: record: --ready-fd is where the trace goes: choose another descriptor; see dial9-prof record --help
? 1
$ rm ready
#
# --version is the program's.
$ dial9-prof record --version
! dial9-prof: record: unknown option --version; see dial9-prof record --help
? 1
#
# Nothing of all this left a file behind.
$ rm a b c; ls
