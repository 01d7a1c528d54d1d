# Several traces merged into one.
#
$ dial9-prof merge
! dial9-prof: merge: no input given; see dial9-prof merge --help
? 1
$ dial9-prof merge a.bin
! dial9-prof: merge: no output given; use -o FILE, or -o - for standard output; see dial9-prof merge --help
? 1
$ dial9-prof merge a.bin -o out
! dial9-prof: cannot open a.bin: No such file or directory<*>
? 5
$ cp $T/golden/dial9/mixed_1k.bin mixed; cp $T/golden/dial9/tokio-service.bin.gz t.gz
$ dial9-prof merge mixed --align sideways -o out
! dial9-prof: merge: bad value for --align: expected auto, mono, real or offset=NS; see dial9-prof merge --help
? 1
#
# A sorted trace is unchanged.
$ dial9-prof merge mixed -o out
! dial9-prof: merge: 1,000 events of 1 trace, 37.5 kB
$ dial9-prof script mixed >want; dial9-prof script out | cmp - want; dial9-prof info --verify out
out: good: 1005 frames, 1000 events, in 37497 bytes
#
# The trace of a Tokio service is unsorted; merged it is sorted, and nothing is missing.
$ dial9-prof merge t.gz -o t
! dial9-prof: merge: 210,639 events of 1 trace, <N> MB
$ dial9-prof info --verify t
t: good: <N> frames, 210639 events, in <N> bytes
$ dial9-prof dump --json t | sed -n 's/.*"f":"event".*"ts":\([0-9]*\).*/\1/p' | sort -nc && echo in order
in order
$ dial9-prof info t.gz | sed 1d | grep -v -e '^events' -e ' B/' -e '^ .*headers' >want; dial9-prof info t | sed 1d | grep -v -e '^events' -e ' B/' -e '^ .*headers' | cmp - want
$ dial9-prof report t.gz | grep -v '^#' >want; dial9-prof report t | grep -v '^#' | cmp - want
#
# If a clock is unknown, nothing is written.
$ dial9-prof merge t.gz mixed -o none; ls none
! dial9-prof: merge: mixed has no wall-clock time, so it cannot be aligned with t.gz (dial9-prof merge --align mono keeps its times, --align offset=NS moves them)
! ls: cannot access 'none': No such file or directory
? 2
$ dial9-prof merge -q t.gz mixed --align mono -o both; dial9-prof info both | grep -i '^recording'
recordings      2 in one file, on 2 clocks: times of different clocks are not comparable
Recording 1, from byte 0:
Recording 2, merged into recording 1:
$ cat mixed | dial9-prof merge -q t.gz - --align mono -o - | cmp - both
$ dial9-prof merge -q both -o again; cmp both again
#
# Directories: files that are not traces are skipped.
$ mkdir d d/sub empty; cp mixed d/x.0.bin; gzip -c t >d/x.1.bin.gz; echo hello >d/notes; dial9-prof merge d --align mono -o out
! dial9-prof: merge: d/notes is not a dial9 trace; skipped
! dial9-prof: merge: 211,641 events of 2 traces, <N> MB
$ dial9-prof info out | grep '^events.* in '
events          211,641 in <*>
$ dial9-prof merge empty -o out
! dial9-prof: merge: empty has no dial9 trace
? 5
#
# The same recording counts once: together with its copy, and inside an earlier merge; so does an application's trace in several files.
$ mkdir same1; cp mixed same1/a; gzip -c mixed >same1/b; dial9-prof merge same1 -o out; dial9-prof info --verify out
out: good: 1005 frames, 1000 events, in 37497 bytes
! dial9-prof: merge: same1/b has the same recording as same1/a; it is used once
! dial9-prof: merge: 1,000 events of 1 trace, 37.5 kB
$ dial9-prof merge t.gz both -o again; dial9-prof script again >s1; dial9-prof script both | cmp - s1
! dial9-prof: merge: both has the same recording as t.gz; it is used once
! dial9-prof: merge: 211,641 events of 2 traces, <N> MB
$ mkdir app; dial9-prof cut -q --time ,1.0003 mixed -o app/0; dial9-prof cut -q --time 1.0003, mixed -o app/1; dial9-prof merge -q app -o apart; dial9-prof merge app apart -o again; cmp again apart
! dial9-prof: merge: apart has the same recording as app/0; it is used once
! dial9-prof: merge: 1,000 events of 2 traces, 37.5 kB
#
# A part of a recording together with the whole, cut or truncated, is reported, and merged unchanged.
$ dial9-prof cut -q --time 1.0001,1.0003 mixed -o piece; head -c 20000 mixed >torn; dial9-prof merge -q mixed piece torn --align mono -o out; dial9-prof merge -q app/0 app/1 --align mono -o out
! dial9-prof: torn: the end is cut off after byte <N>; everything before it is used
! dial9-prof: merge: mixed and piece share events, which the output has twice; merge only one of these files
! dial9-prof: merge: piece and torn share events, which the output has twice; merge only one of these files
! dial9-prof: merge: mixed and torn share events, which the output has twice; merge only one of these files
#
# An output in an input directory is no input, and neither are older files there.
$ mkdir e; cp mixed e/m; dial9-prof merge -q e -o e/out; dial9-prof merge -q e -o e/out; dial9-prof merge e -o e/out; cmp e/out e/out.old
! dial9-prof: merge: e/out is the output; skipped
! dial9-prof: merge: e/out is the output; skipped
! dial9-prof: merge: e/out.old is an older file; skipped
! dial9-prof: merge: 1,000 events of 1 trace, 37.5 kB
#
# A trace without events does not count as merged.
$ head -c 5 mixed >nothing; dial9-prof merge nothing mixed -o out
! dial9-prof: merge: 1,000 events of 1 trace, 37.5 kB
#
# The readable events of a truncated trace are merged.
$ head -c 20000 mixed >torn; dial9-prof merge torn mixed --align mono -o out; dial9-prof info --verify out
out: good: <N> frames, <N> events, in <N> bytes
! dial9-prof: torn: the end is cut off after byte <N>; everything before it is used
! dial9-prof: merge: torn and mixed share events, which the output has twice; merge only one of these files
! dial9-prof: merge: <N> events of 2 traces, <N> kB
#
# Truncation is no error, as in all commands, also from a pipe or compressed; damage is an error.
$ dial9-prof merge -q torn -o whole; echo $?; cat torn | dial9-prof merge -q - -o again; echo $?; cmp again whole; gzip -c mixed | head -c 4000 | dial9-prof merge -q - -o part; echo $?; dial9-prof info --verify part
0
0
0
part: good: <N> frames, <N> events, in <N> bytes
! dial9-prof: torn: the end is cut off after byte <N>; everything before it is used
! dial9-prof: standard input: the end is cut off after byte <N>; everything before it is used
! dial9-prof: standard input: the gzip data ends too early; everything before it is used
! dial9-prof: standard input: the end is cut off after byte <N>; everything before it is used
$ { cat mixed; head -c 100 /dev/zero; } >zeros; dial9-prof merge -q zeros -o part; echo $?; dial9-prof info --verify part
5
part: good: 1005 frames, 1000 events, in 37497 bytes
! dial9-prof: zeros: damaged: unknown frame tag at byte 37497; <*>
#
# One input is one trace.
$ dial9-prof merge - mixed - -o none <mixed; ls none
! dial9-prof: merge: standard input may be given only once; see dial9-prof merge --help
! ls: cannot access 'none': No such file or directory
? 2
#
# The limit of open files limits the inputs; with more inputs nothing is written. A file needs one descriptor.
$ mkdir many; for i in $(seq 100 169); do LC_ALL=C sed "s/CpuSample/CpuSam$i/" mixed >many/$i; done; (ulimit -n 95; dial9-prof merge many --align mono -o all 2>said) && dial9-prof info all | grep '^events.* in '; tail -n 1 said
events          70,000 in <*>
dial9-prof: merge: 70,000 events of 70 traces, <N> MB
$ (ulimit -n 64; dial9-prof merge many -o none); ls none
! dial9-prof: merge: more inputs than the limit of 64 open files; raise it with ulimit -n, or merge some files first
! ls: cannot access 'none': No such file or directory
? 2
$ (ulimit -n 64; dial9-prof merge many/* -o none); ls none
! dial9-prof: merge: more inputs than the limit of 64 open files; raise it with ulimit -n, or merge some files first
! ls: cannot access 'none': No such file or directory
? 2
#
# An older file is kept; an input is not replaced.
$ cp mixed same; dial9-prof merge -q mixed -o same; cmp same.old mixed
$ dial9-prof merge -q same -o ./same; ls same same.old
same
same.old
! dial9-prof: merge: cannot overwrite the input, same; choose another file with -o
$ dial9-prof merge mixed -o /dev/full
! dial9-prof: cannot write /dev/full: No space left on device
? 3
#
# Each input annotates its fields, with one layout: annotations stay with their events, also when merged again.
$ mkdir notes; cp $T/golden/dial9/ext/annotations.bin notes/a; LC_ALL=C sed 's/\xc2\xb5s/min/' notes/a >notes/b; dial9-prof merge -q notes -o n1; dial9-prof merge -q n1 -o n2; for f in n1 n2; do dial9-prof script $f | grep -o 'd=.*'; done
d=5.000 us e=1)
d=5 min e=1)
d=5.000 us e=1)
d=5 min e=1)
