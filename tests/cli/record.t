# Recording: messages for invalid command lines, and the text of --help. None of this
# needs privileges: it is printed before any request to the kernel.
#
$ dial9-prof record --help
Usage: dial9-prof [record] [OPTIONS] [-- COMMAND [ARG...]]

Record a process, a command or the system until it ends, -d expires, or Ctrl-C.

Target:
  -a, --all-cpus            Record the whole system
  -p, --pid=PID[,PID]       Record these processes with their threads and
                            children, present and future
  -t, --tid=TID[,TID]       Record single threads
  -G, --cgroup=PATH         Record tasks in this control group (version 2) and
                            below; repeatable
  -u, --user=USER           Record tasks of this user (name or number);
                            repeatable
      --comm=GLOB           Record processes with a matching name (* and ?);
                            repeatable
      --thread=GLOB         Record threads with a matching name; repeatable
      --no-comm=GLOB        Exclude processes with a matching name; repeatable
      --no-kthread          With -a: exclude kernel threads
      --include-self        With -a: also record the recorder itself
  -C, --cpu=CPUS            Record only these CPUs, for example 0-3,8
      --no-inherit          With -p or COMMAND: ignore present children, and new
                            threads and children
      --as-root             Run COMMAND as root, not as the user who called sudo
      --neighbours          Also record context switches of all tasks on a CPU
                            while a target is runnable there

Events:
  -e, --event=SYS:EVENT     Also record this tracepoint (see dial9-prof list);
                            globs, comma lists, repeatable
      --filter=EXPR         Record the events of the preceding -e only if EXPR
                            is true: prev_state == 2 && next_comm ~ "kworker*"
      --no-sched            Do not record scheduler events
      --summary[=SEC]       Record no events and no samples, but sums of
                            run-queue, blocked and run time per process, every
                            SEC (default 1; 200ms to 10m)
      --min-block=DUR       Record one event per off-CPU interval of at least
                            DUR (10ms; 100 is microseconds) instead of every
                            context switch
      --max-block=DUR       The same, for off-CPU intervals of at most DUR
      --no-samples          Do not take CPU samples
  -F, --freq=HZ             CPU samples per second on each CPU (default 99)
      --switch-stacks=none|user|both
                            Record stacks of threads that leave the CPU (default
                            both)
      --waker-stacks=none|user|both
                            Record waker stacks (default none)
      --event-stacks=none|user|both
                            Record stacks of the tracepoints of -e (default
                            none)
      --call-graph=auto|fp|no|dwarf
                            How to walk user stacks: auto and dwarf with unwind
                            tables, fp with frame pointers only, no: only the
                            current address (default auto)
      --max-stack=N         Maximum frames of a user stack (default and maximum
                            127)
      --unwind-mem=SIZE     Kernel memory for unwind tables (default 128M; 1M to
                            1G)
      --no-names            Do not look up symbols of user code
      --names-wait=SEC      At the end, wait up to SEC for pending symbol
                            lookups (default 10; 0.5 with --max-overhead)

Output:
  -o, --output=FILE         Write to FILE (default dial9.bin); - is standard
                            output; unix:PATH and tcp:HOST:PORT send to a socket
                            listener
      --switch-output[=SIZE|TIME|signal]
                            Rotate the output: start a new file, FILE.N.bin,
                            every SIZE (500M) or TIME (30s, 5min, 1h), and on
                            SIGUSR2 and SIGHUP
      --switch-max-files=N  Keep N of these files, earlier runs included; delete
                            the oldest
      --disk-budget=SIZE    Limit all files of this name together, earlier runs
                            included, to SIZE; delete the oldest
      --on-full=stop|pause|drop-oldest
                            If the disk or the budget is full: end with an
                            error, lose and count events until there is space,
                            or delete the oldest file (default stop; with
                            --disk-budget drop-oldest)
      --max-size=SIZE       Stop after writing SIZE bytes
      --timestamp-filename  Add the start time to the file name
  -z, --compress[=gzip|zstd[:LEVEL]]
                            Compress with gzip (default) or zstd; LEVEL is 1
                            (fast) to 9, zstd to 22
      --app-trace=DIR       At the end, merge the dial9 traces that the
                            application wrote to DIR
      --spec=0.3|0.4        dial9 level of the file (default 0.4); readers of
                            0.3 alone need 0.3, which is about twice as large
      --annotate            Describe fields in the file: units, kinds and names
                            of values; some readers of 0.4 stop there
  -d, --duration=DUR        Stop after DUR: 10 (seconds), 500ms, 5m, 1h
  -D, --delay=MS            Start recording after MS milliseconds; -1: when
                            --control requests it
  -k, --clockid=mono|boot   Clock of the trace; boot also counts while the
                            machine is suspended (default mono)
      --control=fifo:PATH[,PATH]|fd:N[,N]
                            Read enable, disable, snapshot, ping and stop from a
                            FIFO or descriptor, one per line; write ack to the
                            second
      --ready-fd=FD         When recording runs, write a newline to descriptor
                            FD and close it
      --meta=KEY=VALUE      Add this metadata, which info prints; repeatable
  -m, --ring-size=SIZE      Ring buffer of each CPU (default 4M)
      --mem-max=SIZE        Memory for names, mappings and stacks of programs
                            (default 256M)

Flight recorder:
      --flight=TIME[,SIZE]  Keep the last TIME in memory, at most SIZE (default
                            256M); write it to FILE.0.bin, FILE.1.bin, ... at a
                            trigger, on SIGUSR2, and at the end
      --trigger=SYS:EVENT[/FILTER/]
                            Record this tracepoint, and write when it occurs;
                            repeatable
      --trigger-latency=offcpu|runq>DUR
                            Write when a thread was blocked or runnable for
                            longer than DUR
      --post=DUR            Record for DUR after a trigger before writing
                            (default 0)
      --rearm=DUR           After a write, ignore triggers for DUR (default 1s)

Fleet:
      --ship=URL            Rotate the output (default every 1min, -o
                            dial9-spool/trace.bin) and send the files to
                            ClickHouse or Pyroscope, see dial9-prof ship
      --label=NAME=VALUE    With --ship: put this label in each row; repeatable
      --ship-events         With --ship: send events of -e too, with their
                            fields
      --anonymize           With --ship: send hashes in place of names; files on
                            this machine keep them
      --anonymize-key=FILE  With --anonymize: key of these hashes, 32
                            hexadecimal digits
      --ca-file=FILE        With --ship: certificates (PEM) that may sign the
                            server's
      --raw-ttl=DAYS        With --ship: in tables that this run creates, the
                            server deletes samples, slices, spans and events
                            after DAYS (1 to 36500; 7 or 7d), if it can
      --rollup-ttl=DAYS     With --ship: the same for rollups, which are sums by
                            second or by 10 seconds

Recorder:
  -r, --realtime=PRIO       Real-time priority while a ring buffer fills
                            (default 1; 0 for none)
      --nice=N              Nice value of the recorder at other times (default
                            -15)
      --sched-sample=1/N    Record one of N time slices of 50 ms completely, and
                            nothing in the others
      --max-overhead=PCT    Limit the cost to PCT percent of all CPUs: drop
                            stacks of switches and wakeups, then skip time
                            slices
      --btf=FILE            Read the types of this kernel from FILE, if
                            /sys/kernel/btf/vmlinux is hidden
      --debug=WORD,...      no-orc: take kernel stacks with the kernel's helper,
                            the same frames but slower; verify-stacks: check
                            each walked, reused or repeated stack against the
                            slow method; one-ring: use one ring buffer for all
                            CPUs

Messages:
  -q, --quiet               Print errors only
  -v, --verbose             Report which kernel features are missing and what is
                            used instead; -vv adds libbpf's messages
      --progress            Print progress and summary even if standard error is
                            not a terminal
      --no-progress         Do not print progress and summary
  -h, --help                Print this help

Examples:
  sudo dial9-prof -p 1234 -d 10
  sudo dial9-prof -a -e 'block:*' -o disk.bin
  sudo dial9-prof -F 999 -- ./server --port 80
  sudo dial9-prof -p 1234 -o - | dial9-prof report -
#
# The subcommand is optional.
$ dial9-prof record --help >a; dial9-prof -h >b; dial9-prof record -h >c; cmp a c; head -n 1 b
Usage: dial9-prof [RECORD-OPTIONS] [-- COMMAND [ARG...]]
#
# A target is given once, and is required.
$ dial9-prof record
! dial9-prof: record: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -q -v --progress --no-progress --switch-stacks none
! dial9-prof: record: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof --
! dial9-prof: record: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -p 1 -t 1
! dial9-prof: record: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -a -p 1
! dial9-prof: record: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -a -p 1 -- true
! dial9-prof: record: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof record --help
? 1
$ dial9-prof -p 1 -- true
! dial9-prof: record: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof record --help
? 1
#
# Options that extend a selection are refused with -a, and without switches.
$ dial9-prof -a --neighbours
! dial9-prof: record: --neighbours needs -p, -t or COMMAND, and scheduler events; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --neighbours --no-sched
! dial9-prof: record: --neighbours needs -p, -t or COMMAND, and scheduler events; see dial9-prof record --help
? 1
$ dial9-prof -C 0 --neighbours
! dial9-prof: record: --neighbours needs -p, -t or COMMAND, and scheduler events; see dial9-prof record --help
? 1
$ dial9-prof -p 1 -C 0 --neighbours
! dial9-prof: record: --neighbours cannot be combined with -C; see dial9-prof record --help
? 1
$ dial9-prof -C 0 --summary
! dial9-prof: record: --summary cannot be combined with -C; see dial9-prof record --help
? 1
#
# Options that narrow a recording are no target, unless they name processes or users; with a known target they are refused.
$ dial9-prof --no-kthread
! dial9-prof: record: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof --no-comm 'kworker*' --include-self
! dial9-prof: record: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -u 0 --no-inherit
! dial9-prof: record: --no-inherit needs -p or COMMAND; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --include-self
! dial9-prof: record: --include-self needs -a; see dial9-prof record --help
? 1
$ dial9-prof --no-kthread -- true
! dial9-prof: record: --no-kthread needs -a; see dial9-prof record --help
? 1
$ dial9-prof -C 3-1
! dial9-prof: record: bad value '3-1' for -C: expected CPU numbers such as 0-3,8
? 1
$ dial9-prof --comm ''
! dial9-prof: record: --comm needs a value; '' is not valid; see dial9-prof record --help
? 1
#
$ dial9-prof -a --sched-sample=0
! dial9-prof: record: bad value '0' for --sched-sample: expected 1/N, N up to 1000
? 1
$ dial9-prof -a --sched-sample=1/x
! dial9-prof: record: bad value '1/x' for --sched-sample: expected 1/N, N up to 1000
? 1
$ dial9-prof -a --sched-sample=1/2 --summary
! dial9-prof: record: --sched-sample cannot be combined with --summary; see dial9-prof record --help
? 1
$ dial9-prof -a --max-overhead=0
! dial9-prof: record: bad value '0' for --max-overhead: expected 0.01 to 100 percent, such as 2
? 1
$ dial9-prof -a --max-overhead=2.5x
! dial9-prof: record: bad value '2.5x' for --max-overhead: expected 0.01 to 100 percent, such as 2
? 1
#
# Sums replace events.
$ dial9-prof -a --summary -e 'sched:*'
! dial9-prof: record: --summary cannot be combined with -e, --no-sched, --neighbours or --app-trace; see dial9-prof record --help
? 1
$ dial9-prof -a --summary=1ms
! dial9-prof: record: bad value for --summary: expected 200ms to 10m; see dial9-prof record --help
? 1
#
# Numbers.
$ dial9-prof -p 0
! dial9-prof: record: bad value '0' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -p 1,,2
! dial9-prof: record: bad value '1,,2' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -t 1,x
! dial9-prof: record: bad value '1,x' for -t: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -F 0 -a
! dial9-prof: record: bad value '0' for -F: expected a number from 1 to 100000
? 1
$ dial9-prof --freq=fast -a
! dial9-prof: record: bad value 'fast' for --freq: expected a number from 1 to 100000
? 1
$ dial9-prof -m 3 -a
! dial9-prof: record: bad value '3' for -m: expected a size from 4K to 1G
? 1
$ dial9-prof -m 2G -a
! dial9-prof: record: bad value '2G' for -m: expected a size from 4K to 1G
? 1
$ dial9-prof --mem-max 31M -a
! dial9-prof: record: bad value '31M' for --mem-max: expected a size of 32M or more
? 1
$ dial9-prof --call-graph lbr -a
! dial9-prof: record: bad value 'lbr' for --call-graph: expected one of auto, fp, no, dwarf
? 1
$ dial9-prof --max-stack 128 -a
! dial9-prof: record: bad value '128' for --max-stack: expected a number from 1 to 127
? 1
$ dial9-prof --unwind-mem 2G -a
! dial9-prof: record: bad value '2G' for --unwind-mem: expected a size from 1M to 1G
? 1
$ dial9-prof -d 0 -a
! dial9-prof: record: bad value '0' for -d: expected a time above 0 such as 10 (seconds), 500ms or 5m
? 1
$ dial9-prof -r 100 -a
! dial9-prof: record: bad value '100' for -r: expected a number from 0 to 99
? 1
$ dial9-prof --nice=20 -a
! dial9-prof: record: bad value '20' for --nice: expected a number from -20 to 19
? 1
$ dial9-prof -p '1 x'
! dial9-prof: record: bad value '1 x' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof -p 1 2 0
! dial9-prof: record: bad value '0' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
$ dial9-prof --duration= -a
! dial9-prof: record: bad value '' for --duration: expected a time above 0 such as 10 (seconds), 500ms or 5m
? 1
$ dial9-prof --names-wait soon -a
! dial9-prof: record: bad value 'soon' for --names-wait: expected a time such as 10 (seconds), 500ms or 5m
? 1
#
# When to record, control from outside, and metadata.
$ dial9-prof -a -D soon
! dial9-prof: record: bad value 'soon' for -D: expected milliseconds, such as 500, a time with a unit, or -1
? 1
$ dial9-prof -a -D 0.5
! dial9-prof: record: bad value '0.5' for -D: expected milliseconds, such as 500, a time with a unit, or -1
? 1
$ dial9-prof -a -D -1
! dial9-prof: record: -D -1 needs --control; see dial9-prof record --help
? 1
$ dial9-prof -a -D -2
! dial9-prof: record: bad value '-2' for -D: expected milliseconds, such as 500, a time with a unit, or -1
? 1
$ dial9-prof -a -k raw
! dial9-prof: record: bad value 'raw' for -k: expected one of mono, boot
? 1
$ dial9-prof -a --control=pipe
! dial9-prof: record: bad value 'pipe' for --control: expected fifo:PATH[,PATH] or fd:N[,N]
? 1
$ dial9-prof -a --control fifo:ctl,ctl
! dial9-prof: record: bad value 'fifo:ctl,ctl' for --control: expected fifo:PATH[,PATH] or fd:N[,N]
? 1
$ dial9-prof -a --meta release
! dial9-prof: record: bad value 'release' for --meta: expected KEY=VALUE, of up to 64 and 4096 bytes
? 1
$ dial9-prof -a --meta a=1 --meta host=me
! dial9-prof: record: bad value 'host=me' for --meta: this key belongs to the recorder
? 1
$ dial9-prof -a --meta a=1 --meta a=2
! dial9-prof: record: bad value 'a=2' for --meta: the key is given twice
? 1
#
# The flight recorder.
$ dial9-prof -a --flight soon
! dial9-prof: record: bad value for --flight: expected TIME or TIME,SIZE, such as 30s,256M; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s,1M
! dial9-prof: record: bad value for --flight: expected at least 1s and 4M; see dial9-prof record --help
? 1
$ dial9-prof -a --trigger sched:sched_process_exit
! dial9-prof: record: --trigger, --trigger-latency, --post and --rearm need --flight; see dial9-prof record --help
? 1
$ dial9-prof -a --rearm 1s
! dial9-prof: record: --trigger, --trigger-latency, --post and --rearm need --flight; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger sched_process_exit
! dial9-prof: record: bad value for --trigger: expected one SYS:EVENT; repeat the option for others; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger-latency 'runq<20ms'
! dial9-prof: record: bad value for --trigger-latency: expected offcpu>DUR or runq>DUR, such as 'runq>20ms'; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s --trigger-latency 'offcpu>0'
! dial9-prof: record: bad value for --trigger-latency: expected offcpu>DUR or runq>DUR, such as 'runq>20ms'; see dial9-prof record --help
? 1
$ dial9-prof -a --flight 30s -o - | cat
! dial9-prof: record: --flight cannot be combined with a stream, --switch-output, --max-size or --app-trace; see dial9-prof record --help
$ dial9-prof -a --flight 30s -o unix:/tmp/none
! dial9-prof: record: --flight cannot be combined with a stream, --switch-output, --max-size or --app-trace; see dial9-prof record --help
? 1
#
# An empty name is refused.
$ dial9-prof -o '' -a
! dial9-prof: record: -o needs a value; '' is not valid; see dial9-prof record --help
? 1
$ dial9-prof --output= -a
! dial9-prof: record: --output needs a value; '' is not valid; see dial9-prof record --help
? 1
$ dial9-prof -a -e ''
! dial9-prof: record: -e needs a value; '' is not valid; see dial9-prof record --help
? 1
#
# Off-CPU intervals.
$ dial9-prof -a --min-block soon
! dial9-prof: record: bad value 'soon' for --min-block: expected a time such as 10ms, 1s or 100 (microseconds)
? 1
$ dial9-prof -a --min-block 0.005
! dial9-prof: record: bad value '0.005' for --min-block: expected a time such as 10ms, 1s or 100 (microseconds)
? 1
$ dial9-prof -a --min-block 2ms --max-block 1999
! dial9-prof: record: bad value '1999' for --max-block: less than --min-block
? 1
$ dial9-prof -a --max-block 0
! dial9-prof: record: bad value '0' for --max-block: expected more than 0
? 1
$ dial9-prof -p 1 --min-block 1ms --neighbours
! dial9-prof: record: --min-block and --max-block cannot be combined with --no-sched, --neighbours, --summary or --waker-stacks; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --max-block 1ms --summary
! dial9-prof: record: --min-block and --max-block cannot be combined with --no-sched, --neighbours, --summary or --waker-stacks; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --max-block 1ms --sched-sample 1/10
! dial9-prof: record: --min-block and --max-block cannot be combined with --sched-sample or --max-overhead; see dial9-prof record --help
? 1
$ dial9-prof -p 1 --min-block 1ms --max-overhead 2
! dial9-prof: record: --min-block and --max-block cannot be combined with --sched-sample or --max-overhead; see dial9-prof record --help
? 1
#
# A filter applies to the events before it.
$ dial9-prof -a --filter 'pid == 1' -e sched:sched_waking
! dial9-prof: record: --filter must follow -e; see dial9-prof record --help
? 1
$ dial9-prof -a -e sched:sched_waking --filter 'pid == 1' --filter 'prio > 3'
! dial9-prof: record: --filter must follow -e, and the preceding one already has a value; see dial9-prof record --help
? 1
$ dial9-prof -a -e cpu-clock --filter 'pid == 1'
! dial9-prof: record: --filter needs a tracepoint, not samples; see dial9-prof record --help
? 1
#
# Choices.
$ dial9-prof --spec=0.5 -a
! dial9-prof: record: bad value '0.5' for --spec: expected one of 0.3, 0.4
? 1
$ dial9-prof --spec=0.3 --annotate -a
! dial9-prof: record: --annotate needs --spec 0.4; see dial9-prof record --help
? 1
$ dial9-prof --no-sched --no-samples -a
! dial9-prof: record: nothing to record with --no-sched and --no-samples; add events with -e; see dial9-prof record --help
? 1
#
# Rotated files, and their compression.
$ dial9-prof --switch-output=100 -a
! dial9-prof: record: bad value for --switch-output: expected a size (500M), a time (30s, 5min, 1h) or signal; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=soon -a
! dial9-prof: record: bad value for --switch-output: expected a size (500M), a time (30s, 5min, 1h) or signal; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=4K -a
! dial9-prof: record: bad value for --switch-output: expected at least 64K; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1ms -a
! dial9-prof: record: bad value for --switch-output: expected at least 10ms; see dial9-prof record --help
? 1
$ dial9-prof -a --switch-output 1s
! dial9-prof: record: --switch-output needs '=' before its value; use --switch-output=1s, or ./1s if it is the command
? 1
$ dial9-prof --switch-output 64M -a
! dial9-prof: record: --switch-output needs '=' before its value; use --switch-output=64M, or ./64M if it is the command
? 1
$ dial9-prof --switch-max-files 3 -a
! dial9-prof: record: --switch-max-files needs --switch-output or --flight; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1min --switch-max-files 0 -a
! dial9-prof: record: bad value '0' for --switch-max-files: expected a number of 1 or more
? 1
$ dial9-prof --disk-budget 10M -a
! dial9-prof: record: --disk-budget needs --switch-output or --flight; use --max-size for one file; see dial9-prof record --help
? 1
$ dial9-prof --switch-output=1min --disk-budget 100K -a
! dial9-prof: record: bad value '100K' for --disk-budget: expected a size of 1M or more
? 1
$ dial9-prof --on-full drop-oldest -a
! dial9-prof: record: --on-full drop-oldest needs --switch-output or --flight; see dial9-prof record --help
? 1
$ dial9-prof --on-full wait -a
! dial9-prof: record: bad value 'wait' for --on-full: expected one of stop, pause, drop-oldest
? 1
$ dial9-prof --on-full pause -o - -a | cat
! dial9-prof: record: --on-full needs a file: -o FILE; see dial9-prof record --help
$ dial9-prof --flight 30s,64M --disk-budget 20M -a
! dial9-prof: record: --disk-budget is less than the memory of --flight; see dial9-prof record --help
? 1
$ dial9-prof --switch-output -o - -a | cat
! dial9-prof: record: --switch-output and --timestamp-filename need a file: -o FILE; see dial9-prof record --help
$ dial9-prof --timestamp-filename -o tcp:localhost:1 -a
! dial9-prof: record: --switch-output and --timestamp-filename need a file: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --flight 30s --switch-max-files 3 -o /dev/null -a
! dial9-prof: record: --flight needs a file: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --switch-output -o /dev/null -a
! dial9-prof: record: --switch-output and --timestamp-filename need a file: -o FILE; see dial9-prof record --help
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
! dial9-prof: record: -o takes tcp:HOST:PORT and unix:PATH, and no other prefix; for a file of that name, put ./ before it; see dial9-prof record --help
? 1
$ dial9-prof --app-trace . -o unix:/tmp/x -a
! dial9-prof: record: --app-trace needs one uncompressed file: -o FILE; see dial9-prof record --help
? 1
$ dial9-prof --max-size 0 -a
! dial9-prof: record: bad value '0' for --max-size: expected a size of 1 or more
? 1
$ dial9-prof --compress=lzma -a
! dial9-prof: record: bad value for --compress: expected gzip, zstd, gzip:LEVEL, zstd:LEVEL or LEVEL; see dial9-prof record --help
? 1
$ dial9-prof --compress=zstd9 -a
! dial9-prof: record: bad value for --compress: expected gzip, zstd, gzip:LEVEL, zstd:LEVEL or LEVEL; see dial9-prof record --help
? 1
$ dial9-prof --compress=gzip: -a
! dial9-prof: record: gzip has levels 1 to 9, zstd 1 to 22; see dial9-prof record --help
? 1
$ dial9-prof -z=zstd:23 -a
! dial9-prof: record: gzip has levels 1 to 9, zstd 1 to 22; see dial9-prof record --help
? 1
$ dial9-prof --compress=zstd:23 -a
! dial9-prof: record: gzip has levels 1 to 9, zstd 1 to 22; see dial9-prof record --help
? 1
$ dial9-prof -z0 -a
! dial9-prof: record: gzip has levels 1 to 9, zstd 1 to 22; see dial9-prof record --help
? 1
$ dial9-prof -z10 -a
! dial9-prof: record: gzip has levels 1 to 9, zstd 1 to 22; see dial9-prof record --help
? 1
$ dial9-prof --compress zstd -a
! dial9-prof: record: --compress needs '=' before its value; use --compress=zstd, or ./zstd if it is the command
? 1
$ dial9-prof -z 9 -a
! dial9-prof: record: --compress needs '=' before its value; use --compress=9, or ./9 if it is the command
? 1
$ dial9-prof --debug=no-orc,orc -a
! dial9-prof: record: bad value 'orc' for --debug: expected no-orc, verify-stacks or one-ring
? 1
$ dial9-prof --debug=no-orc, -a
! dial9-prof: record: bad value '' for --debug: expected no-orc, verify-stacks or one-ring
? 1
#
# Options of earlier versions.
$ dial9-prof --start-at 03:00 -a
! dial9-prof: record: unknown option --start-at; see dial9-prof record --help
? 1
$ dial9-prof --rings 1 -a
! dial9-prof: record: unknown option --rings; see dial9-prof record --help
? 1
$ dial9-prof --no-orc -a
! dial9-prof: record: unknown option --no-orc (did you mean --no-comm?); see dial9-prof record --help
? 1
$ dial9-prof --verify-stacks -a
! dial9-prof: record: unknown option --verify-stacks (did you mean --event-stacks?); see dial9-prof record --help
? 1
$ dial9-prof --compression-level=3 -a
! dial9-prof: record: unknown option --compression-level (did you mean --compress?); see dial9-prof record --help
? 1
$ dial9-prof -z --app-trace . -a
! dial9-prof: record: --app-trace needs one uncompressed file: -o FILE; see dial9-prof record --help
? 1
#
# The newline of --ready-fd is no part of a trace.
$ dial9-prof -a -d 0.1 -o - --ready-fd=3 3>&1
! dial9-prof: record: --ready-fd and -o use the same descriptor; choose another one; see dial9-prof record --help
? 1
$ dial9-prof -a -d 0.1 -o ready --ready-fd=3 3>ready
! dial9-prof: record: --ready-fd and -o use the same descriptor; choose another one; see dial9-prof record --help
? 1
$ rm ready
#
# --version prints the version of the program.
$ dial9-prof record --version
! dial9-prof: record: unknown option --version; see dial9-prof record --help
? 1
#
# None of these commands left a file.
$ rm a b c; ls
#
$ dial9-prof record -a --label rack=b7
! dial9-prof: record: --label needs --ship; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --raw-ttl 7
! dial9-prof: record: --raw-ttl needs --ship; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --anonymize
! dial9-prof: record: --anonymize needs --ship; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship-events
! dial9-prof: record: --ship-events needs --ship; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x --ship-events --anonymize
! dial9-prof: record: --ship-events cannot be combined with --anonymize: fields contain names and paths; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship pyroscope+http://localhost:4040 --ship-events
! dial9-prof: record: --ship-events needs ClickHouse; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x --rollup-ttl 0d
! dial9-prof: record: bad value for --rollup-ttl: expected 1 to 36500 days, for example 7d; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x --anonymize-key key
! dial9-prof: record: --anonymize-key needs --anonymize; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship localhost:8123
! dial9-prof: record: bad value for --ship: expected http://USER@HOST:8123/DATABASE, https://... or pyroscope+http://HOST:4040; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://me:secret@localhost:8123/x
! dial9-prof: record: the URL of --ship has a password, which others can see; use the environment variable DIAL9_SHIP_PASSWORD; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship pyroscope+ftp://localhost
! dial9-prof: record: bad value for --ship: expected http://USER@HOST:8123/DATABASE, https://... or pyroscope+http://HOST:4040; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship 'http://localhost:8123/x?user=me'
! dial9-prof: record: bad value for --ship: expected http://USER@HOST:8123/DATABASE, https://... or pyroscope+http://HOST:4040; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship pyroscope+http://
! dial9-prof: record: bad value for --ship: expected http://USER@HOST:8123/DATABASE, https://... or pyroscope+http://HOST:4040; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship pyroscope+http://localhost:4040 --raw-ttl 7
! dial9-prof: record: --raw-ttl and --rollup-ttl need ClickHouse; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship pyroscope+http://localhost:4040 --label a-b=c
! dial9-prof: record: bad value for --label: Pyroscope takes names of letters, digits, underscores and dots; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x --label rack
! dial9-prof: record: bad value for --label: expected NAME=VALUE; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x -o trace.bin
! dial9-prof: record: --ship needs a directory of its own: -o DIR/NAME.bin; see dial9-prof record --help
? 1
#
$ dial9-prof record -a --ship http://localhost:8123/x --flight 10
! dial9-prof: record: --ship cannot be combined with a stream or --flight; see dial9-prof record --help
? 1
