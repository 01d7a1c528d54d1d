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
