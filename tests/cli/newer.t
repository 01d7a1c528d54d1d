# A frame of a later format is no damage: the events before it are used, and the exit status shows that the trace is
# incomplete. Tag 0 is damage: lost data reads as zeros.
#
$ cp $T/golden/dial9/mixed_1k.bin newer; printf '\020rest' >>newer; dial9-prof info newer | grep -e ^events -e ^note
events          1,000 in <*>
note            the rest has a newer format; everything before it is counted
! dial9-prof: newer: stopped at byte 37497: frame tag 0x10: a newer writer (format later than 0.4); everything before it is used (a later dial9-prof may read on)
#
$ dial9-prof info --json newer >json; echo $?; grep -o '"truncated":[a-z]*,"newer":[a-z]*,"damaged":[a-z]*' json
5
"truncated":false,"newer":true,"damaged":false
! dial9-prof: newer: stopped at byte 37497: <*>
#
$ dial9-prof report newer >text; echo $?; [ -s text ] && echo printed
5
printed
! dial9-prof: newer: stopped at byte 37497: <*>
#
$ dial9-prof script newer >text; echo $?; dial9-prof script $T/golden/dial9/mixed_1k.bin | cmp - text
5
! dial9-prof: newer: stopped at byte 37497: <*>
#
$ dial9-prof script - <newer >piped; echo $?; cmp text piped
5
! dial9-prof: standard input: stopped at byte 37497: <*>
#
$ dial9-prof dump newer >text; echo $?; tail -n 1 text
5
     <N>  event    <*>
! dial9-prof: dump: newer: stopped at byte 37497: frame tag 0x10: a newer writer (format later than 0.4)
#
$ dial9-prof dump --json newer >text; echo $?; tail -n 1 text
5
{"f":"end","status":"newer","frames":1005,"events":1000,"consumed":37497,"msg":"frame tag 0x10: a newer writer (format later than 0.4)","offset":37497}
! dial9-prof: dump: newer: stopped at byte 37497: <*>
#
$ dial9-prof convert --to heph -o out newer 2>err; echo $?; grep stopped err; dial9-prof info out | grep '^events'
5
dial9-prof: convert: newer: stopped at byte 37497: frame tag 0x10: a newer writer (format later than 0.4); everything before it is converted, the rest is missing
events          1,000
#
$ cp $T/golden/dial9/mixed_1k.bin zeros; head -c 100 /dev/zero >>zeros; dial9-prof script zeros >text; echo $?
5
! dial9-prof: zeros: damaged: unknown frame tag at byte 37497; everything before it is used, the rest is missing (copy the file again)
