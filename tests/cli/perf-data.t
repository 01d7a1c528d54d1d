# perf.data: what perf itself prints for these files (perf script, perf report) is in the events. The files were
# recorded by perf 6.1 with /bin/true and sh, with callchains (clock, bid, tp), compressed (z), and as a pipe.
#
$ cp $T/golden/perfdata/*.data .; dial9-prof info clock.data
trace           clock.data
format          perf.data
host            vm
kernel          6.18.44-fc-v782
machine         x86_64
cpus            2
command         /usr/bin/perf record -q -e cpu-clock -c 100000 -g -o clock.data /bin/true
perf version    6.1.192
clock           not CLOCK_MONOTONIC
span            0.000707 s
event           cpu-clock: 5 samples
records         18
mappings        5
names           2
forks           0
lost            0
build-ids       4
formats         0
#
# Leaves by program and file, as perf report counts them: 2 kernel, 2 ld.so, 1 libc.
$ dial9-prof convert clock.data -o clock.d9; dial9-prof report clock.d9 | grep '^ .* 0\.000 ' | grep -v '  0  '
    40.00%   80.00%        2     0.000  [unknown]  ld-linux-x86-64.so.2
    40.00%   40.00%        2     0.000  [unknown]  [kernel.kallsyms]
    20.00%   20.00%        1     0.000  [unknown]  libc.so.6
! note              1  times are not on CLOCK_MONOTONIC, the clock of dial9 traces; record with perf record -k CLOCK_MONOTONIC to merge them (clock: perf's own (sched_clock))
#
# The same number of samples compressed, in a pipe, and in a pipe that is read once.
$ for f in z bid pipe; do dial9-prof convert -q $f.data -o $f.d9; dial9-prof info $f.d9 | grep '^stacks'; done; cat pipe.data | dial9-prof convert -q --follow - -o live.d9; cmp pipe.d9 live.d9
stacks          5 samples, 0 off-CPU stacks
stacks          5 samples, 0 off-CPU stacks
stacks          2 samples, 0 off-CPU stacks
#
# Tracepoints, against perf script --ns.
$ dial9-prof convert tp.data -o tp.d9; dial9-prof script --ns -F comm,tid,cpu,time,event,trace tp.d9
              sh   15657 [000]  7631.611018237: sched:sched_switch: prev_comm=sh prev_pid=15657 prev_prio=130 prev_state=2 next_comm=perf next_pid=15601 next_prio=130
              sh   15699 [001]  7631.612305031: sched:sched_waking: comm=sh pid=15657 prio=130 target_cpu=0 context=1
              sh   15657 [000]  7631.612345627: sched:sched_switch: prev_comm=sh prev_pid=15657 prev_prio=130 prev_state=1 next_comm=cc1plus next_pid=15543 next_prio=130
           sleep   15699 [001]  7631.612975018: sched:sched_switch: prev_comm=sleep prev_pid=15699 prev_prio=130 prev_state=1 next_comm=all_tests next_pid=15700 next_prio=120
              sh   15657 [000]  7631.623402308: sched:sched_switch: prev_comm=sh prev_pid=15657 prev_prio=130 prev_state=2 next_comm=cc1plus next_pid=15543 next_prio=130
              sh   15703 [001]  7631.624131366: sched:sched_waking: comm=migration/1 pid=21 prio=0 target_cpu=1 context=1
              sh   15703 [001]  7631.624144791: sched:sched_switch: prev_comm=sh prev_pid=15703 prev_prio=130 prev_state=256 next_comm=migration/1 next_pid=21 next_prio=0
              sh   15703 [000]  7631.624202299: sched:sched_waking: comm=sh pid=15657 prio=130 target_cpu=0 context=1
           sleep   15703 [000]  7631.624919544: sched:sched_switch: prev_comm=sleep prev_pid=15703 prev_prio=130 prev_state=1 next_comm=sh next_pid=15657 next_prio=130
              sh   15657 [000]  7631.624936866: sched:sched_switch: prev_comm=sh prev_pid=15657 prev_prio=130 prev_state=1 next_comm=cc1plus next_pid=15543 next_prio=130
#
$ dial9-prof dump tp.data | grep -c '"type":"SAMPLE"'; dial9-prof dump tp.d9 | grep -c 'event .*CpuSampleEvent .*source=1'; dial9-prof dump tp.d9 | grep -c 'event .*CpuSampleEvent .*source=2'
10
7
3
#
# The object has each key once, and numbers as numbers.
$ dial9-prof info --json tp.data | jq -c '[.span_ns, .events, .records, has("event")]'
[24845196,[{"name":"sched:sched_switch","samples":7},{"name":"sched:sched_waking","samples":3}],38,false]
$ dial9-prof info --json clock.data | jq -c .events
[{"name":"cpu-clock","samples":5}]
#
# Copied user stacks are unwound with the files of the same build that are here; each has its leaf in any case.
$ dial9-prof convert dwarf.data -o dwarf.d9 2>&1 | grep "not kept"; dial9-prof info dwarf.d9 | grep '^stacks'; dial9-prof script -F event,ip dwarf.d9 | awk '/:$/ { head = 1; next } head && NF { n++; head = 0 } END { print n }'
not kept          4  data sources
stacks          4 samples, 0 off-CPU stacks
4
#
# Wall-clock time from the file: perf read both clocks when it started to record.
$ dial9-prof dump tp.d9 | grep -c 'event .*ClockSyncEvent'; dial9-prof dump clock.d9 | grep -c 'event .*ClockSyncEvent'
1
0
? 1
#
# Damage: what is there is converted, and one line says what is not.
$ head -c 1500 clock.data >cut.data; dial9-prof convert -q cut.data -o cut.d9; echo $?; dial9-prof info cut.data 2>&1 | grep skipped
5
skipped          <N>  missing header sections (<*>
skipped           1  torn end of the file (<*>
#
$ head -c 60 clock.data >head.data; dial9-prof convert head.data -o x; dial9-prof dump head.data
! dial9-prof: perf.data: head.data: it ends in its header
! dial9-prof: perf.data: head.data: it ends in its header
? 5
#
$ { printf 2ELIFREP; tail -c +9 clock.data; } >swapped.data; dial9-prof convert swapped.data -o x; ls x 2>/dev/null
! dial9-prof: perf.data: swapped.data: written on a machine of the other byte order
? 2
#
$ cat clock.data | dial9-prof convert --follow - -o x
! dial9-prof: perf.data: standard input: a perf.data file cannot be followed; use perf record -o - for the pipe format
? 1
#
# The commands for dial9 traces name the format, and what to do.
$ for c in count report script 'query select(1)' 'export html -o x'; do dial9-prof $c clock.data; echo $?; done; dial9-prof report - <clock.data; dial9-prof convert --from dial9 clock.data -o x; ls x
5
5
5
5
5
! dial9-prof: clock.data is a perf.data file; use dial9-prof convert clock.data -o FILE to convert it to dial9
! dial9-prof: clock.data is a perf.data file; use dial9-prof convert clock.data -o FILE to convert it to dial9
! dial9-prof: clock.data is a perf.data file; use dial9-prof convert clock.data -o FILE to convert it to dial9
! dial9-prof: clock.data is a perf.data file; use dial9-prof convert clock.data -o FILE to convert it to dial9
! dial9-prof: clock.data is a perf.data file; use dial9-prof convert clock.data -o FILE to convert it to dial9
! dial9-prof: standard input is a perf.data file; use dial9-prof convert - -o FILE to convert it to dial9
! dial9-prof: convert: clock.data is perf-data, not dial9; remove --from dial9
! ls: cannot access 'x': No such file or directory
? 2
#
$ dial9-prof convert clock.data tp.data -o x
! dial9-prof: convert: only one perf.data file can be converted at a time; convert each, then use dial9-prof merge
? 1
#
# perf record --threads: bit 24 of the features (here in place of bit 25, which is not used) says that there are records in
# other files too, without a header. data has 5 samples at byte 264, and data.0 has the same once more.
$ mkdir th kc; cp clock.data th/data; cp clock.data kc/data; printf '\205' | dd of=th/data bs=1 seek=75 conv=notrunc status=none; dial9-prof convert th/data -o x; dial9-prof convert kc -o x; ls x 2>/dev/null
! dial9-prof: perf.data: th/data: its events are in other files, one per thread of perf (data.0, ...); use dial9-prof convert with their directory
! dial9-prof: cannot read kc: it is a directory; name its file kc/data
? 2
#
$ tail -c +265 clock.data | head -c 1488 >th/data.0; : >th/data.1; dial9-prof convert -q th -o th.d9; dial9-prof info th.d9 | grep '^stacks'; dial9-prof script -F time,event th.d9 | grep -c 'cpu-clock'; dial9-prof script -F time,event th.d9 >lines; sort -c lines && cmp lines lines
stacks          10 samples, 0 off-CPU stacks
10
#
$ head -c 1476 th/data.0 >cut; mv cut th/data.0; dial9-prof convert th -o cut.d9 2>&1 | grep skipped; dial9-prof info cut.d9 | grep '^stacks'; cp clock.data kc/data.0; dial9-prof convert kc -o x
skipped           1  torn end of the file (byte 1476: the last record is cut)
stacks          <N> samples, 0 off-CPU stacks
! dial9-prof: convert: only one perf.data file can be converted at a time; convert each, then use dial9-prof merge
? 1
#
# info and dump read the directory as they read a file; other commands name convert.
$ mkdir dir; cp th/data dir; tail -c +265 clock.data | head -c 1488 >dir/data.0; dial9-prof info dir | grep -v '^host\|^kernel\|^clock\|^machine\|^cpus\|^command\|^perf v'; dial9-prof dump dir | grep -c SAMPLE; dial9-prof info --json --from perf-data dir | jq -c .events; dial9-prof report dir
trace           dir
format          perf.data
span            0.000707 s
event           cpu-clock: 10 samples
records         36
mappings        10
names           4
forks           0
lost            0
build-ids       4
formats         0
10
[{"name":"cpu-clock","samples":10}]
! dial9-prof: cannot read dir: it is a directory of perf record --threads; use dial9-prof convert dir -o FILE to convert it to dial9
? 5
#
$ cp dir/data.0 dir/data.2; dial9-prof info dir
! dial9-prof: cannot read dir: dir/data.1 is missing, and files after it are there
? 5
#
# A full disk: a part of a dial9 trace is readable, a part of a perf.data file is not.
$ (ulimit -f 1; trap '' XFSZ; dial9-prof convert tp.data -o big.d9; dial9-prof convert -q --to perf-data tp.d9 -o big.data)
! dial9-prof: cannot write big.d9: File too large; the file is readable up to its last flush
! dial9-prof: cannot write big.data: File too large; the file is incomplete
? 3
#
# A missing file is not passed over.
$ cp th/data.1 th/data.2; rm th/data.1; dial9-prof convert th -o gap.d9
! dial9-prof: convert: th/data.1 is missing, and files after it are there; to convert without it, rename them
? 5
#
# Sizes that are not there: no memory is taken for them.
$ { head -c 40 clock.data; printf '\377\377\377\377\377\377\377\177'; tail -c +49 clock.data; } >far.data; { head -c 16 pipe.data; printf '\102\0\0\0\0\0\014\0\377\377\377\017'; } >sized.data; ulimit -v 131072; dial9-prof convert far.data -o x; dial9-prof convert sized.data -o x
! dial9-prof: perf.data: far.data: its header is damaged, or of an unknown version of perf
! skipped           1  damaged tracepoint formats
? 5
#
# And back: the same records, and the summary says what perf.data has no place for.
$ dial9-prof convert --to perf-data tp.d9 -o tp.back; dial9-prof convert -q tp.back -o tp2.d9; for f in tp tp2; do dial9-prof script --ns -F comm,tid,cpu,time,event,trace,ip $f.d9 >$f.txt; done; cmp tp.txt tp2.txt; dial9-prof info tp.back | grep '^[hcek]'
host            vm
kernel          6.18.44-fc-v782
cpus            2
command         /usr/bin/perf record -q -e sched:sched_switch,sched:sched_waking -g -k CLOCK_MONOTONIC -o tp.data -m 8 sh -c sleep 0.01; sleep 0.01
clock           CLOCK_MONOTONIC
event           sched:sched_switch: 7 samples
event           sched:sched_waking: 3 samples
! note              1  perf sched latency prints runtimes of 0: for these, also record -e sched:sched_stat_runtime
#
$ dial9-prof convert --to perf-data clock.d9 -o clock.back; dial9-prof convert -q clock.back -o clock2.d9; dial9-prof report clock2.d9 | grep '^ .* 0\.000 ' | grep -v '  0  '
    40.00%   80.00%        2     0.000  [unknown]  ld-linux-x86-64.so.2
    40.00%   40.00%        2     0.000  [unknown]  [kernel.kallsyms]
    20.00%   20.00%        1     0.000  [unknown]  libc.so.6
#
$ cat tp.d9 | dial9-prof convert --follow --to perf-data - -o x
! dial9-prof: convert: a perf.data file begins with its size, so --follow cannot write one
? 1
#
# Half a trace is half a file, with its line.
$ head -c 1500 tp.d9 >half.d9; dial9-prof convert --to perf-data half.d9 -o half.back 2>&1 | grep -c 'torn end'; dial9-prof info half.back | grep -c '^event'
1
2
