# Profiles of a trace that another implementation wrote: 72 samples of two threads, without switches.
#
$ cp $T/golden/dial9/tokio-service.bin.gz t.gz; dial9-prof report --limit 2 t.gz
\# t.gz: CPU samples over 4.810 s
\# 72 samples
\# lost: nothing
\# unresolved: 26.4% of samples in [unknown]: in no known mapping
\#
\#     Self    Total  Samples  Symbol             Module
    26.39%   29.17%       19  [unknown]          [unknown]
     5.56%    5.56%        4  __lll_unlock_wake  [unknown]
#
# Rows are grouped by any keys; without switches there are no exact seconds, and without a rate no seconds.
$ dial9-prof report -s tid,comm t.gz | tail -n 3
\#     Self    Total  Samples  Tid    Thread
    50.00%   50.00%       36  31710  tokio-rt-worker
    50.00%   50.00%       36  31711  tokio-rt-worker
$ dial9-prof report -s srcline --no-children --limit 2 t.gz | tail -n 3
\#     Self  Samples  Source
    51.39%       37  [unknown]
     1.39%        1  sync.rs:2811
$ dial9-prof report --children -s tid --limit 1 t.gz | tail -n 2
\#    Total     Self  Samples  Tid
    50.00%   50.00%       36  31710
#
# Stacks: -G is -gcallee, and folded lines are no more than that.
$ dial9-prof report -G --limit 2 t.gz >inverted; dial9-prof report -gcallee --limit 2 t.gz | cmp - inverted; tail -n 2 inverted
    26.39%   26.39%       19  [unknown] ([unknown])
     9.72%    0.00%        7    [unknown] ([unknown])
$ dial9-prof report -gfolded --limit 2 t.gz
tokio-rt-worker;[unknown] 10
tokio-rt-worker;__lll_unlock_wake 4
$ dial9-prof report -gfolded -s tid t.gz | awk '{ sum += $NF } END { print sum }'
72
#
$ dial9-prof report -s dso --json t.gz
{"version":2,"file":"t.gz","samples":72,"lost":0,"lost_events":0,"lost_samples":0,"lost_sideband":0,"sideband_stalls":0,"doubtful_stacks":0,"lost_samples_estimate":0,"pauses":0,"stacks_skipped":0,"rows_not_shown":0,"rows":[{"self":72,"total":72,"dso":null}]}
#
# A time range, and an impossible one.
$ dial9-prof report --time 1s,2s -s dso t.gz | tail -n 1
   100.00%  100.00%        2  [unknown]
$ dial9-prof report --time 5s,1s t.gz
! dial9-prof: --time 5s,1s ends before it begins
? 1
$ dial9-prof report --wall t.gz
No times in t.gz: it has no context switches.
#
# Colours and pagers are for terminals, unless requested.
$ PAGER='echo paged' dial9-prof report -s dso t.gz | tail -n 1 | cat -v
   100.00%  100.00%       72  [unknown]
$ dial9-prof report -s dso --color t.gz | tail -n 1 | cat -v
^[[31m   100.00%^[[0m^[[31m  100.00%^[[0m       72  [unknown]
$ PAGER='tail -n 1' TERM=xterm script -qec 'stty rows 9 cols 80; dial9-prof report t.gz' /dev/null </dev/null | tr -d '\r' | cat -v | wc -l
1
$ PAGER='tail -n 1' TERM=xterm NO_COLOR=1 script -qec 'stty rows 9 cols 80; dial9-prof report --no-pager --limit 40 t.gz' /dev/null </dev/null | tr -d '\r' | grep -c '%  '
40
