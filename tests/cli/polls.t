# Slow polls: in a service's trace alone, which has stacks of switches, and in files without polls.
#
$ dial9-prof polls nothing.bin
! dial9-prof: cannot open nothing.bin: No such file or directory
? 5
#
$ cp $T/golden/dial9/mixed_1k.bin .; dial9-prof polls --min 1ms mixed_1k.bin
! dial9-prof: polls: no poll in mixed_1k.bin; also give the trace that the service wrote
? 1
#
$ dial9-prof polls --limit 1 - <$T/golden/dial9/tokio-service.bin.gz | head -16
\# standard input: 4 of 36,801 polls took 1.000 ms or longer, over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us; the slow ones: 142.595 ms
\# only the trace of the application: thread states are unknown
\#   (record with dial9-prof -p PID, and give both files)
\#
\#    Share      Total ms  Polls  where the task was spawned
    68.69%      97.955059      2  examples/metrics-service/src/axum_traced.rs:173:32
\# 1 more row with less time: --limit 0 shows all
\#
\#        Took ms  poll
      50.280303  1. task 112 by worker 0, tokio-rt-worker 31710, spawned at examples/metrics-service/src/axum_traced.rs:173:32, in query_metric

\# 1. task 112 by worker 0, tokio-rt-worker 31710, spawned at examples/metrics-service/src/axum_traced.rs:173:32, in query_metric, from 503229.939817263 to 503229.990097566:      50.280303 ms

+  15.270 us  left its CPU; ended 50.265 ms later
#
# Input from a pipe, with concatenated parts of one service.
$ zcat $T/golden/dial9/tokio-service.bin.gz | dial9-prof polls --limit 1 - | head -3
\# standard input: 4 of 36,801 polls took 1.000 ms or longer, over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us; the slow ones: 142.595 ms
#
$ cp $T/golden/dial9/tokio-service.bin.gz s.gz; dial9-prof cut -q --time 0%,50% s.gz -o a.bin; dial9-prof cut -q --time 50%,100% s.gz -o b.bin
$ dial9-prof polls b.bin a.bin | head -3
\# b.bin + a.bin: 4 of 36,801 polls took 1.000 ms or longer, over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us; the slow ones: 142.595 ms
#
$ dial9-prof polls -i s.gz mixed_1k.bin
! dial9-prof: polls: --input and mixed_1k.bin: name all traces without --input
? 1
#
$ dial9-prof polls mixed_1k.bin nothing.bin
! dial9-prof: cannot open nothing.bin: No such file or directory
? 5
#
$ dial9-prof polls --min 10s -- $T/golden/dial9/tokio-service.bin.gz | sed 's|^# .*/|# |'
\# tokio-service.bin.gz: 0 of 36,801 polls took 10.000 s or longer, over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us; the slow ones: 0 ns
#
# Threads are selected by the names in their samples.
$ dial9-prof polls --comm 'tokio*' --limit 1 s.gz | head -1; dial9-prof polls --comm 'toxio*' s.gz
\# s.gz: 4 of 36,801 polls took 1.000 ms or longer, over 4.810 s
! dial9-prof: polls: no poll in s.gz matches the selection
? 1
#
$ dial9-prof polls -C 9 s.gz
! dial9-prof: polls: -C: polls do not say on which CPU they began
? 1
#
# Two functions have the same last name component; one of them calls the other.
$ dial9-prof polls --span query_metric --limit 1 s.gz | sed -n '1p;3,6p;10,11p'
\# s.gz: 4 of 11,854 spans of query_metric took 1.000 ms or longer, over 4.810 s
\# all: 694.156 ms, median 18.047 us, p99 175.103 us; the slow ones: 195.873 ms
\# spans: each time range from an enter to its exit counts on its own
\# 2 kinds: 5,927 of metrics_service::routes::query_metric, 5,927 of metrics_service::ddb::query_metric
\# 5,927 pairs inside another of the same thread: both times count
\#        Took ms  span
      50.273173  1. metrics_service::routes::query_metric by worker 0, tokio-rt-worker 31710, in query_metric
#
$ dial9-prof polls --span ddb::query_metric --limit 1 s.gz | sed -n '1p;3p'
\# s.gz: 2 of 5,927 spans of ddb::query_metric took 1.000 ms or longer, over 4.810 s
\# all: 340.075 ms, median 17.279 us, p99 168.959 us; the slow ones: 97.932 ms
