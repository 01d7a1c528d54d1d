# Reading commands with missing, foreign, truncated or compressed input, and with pipes.
#
$ dial9-prof report
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof script .
! dial9-prof: cannot read .: it is a directory (name a trace file in it)
? 5
#
$ echo this is no trace, however long it is >foreign; dial9-prof info foreign
! dial9-prof: info: foreign: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
#
$ dial9-prof dump foreign
! dial9-prof: dump: foreign: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
#
$ dial9-prof dump --json --from dial9 foreign
{"f":"end","status":"corrupt","frames":0,"events":0,"consumed":0,"msg":"not a dial9 stream","offset":0}
! dial9-prof: dump: foreign: damaged at byte 0: not a dial9 stream
? 5
#
$ dial9-prof report one two
! dial9-prof: report: unexpected argument 'two': only one trace is read; see dial9-prof report --help
? 1
#
# A file, -i, standard input, gzip, and gzip in a pipe are all the same trace.
$ cp "$T/golden/dial9/core/small.bin" small; gzip -k small; dial9-prof dump --json small >want; wc -l <want
<N>
$ dial9-prof dump --json -i small | cmp - want
$ dial9-prof dump --json - <small | cmp - want
$ cat small | dial9-prof dump --json - | cmp - want
$ dial9-prof dump --json small.gz | cmp - want
$ cat small.gz | dial9-prof dump --json - | cmp - want
#
# A reader that closes the pipe causes no error message.
$ dial9-prof dump --json small | head -n 1
{"f":"header","version":1}
#
# Endless zeros are no trace of any format, and no command reads them to their end.
$ head -c 50000000 /dev/zero | gzip -1 >zeros.gz; timeout 60 dial9-prof info zeros.gz
! dial9-prof: info: zeros.gz: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
$ timeout 60 dial9-prof dump zeros.gz
! dial9-prof: dump: zeros.gz: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
$ timeout 60 dial9-prof convert -o out zeros.gz
! dial9-prof: convert: zeros.gz: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
$ cat /dev/zero | timeout 60 dial9-prof info -
! dial9-prof: info: standard input: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
$ cat /dev/zero | timeout 60 dial9-prof convert -o out -
! dial9-prof: convert: standard input: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
$ timeout 60 dial9-prof convert -o out /dev/zero
! dial9-prof: convert: /dev/zero: unknown format; use --from with one of dial9, tonbandgeraet, heph, apitrace, perf-data
? 5
#
# A foreign trace in a pipe is read twice, compressed or not.
$ es=$T/golden/apitrace/es2tri.trace; for in in 'cat' 'gzip -c'; do $in "$es" | dial9-prof convert -o piped - 2>>said; dial9-prof convert -o whole "$es" 2>>said; cmp piped whole; done; wc -l <said
4
#
# Every command prints the same for an empty file, also compressed, in a pipe, or with a given format.
$ : >empty; gzip -k empty; for c in report script info 'info --json' 'info --from heph' 'info --from apitrace' dump 'dump --from tonbandgeraet' 'convert -o out' 'convert --from heph -o out' 'convert --from dial9 -o out'; do for f in empty empty.gz -; do dial9-prof $c $f <empty; echo $?; done; done 2>&1 | sort | uniq -c
     33 5
     11 dial9-prof: empty is empty (was anything recorded?)
     11 dial9-prof: empty.gz is empty (was anything recorded?)
     11 dial9-prof: standard input is empty (was anything recorded?)
$ : | dial9-prof report -
! dial9-prof: standard input is empty (was anything recorded?)
? 5
$ : | dial9-prof dump -
! dial9-prof: standard input is empty (was anything recorded?)
? 5
$ printf TRC >short; dial9-prof report short
! dial9-prof: short: not a dial9 trace: it ends inside the 5-byte header (was it copied whole?)
? 5
