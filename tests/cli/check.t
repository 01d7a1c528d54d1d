# Whether a recording can start: its options. What it finds is this machine's, and tested with root.
#
$ dial9-prof check --help
Usage: dial9-prof check [OPTIONS]

Tells whether a recording can start here: what is missing, what that costs, and
what mends it.

Options:
      --json      one JSON object

Display:
      --no-pager  print everything at once, also what is longer than the screen
  -h, --help      this text

Examples:
  sudo dial9-prof check
  dial9-prof check --json
#
$ dial9-prof check now
! dial9-prof: check: takes no 'now'; see dial9-prof check --help
? 1
$ dial9-prof check --jsom
! dial9-prof: check: unknown option --jsom (did you mean --json?); see dial9-prof check --help
? 1
