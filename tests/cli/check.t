# Whether a recording can start: the options of the command. Its findings depend on the machine, and are tested with root.
#
$ dial9-prof check --help
Usage: dial9-prof check [OPTIONS]

Check whether a recording can start here: what is missing, its effect, and the
fix.

Options:
      --json             Print one JSON object
      --programs[=GLOB]  Load each BPF program alone in each configuration whose
                         name matches GLOB and print the instructions that the
                         verifier processed; for bug reports (default *)
      --btf=FILE         Read the types of this kernel from FILE, if
                         /sys/kernel/btf/vmlinux is hidden
  -v, --verbose          With --programs, also print the verifier's log of
                         refused programs; -vv adds libbpf's messages

Display:
      --no-pager         Print directly to the terminal, also output longer than
                         the screen
  -h, --help             Print this help

Examples:
  sudo dial9-prof check
  dial9-prof check --json
#
$ dial9-prof check now
! dial9-prof: check: unexpected argument 'now'; see dial9-prof check --help
? 1
$ dial9-prof check --jsom
! dial9-prof: check: unknown option --jsom (did you mean --json?); see dial9-prof check --help
? 1
$ dial9-prof check --programs=nothing
! dial9-prof: check: no configuration matches 'nothing'; expected one of default, process, no-inherit, thread, fp, no-call-graph, max-stack, no-stacks, user-stacks, all-stacks, all-stacks-fp, verify-stacks, neighbours, neighbours-all, events, no-sched, filter, min-block, min-block-process, min-block-fp, summary, summary-process, flight, flight-event, sched-sample, max-overhead, user, cgroup, name, selected-all, selected-min-block, selected-summary, cpus, include-self, ring-size, unwind-mem, clockid
? 1
$ dial9-prof check --btf=/nope
! dial9-prof: check: --btf /nope: No such file or directory
? 2
$ dial9-prof check --programs --btf=/nope
! dial9-prof: check: --btf /nope: No such file or directory
? 2
