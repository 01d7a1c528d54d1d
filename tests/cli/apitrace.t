# apitrace files: dumped, converted, converted back; damaged files, and their memory limit.
#
$ G=$T/golden/apitrace; cp $G/es2tri.trace game.trace; cp $G/repack_brotli11.trace app.trace; cp $G/synthetic_v4.trace killed.trace; mkdir bad; cp $G/bad_*.trace bad
#
$ dial9-prof info app.trace
trace           app.trace
format          apitrace trace, version 6, brotli
process.name    /home/u/my_atapp/app
API             EGL
bytes decompressed 116,124
calls           220
returns         220
frames          3
threads         2
calls by the tracer itself 11
backtraces      17
blobs as arguments 29
bytes in them   1,514
functions       46
structures      0
enumerations    7
bit masks       4
stack frames    13
#
$ dial9-prof dump game.trace | sed -n 2,3p
{"ev":"enter","off":49,"no":0,"thread":0,"fn":"eglGetDisplay","sig":16,"args":[[0,"display_id",{"p":94857313246592}]]}
{"ev":"leave","off":89,"no":0,"args":[],"ret":{"p":94857313362576}}
#
# A pipe works like a file.
$ cat game.trace | dial9-prof dump - | wc -l
105
#
$ dial9-prof convert game.trace -o game.d9
! changed  <*>  values as text: lists, structures, mixed types (--spec 0.4: as lists)
#
$ dial9-prof convert --to apitrace game.d9 -o - | cmp - game.trace
#
$ dial9-prof convert --spec 0.4 game.trace -o game4.d9; dial9-prof convert --to apitrace game4.d9 -o - | cmp - game.trace
#
$ cat game.trace | dial9-prof convert -q --follow - -o live.d9; dial9-prof convert --to apitrace live.d9 -o - | cmp - game.trace
#
$ dial9-prof dump game.d9 | grep eglInitialize | tail -n 1
       824  event    eglInitialize sig=19 call=1 thread=0 enter_seq=2 leave_seq=3 frame=0 flags=0 dpy=94857313362576 major="[1]" minor="[5]" ret=#3 "EGL_TRUE" details=-
#
$ dial9-prof convert -q --tick 1000 game.trace -o tick.d9; dial9-prof dump tick.d9 | grep -c 'Span.*eglInitialize'
2
#
$ dial9-prof convert killed.trace -o killed.d9
! changed           8  values as text: lists, structures, mixed types (--spec 0.4: as lists)
! note              1  calls that never returned (call 7)
#
# A truncated call, and a truncated file.
$ head -c 30000 game.trace >cut.trace; dial9-prof convert -q cut.trace -o cut.d9; dial9-prof convert cut.trace -o - 2>&1 >/dev/null | grep -c cut
2
#
$ for f in bad/*; do (ulimit -v 400000; dial9-prof convert $f -o out.d9); done
! note              1  the last event is cut off (byte 23)
! skipped           1  rest of the trace (nesting)
! skipped           1  rest of the trace (call detail 9 at 33)
! skipped           1  rest of the trace (enum value tag 7 at 38)
! skipped           1  rest of the trace (frame tag 7 at 36)
! note              1  the last event is cut off (byte 23)
! dial9-prof: bad/bad_snappy_offset.trace: no apitrace trace: snappy: bad offset
! skipped           1  rest of the trace (value tag 16 at 49)
? 5
#
$ for f in bad/*; do (ulimit -v 400000; dial9-prof info $f >/dev/null 2>&1; echo $? $f); done
0 bad/bad_array_count.trace
5 bad/bad_deep_nesting_100000.trace
5 bad/bad_detail_tag.trace
5 bad/bad_enum_value_tag.trace
5 bad/bad_frame_tag.trace
0 bad/bad_sig_arg_count.trace
5 bad/bad_snappy_offset.trace
5 bad/bad_value_tag.trace
#
$ (ulimit -v 400000; head -c 100000000 /dev/zero | dial9-prof convert --from apitrace - -o zero.d9)
! dial9-prof: standard input: no apitrace trace: brotli: damaged
? 5
#
$ dial9-prof convert --from apitrace /dev/null -o none.d9
! dial9-prof: /dev/null is empty (was anything recorded?)
? 5
#
$ dial9-prof convert --from apitrace game.trace app.trace -o two.d9
! dial9-prof: apitrace: one trace at a time; convert each and merge them
? 1
