# Traces of other formats: dumped, converted, converted back. First the examples of the manual page.
#
$ G=$T/golden/tonbandgeraet; cp $G/freertos_posix_bundled.hex firmware.hex; cp $G/multicore_split_stream.core0.bin core0.bin; cp $G/multicore_split_stream.core1.bin core1.bin; cp $T/golden/apitrace/repack_gzip.trace game.trace; cp $T/golden/perfdata/tp.data perf.data; dial9-prof convert perf.data -o trace.bin
#
$ sed -n '/^.SH EXAMPLES/,/^.fi/p' $T/../tools/man/dial9-prof-convert.1 | sed -n 's/\\-/-/g; /dial9-prof/p' >examples; wc -l <examples
14
#
$ while read -r line; do sh -c "$line" >out 2>err || echo "failed: $line"; grep -q . out err || echo "silent: $line"; done <examples
silent: dial9-prof convert firmware.hex -o firmware.d9
silent: dial9-prof convert core0.bin@0 core1.bin@1 -o both.d9
silent: cat core0.bin | dial9-prof convert --follow - -o live.d9
silent: dial9-prof convert --to tonbandgeraet both.d9 -o both.bin
silent: dial9-prof convert perf.data -o perf.d9
#
$ dial9-prof info both.bin | grep -v '^trace'
format          Tonbandgerät trace (no version in the file), binary
mode            bare metal
resolution      8 ns per tick
span            230 ticks (10 to 240)
events          <N>
metadata        4
cores           2
dropped         0
invalid frames  0
#
$ dial9-prof convert --to tonbandgeraet firmware.d9 -o - | cmp - $T/golden/tonbandgeraet/freertos_posix_bundled.bin
#
$ dial9-prof dump firmware.hex | cmp - $T/golden/tonbandgeraet/freertos_posix_bundled.dump.jsonl
#
$ cat firmware.hex | dial9-prof dump - | cmp - $T/golden/tonbandgeraet/freertos_posix_bundled.dump.jsonl
#
$ gzip -c firmware.hex >firmware.gz; dial9-prof convert firmware.gz -o - | cmp - firmware.d9
#
$ cat firmware.hex | dial9-prof convert - -o - | cmp - firmware.d9
#
$ cat firmware.d9 | dial9-prof info - | grep tband.frames
tband.frames    3231
#
$ dial9-prof info --json core1.bin
{"trace":"core1.bin","format":"Tonbandgerät trace (no version in the file), binary","mode":"bare metal","resolution":"not recorded (1 ns per tick assumed)","span":"218 ticks (22 to 240)","events":30,"metadata":0,"cores":1,"dropped":0,"invalid frames":0,"notes":[]}
#
$ dial9-prof convert core1.bin@1 -o one.d9; dial9-prof convert --to tonbandgeraet one.d9 -o - | cmp - core1.bin
! note              1  no resolution in the recording: 1 ns per tick assumed
! note              1  core that the file itself does not say: name it FILE@CORE (core 1)
#
# Drops, and a damaged file: reported, without stopping.
$ dial9-prof convert $T/golden/tonbandgeraet/drops_every7.bin -o drops.d9
! dropped           5  events that the target dropped
#
$ { printf 'ut\000'; head -c 200 core0.bin; printf '\002\102\000\000'; tail -c +225 core0.bin; printf '\011\007'; } >bad.bin; dial9-prof convert bad.bin -o bad.d9
! skipped           1  frame ends inside a block (bad.bin: byte 0)
! skipped           1  <*> (bad.bin: byte <N>)
! skipped           1  empty frame (bad.bin: byte <N>)
! skipped           1  frame cut off (bad.bin: byte <N>)
? 5
#
# dump and info, too, print everything readable, and exit with 5.
$ dial9-prof dump bad.bin 2>/dev/null >lines; echo $?; grep -vc Invalid lines
5
<N>
$ dial9-prof info bad.bin | grep '^events\|^skipped'
events          <N>
skipped           1  frame ends inside a block (byte 0)
skipped           1  <*> (byte <N>)
skipped           1  empty frame (byte <N>)
skipped           1  frame cut off (byte <N>)
$ dial9-prof info --json bad.bin >/dev/null
? 5
$ dial9-prof convert -q --to heph bad.bin -o bad.heph; echo $?; dial9-prof info bad.heph | grep '^format'
5
format          Heph trace 0.1.0
#
# --from selects the format if the bytes do not show it, for dump and info as well.
$ head -c 11 core0.bin >piece; for f in auto tonbandgeraet heph dial9; do dial9-prof info --from $f piece 2>&1 | head -n 2; dial9-prof dump --from $f piece 2>&1 | head -n 1; done
trace           piece
format          Tonbandgerät trace (no version in the file), binary
{"Base":{"ts":0,"kind":{"CoreId":{"core_id":0}}}}
trace           piece
format          Tonbandgerät trace (no version in the file), binary
{"Base":{"ts":0,"kind":{"CoreId":{"core_id":0}}}}
dial9-prof: heph: piece: no packet in it
trace           piece
dial9-prof: heph: piece: no packet in it
dial9-prof: piece: not a dial9 trace: not a dial9 stream at byte 0; dial9-prof convert reads some other formats
dial9-prof: dump: piece: damaged at byte 0: not a dial9 stream
$ dial9-prof dump --from perf core0.bin 2>&1 | head -n 1
dial9-prof: dump: bad value 'perf' for --from: expected one of auto, tonbandgeraet, heph, apitrace, perf-data, dial9
#
$ dial9-prof convert --to tonbandgeraet bad.d9 -o - | cmp - bad.bin
#
# Standard input and error are closed: no opened file gets their descriptors.
#
$ mkfifo closed; dial9-prof convert --from tonbandgeraet --follow closed -o closed.d9 <&- 2>&- & exec 3>closed; readlink /proc/$!/fd/0 /proc/$!/fd/2; exec 3>&-; wait
/dev/null
/dev/null
#
$ dial9-prof dump bad.bin 2>/dev/null | grep -c Invalid
3
#
# A live capture: data that has arrived is in the output before the input ends.
$ mkfifo pipe; dial9-prof convert --from tonbandgeraet --follow pipe -o live.d9 & exec 3>pipe; cat core0.bin >&3; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s live.d9 ] && break; sleep 0.1; done; dial9-prof dump live.d9 | grep -c 'event .*tband.valmarker'; exec 3>&-; wait; dial9-prof convert --to tonbandgeraet live.d9 -o - | cmp - core0.bin
10
#
# A growing file is followed until a signal.
$ head -c 100 core0.bin >grow; dial9-prof convert --follow grow -o grown.d9 & pid=$!; sleep 0.3; tail -c +101 core0.bin >>grow; sleep 0.5; kill -INT $pid; wait $pid; echo $?; dial9-prof convert --to tonbandgeraet grown.d9 -o - | cmp - core0.bin
0
#
# Hostile sizes, in 128 MiB of address space: one frame, only frame ends, and noise.
$ head -c 30000000 /dev/zero | tr '\000' x >endless; { cat core0.bin endless; } >a.bin; head -c 3000000 /dev/zero >zeros; { cat core0.bin zeros; } >b.bin; ulimit -v 131072; dial9-prof convert --from tonbandgeraet a.bin -o a.d9; dial9-prof convert --from tonbandgeraet b.bin -o b.d9; dial9-prof info a.bin >/dev/null; dial9-prof convert --to tonbandgeraet b.d9 -o - | cmp - b.bin
! not kept 30,000,000  bytes of frames too long to keep
! skipped           1  frame too long (a.bin: byte 224)
! skipped   3,000,000  empty frame (first: b.bin: byte 224)
#
# Invalid arguments.
$ dial9-prof convert core0.bin
! dial9-prof: convert: no output given; use -o FILE, or -o - for standard output
? 1
#
$ dial9-prof convert -o x
! dial9-prof: convert: no input given; use dial9-prof convert IN -o OUT
? 1
#
$ dial9-prof convert firmware.d9 -o x
! dial9-prof: convert: firmware.d9 is already dial9; use --to for another format
? 1
#
$ dial9-prof convert core0.bin firmware.d9 -o x
! dial9-prof: convert: inputs have different formats: core0.bin is tonbandgeraet and firmware.d9 is dial9
? 1
#
$ dial9-prof convert --follow core0.bin core1.bin -o x
! dial9-prof: convert: only one input can be followed
? 1
#
$ echo 'no trace' >text; dial9-prof convert text -o x
! dial9-prof: convert: text: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
#
$ dial9-prof convert --from tonbandgeraet text -o x; ls x 2>/dev/null
! dial9-prof: convert: text: no Tonbandgerät event in 5 bytes
? 2
#
$ dial9-prof convert missing.bin -o x
! dial9-prof: cannot open missing.bin: No such file or directory
? 5
#
$ dial9-prof convert core0.bin -o /nowhere/x
! dial9-prof: <*>/nowhere/x<*>
? 3
#
$ dial9-prof convert --tick 5 core0.bin -o x.d9
! dial9-prof: convert: --tick needs an apitrace input; tonbandgeraet has its own times
? 1
#
$ dial9-prof convert core0.bin core1.bin -o x.d9
! dial9-prof: convert: 2 files without a core number are all read as core 0; use FILE@CORE
