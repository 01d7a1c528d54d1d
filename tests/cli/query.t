# SQL over traces: what the command line takes, and mistakes in SQL.
#
$ dial9-prof query 'SELECT 1'
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof query </dev/null
! dial9-prof: query: no SQL given; use dial9-prof query SQL [TRACE...], or NAME of dial9-prof query --list
? 1
#
$ dial9-prof query top-function </dev/null
! dial9-prof: query: unknown query 'top-function' (did you mean top-functions?); see dial9-prof query --list
? 1
#
$ dial9-prof query --param x 'SELECT :x' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: bad value 'x' for --param: expected NAME=VALUE
? 1
#
$ dial9-prof query --param x=7 --param y=ab "SELECT :x + 1, :y || 'c'" $T/golden/dial9/mixed_1k.bin
:x + 1  :y || 'c'
------  ---------
     8  abc
#
$ dial9-prof query 'SELECT :x' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: no value for the parameter :x; use --param NAME=VALUE
? 1
#
# Decimal numbers are numbers, and nothing else is.
$ ln -s $T/golden/dial9/mixed_1k.bin m.bin; for v in 7 +5 -3 007 1e6 1E-2 .5 5. -1.5e+1 9223372036854775807 9223372036854775808 -9223372036854775808 0x10 1e 1e+ 1.5e . + '' inf nan ' 1' 1_000; do dial9-prof query --format csv --param "x=$v" "SELECT typeof(:x), :x" m.bin | tail -n +2; done | tr -d '\r'
integer,7
integer,5
integer,-3
integer,7
real,1000000
real,0.01
real,0.5
real,5
real,-15
integer,9223372036854775807
real,9.2233720368547758e+18
integer,-9223372036854775808
text,0x10
text,1e
text,1e+
text,1.5e
text,.
text,"'+"
text,
text,inf
text,nan
text, 1
text,1_000
#
$ dial9-prof query --param x=1e999 'SELECT :x' m.bin
! dial9-prof: query: bad value '1e999' for --param x: the number is too large
? 1
#
# SQLite does not tell which value it refuses.
$ dial9-prof query --param n=abc --param x=2 'SELECT :x LIMIT :n' m.bin
! dial9-prof: query: datatype mismatch: LIMIT and OFFSET take whole numbers; --param n is 'abc'
? 1
#
# A misspelt parameter.
$ dial9-prof query --param lmit=3 top-functions m.bin
! dial9-prof: query: the query has no parameter :lmit (did you mean :limit?)
? 1
#
$ dial9-prof query --param z=3 --param long=1 'SELECT :long, $other' m.bin
! dial9-prof: query: the query has no parameter :z; it has :long, :other
? 1
#
$ dial9-prof query --param z=3 'SELECT 1' m.bin
! dial9-prof: query: the query has no parameter :z
? 1
#
# Parameters of named queries have types. A build-id may look like a number.
$ dial9-prof query --param limit=abc top-functions m.bin
! dial9-prof: query: bad value 'abc' for --param limit: expected a whole number
? 1
#
$ dial9-prof query --param limit=1.5 top-functions m.bin
! dial9-prof: query: bad value '1.5' for --param limit: expected a whole number
? 1
#
$ dial9-prof query --param limit=9223372036854775808 top-functions m.bin
! dial9-prof: query: bad value '9223372036854775808' for --param limit: the number is too large
? 1
#
$ dial9-prof query --param q=p99 runq-latency m.bin
! dial9-prof: query: bad value 'p99' for --param q: expected a number from 0 to 1
? 1
#
$ dial9-prof query --param q=1.5 runq-latency m.bin
! dial9-prof: query: bad value '1.5' for --param q: expected a number from 0 to 1
? 1
#
$ dial9-prof query --format csv --param before=00e5 --param after=77 build-diff m.bin | tr -d '\r'
change,before_percent,after_percent,function,module,before,after
! dial9-prof: query: no CPU samples in m.bin; record without --no-samples, and for longer if the target uses little CPU time
#
# A named query without rows says what the traces lack.
$ dial9-prof query --format csv top-functions m.bin m.bin | tr -d '\r'
percent,samples,cpu_ns,hosts,function
! dial9-prof: query: no CPU samples in the traces; record without --no-samples, and for longer if the target uses little CPU time
$ for q in runq-latency offcpu-stacks noisy-neighbours; do dial9-prof query $q m.bin >rows; wc -l <rows; done; rm rows
2
2
2
! dial9-prof: query: no context switches in m.bin; record without --no-sched
! dial9-prof: query: no context switches in m.bin; record without --no-sched
! dial9-prof: query: no context switches in m.bin; record without --no-sched
$ dial9-prof convert -q $T/golden/perfdata/tp.data -o tp.d9; dial9-prof query --param comm=nobody offcpu-stacks tp.d9 | wc -l; rm tp.d9
2
#
$ dial9-prof query "SELECT quantile(1, 'x')" m.bin
! dial9-prof: query: quantile(X, Q): Q must be a number from 0 to 1
? 1
#
$ dial9-prof query 'SELECT durr FROM slices' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: no such column: durr at column 8 (did you mean dur?)
? 1
#
$ dial9-prof query 'SELECT tid FROM events' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: no such column: tid at column 8 (did you mean task_tid?)
? 1
#
$ dial9-prof query 'SELECT weight FROM slices' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: no such column: weight at column 8
? 1
#
$ dial9-prof query 'SELECT * FROM sample' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: no such table: sample (did you mean samples?)
? 1
#
$ dial9-prof query 'SELECT 1 FRM x y' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: syntax error at column 14: "x" after "1 FRM" (did you mean FROM?)
? 1
#
# SQLite takes a misspelt keyword for a name and stops at the next word, so both are printed.
$ for q in 'SELEC 1' 'SELECT comm FROM slices WHER x' 'SELECT comm FROM slices GROUP BY comm ODER BY 1' 'SELECT comm, FROM slices' 'SELECT comm tid pid FROM slices' 'SELECT 1 FROM ' 'SELECT count(* FROM slices'; do dial9-prof query "$q" m.bin; done; printf 'SELECT\n comm,\nFROM slices' >sql; dial9-prof query "$(cat sql)" m.bin; rm sql
! dial9-prof: query: syntax error at column 1: "SELEC" (did you mean SELECT?)
! dial9-prof: query: syntax error at column 30: "x" after "slices WHER" (did you mean WHERE?)
! dial9-prof: query: syntax error at column 39: "ODER" after "BY comm" (did you mean ORDER?)
! dial9-prof: query: syntax error at column 14: "FROM" after "SELECT comm,"
! dial9-prof: query: syntax error at column 17: "pid" after "comm tid"
! dial9-prof: query: incomplete input after "1 FROM"
! dial9-prof: query: syntax error at column 16: "FROM" after "SELECT count(*"
! dial9-prof: query: syntax error at line 3, column 1: "FROM" after "SELECT comm,"
#
$ dial9-prof query 'SELECT 1; SELECT 2' $T/golden/dial9/mixed_1k.bin
! dial9-prof: query: more than one statement; run them one by one
? 1
#
$ dial9-prof query "ATTACH 'x.db' AS x" $T/golden/dial9/mixed_1k.bin; ls
m.bin
! dial9-prof: query: only SELECT is allowed: not authorized
#
# The same from a pipe, gzip, and twice: recordings are numbered over all traces.
$ gzip -c $T/golden/dial9/mixed_1k.bin >x.gz
$ dial9-prof query 'SELECT trace, count(*) FROM events GROUP BY 1' $T/golden/dial9/mixed_1k.bin x.gz - <$T/golden/dial9/mixed_1k.bin
trace  count(*)
-----  --------
    1      1000
    2      1000
    3      1000
$ for i in 1 2 3; do dial9-prof query --format csv "SELECT count(*) FROM events WHERE trace = $i" $T/golden/dial9/mixed_1k.bin x.gz - <$T/golden/dial9/mixed_1k.bin; done | sort -u | wc -l
2
#
# All events of script, which are counted by another program.
$ test $(dial9-prof script --all --json $T/golden/dial9/mixed_1k.bin | jq -s length) = $(dial9-prof query --format csv 'SELECT count(*) FROM events' $T/golden/dial9/mixed_1k.bin | tail -n +2 | tr -d '\r') && echo same
same
#
# The rest of a damaged trace is used.
$ (cat $T/golden/dial9/mixed_1k.bin; printf '\375\375\375\375') >bad.bin; dial9-prof query --format csv 'SELECT count(*) > 100 AS many FROM events' bad.bin | tr -d '\r'; dial9-prof query 'SELECT 1 AS one' bad.bin 2>&1 >/dev/null | wc -l
many
1
1
! dial9-prof: bad.bin: stopped at byte <N>: <*>
$ dial9-prof query 'SELECT 1 AS one' bad.bin 2>/dev/null
one
---
  1
? 5
#
$ dial9-prof query 'SELECT 1' - - <m.bin; dial9-prof query -i - 'SELECT 1' - m.bin <m.bin
! dial9-prof: query: - (standard input) is given 2 times; give it once
! dial9-prof: query: - (standard input) is given 2 times; give it once
? 1
#
$ dial9-prof query --list top-functions extra
! dial9-prof: query: unexpected argument 'extra': --list takes one name
? 1
#
$ dial9-prof query --schema --format json; dial9-prof query --list --format csv
! dial9-prof: query: --schema cannot be combined with --format json
! dial9-prof: query: --list cannot be combined with --format csv
? 1
#
$ dial9-prof query --mem-max 0 'SELECT 1' m.bin
! dial9-prof: query: bad value '0' for --mem-max: expected a size of 1M or more
? 1
$ dial9-prof query --mem-max 1M 'SELECT 1 AS one' m.bin
one
---
  1
#
$ dial9-prof query --list | wc -l
7
$ dial9-prof query --schema | grep -c '^[a-z"]'
16
#
# The temporary file of a sort cannot be written: a limit of the shell is in place of a full disk.
$ mkdir tmp; printf '%s\n' "trap '' XFSZ" 'ulimit -f 8' 'TMPDIR=$PWD/tmp exec dial9-prof query --mem-max 4M "$@"' >limited.sh
$ sh limited.sh 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, hex(randomblob(100)) AS x FROM n ORDER BY x' m.bin
! dial9-prof: query: cannot write temporary files in <*>/tmp; set TMPDIR to another directory, or use a larger --mem-max
? 1
#
# Servers: what the command line takes. What happens with one is in tests/consumers.
#
$ dial9-prof query --at http://localhost:1/x
! dial9-prof: query: no SQL given; use --at URL SQL, or NAME of --at URL --list
? 1
#
$ dial9-prof query --at http://localhost:1/x top-function
! dial9-prof: query: unknown query 'top-function' (did you mean top-functions?); see --at URL --list
? 1
#
$ dial9-prof query --at http://localhost:1/x top-functions a.bin
! dial9-prof: query: unexpected argument 'a.bin': with --at no traces are read
? 1
#
$ dial9-prof query --at http://localhost:1/x -i a.bin top-functions
! dial9-prof: query: unexpected argument 'a.bin': with --at no traces are read
? 1
#
$ dial9-prof query --at http://me:secret@localhost:1/x top-functions
! dial9-prof: query: the URL has a password, which others can see; use --password-file or the environment variable DIAL9_SHIP_PASSWORD
? 1
#
$ dial9-prof query --at http://localhost:1/x --at http://me@localhost:1//x top-functions
! dial9-prof: query: http://localhost:1/x is given twice
? 1
#
$ dial9-prof query --at ftp://localhost/x top-functions
! dial9-prof: query: bad URL: expected http://USER@HOST:8123/DATABASE or https://...
? 1
#
$ dial9-prof query --at http://localhost:1/x --param limit=many top-functions
! dial9-prof: query: bad value 'many' for --param limit: expected a whole number
? 1
#
$ dial9-prof query --at http://localhost:1/x --param from=noon top-functions
! dial9-prof: query: bad value 'noon' for --param from: expected 2026-11-28, '2026-11-28 18:17' (UTC), or 1h for an hour ago
? 1
#
$ dial9-prof query --at http://localhost:1/x --list | head -n 1
top-functions     functions by CPU time, over all hosts (:limit='30', :service='*', :host='*', :from='', :to='')
#
$ dial9-prof query --at http://localhost:1/x --list noisy-neighbours | grep -c :range
1
#
$ dial9-prof query --format csv event-counts --param event='Poll*' --param field=worker_id --param limit=3 $T/golden/dial9/mixed_1k.bin
events,hosts,event,value
25,0,PollEnd,0
25,0,PollEnd,1
25,0,PollEnd,2
$ dial9-prof query --format csv event-counts --param event=AllOptional --param field=o_varint --param limit=40 $T/golden/dial9/ext/mid_header.bin | grep '[0-9]\{20\}'
1,0,AllOptional,18446744073709551614
1,0,AllOptional,18446744073709551615
#
# A file without its end: what is there is read, and the table of traces marks it.
$ cp $T/golden/dial9/mixed_1k.bin whole.bin; head -c -1 whole.bin >torn.bin; for f in whole torn; do dial9-prof query --format csv 'SELECT damaged FROM traces' $f.bin | tr -d '\r' | tail -n 1; done
0
1
! dial9-prof: torn.bin: the end is cut off after byte <N>; everything before it is used
