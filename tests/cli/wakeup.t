# Wakers and wakees: the command line, and traces without the needed events.
#
$ dial9-prof wakeup
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof wakeup --chain me
! dial9-prof: wakeup: bad value 'me' for --chain: expected TID or TID@TIME, such as 4711@123.456
? 1
#
$ dial9-prof wakeup $T/golden/dial9/mixed_1k.bin | sed 's|in .*/|in |'
No wakeups in mixed_1k.bin: it has no context switches.
#
$ dial9-prof wakeup --json - <$T/golden/dial9/mixed_1k.bin
{"version":2,"file":"standard input","span_ns":599000,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"pauses":0,"stacks_skipped":0,"wakeups":0,"cut":0,"ns":0,"rows_not_shown":0,"rows":[]}
#
$ dial9-prof wakeup --json --chain 10 - <$T/golden/dial9/mixed_1k.bin
{"version":2,"file":"standard input","span_ns":599000,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"pauses":0,"stacks_skipped":0,"chain":[]}
