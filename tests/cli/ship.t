# Traces to ClickHouse or Pyroscope: what the command line takes. What happens with a server is in tests/ship.
#
$ dial9-prof ship
! dial9-prof: ship: no directory given; use the one of record --switch-output
? 1
#
$ dial9-prof ship $T/golden
! dial9-prof: ship: no server given; use --to http://USER@HOST:8123/DATABASE
? 1
#
$ dial9-prof ship a b --to http://localhost:8123/x
! dial9-prof: ship: unexpected argument 'b': give one directory
? 1
#
$ dial9-prof ship a --to ftp://localhost/x
! dial9-prof: ship: bad URL: expected http://USER@HOST:8123/DATABASE or https://...
? 1
#
$ dial9-prof ship a --to http://me:secret@localhost:8123/x
! dial9-prof: ship: the URL has a password, which others can see; use --password-file or the environment variable DIAL9_SHIP_PASSWORD
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --label rack
! dial9-prof: ship: bad value 'rack' for --label: expected NAME=VALUE
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --events --anonymize
! dial9-prof: ship: --events cannot be combined with --anonymize: fields contain names and paths
? 1
#
$ dial9-prof ship a --to pyroscope+http://localhost:4040 --events
! dial9-prof: ship: --events needs ClickHouse; Pyroscope takes profiles only
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --raw-ttl 7h
! dial9-prof: ship: bad value '7h' for --raw-ttl: expected 1 to 36500 days, for example 7d
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --anonymize-key k
! dial9-prof: ship: --anonymize-key needs --anonymize
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --raw-ttl 7d --rollup-ttl 0
! dial9-prof: ship: bad value '0' for --rollup-ttl: expected 1 to 36500 days, for example 7d
? 1
#
$ dial9-prof ship a --to http://localhost:8123/x --password-file /nonexistent
! dial9-prof: ship: cannot read /nonexistent: No such file or directory
? 1
#
$ dial9-prof ship /nonexistent --to http://localhost:8123/x
! dial9-prof: ship: cannot open /nonexistent: No such file or directory
? 5
#
$ dial9-prof ship a --to pyroscope+ftp://localhost
! dial9-prof: ship: bad URL: expected pyroscope+http://HOST:4040 or pyroscope+https://USER@HOST
? 1
#
$ dial9-prof ship a --to pyroscope+http://localhost:4040 --rollup-ttl 7d
! dial9-prof: ship: --rollup-ttl needs ClickHouse; configure the time in Pyroscope
? 1
#
$ dial9-prof ship a --to pyroscope+http://localhost:4040 --label a-b=c
! dial9-prof: ship: bad value 'a-b=c' for --label: Pyroscope takes names of letters, digits, underscores and dots
? 1
