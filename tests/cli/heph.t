# Heph traces: round trips byte by byte, damage reported and skipped, memory limited.
#
$ cp $T/golden/heph/*.bin .; for f in *.bin; do dial9-prof convert -q --spec 0.4 $f -o x.d9; dial9-prof convert --to heph x.d9 -o - | cmp - $f && dial9-prof dump $f 2>err | cmp - $T/golden/heph/${f%.bin}.dump.jsonl || echo "failed: $f"; done 2>/dev/null
#
$ dial9-prof info counter_gap_wrap.bin
trace           counter_gap_wrap.bin
format          Heph trace 0.1.0
epoch           1610113734118010000 ns
span            0.000000009 s
events          5
metadata        1
streams         1
descriptions    5
attributes      0
lost packets    1
damaged places  0
#
$ dial9-prof convert counter_gap_wrap.bin -o gap.d9; dial9-prof dump gap.d9 | grep -o 'heph.lost stream=.*'
heph.lost stream=1 expected=1 got=2
! dropped           1  packets, by the counters (stream 1, counter 1)
#
$ dial9-prof convert garbage_between.bin -o garbage.d9
! skipped           1  bytes between packets (byte 68)
! skipped          51  bytes skipped
! skipped           1  packet that does not decode (byte 79)
! dropped           1  packets, by the counters (stream 1, counter 1)
? 5
#
$ dial9-prof dump garbage_between.bin 2>/dev/null | cmp - $T/golden/heph/garbage_between.dump.jsonl; dial9-prof dump garbage_between.bin >/dev/null 2>&1; echo $?; dial9-prof info garbage_between.bin >/dev/null; echo $?
5
5
#
# Arrays need lists: at level 0.3 they are text, and a message is printed.
$ dial9-prof convert spec_examples.bin -o spec.d9; dial9-prof dump spec.d9 | grep -o 'Test=.*'
Test=123 Test2="[123.456, 789.0]"
! changed           1  array as JSON text ("Test2"; --spec 0.4 keeps arrays)
#
# A growing trace: complete events are written without waiting for later ones.
$ { head -c 106 rt_example7.bin; while ! dial9-prof dump live.d9 2>/dev/null | grep -q 'Building runtime'; do sleep 0.1; done; tail -c +107 rt_example7.bin; } | dial9-prof convert --follow - -o live.d9; dial9-prof convert --to heph live.d9 -o - | cmp - rt_example7.bin
#
# Sizes are not trusted: 4 GiB claimed, and packets in packets. The shell limits the memory.
$ { printf '\301\374\037\267\377\377\377\377'; head -c 30000000 /dev/zero; cat rt_example7.bin; } >zeros.bin; ulimit -v 150000; dial9-prof convert -q zeros.bin -o zeros.d9; dial9-prof convert --to heph zeros.d9 -o - | cmp - zeros.bin
#
$ head -c 3000000 /dev/zero >nothing; dial9-prof convert --from heph nothing -o nothing.d9
! dial9-prof: heph: nothing: no packet in it
! skipped           1  bytes between packets (byte 0)
! skipped   3,000,000  bytes skipped
? 5
