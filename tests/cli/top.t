# A live display: refused options, and the output without a terminal.
#
$ dial9-prof top
! dial9-prof: top: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof top --help
? 1
$ dial9-prof top -p 1 -- true
! dial9-prof: top: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof top --help
? 1
$ dial9-prof top -a -o -
! dial9-prof: top: -o needs a file: standard output is used for the display; see dial9-prof top --help
? 1
$ dial9-prof top -a -e 'block:*'
! dial9-prof: top: -e needs -o FILE; see dial9-prof top --help
? 1
$ dial9-prof top -a -d 0
! dial9-prof: top: bad value '0' for -d: expected a time <*>
? 1
#
# With a trace in a pipe.
$ zcat $T/golden/dial9/tokio-service.bin.gz | dial9-prof report - --live 3600 --limit 2
standard input  4.8 s  72 samples  CPU 0.0%
lost: nothing
    CPU   Off ms/s  Function
<*>
<*>

$ dial9-prof report --live 1 -g - </dev/null
! dial9-prof: report: --live cannot be combined with --wall, -s, -g, -G, --json or a selection
? 1
$ dial9-prof report --live 1 - </dev/null
! dial9-prof: standard input is empty (was anything recorded?)
? 5
