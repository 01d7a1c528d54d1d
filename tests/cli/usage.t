# Wrong command lines: one line with the error and a reference to the help, and exit status 1.
#
$ dial9-prof --version
dial9-prof <N>.<N>
#
$ dial9-prof frob
! dial9-prof: unknown command 'frob' (to record a program: dial9-prof -- frob); see dial9-prof --help
? 1
#
$ dial9-prof reprot
! dial9-prof: unknown command 'reprot' (did you mean report?); see dial9-prof --help
? 1
#
$ dial9-prof --frob
! dial9-prof: record: unknown option --frob (did you mean --freq?); see dial9-prof record --help
? 1
#
$ dial9-prof report --lmit 3
! dial9-prof: report: unknown option --lmit (did you mean --limit?); see dial9-prof report --help
? 1
#
$ dial9-prof -o
! dial9-prof: record: -o needs a value; see dial9-prof record --help
? 1
#
$ dial9-prof -p abc
! dial9-prof: record: bad value 'abc' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42
? 1
#
$ dial9-prof -d 10x -- true
! dial9-prof: record: bad value '10x' for -d: expected a time above 0 such as 10 (seconds), 500ms or 5m
? 1
#
$ dial9-prof --switch-stacks=all -a
! dial9-prof: record: bad value 'all' for --switch-stacks: expected one of none, user, both
? 1
#
$ dial9-prof report --limit -1
! dial9-prof: report: bad value '-1' for --limit: expected a number of 0 or more
? 1
#
$ dial9-prof report ''
! dial9-prof: cannot open '': No such file or directory
? 5
#
$ dial9-prof convert '' -o out
! dial9-prof: cannot open '': No such file or directory
? 5
#
# Binary data is neither written to terminals nor read from them.
$ for c in 'record -a -o -' 'record -a -o /dev/stdout' 'convert x -o -' 'convert x -o /dev/stdout' 'report -' 'dump -'; do script -qec "dial9-prof $c" /dev/null </dev/null | tr -d '\r'; done
dial9-prof: record: -o - needs a pipe or a file; standard output is a terminal; see dial9-prof record --help
dial9-prof: record: -o - needs a pipe or a file; standard output is a terminal; see dial9-prof record --help
dial9-prof: convert: -o - needs a pipe or a file; standard output is a terminal
dial9-prof: convert: -o - needs a pipe or a file; standard output is a terminal
dial9-prof: cannot read standard input: it is a terminal (name a trace file, or pipe one in)
dial9-prof: cannot read standard input: it is a terminal (name a trace file, or pipe one in)
#
$ dial9-prof report -C 9-3
! dial9-prof: report: bad value '9-3' for -C: expected CPU numbers such as 0-3,8
? 1
#
# The order of a call tree is part of its option's argument, and a file is not.
$ dial9-prof report -gtrace.bin
! dial9-prof: report: bad value 'trace.bin' for -g: expected caller, callee, flat, folded or none (-g alone is caller)
? 1
$ dial9-prof report -g callee
! dial9-prof: report: no space between -g and its mode; use -gcallee or --call-graph=callee
? 1
$ : >callee; : >trace.bin; dial9-prof report -g callee trace.bin
! dial9-prof: report: no space between -g and its mode; use -gcallee or --call-graph=callee
? 1
$ dial9-prof report -g callee -i trace.bin
! dial9-prof: report: no space between -g and its mode; use -gcallee or --call-graph=callee
? 1
$ dial9-prof report -g callee; rm callee trace.bin
! dial9-prof: callee is empty (was anything recorded?)
#
# No arguments at all: the same text as with --help, but as an error.
$ dial9-prof --help >asked; dial9-prof >out 2>err; rc=$?; cat out err | cmp - asked; exit $rc
? 1
#
$ dial9-prof help help | cmp - asked; dial9-prof help | cmp - asked; dial9-prof -h -a | cmp - asked
$ dial9-prof help report | head -n 1
Usage: dial9-prof report [OPTIONS] [FILE]
$ dial9-prof help reprot
! dial9-prof: unknown command 'reprot' (did you mean report?); see dial9-prof --help
? 1
$ dial9-prof -V
dial9-prof <N>.<N>
#
# Every subcommand prints its usage and options on standard output, with status 0, and help fits a terminal.
$ for c in $(dial9-prof --completion | cut -f 2 | sed '/^-/d'); do dial9-prof $c --help >help || echo "$c: status $?"; grep -q "^Usage: dial9-prof \[*$c\]* " help || echo "$c: no usage"; awk -v c=$c 'length > 100 { print c ": " $0 }' help; done
