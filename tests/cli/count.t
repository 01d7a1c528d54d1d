# Events counted by their fields. Counts are compared with those of sort and uniq over script's lines.
#
$ gzip -dc $T/golden/dial9/tokio-service.bin.gz >t.bin; dial9-prof count t.bin --top 3
\# t.bin: 202,767 events over 4.810 s
\# lost: nothing
\#
\#      Count   Share  event
       36801  18.15%  PollStartEvent
       36801  18.15%  PollEndEvent
       35552  17.53%  WakeEventEvent
\# 18 more rows with fewer events: --top 0 shows all
#
# By name, all of them.
$ dial9-prof script t.bin --json | grep -o '"event":"[^"]*"' | sort | uniq -c | awk '$2 != "\"event\":\"switch-out\"" { print $1 " " $2 }' | sort >want
#
$ dial9-prof count t.bin --json | grep -o '"event":"[^"]*"},"count":[0-9]*' | sed 's/\(.*\)},"count":\(.*\)/\2 \1/' | sort | diff want - && wc -l <want
21
#
# By fields of two types, and by the thread, which has no field.
$ dial9-prof script t.bin -e TaskTerminateEvent -e TaskSpawnEvent --json | grep -o '"task_id":[0-9]*' | sort | uniq -c | awk '{ print $1 " " $2 }' | sort >want
#
$ dial9-prof count t.bin -e TaskTerminateEvent -e TaskSpawnEvent --by task_id --json | grep -o '"task_id":[0-9]*},"count":[0-9]*' | sed 's/\(.*\)},"count":\(.*\)/\2 \1/' | sort | diff want - && wc -l <want
<N>
#
$ dial9-prof script t.bin -e WorkerParkEvent -F comm,tid | sort | uniq -c | awk '{ print $1 " " $2 " " $3 }'
3110 tokio-rt-worker 31710
3194 tokio-rt-worker 31711
#
$ dial9-prof count t.bin -e WorkerParkEvent --by comm,tid | tail -n 2
        3194  50.67%  tokio-rt-worker  31711
        3110  49.33%  tokio-rt-worker  31710
#
# The stack of another event is an event of its own only when it is named.
$ dial9-prof count t.bin -e switch-out | tail -n 1; dial9-prof script t.bin -e switch-out -F event | grep -c switch-out
        6877 100.00%  switch-out
6877
#
# Sums and histograms; the numbers are those of jq's add, min, max and log2.
$ dial9-prof count t.bin -e WorkerUnparkEvent --sum sched_wait_ns
\# t.bin: 6,304 events over 4.810 s
\# lost: nothing
\#
\#      Count   Share          Sum      Average      Minimum      Maximum  event
        6304 100.00%       127760         20.3            0        29870  WorkerUnparkEvent
#
$ dial9-prof count t.bin -e WorkerUnparkEvent --hist sched_wait_ns | grep -v '      0 |' | sed 1,4d
        6304 100.00%  WorkerUnparkEvent
[0]                 6291 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
[512, 1K)              1 |                                                    |
[2K, 4K)               2 |                                                    |
[4K, 8K)               3 |                                                    |
[8K, 16K)              5 |                                                    |
[16K, 32K)             2 |                                                    |

#
$ dial9-prof count t.bin -e WorkerUnparkEvent --hist sched_wait_ns --json | grep -o '"hist":.*\]'
"hist":[{"from":0,"count":6291},{"from":512,"count":1},{"from":2048,"count":2},{"from":4096,"count":3},{"from":8192,"count":5},{"from":16384,"count":2}]}]
#
# Pairs: as many, and as long, as explain finds.
$ dial9-prof explain t.bin --span poll | grep -o 'of [0-9,]* pairs\|all: [0-9.]* s'
of 36,801 pairs
all: 1.283 s
#
$ dial9-prof count t.bin --pair PollStartEvent,PollEndEvent | head -n 5
\# t.bin: 36,801 pairs over 4.810 s
\# lost: nothing
\#
\#     Total    Share     Pairs     Average         p50         p99     Maximum  Start event
    1.283 s  100.00%     36801   34.868 us   10.560 us  211.968 us   50.280 ms  PollStartEvent
#
$ dial9-prof count t.bin --syscalls; dial9-prof count t.bin --syscalls --json
! dial9-prof: count: no system calls in t.bin; record with -e 'raw_syscalls:*'
! dial9-prof: count: no system calls in t.bin; record with -e 'raw_syscalls:*'
? 1
#
# A field of none of the events, or of some only.
$ dial9-prof count t.bin -e PollStartEvent --by colour
! dial9-prof: count: no event has colour; dial9-prof list -v shows the fields of events
? 1
#
$ dial9-prof count t.bin -e 'Poll*' --by event,task_id --sum cpu_time_ns
! dial9-prof: count: no event has all of task_id, cpu_time_ns; dial9-prof list -v shows the fields of events
? 1
#
$ dial9-prof count t.bin -e 'Poll*' --by task_id --top 1 | sed -n 3p
\# not counted: 36,801 events without these fields
#
$ dial9-prof count t.bin -e WorkerUnparkEvent --sum args.sched_wait_ns | tail -n 1
        6304 100.00%       127760         20.3            0        29870  WorkerUnparkEvent
#
$ dial9-prof count t.bin -e WorkerUnparkEvent --hist args.sched_wait_ns | grep -c 6291
1
#
$ dial9-prof count t.bin --sum args.; dial9-prof count t.bin --hist args.
! dial9-prof: count: empty field in --sum
! dial9-prof: count: empty field in --hist
? 1
#
$ dial9-prof count t.bin -e PollStartEvent --hist tid --json
! dial9-prof: count: no event has tid; dial9-prof list -v shows the fields of events
? 1
#
$ dial9-prof count t.bin -e PollStartEvent --sum spawn_loc
! dial9-prof: count: no event has a number in spawn_loc
? 1
#
$ dial9-prof count t.bin -e nothing
! dial9-prof: count: no event matches -e; dial9-prof info lists the events
? 1
#
$ dial9-prof count t.bin -e PollStartEvent -t 1
! dial9-prof: no events in t.bin: thread 1 is not in the trace
? 1
#
$ dial9-prof count t.bin --pair PollStartEvent,nothing
! dial9-prof: count: no event matches nothing of --pair; dial9-prof info lists the events
? 1
#
# What the command line takes.
$ dial9-prof count --pair a t.bin
! dial9-prof: count: bad value 'a' for --pair: expected START,END or START,END,KEY
? 1
#
$ dial9-prof count --pair a,a t.bin
! dial9-prof: count: bad value 'a,a' for --pair: start and end must be different events
? 1
#
$ dial9-prof count --pair a,b --hist x t.bin
! dial9-prof: count: --pair cannot be combined with --hist
? 1
#
$ dial9-prof count --syscalls -e x t.bin
! dial9-prof: count: --syscalls cannot be combined with -e
? 1
#
$ dial9-prof count --sort max t.bin
! dial9-prof: count: --sort needs --pair or --syscalls
? 1
#
$ dial9-prof count --syscalls --by cpu t.bin
! dial9-prof: count: --by cpu cannot be combined with --syscalls: use comm, pid or tid
? 1
#
$ dial9-prof count --by comm,,tid t.bin
! dial9-prof: count: empty field in --by
? 1
#
$ dial9-prof count --by a,b,c,d,e,f,g,h,i t.bin
! dial9-prof: count: --by takes at most 8 fields
? 1
#
$ dial9-prof count -i nothere
! dial9-prof: cannot open nothere: No such file or directory
? 5
#
$ dial9-prof count t.bin >/dev/full
! dial9-prof: cannot write to standard output: No space left on device
? 3
#
# Times have limits.
$ for i in 0.01 1e9 3601; do dial9-prof count --live $i t.bin; done
! dial9-prof: count: bad value '0.01' for --live: expected a time from 100ms to 1h such as 10 (seconds), 500ms or 5m
! dial9-prof: count: bad value '1e9' for --live: expected a time from 100ms to 1h such as 10 (seconds), 500ms or 5m
! dial9-prof: count: bad value '3601' for --live: expected a time from 100ms to 1h such as 10 (seconds), 500ms or 5m
? 1
#
$ dial9-prof count --interval 0 t.bin; dial9-prof count --interval 100000000000 t.bin
! dial9-prof: count: bad value '0' for --interval: expected a time above 0 up to 8760h such as 10 (seconds), 500ms or 5m
! dial9-prof: count: bad value '100000000000' for --interval: expected a time above 0 up to 8760h such as 10 (seconds), 500ms or 5m
? 1
#
# Intervals of the trace's clock. The share is that of the interval.
$ dial9-prof count t.bin -e 'Worker*' --interval 1 --by event --time +1,+2.5
\# t.bin: 3,548 events over 1.500 s
\# lost: nothing
\#
\#           Time       Count   Share  event
   503227.000000        1027  50.00%  WorkerUnparkEvent
   503227.000000        1027  50.00%  WorkerParkEvent
   503228.000000         747  50.00%  WorkerUnparkEvent
   503228.000000         747  50.00%  WorkerParkEvent
#
# A trace that is being written: at its end, the rows of the last period.
$ dial9-prof count --live 60 t.bin -e 'Worker*'
t.bin  4.8 s  12,608 events
lost: nothing
\#      Count   Share  event
        6304  50.00%  WorkerParkEvent
        6304  50.00%  WorkerUnparkEvent

#
$ dial9-prof count --live 1 --syscalls t.bin
! dial9-prof: count: --live cannot be combined with --pair, --syscalls, --interval, --json or a selection other than -e
? 1
