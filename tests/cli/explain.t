# States of a thread: the command line, and traces without the needed events.
#
$ dial9-prof explain
! dial9-prof: explain: no thread or process given; use dial9-prof explain TID|PID (dial9-prof report -s comm,pid,tid lists them)
? 1
#
$ dial9-prof explain 10
! dial9-prof: cannot open dial9.bin: No such file or directory (record one first: sudo dial9-prof -p PID)
? 5
#
$ dial9-prof explain 10 $T/golden/dial9/mixed_1k.bin | sed 's|in [^ ]*/|in |'
Nothing to explain of thread or process 10 in mixed_1k.bin: it has no context switches.
#
$ dial9-prof explain 10 --json - <$T/golden/dial9/mixed_1k.bin
{"version":2,"file":"standard input","span_ns":599000,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"pauses":0,"stacks_skipped":0,"complete":true,"threads":[],"steps":[]}
#
# The slowest pairs: invalid pairs, and polls of a service, whose trace has only stacks of switches.
$ dial9-prof explain --slowest 3
! dial9-prof: explain: --slowest needs --span, such as --span fsync or --span ENTER,EXIT
? 1
#
$ cp $T/golden/dial9/mixed_1k.bin .; dial9-prof explain --span fsync mixed_1k.bin
! dial9-prof: explain: no event of fsync in mixed_1k.bin; record it with -e syscalls:sys_enter_fsync -e syscalls:sys_exit_fsync
? 1
#
$ dial9-prof explain --span poll --slowest 1 - <$T/golden/dial9/tokio-service.bin.gz
\# standard input: the slowest 1 of 36,801 pairs of poll over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us
\#
\# no context switches in the trace: only stacks show what threads did
\#        Took ms  pair
      50.280303  1. PollStartEvent by tokio-rt-worker 31710

\# 1. PollStartEvent by tokio-rt-worker 31710, from 503229.939817263 to 503229.990097566:      50.280303 ms

+  15.270 us  left its CPU; ended 50.265 ms later
                __schedule ([unknown])
                schedule ([unknown])
                schedule_timeout ([unknown])
                __wait_for_common ([unknown])
                __wait_rcu_gp ([unknown])
                synchronize_rcu ([unknown])
                expand_fdtable ([unknown])
                expand_files ([unknown])
                alloc_fd ([unknown])
                __sys_socket ([unknown])
                __x64_sys_socket ([unknown])
                do_syscall_64 ([unknown])
                entry_SYSCALL_64_after_hwframe ([unknown])
                __GI___socket ([unknown])
                core::result::Result<T,E>::map_err (inlined)
                hyper_util::client::legacy::connect::http::connect ([unknown])
                <core::result::Result<T,E> as core::ops::try_trait::Try>::branch (inlined)
                hyper_util::client::legacy::connect::http::ConnectingTcpRemote::connect::{{closure}} (inlined)
                hyper_util::client::legacy::connect::http::ConnectingTcp::connect::{{closure}} (inlined)
                hyper_util::client::legacy::connect::http::HttpConnector<R>::call_async::{{closure}} (inlined)
                <hyper_util::client::legacy::connect::http::HttpConnector<R> as tower_service::Service<http::uri::Uri>>::call::{{closure}} ([unknown])
                ... 51 more
#
$ zcat $T/golden/dial9/tokio-service.bin.gz | dial9-prof explain --span poll --slowest 1 - | head -3
\# standard input: the slowest 1 of 36,801 pairs of poll over 4.810 s
\# lost: nothing
\# all: 1.283 s, median 10.559 us, p99 211.967 us
#
$ dial9-prof explain --span poll -C 0 - <$T/golden/dial9/tokio-service.bin.gz
! dial9-prof: explain: no pair of poll in standard input in the selection
? 1
#
# From a pipe, it needs a temporary file.
$ cat $T/golden/dial9/mixed_1k.bin | TMPDIR=/no/dir dial9-prof explain 10 -
! dial9-prof: explain: cannot make a temporary file in /no/dir: No such file or directory (TMPDIR sets its directory)
? 5
