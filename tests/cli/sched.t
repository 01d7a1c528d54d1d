# What the scheduler did with threads: what the command line takes, and traces that have nothing to tell.
#
$ dial9-prof sched --help | head -n 9
Usage: dial9-prof sched WORD [OPTIONS] [FILE]

Shows what the scheduler did with the threads of a trace.

  latency   how long each task waited for a CPU, and behind whom
  timehist  each time on a CPU, with the wait and the delay before it
  map       who ran on which CPU, as a strip of letters
  summary   how busy each CPU was, and how many waited for it

#
$ dial9-prof sched record
! dial9-prof: sched: unknown word 'record' (known: latency, timehist, map, summary); see dial9-prof sched --help
? 1
#
$ dial9-prof sched latency -i nothere
! dial9-prof: cannot open nothere: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof sched latency - <$T/golden/dial9/mixed_1k.bin
No waits for a CPU in standard input: it has no switches: its threads slept, or it was recorded with --no-sched.
#
$ dial9-prof sched timehist - <$T/golden/dial9/mixed_1k.bin
No turns on a CPU in standard input: it has no switches: its threads slept, or it was recorded with --no-sched.
