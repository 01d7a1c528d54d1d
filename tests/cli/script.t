# Events as lines: which are printed, as text and as JSON. The unit tests check the layout to the byte.
#
# Without -e only samples are records to stackcollapse-perf.pl: others begin with a blank or "#".
$ gzip -dc $T/golden/dial9/tokio-service.bin.gz >t.bin; dial9-prof script t.bin | grep -c '^[^[:blank:]#].* cpu-clock:$\|^[^[:blank:]#].* CpuSampleEvent:$'
72
$ dial9-prof script t.bin | grep '^[^[:blank:]#]' | grep -vc 'cpu-clock:$\|CpuSampleEvent:$'
0
? 1
#
$ dial9-prof script -e switch-out t.bin | grep -c '^[^[:blank:]].*: switch-out:$'
6877
#
$ dial9-prof script -e switch-out --limit 1 -F event,sym t.bin | head -n 4
switch-out:
	 __schedule
	 schedule
	 schedule_hrtimeout_range_clock
#
$ dial9-prof script -e nothing t.bin
! dial9-prof: script: no event matches -e, <*>; dial9-prof info lists the events
? 1
#
# JSON: each line is an object, and unknown values are null.
$ dial9-prof script --json -e QueueSampleEvent --limit 1 t.bin
{"version":2,"ts":503226139919796,"event":"QueueSampleEvent","comm":null,"pid":null,"tid":null,"cpu":null,"fields":{"global_queue":0}}
#
$ dial9-prof script --json -e switch-out --limit 1 t.bin | grep -o '^.*"stack":\[{"addr":"0x[0-9a-f]*","sym":"__schedule"'
{"version":2,"ts":503226130673264,"event":"switch-out","comm":"tokio-rt-worker","pid":null,"tid":31710,"cpu":2,"fields":{"worker_id":0,"tid":31710,"source":1,"thread_name":null,"cpu":2},"stack":[{"addr":"0xffffffff81a28b97","sym":"__schedule"
#
# The writer's annotation of a field: 5 microseconds.
$ dial9-prof script $T/golden/dial9/ext/annotations.bin
\#                     -1/-1      [---]     1.000036: Annotated: (d=5.000 us e=1)
\#                     -1/-1      [---]     1.000036: Id300: (v=300)
#
$ dial9-prof script --json $T/golden/dial9/ext/annotations.bin | head -n 1
{"version":2,"ts":1000036967,"event":"Annotated","comm":null,"pid":null,"tid":null,"cpu":null,"fields":{"d":5,"e":1},"text":{"d":"5.000 us"}}
#
$ dial9-prof script t.bin --fields time,colour
! dial9-prof: script: unknown field 'colour' in -F (known: comm, pid, tid, cpu, time, event, trace, ip, sym, symoff, dso, srcline, end)
? 1
#
$ dial9-prof script t.bin >/dev/full
! dial9-prof: cannot write to standard output: No space left on device
? 3
