# Comparison of two traces.
#
$ dial9-prof diff one
! dial9-prof: diff: expected two traces: dial9-prof diff OLD NEW; see dial9-prof diff --help
? 1
$ dial9-prof diff - -
! dial9-prof: diff: only one of the traces can be standard input; see dial9-prof diff --help
? 1
$ dial9-prof diff --kind latency -g a b
! dial9-prof: diff: --kind latency cannot be combined with -g, -s or --normalize; see dial9-prof diff --help
? 1
$ dial9-prof diff --kind latency -s sym a b
! dial9-prof: diff: --kind latency cannot be combined with -g, -s or --normalize; see dial9-prof diff --help
? 1
$ dial9-prof diff --percentile 90 a b
! dial9-prof: diff: --percentile needs --kind latency; see dial9-prof diff --help
? 1
$ dial9-prof diff --kind latency --percentile 100 a b
! dial9-prof: diff: bad value '100' for --percentile: expected a number between 0 and 100, such as 99.9
? 1
$ dial9-prof diff a b
! dial9-prof: cannot open a: No such file or directory
? 5
#
# An application's trace, whole and in part.
$ cp $T/golden/dial9/tokio-service.bin.gz t.gz; dial9-prof cut -q --time +0,+2 t.gz -o first; dial9-prof cut -q --time +2,+5 t.gz -o last; dial9-prof diff -n 3 first last
\# old: first: 5 CPU samples, over <N> s
\# new: last: 67 CPU samples, over <N> s
\# only 20.0% of old and 34.3% of new is in functions of both traces
\# CPU in % of the total; +-: two standard deviations; ~: within noise; ?: noise unknown
\#
\#        Old        New      Delta         +-  Symbol (module)
<*>
<*>
<*>
#
# A trace does not differ from itself, also through a pipe.
$ zcat t.gz | dial9-prof diff --json - t.gz | grep -o '"delta":[^,]*' | sort -u
"delta":0
$ dial9-prof diff t.gz t.gz | grep -v '^[#~]'
? 1
$ dial9-prof diff -p 1 t.gz t.gz
! dial9-prof: nothing to compare: neither trace has CPU samples that match -p, -t, --comm, --cgroup, -C and --time
? 1
$ dial9-prof diff t.gz t.gz >/dev/full
! dial9-prof: cannot write to standard output: No space left on device
? 3
