# What a thread did: what the command line takes, and traces that have nothing to tell.
#
$ dial9-prof explain
! dial9-prof: explain: of which thread or process? (dial9-prof explain TID|PID)
? 1
#
$ dial9-prof explain 10
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof explain 10 $T/golden/dial9/mixed_1k.bin | sed 's|in .*/|in |'
No thread or process 10 in mixed_1k.bin: it has no switches: its threads slept, or it was recorded with --no-sched.
#
$ dial9-prof explain 10 --json - <$T/golden/dial9/mixed_1k.bin
{"version":1,"file":"standard input","span_ns":599000,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"whole":true,"threads":[],"story":[]}
#
# The slowest of pairs: what is none, and polls of a service that has no switches.
$ dial9-prof explain --slowest 3
! dial9-prof: explain: --slowest: of what? (--span fsync, or --span ENTER,EXIT)
? 1
#
$ dial9-prof explain --span fsync $T/golden/dial9/mixed_1k.bin | sed 's|in .*/|in |'
No event of fsync in mixed_1k.bin: was it recorded? (record -e)
#
$ dial9-prof explain --span poll --slowest 2 - <$T/golden/dial9/tokio-service.bin.gz
\# standard input: the slowest 2 of 36,801 pairs of poll over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us
\#
\#    Running ms     Waiting ms     Blocked ms     Unknown ms      Absent ms  pair
       0.000000       0.000000       0.000000       0.000000      50.280303  1. PollStartEvent by [unknown] 31710
       0.000000       0.000000       0.000000       0.000000      47.674756  2. PollStartEvent by [unknown] 31711
\# the trace has no switches: what threads did meanwhile is not in it

\# 1. PollStartEvent by [unknown] 31710, from 503229.939817263 to 503229.990097566:      50.280303 ms

\# 2. PollStartEvent by [unknown] 31711, from 503229.942422840 to 503229.990097596:      47.674756 ms
