# A file that is damaged in its middle: each command uses what precedes the damage, says where it is, and exits with 5.
#
$ dial9-prof convert -q $T/golden/perfdata/tp.data -o whole.bin; n=$(($(wc -c <whole.bin) * 4 / 5)); head -c $n whole.bin >damaged.bin; head -c 64 /dev/zero >>damaged.bin; tail -c +$((n + 65)) whole.bin >>damaged.bin; dial9-prof script damaged.bin >have; echo $?; dial9-prof script whole.bin | head -n $(wc -l <have) | cmp - have; [ -s have ] && echo printed
5
printed
! dial9-prof: damaged.bin: damaged: <*> at byte <N>; everything before it is used, the rest is missing (copy the file again)
#
# Each prints one line, which is the same, and its report.
$ for c in report 'sched latency' 'sched timehist' 'sched summary' 'sched map' offcpu wakeup 'explain 15657' count info 'export folded --kind offcpu' 'export csv' 'export perfetto' 'export jsonl' 'cut -q -o cut' 'merge -q -o merged' 'diff --kind latency whole.bin' 'query runq-latency'; do dial9-prof $c damaged.bin >out 2>>err; echo $? $(wc -l <out) $c; done | awk '$1 != 5 || (!$2 && !/ -o /)'; sed 's/: damaged:.*//' err | sort | uniq -c; sort -u err | wc -l
     18 dial9-prof: damaged.bin
1
#
# Heads and summaries say that the rest is missing.
$ for c in 'sched latency' 'sched summary' 'sched map' offcpu wakeup 'explain 15657' count 'diff --kind latency whole.bin'; do dial9-prof $c damaged.bin 2>/dev/null | grep incomplete:; done; true
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# incomplete: the rest of the trace is missing (damaged)
\# new incomplete: the rest of the trace is missing (damaged)
$ dial9-prof info damaged.bin | grep ^note
note            the rest is damaged and missing here; everything before it is counted
! dial9-prof: damaged.bin: damaged: <*>
$ dial9-prof info --json damaged.bin | jq -c '[.truncated, .newer, .damaged]'
[false,false,true]
! dial9-prof: damaged.bin: damaged: <*>
$ dial9-prof cut -o cut damaged.bin
! dial9-prof: damaged.bin: damaged: <*>
! dial9-prof: cut: kept <N> of <N> events, <*>; part of the trace is missing
? 5
$ dial9-prof merge -o merged damaged.bin
! dial9-prof: damaged.bin: damaged: <*>
! dial9-prof: merge: <N> events of 1 trace, <*>; part of an input is missing
? 5
$ for f in cut merged; do dial9-prof script $f | cmp - have; done
$ dial9-prof convert --to heph -o out damaged.bin 2>err; echo $?; grep damaged err
5
dial9-prof: convert: damaged.bin: damaged at byte <N>: <*>; everything before it is converted, the rest is missing
#
# A pipe, and a compressed file whose own data is damaged.
$ cat damaged.bin | dial9-prof script - | cmp - have
! dial9-prof: standard input: damaged: <*> at byte <N>; everything before it is used, the rest is missing (copy the file again)
$ gzip -k1 whole.bin; printf '\377\377\377\377\377\377\377\377' | dd of=whole.bin.gz bs=1 seek=$(($(wc -c <whole.bin.gz) - 8)) conv=notrunc 2>/dev/null; dial9-prof script whole.bin.gz >unpacked; echo $?; dial9-prof script whole.bin | cmp - unpacked
5
! dial9-prof: whole.bin.gz: damaged gzip data after byte <N> of the uncompressed data; everything before it is used, the rest is missing (copy the file again)
$ for c in 'cut -o part' 'merge -o part' 'query SELECT(1)'; do cat whole.bin.gz | dial9-prof $c - >/dev/null; echo $?; done
5
5
5
! dial9-prof: cannot read the rest of standard input: damaged compressed data
! dial9-prof: cut: kept <N> of <N> events, <*>; part of the trace is missing
! dial9-prof: cannot read the rest of standard input: damaged compressed data
! dial9-prof: merge: <N> events of 1 trace, <*>; part of an input is missing
! dial9-prof: cannot read the rest of standard input: damaged compressed data
$ cat whole.bin.gz | dial9-prof cut -q -o part - 2>/dev/null; dial9-prof script part >have.part; dial9-prof script whole.bin | cmp - have.part
#
# The page gets all bytes and shows what precedes the damage; a selection has only that.
$ for o in '' '--time 0s,'; do dial9-prof export html $o -o page.html damaged.bin; echo $? $(grep -c '</html>' page.html); rm page.html; done
5 1
5 1
! dial9-prof: damaged.bin: damaged: <*>
! dial9-prof: damaged.bin: damaged: <*>
$ cat damaged.bin | dial9-prof export html -o page.html -; echo $? $(grep -c '</html>' page.html); rm page.html; dial9-prof export html -o page.html - <damaged.bin; echo $?; rm page.html
5 1
5
! dial9-prof: standard input: damaged: <*> at byte <N>; everything before it is used, the rest is missing (copy the file again)
! dial9-prof: standard input: damaged: <*> at byte <N>; everything before it is used, the rest is missing (copy the file again)
$ cat whole.bin | dial9-prof export html -o page.html -; echo $?; dial9-prof export html -o same.html whole.bin; sed 's/standard input/whole.bin/g' page.html | cmp - same.html; rm page.html same.html
0
$ mkdir set; cp whole.bin set/r.0.bin; cp damaged.bin set/r.2.bin; for s in set/r set; do dial9-prof export html -o page.html $s; echo $?; done; rm page.html
5
5
! dial9-prof: file 1 is missing before set/r.2.bin
! dial9-prof: set/r.2.bin: damaged: <*>; the rest of it is missing
! dial9-prof: file 1 is missing before set/r.2.bin
! dial9-prof: set/r.2.bin: damaged: <*>; the rest of it is missing
$ for c in 'cut -q -o part' 'merge -q -o part' 'export html --time 0s, -o part' 'symbolize -q -o part'; do dial9-prof $c set/r 2>/dev/null; echo $? $c; rm part; done; dial9-prof cut -o part set/r; rm -r set part
5 cut -q -o part
5 merge -q -o part
5 export html --time 0s, -o part
5 symbolize -q -o part
! dial9-prof: file 1 is missing before set/r.2.bin
! dial9-prof: set/r.2.bin: damaged: <*>; the rest of it is missing
! dial9-prof: cut: kept <N> of <N> events, <*>; part of the trace is missing
$ printf 'TRC\000\001\000\001' >nothing; dial9-prof export html -o page.html nothing; echo $?; ls page.html
5
! dial9-prof: nothing: damaged: unknown frame tag at byte 5; no events before it (copy the file again)
! ls: cannot access 'page.html': No such file or directory
? 2
$ end() { while kill -0 $1 2>/dev/null && [ ! -s url ]; do sleep 0.02; done; kill $1; wait $1; echo $? $(cat url); rm url; }; dial9-prof view --no-open --time 0s, damaged.bin >url & end $!; cat whole.bin.gz | dial9-prof view --no-open - >url & end $!
5 http://127.0.0.1:<N>/<*>/
5 http://127.0.0.1:<N>/<*>/
! dial9-prof: damaged.bin: damaged: <*>
! dial9-prof: cannot read the rest of standard input: damaged compressed data
$ dial9-prof view --no-open --time 0s, nothing
! dial9-prof: nothing: damaged: <*>; no events before it (copy the file again)
? 5
#
# symbolize would replace the file and lose the rest, so it writes nothing.
$ cp damaged.bin kept; dial9-prof symbolize damaged.bin; echo $?; cmp damaged.bin kept
5
! dial9-prof: damaged.bin: damaged: <*>
! dial9-prof: symbolize: nothing written: damaged.bin would lose data that this version cannot read
