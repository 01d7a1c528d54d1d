#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom. The table is the architecture: recorder and readers meet only in dial9 bytes,
# the codec includes nothing but itself, and each outside library has one directory that knows it. A
# folder within a layer is private to itself. Tests may include anything. tools/check-includes.sh [ROOT]
set -u

cd "${1:-.}" || exit 1
[ -d user ] || { echo "check-includes: no user/ here" >&2; exit 1; }

# The quotes hold awk.
# shellcheck disable=SC2016
find user bpf include -name '*.[ch]' | sort | xargs awk '
	function allow(layer, names,	i, n, a) {
		n = split(names, a, " ")
		for (i = 1; i <= n; i++)
			may[layer, a[i]] = 1
	}
	# An outside header (or the start of its path) belongs to the directories named.
	function confine(prefix, layers,	i, n, a) {
		outside[prefix] = layers
		n = split(layers, a, " ")
		for (i = 1; i <= n; i++)
			may[a[i], prefix] = 1
	}
	BEGIN {
		allow("include", "dial9.h dial9_event.h prof_abi.h prof_bound.h prof_events.h prof_machine.h prof_unwind.h prof_walk.h prof_walk_arm64.h prof_walk_x86_64.h")
		allow("bpf", "bpf vmlinux.h ptregs.h prof_abi.h prof_bound.h prof_events.h prof_filter.h prof_machine.h prof_select.h prof_unwind.h prof_walk.h prof_walk_step.h")
		allow("libdial9", "libdial9 dial9.h")
		allow("base", "base")
		allow("kernel", "kernel base prof_filter.h")
		allow("unwind", "unwind kernel base prof_unwind.h")
		allow("symbol", "symbol unwind kernel base prof_unwind.h")
		allow("record", "record symbol unwind kernel base dial9.h prof_abi.h prof_events.h prof_filter.h prof_machine.h prof_select.h prof_unwind.h prof_walk.h prof_walk_step.h prof.skel.h")
		allow("trace", "trace symbol base dial9.h prof_events.h")
		allow("profile", "profile trace base")
		allow("export", "export profile trace base")
		allow("formats", "formats trace base dial9.h")
		confine("bpf/", "bpf record")
		confine("elfutils/", "symbol")
		confine("libelf.h", "symbol")
		confine("gelf.h", "symbol")
		confine("dwarf.h", "symbol")
		confine("libiberty/", "symbol")
		confine("demangle.h", "symbol")
		confine("brotli/", "formats")
		confine("snappy", "formats")
		confine("zstd.h", "formats record symbol trace")
		confine("traceevent/", "kernel")
		confine("event-parse.h", "kernel")
	}
	function complain(what) {
		print FILENAME ":" FNR ": " what
		bad = 1
	}
	FNR == 1 {
		n = split(FILENAME, part, "/")
		layer = (part[1] == "user") ? ((n == 2) ? "main" : part[2]) : part[1]
		free = (layer == "cmd" || layer == "main")
		folder = (part[1] == "user" && n == 4) ? part[3] : ""
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, q, "\"")
		name = q[2]
		if (name ~ /\.\./)
			complain("a path with ..: " name)
		target = name
		if (index(name, "/"))
			sub(/\/.*/, "", target)
		else if (name !~ /^(dial9|dial9_event|prof_abi|prof_bound|prof_events|prof_machine|prof_select|prof_unwind|prof_walk|prof_walk_arm64|prof_walk_step|prof_walk_x86_64|prof\.skel|vmlinux|ptregs)\.h$/)
			target = layer
		if (split(name, to, "/") == 3 && !(to[1] == layer && to[2] == folder))
			complain("only " to[1] "/" to[2] " includes what is in it: " name)
		if (target == "cmd" && layer != "cmd" && layer != "main")
			complain("nothing includes cmd: " name)
		else if (!free && !((layer, target) in may))
			complain(layer " may not include " name)
	}
	/^[ \t]*#[ \t]*include[ \t]*</ {
		name = $0
		sub(/^[^<]*</, "", name)
		sub(/>.*/, "", name)
		for (prefix in outside)
			if (index(name, prefix) == 1 && !((layer, prefix) in may))
				complain("<" name "> belongs to " outside[prefix])
		if (layer == "include" && name !~ /^(std[a-z]*|sys\/types|linux\/types)\.h$/)
			complain("a header of include/ has only the plainest includes: <" name ">")
	}
	END { exit bad }
' >&2
