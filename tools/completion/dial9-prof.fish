# SPDX-License-Identifier: BSD-2-Clause
# fish completion for dial9-prof. Options are read from each command's own --help.

set -g __dial9_prof_commands record top report offcpu sched wakeup explain polls script info dump convert diff export view cut symbolize merge list check

function __dial9_prof_command
    for word in (commandline -opc)[2..-1]
        if contains -- $word $__dial9_prof_commands
            echo $word
            return
        end
    end
    echo record
end

function __dial9_prof_options
    dial9-prof (__dial9_prof_command) --help 2>/dev/null | string replace -rf -- \
        '^  (?:-(.), |    )--([a-z0-9-]+)(?:\\[?=\S+)? *(.*)$' '--$2\t$3'
end

complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a record -d 'record a program, or the whole system'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a top -d 'what uses the CPU or waits, live'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a report -d 'where the CPU time went'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a offcpu -d 'where threads were blocked, and who woke them'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a sched -d 'how long tasks waited for a CPU, and behind whom'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a wakeup -d 'who woke whom, and over whom a waking came'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a explain -d 'what a thread did in some moment, and what held it up'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a polls -d 'why polls of a Tokio service were slow'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a script -d 'every event as one line of text'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a info -d 'what a trace holds'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a dump -d 'the bytes of a trace, as JSON'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a convert -d 'traces of other formats to dial9, and back'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a diff -d 'what changed from one trace to another'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a export -d 'a trace for other tools: flame graphs and viewers'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a view -d 'a trace in a browser'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a cut -d 'a smaller trace of some of the events'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a symbolize -d 'the names that a trace had not'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a merge -d 'several traces as one, in order of time'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a list -d 'the events that this kernel offers'
complete -c dial9-prof -n 'test (count (commandline -opc)) -eq 1' -a check -d 'whether a recording can start here'
complete -c dial9-prof -n 'test (__dial9_prof_command) = sched; and test (count (commandline -opc)) -eq 2' -a 'latency timehist map summary'
complete -c dial9-prof -n 'string match -q -- "-*" (commandline -ct)' -a '(__dial9_prof_options)'
