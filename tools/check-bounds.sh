#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Bounds in BPF code that an old verifier may not see: tools/check-bounds.sh [ROOT]
# Masks by a constant and sizes of helpers' arguments go through include/prof_bound.h, which says why.
set -u

cd "${1:-.}" || exit 1
[ -d bpf ] || { echo "check-bounds: no bpf/ here" >&2; exit 1; }

# The quotes hold awk.
# shellcheck disable=SC2016
find bpf include/prof_walk_step.h include/prof_filter.h -name '*.[ch]' 2>/dev/null | sort | xargs awk '
	function fail(why) {
		print FILENAME ":" at ": " why > "/dev/stderr"
		bad = 1
	}
	# The n-th argument of a call whose arguments begin at the start of text.
	function argument(text, n,	i, c, depth, from) {
		from = 1
		for (i = 1; i <= length(text); i++) {
			c = substr(text, i, 1)
			if (c == "(" || c == "[")
				depth++
			else if ((c == ")" || c == "]") && depth)
				depth--
			else if ((c == "," || c == ")") && !depth) {
				if (!--n)
					return substr(text, from, i - from)
				if (c == ")")
					return ""
				from = i + 1
			}
		}
		return ""
	}
	function check_size(name, n,	rest, size) {
		rest = statement
		while (match(rest, name "\\(")) {
			rest = substr(rest, RSTART + RLENGTH)
			size = argument(rest, n)
			gsub(/^[ \t]+|[ \t]+$/, "", size)
			if (size !~ /^PROF_BOUND_SIZE\(/ && size !~ /^([0-9A-Z_]+ \* )?sizeof\([^)]*\)$/ &&
			    size !~ /^[0-9A-Z_ *]+$/ && size !~ /^[A-Z_]+ \* sizeof\([^)]*\)$/)
				fail(name "(): the size \"" size "\" wants PROF_BOUND_SIZE()")
		}
	}
	function check() {
		if (statement ~ /\[[^]&]*[^]& ] & [^]&]*\]/)
			fail("an index with a mask wants PROF_BOUND_INDEX()")
		else if (statement ~ /& \(+[A-Za-z_0-9 \/<()]+ - 1\)/)
			fail("a mask of one less than a constant wants PROF_BOUND_INDEX(), or % where it is no bound")
		check_size("bpf_probe_read_kernel", 2)
		check_size("bpf_probe_read_user", 2)
		check_size("bpf_probe_read_kernel_str", 2)
		check_size("bpf_probe_read_user_str", 2)
		check_size("bpf_copy_from_user", 2)
		check_size("bpf_ringbuf_output", 3)
		check_size("bpf_ringbuf_reserve", 2)
		check_size("bpf_get_stack", 3)
	}
	FNR == 1 { statement = "" }
	/^[ \t]*(\/?\*|#|\/\/)/ { next }
	{
		line = $0
		sub(/\/\*.*\*\//, "", line)
		sub(/\\$/, "", line)
		if (statement == "")
			at = FNR
		sub(/^[ \t]+/, " ", line)
		statement = statement line
	}
	/[;{}]|^$/ {
		check()
		statement = ""
	}
	END { exit bad }
'
