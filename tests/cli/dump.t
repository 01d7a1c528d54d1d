# The wire format, frame by frame: text for people, JSON for programs, and the message for each kind of end.
#
$ dial9-prof dump $T/golden/dial9/core/map_keys.bin
         0  header   version 1
         5  schema   0 M @ts m:string-map
        18  event    0.000000001 M m={"dup":"1" "dup":"2" "2":"int-like" "1":"int-like" "__proto__":"p" "":"e"}
#
$ dial9-prof dump $T/golden/dial9/ext/annotations.bin | tail -n 3
       152  annotate 65535 0.k="v"
       168  annotate 300
       173  event    1.000036969 Id300 v=300
#
# The unit is printed once for the layout, and not again for the layout before the annotation.
$ dial9-prof info --schemas $T/golden/dial9/ext/annotations.bin | sed -n '/^Schemas/,$p'
Schemas:
  Annotated  {d Varint (µs), e U8}
  Id300  {v Varint}
#
$ dial9-prof info --schemas --json $T/golden/dial9/ext/annotations.bin | jq -c '.schemas[] | .fields'
[["d","Varint",{"unit":"µs"}],["e","U8"]]
[["v","Varint"]]
#
$ dial9-prof export csv $T/golden/dial9/ext/annotations.bin | cut -d, -f 1,12
what,fields
Annotated,d=5 e=1
Id300,v=300
#
# Schemas of a file, with events or without.
$ for f in core/all_types ext/annotations ext/stack_pool ext/dynamic ext/mid_header; do dial9-prof info $T/golden/dial9/$f.bin | grep ^format; dial9-prof info --json $T/golden/dial9/$f.bin | jq -c '.level, .level_features'; done
format          dial9 0.3
"0.3"
[]
format          dial9 0.4: annotations
"0.4"
["annotations"]
format          dial9 0.4: pooled stacks
"0.4"
["pooled_stacks"]
format          dial9 0.4: pooled stacks, nested values
"0.4"
["pooled_stacks","nested_values"]
format          dial9 0.3
"0.3"
[]
#
# Terminal control characters above ASCII (C1) are escaped, in values and in names.
$ LC_ALL=C sed 's/__proto__/\xc2\x9b31mred!/' $T/golden/dial9/core/map_keys.bin >c1; dial9-prof dump c1 | tail -n 1 | cut -c 59-
"2":"int-like" "1":"int-like" "\u009b31mred!":"p" "":"e"}
#
$ LC_ALL=C sed 's/Id300/\xc2\x9b300/' $T/golden/dial9/ext/annotations.bin >c1; dial9-prof dump c1 | tail -n 1
       173  event    1.000036969 \xc2\x9b300 v=300
#
$ head -c 24 $T/golden/dial9/core/map_keys.bin >torn; dial9-prof dump torn
         0  header   version 1
         5  schema   0 M @ts m:string-map
! dial9-prof: dump: torn: truncated after 18 bytes: the input ends inside a frame
#
$ dial9-prof dump --json torn | tail -n 1
{"f":"end","status":"truncated","frames":1,"events":0,"consumed":18,"msg":"the input ends inside a frame","offset":18}
! dial9-prof: dump: torn: truncated after 18 bytes: the input ends inside a frame
#
$ dial9-prof dump --json $T/golden/dial9/hostile/version_ff.bin
{"f":"end","status":"corrupt","frames":0,"events":0,"consumed":0,"msg":"unknown version","offset":4}
! dial9-prof: dump: <*>version_ff.bin: damaged at byte 4: unknown version
? 5
#
$ dial9-prof dump /dev/null
! dial9-prof: /dev/null is empty (was anything recorded?)
? 5
#
$ dial9-prof dump -i a b
! dial9-prof: dump: unexpected argument 'b': only one trace is read; see dial9-prof dump --help
? 1
#
$ dial9-prof dump $T/golden/dial9/core/small.bin >/dev/full
! dial9-prof: cannot write to standard output: No space left on device
? 3
$ dial9-prof dump $T/golden/dial9/core/small.bin >&-
! dial9-prof: cannot write to standard output: Bad file descriptor
? 3
#
$ dial9-prof dump --limit 2 $T/golden/dial9/core/map_keys.bin
         0  header   version 1
         5  schema   0 M @ts m:string-map
#
$ dial9-prof dump --json --limit 2 $T/golden/dial9/core/map_keys.bin
{"f":"header","version":1}
{"f":"schema","type_id":0,"name":"M","has_ts":true,"fields":[["m",10]]}
