# More symbols for a trace.
#
$ dial9-prof symbolize
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
$ dial9-prof symbolize a b
! dial9-prof: symbolize: unexpected argument 'b': only one trace is read; see dial9-prof symbolize --help
? 1
$ dial9-prof symbolize --symf=x a
! dial9-prof: symbolize: unknown option --symf (did you mean --symfs?); see dial9-prof symbolize --help
? 1
$ dial9-prof symbolize --vmlinux=nowhere a
! dial9-prof: symbolize: --vmlinux nowhere: No such file or directory
? 1
#
# Invalid arguments are reported, whether they would be used or not.
$ dial9-prof symbolize --vmlinux=/ a
! dial9-prof: symbolize: --vmlinux /: Is a directory
? 1
$ mkfifo pipe; dial9-prof symbolize --vmlinux=pipe a; code=$?; rm pipe; exit $code
! dial9-prof: symbolize: --vmlinux pipe: not a kernel ELF file with symbols (_stext)
? 1
$ dial9-prof symbolize --vmlinux=/dev/zero a
! dial9-prof: symbolize: --vmlinux /dev/zero: not a kernel ELF file with symbols (_stext)
? 1
$ dial9-prof symbolize --vmlinux=/bin/ls a
! dial9-prof: symbolize: --vmlinux /bin/ls: not a kernel ELF file with symbols (_stext)
? 1
$ dial9-prof symbolize --symfs=nowhere a
! dial9-prof: symbolize: --symfs nowhere: No such file or directory
? 1
$ dial9-prof symbolize --symfs=/dev/null a
! dial9-prof: symbolize: --symfs /dev/null: Not a directory
? 1
#
# All symbols are known: a file stays unchanged, an output is equal.
$ cp $T/golden/dial9/mixed_1k.bin mixed; dial9-prof symbolize mixed; ls
mixed
! dial9-prof: symbolize: 0 of 44 addresses without a symbol now have one; nothing was written
! dial9-prof: symbolize: 44 addresses in memory without a file, or in no known mapping
$ dial9-prof symbolize mixed -o same; cmp mixed same
! dial9-prof: symbolize: 0 of 44 addresses without a symbol now have one
! dial9-prof: symbolize: 44 addresses in memory without a file, or in no known mapping
$ dial9-prof symbolize -q mixed -o - | cmp - mixed
$ cat mixed | dial9-prof symbolize -q - -o - | cmp - mixed
#
# Input that cannot be replaced needs an output.
$ dial9-prof symbolize - <mixed
! dial9-prof: symbolize: no output given; use -o FILE, or -o - for standard output; see dial9-prof symbolize --help
? 1
$ gzip -k mixed; dial9-prof symbolize mixed.gz
! dial9-prof: symbolize: a compressed input cannot be replaced; use -o FILE; see dial9-prof symbolize --help
? 1
$ dial9-prof symbolize -q mixed.gz -o - | cmp - mixed
#
# Damaged, truncated and other input replaces no file.
$ echo hello >text; dial9-prof symbolize text -o same
! dial9-prof: text: not a dial9 trace: <*>
? 5
$ head -c 9000 mixed >torn; dial9-prof symbolize -q torn -o part; dial9-prof info --verify part
part: good: <N> frames, <N> events, in <N> bytes
! dial9-prof: torn: the end is cut off after byte <N>; everything before it is used
$ dial9-prof symbolize mixed -o /dev/full
! dial9-prof: cannot write /dev/full: No space left on device
? 3
$ dial9-prof symbolize mixed -o no/such/dir
! dial9-prof: cannot write no/such/dir: No such file or directory; choose another file with -o
? 3
$ ls
mixed
mixed.gz
part
same
text
torn
#
# Servers are used only if some are configured.
$ DEBUGINFOD_URLS= dial9-prof symbolize --debuginfod mixed
! dial9-prof: symbolize: --debuginfod: no servers given; use --debuginfod=URLS or $DEBUGINFOD_URLS; see dial9-prof symbolize --help
? 1
$ env -u HOME -u XDG_CACHE_HOME -u DEBUGINFOD_CACHE_PATH dial9-prof symbolize --debuginfod=http://127.0.0.1:1 mixed
! dial9-prof: symbolize: --debuginfod: no cache directory; set $HOME or $DEBUGINFOD_CACHE_PATH; see dial9-prof symbolize --help
? 1
$ dial9-prof symbolize --debuginfod-timeout=0 mixed
! dial9-prof: symbolize: bad value '0' for --debuginfod-timeout: <*>
? 1
