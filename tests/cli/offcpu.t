# Where threads were blocked: the command line, and traces without the needed events.
#
$ dial9-prof offcpu
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof offcpu --by time
! dial9-prof: offcpu: unknown key 'time' in --by (known: stack, comm, pid, tid, cgroup, state, waker, wstack)
? 1
#
# The letter of report's --sort.
$ dial9-prof offcpu -s comm,time x.bin
! dial9-prof: offcpu: unknown key 'time' in --by (known: stack, comm, pid, tid, cgroup, state, waker, wstack)
? 1
#
$ dial9-prof offcpu $T/golden/dial9/mixed_1k.bin | sed 's|in .*/|in |'
No blocked time in mixed_1k.bin: it has no context switches.
#
$ dial9-prof offcpu --json - <$T/golden/dial9/mixed_1k.bin
{"version":2,"file":"standard input","span_ns":599000,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"pauses":0,"stacks_skipped":0,"intervals":0,"cut":0,"ns":0,"unknown_ns":0,"unsure_ns":0,"rows_not_shown":0,"rows":[]}
