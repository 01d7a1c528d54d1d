# Whether a file is valid dial9, and the offset of its first invalid byte.
#
$ dial9-prof info --verify $T/golden/dial9/core/small.bin
<*>small.bin: good: 12 frames, 6 events, in 599 bytes
#
$ cp $T/golden/dial9/mixed_1k.bin mixed; gzip -k mixed; dial9-prof info --verify mixed.gz; dial9-prof info --verify - <mixed
mixed.gz: good: 1005 frames, 1000 events, in 37497 bytes
standard input: good: 1005 frames, 1000 events, in 37497 bytes
#
# A truncated tail is no damage, but the file is incomplete.
$ head -c 24 $T/golden/dial9/core/map_keys.bin >torn; dial9-prof info --verify torn
torn: torn: 1 frames, 0 events, in 18 bytes
! dial9-prof: info: torn: truncated after 18 bytes: the input ends inside a frame
? 5
#
$ dial9-prof info --verify --json torn
{"f":"end","status":"truncated","frames":1,"events":0,"consumed":18,"msg":"the input ends inside a frame","offset":18}
! dial9-prof: info: torn: truncated after 18 bytes: the input ends inside a frame
? 5
#
$ dial9-prof info --verify /dev/null
/dev/null: torn: 0 frames, 0 events, in 0 bytes
! dial9-prof: /dev/null is empty (was anything recorded?)
? 5
#
# The offset is that byte's own, not the start of its frame.
$ dial9-prof info --verify $T/golden/dial9/hostile/version_ff.bin
<*>version_ff.bin: damaged: 0 frames, 0 events, in 0 bytes
! dial9-prof: info: <*>version_ff.bin: damaged at byte 4: unknown version
? 5
#
$ { head -c 13893 mixed; printf '\0'; tail -c +13895 mixed; } >bad; dial9-prof info --verify bad
bad: damaged: <N> frames, <N> events, in 13893 bytes
! dial9-prof: info: bad: damaged at byte 13893: unknown frame tag
? 5
#
$ for f in opt_prefix_ff has_ts_02; do dial9-prof info --verify $T/golden/dial9/hostile/$f.bin >/dev/null; done
! dial9-prof: info: <*>opt_prefix_ff.bin: damaged at byte 49: optional value with a flag other than 0 (absent) or 1 (present)
! dial9-prof: info: <*>has_ts_02.bin: damaged at byte 34: schema with a timestamp flag other than 0 or 1
? 5
#
# A tag of a format after 0.4 is no damage.
$ dial9-prof info --verify $T/golden/dial9/hostile/unknown_tag_80.bin
<*>unknown_tag_80.bin: newer: 2 frames, 1 events, in 28 bytes
! dial9-prof: info: <*>unknown_tag_80.bin: stopped at byte 28: frame tag 0x80: a newer writer (format later than 0.4)
? 5
#
$ dial9-prof info --verify --json $T/golden/dial9/hostile/trailing_zero.bin
{"f":"end","status":"corrupt","frames":2,"events":1,"consumed":28,"msg":"unknown frame tag","offset":28}
! dial9-prof: info: <*>trailing_zero.bin: damaged at byte 28: unknown frame tag
? 5
#
$ echo some text >text; dial9-prof info --verify text
text: damaged: 0 frames, 0 events, in 0 bytes
! dial9-prof: info: text: damaged at byte 0: not a dial9 stream
? 5
#
# The gzip data around a trace may be truncated or damaged.
$ head -c 500 mixed.gz >cut.gz; dial9-prof info --verify cut.gz
cut.gz: torn: <N> frames, <N> events, in <N> bytes
! dial9-prof: info: cut.gz: truncated after <N> bytes: the input ends inside a frame
? 5
#
$ head -c -1 mixed.gz >cut.gz; dial9-prof info --verify cut.gz
cut.gz: torn: 1005 frames, 1000 events, in 37497 bytes
! dial9-prof: info: cut.gz: truncated after 37497 bytes: the gzip data ends too early
? 5
#
$ { head -c -8 mixed.gz; printf 'checksum'; } >crc.gz; dial9-prof info --verify crc.gz
crc.gz: damaged: 1005 frames, 1000 events, in 37497 bytes
! dial9-prof: info: crc.gz: damaged at byte 37497: the input cannot be read
? 5
#
$ dial9-prof dump crc.gz >lines; wc -l <lines
<N>
! dial9-prof: dump: crc.gz: damaged at byte 37497: the input cannot be read
#
$ dial9-prof info --verify $T/golden/dial9/core/small.bin >/dev/full
! dial9-prof: cannot write to standard output: No space left on device
? 3
