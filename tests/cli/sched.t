# Scheduling of threads: the command line, and traces without the needed events.
#
$ dial9-prof sched --help | head -n 9
Usage: dial9-prof sched SUBCOMMAND [OPTIONS] [FILE]

Print run-queue latency, runs on CPUs, and CPU utilization.

  latency   run-queue latency of each thread, process or name, and who ran instead
  timehist  each run of a thread on a CPU, with off-CPU time and run-queue latency before
  map       a timeline of each CPU, as a strip of letters
  summary   utilization and run queue of each CPU

#
$ dial9-prof sched record
! dial9-prof: sched: unknown subcommand 'record' (known: latency, timehist, map, summary); see dial9-prof sched --help
? 1
#
$ dial9-prof sched latency -i nothere
! dial9-prof: cannot open nothere: No such file or directory
? 5
#
$ dial9-prof sched latency - <$T/golden/dial9/mixed_1k.bin
No run-queue latency in standard input: it has no context switches.
#
$ dial9-prof sched timehist - <$T/golden/dial9/mixed_1k.bin
No thread ran in standard input: it has no context switches.
