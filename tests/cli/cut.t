# A part of a trace as a new trace.
#
$ dial9-prof cut
! dial9-prof: cut: no output given; use -o FILE, or -o - for standard output; see dial9-prof cut --help
? 1
#
$ dial9-prof cut -o out
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
# The whole trace: names and values are unchanged.
$ cp $T/golden/dial9/mixed_1k.bin mixed; dial9-prof cut mixed -o all
! dial9-prof: cut: kept 1,000 of 1,000 events, 37.5 kB of 37.5 kB
$ dial9-prof info --verify all
all: good: 1005 frames, 1000 events, in 37497 bytes
$ dial9-prof script mixed >want; dial9-prof script all | cmp - want
#
# Annotations of fields are kept, with any key.
$ dial9-prof cut -q $T/golden/dial9/ext/annotations.bin -o notes; dial9-prof dump notes
         0  header   version 1
         5  schema   256 Annotated @ts d:varint e:u8
        30  annotate 256 0.display="hist" 0.unit="µs" 65535.field out of range="x"
        96  reset    1.000036967
       105  event    1.000036967 Annotated d=5 e=1
       113  schema   257 Id300 @ts v:varint
       130  annotate 257 0.k="v"
       145  event    1.000036969 Id300 v=300
#
# Some events, for some time, to standard output, from standard input.
$ dial9-prof cut -e 'Poll*' --time +0,100us - -o - <mixed >polls
! dial9-prof: cut: kept 69 of 1,000 events, 738 B of 37.5 kB
$ dial9-prof info --schemas polls | grep -A9 Schemas:
Schemas:
  PollStart  {worker_id Varint, local_queue_depth Varint, task_id Varint, spawn_loc_id Varint}
  PollEnd  {worker_id Varint}
$ cat mixed | dial9-prof cut -q -e 'Poll*' --time +0,100us - -o - | cmp - polls
#
# A cut can be cut again.
$ dial9-prof cut -q polls -e PollEnd -o ends; dial9-prof info --verify ends
ends: good: <N> frames, 34 events, in <N> bytes
#
# No event passes: the file is valid, and a message is printed.
$ dial9-prof cut mixed -p 4 -o none
! dial9-prof: no events in mixed: process 4 is not in the trace
? 1
$ dial9-prof info --verify none
none: good: 0 frames, 0 events, in 5 bytes
$ dial9-prof cut -q mixed -e 'nope*' -o none
! dial9-prof: no events in mixed: none match -e
? 1
$ dial9-prof export html mixed -p 4 >none
! dial9-prof: no events in mixed: process 4 is not in the trace
? 1
#
# A recording by an application of fourteen segments: names without their owners.
$ cp $T/golden/dial9/tokio-service.bin.gz t.gz; dial9-prof cut -q --anonymize --time 30%,50% t.gz -o t; grep -c 'metrics[-_]' t
0
? 1
$ dial9-prof info t | sed -n 3,6p
service         name<N>
worker_threads  name<N>
flush_interval  name<N>
table_name      name<N>
#
# An older file is kept, as by record; input that is not a trace replaces no file.
$ dial9-prof cut -q mixed -o all; cmp all all.old
$ echo hello >text; dial9-prof cut text -o all; ls all*
all
all.old
! dial9-prof: text: not a dial9 trace: <*>
$ cat /dev/zero | timeout 60 dial9-prof cut - -o all
! dial9-prof: standard input: not a dial9 trace: <*>
? 5
$ dial9-prof cut mixed -o /dev/full
! dial9-prof: cannot write /dev/full: No space left on device
? 3
$ dial9-prof cut mixed -o no/such/dir
! dial9-prof: cannot write no/such/dir: No such file or directory; choose another file with -o
? 3
$ head -c 20000 mixed >torn; dial9-prof cut torn -o half
! dial9-prof: torn: the end is cut off after byte <N>; everything before it is used
! dial9-prof: cut: kept 529 of 529 events, 19.9 kB of 19.9 kB
$ dial9-prof cut --time 5,2 mixed -o x
! dial9-prof: --time 5,2 ends before it begins
? 1
#
# A time range has two ends.
$ dial9-prof cut --time 5 -o out
! dial9-prof: bad value '5' for --time: expected A,B with seconds, +seconds, 100ms, 10% or 12:34:56
? 1
