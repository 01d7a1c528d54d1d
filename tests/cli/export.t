# A trace for other tools: the command line, and sums compared with the other commands.
#
$ dial9-prof export
! dial9-prof: export: no format given; use dial9-prof export FORMAT, one of <*>
? 1
$ dial9-prof export foldde
! dial9-prof: export: unknown format 'foldde' (did you mean folded?)
? 1
$ dial9-prof export frobnicate x.bin
! dial9-prof: export: unknown format 'frobnicate' (known: <*>)
? 1
$ dial9-prof export folded --kind gpu
! dial9-prof: export: bad value 'gpu' for --kind: expected one of cpu, offcpu, runq, wall
? 1
$ dial9-prof export folded a.bin b.bin
! dial9-prof: <*>
? 1
$ dial9-prof export folded nothing.bin
! dial9-prof: cannot open nothing.bin: No such file or directory
? 5
$ dial9-prof export folded $T/run.sh
! dial9-prof: <*>
? 5
# The help names the formats without --kind.
$ for f in $(dial9-prof export --completion | cut -f 2 | sed '/^-/d'); do dial9-prof export $f --kind runq $T/golden/dial9/mixed_1k.bin -o /dev/null 2>&1 | grep -q "remove --kind" && echo $f; done >refused; dial9-prof export --help | sed -n 's/^  \([a-z-]*\) .*(no --kind)$/\1/p' | cmp - refused; cat refused
html
parquet
#
# The trace was written by another implementation.
$ cp $T/golden/dial9/tokio-service.bin.gz t.gz; dial9-prof export folded t.gz | awk '{ sum += $NF } END { print sum }'
72
$ dial9-prof report -gfolded t.gz | sort >report; dial9-prof export folded -o out t.gz; sort out | cmp - report && cat t.gz | dial9-prof export folded - | cmp - out
$ dial9-prof export folded -o out t.gz; ls out*
out
out.old
#
# Its readers have the same sums; pprof drops no sample.
$ dial9-prof export pprof -o t.pb.gz t.gz; HOME=. PPROF_TMPDIR=. go tool pprof -top t.pb.gz 2>/dev/null | sed -n '/flat%/,/wake/p'
      flat  flat%   sum%        cum   cum%
        19 26.39% 26.39%         21 29.17%  <unknown>
         4  5.56% 31.94%          4  5.56%  __lll_unlock_wake
$ HOME=. PPROF_TMPDIR=. go tool pprof -raw t.pb.gz 2>&1 | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && /^ *[0-9]+ +[0-9]+:/ { sum += $1 } END { print sum }'
72
#
# speedscope: as many weights as samples, which sum to the end; every frame is in the table.
$ dial9-prof export speedscope t.gz >s.json; jq -c '[.profiles[] | select((.samples | length) == (.weights | length)) | (.weights | add) == .endValue], ([.profiles[].endValue] | add), ([.profiles[].samples[][]] | max) + 1 == (.shared.frames | length), ([.profiles[].unit] | unique)' s.json
[true,true]
72
true
["none"]
#
# The output of script, as text and as JSON; every line of JSON is an object, every row has all columns.
$ dial9-prof script t.gz >script; dial9-prof export perf-script t.gz | cmp - script
$ dial9-prof script --json t.gz | wc -l >lines; dial9-prof export jsonl t.gz | jq -c 'select(.event != "interval" and .event != "ClockSyncEvent") | 1' | wc -l | cmp - lines
$ dial9-prof export csv --kind cpu t.gz | awk -F, 'NF < 13 { bad++ } END { print NR, bad + 0 }'
73 0
#
# Trace events: every mark is of a known phase, and every stack is in the table.
$ dial9-prof export chrome t.gz | jq -c '[.traceEvents[].ph] | unique'
["M","i"]
$ dial9-prof export chrome --kind cpu t.gz | jq -c '([.traceEvents[] | select(.cat == "sample")] | length), ([.traceEvents[].sf | values | tostring] - (.stackFrames | keys) | length), ([.stackFrames[].parent | values | tostring] - (.stackFrames | keys) | length)'
72
0
0
#
# The Firefox Profiler's: all columns of a table have its length, and no number is outside of its table.
$ dial9-prof export firefox t.gz >f.json; jq -c '[.threads[] | .samples, .markers, .stackTable, .frameTable, .funcTable, .resourceTable | .length as $n | .[] | arrays | length == $n] | all, length' f.json
true
<N>
$ jq -c '[.threads[] | .stackTable as $s | .frameTable as $f | (.samples.stack[], ($s.prefix[])) | values | . < $s.length] | all' f.json; jq -c '[.threads[] | (.stringArray | length) as $n | (.funcTable.name[], .resourceTable.name[], .markers.name[]) | . < $n] | all' f.json; jq '[.threads[].samples.length] | add' f.json
true
true
72
#
$ dial9-prof export folded --kind runq t.gz
! dial9-prof: export: t.gz has no context switches, which --kind runq needs
$ dial9-prof export folded t.gz >/dev/full
! dial9-prof: cannot write <*>: No space left on device
? 3
$ dial9-prof export folded t.gz | head -n 1 >/dev/null
#
# Packets, by Perfetto's published messages: none has an unknown field.
$ dial9-prof export perfetto t.gz | protoc -I $T/export --decode=Trace $T/export/perfetto.proto >p; grep -c 'perf_sample {' p; grep -c 'timestamp:' p; grep -cE '^ +[0-9]+[:{ ]' p
72
<N>
0
? 1
$ dial9-prof export perfetto --kind wall -o wall t.gz; protoc -I $T/export --decode=Trace $T/export/perfetto.proto <wall | grep -c 'perf_sample {'
72
#
# A trace is not replaced by its own export, under any name.
$ cp $T/golden/dial9/mixed_1k.bin own; ln own other; ln -s own link; for o in own other link; do dial9-prof export folded -o $o own; done; dial9-prof export html -o own own; dial9-prof cut own -o other; dial9-prof convert own -o ./own; dial9-prof merge t.gz link -o own; cmp own $T/golden/dial9/mixed_1k.bin; ls own* other* link*
link
other
own
! dial9-prof: export: cannot overwrite the input, own; choose another file with -o
! dial9-prof: export: cannot overwrite the input, own; choose another file with -o
! dial9-prof: export: cannot overwrite the input, own; choose another file with -o
! dial9-prof: export: cannot overwrite the input, own; choose another file with -o
! dial9-prof: cut: cannot overwrite the input, own; choose another file with -o
! dial9-prof: convert: cannot overwrite the input, own; choose another file with -o
! dial9-prof: merge: cannot overwrite the input, link; choose another file with -o
$ dial9-prof export folded - <own >>own; echo $?; cmp own $T/golden/dial9/mixed_1k.bin
1
! dial9-prof: export: cannot overwrite the input, which is standard input; choose another file with -o
#
# Unrelated clocks share an axis if a format has only one, and a message is printed.
$ dial9-prof merge -q t.gz own --align mono -o two; for f in perfetto firefox chrome csv; do echo $f; dial9-prof export $f two -o /dev/null; dial9-prof export $f t.gz -o /dev/null; done
perfetto
firefox
chrome
csv
! dial9-prof: export: times of 2 clocks, which do not compare, lie on one axis (dial9-prof merge aligns them by their wall clocks)
! dial9-prof: export: times of 2 clocks, which do not compare, lie on one axis (dial9-prof merge aligns them by their wall clocks)
! dial9-prof: export: times of 2 clocks, which do not compare, lie on one axis (dial9-prof merge aligns them by their wall clocks)
#
# A directory of files: new or empty, and complete or not there.
$ dial9-prof export parquet own
! dial9-prof: export: parquet is a directory of files; use -o DIR
? 1
$ dial9-prof export parquet - -o - <own
! dial9-prof: export: parquet is a directory of files; use -o DIR
? 1
$ dial9-prof export parquet own -o .
! dial9-prof: cannot write .: the directory is not empty; choose a new one with -o
? 3
$ dial9-prof export parquet own -o own
! dial9-prof: export: cannot overwrite the input, own; choose another file with -o
? 1
$ echo >p.file; dial9-prof export parquet own -o p.file
! dial9-prof: cannot write p.file: Not a directory; choose a new directory with -o
? 3
$ dial9-prof export parquet own -o none/such
! dial9-prof: cannot write none/such: No such file or directory; choose a new directory with -o
? 3
$ dial9-prof export parquet t.gz -o tables; (cd tables && find . -type f | sed 's/[0-9a-f]\{16\}/HASH/; s/day=[0-9]\{4\}-[0-9-]*/day=DAY/' | sort | grep -v '/event')
./frames/day=DAY/host=__HIVE_DEFAULT_PARTITION__/HASH.parquet
./samples/day=DAY/host=__HIVE_DEFAULT_PARTITION__/HASH.parquet
./stacks/day=DAY/host=__HIVE_DEFAULT_PARTITION__/HASH.parquet
./tasks/day=DAY/host=__HIVE_DEFAULT_PARTITION__/HASH.parquet
$ dial9-prof export parquet t.gz -o again; (cd again && find . -type f | sort | xargs cat) | cksum >again.sum; (cd tables && find . -type f | sort | xargs cat) | cksum | cmp - again.sum
$ dial9-prof export parquet t.gz -o tables
! dial9-prof: cannot write tables: the directory is not empty; choose a new one with -o
? 3
# All files begin and end as such.
$ find tables -type f -exec sh -c 'head -c 4 "$0"; tail -c 4 "$0"; echo' {} \; | sort -u
PAR1PAR1
# A file that does not fit leaves nothing.
$ (trap '' XFSZ; ulimit -f 1; dial9-prof export parquet t.gz -o small); echo $?; ls small
3
! dial9-prof: cannot write small/<*>: File too large
! ls: cannot access 'small': No such file or directory
? 2
# A signal leaves nothing, whether the input has ended or not.
$ for f in parquet csv; do { for i in 1 2 3 4 5 6 7 8 9; do cat t.gz; done; exec sleep 10; } | dial9-prof export $f - -o stopped.$f & pid=$!; sleep 1; kill -TERM $pid; wait $pid 2>/dev/null; echo $?; ls -d stopped.$f*; done
143
143
! ls: cannot access 'stopped.<*>': No such file or directory
! ls: cannot access 'stopped.<*>': No such file or directory
? 2
# What precedes the damage is written.
$ gzip -dc t.gz >whole; head -c $(($(wc -c <whole) * 9 / 10)) whole >half; head -c 1000 /dev/zero >>half; cat half | dial9-prof export parquet - -o part; echo $?; find part -name '*.parquet' | grep -c samples; find part -name '*.tmp'
5
1
! dial9-prof: <*>: damaged: <*>
