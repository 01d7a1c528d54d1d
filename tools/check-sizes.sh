#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files stay below 800 lines, functions below 60: longer ones have more than one reason to exist.
# A function is what stands between a line that starts at the margin and ends a signature, "{" alone
# at the margin, and the next "}" at the margin.
set -u

MAX_FILE=800
MAX_FUNC=60

# The quotes hold awk.
# shellcheck disable=SC2016
find user bpf include tests tools -name '*.[ch]' -o -name '*.js' | sort | xargs awk -v max_file=$MAX_FILE -v max_func=$MAX_FUNC '
	FNR == 1 { start = 0; last = "" }
	FNR == max_file + 1 { print FILENAME ": more than " max_file " lines"; bad = 1 }
	/^\{/ { start = FNR; name = last }
	/^\}/ && start {
		if (FNR - start + 1 > max_func) {
			print FILENAME ":" start ": " FNR - start + 1 " lines: " name
			bad = 1
		}
		start = 0
	}
	/^[A-Za-z_].*\(/ { last = $0 }
	END { exit bad }
' >&2
