# The list of tracepoints: the options of the command. Its output depends on the kernel, and is tested with root.
#
$ dial9-prof list --help
Usage: dial9-prof list [OPTIONS] [GLOB...]

List the tracepoints of this kernel; needs root or CAP_DAC_READ_SEARCH.

Options:
  -v, --verbose   Also print the fields and their types in the trace
      --json      Print one JSON object per line

Display:
      --no-pager  Print directly to the terminal, also output longer than the
                  screen
  -h, --help      Print this help

Examples:
  dial9-prof list 'sched:*'
  dial9-prof list -v irq:irq_handler_entry
#
$ dial9-prof list --frob
! dial9-prof: list: unknown option --frob; see dial9-prof list --help
? 1
$ dial9-prof list --jsom
! dial9-prof: list: unknown option --jsom (did you mean --json?); see dial9-prof list --help
? 1
$ dial9-prof list --json=yes
! dial9-prof: list: unexpected value for --json
? 1
