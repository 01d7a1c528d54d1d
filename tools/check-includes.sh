#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which folder may include which: tools/check-includes.sh [ROOT]
# The table is the architecture. Recorder and readers meet only in dial9 bytes, the codec includes nothing but itself,
# and each outside library belongs to one layer. A folder without a row, or a header of include/ without one, is an
# error, and so is a circle of folders. X_impl.h is private to its folder. Tests may include anything.
set -u

cd "${1:-.}" || exit 1
[ -d user ] || { echo "check-includes: no user/ here" >&2; exit 1; }

# FOLDER: folders of user/ that it may include; another layer's name stands for all of its folders.
folders() {
	cat <<-'EOT'
		main: cmd kernel base
		libdial9:
		base:
		kernel: base
		kernel/tracefs: base
		unwind: kernel base
		events: base
		symbol: base
		symbol/elf: symbol base
		symbol/dwarf: symbol/elf symbol base
		symbol/cfi: symbol/dwarf symbol/elf symbol unwind base
		symbol/sandbox: symbol/cfi symbol/dwarf symbol/elf symbol unwind kernel base
		symbol/broker: symbol/sandbox symbol/dwarf symbol unwind kernel base
		record/output: kernel base
		record/tracepoint: events kernel base
		record/ring: kernel base
		record/capture: record/ring record/tracepoint record/output kernel base
		record/process: record/capture record/tracepoint kernel base
		record/target: record/process record/capture symbol/sandbox kernel base
		record/symbols: record/target record/process symbol/broker events kernel base
		record/unwind_maps: record/symbols record/target record/process record/capture symbol/broker unwind kernel base
		record/encode: record/unwind_maps record/symbols record/target record/process record/capture record/ring record/tracepoint record/output symbol/broker events kernel base
		record/control: record/encode record/unwind_maps record/symbols record/target record/process record/capture record/tracepoint record/output symbol/broker events kernel base
		record: record/control record/encode record/unwind_maps record/symbols record/target record/process record/capture record/ring record/tracepoint record/output symbol/broker events kernel base
		trace/source: base
		trace/read: events trace/source base
		profile/sched: trace base
		profile/sums: profile/sched trace events base
		profile/explain: profile/sums profile/sched trace base
		profile/counts: profile/explain profile/sums profile/sched trace base
		export: profile trace base
		export/firefox: export profile trace base
		export/folded: export base
		export/html: export base
		export/parquet: export profile trace base
		export/perfetto: export profile trace base
		formats: trace base
		formats/apitrace: formats trace base
		formats/heph: formats trace base
		formats/perfdata: formats events trace unwind base
		formats/tonbandgeraet: formats trace base
		rewrite/copy: trace base
		rewrite/cut: rewrite/copy trace base
		rewrite/merge: rewrite/copy profile events trace base
		rewrite/symbolize: rewrite/copy symbol events trace kernel base
		query: profile trace base
		ship: query export profile trace base
		fleet: ship query base
		cmd/common: export formats profile trace base
		cmd/report: cmd/common export profile trace base
		cmd/sched: cmd/common export profile trace base
		cmd/count: cmd/common export profile trace base
		cmd/explain: cmd/common rewrite export profile trace base
		cmd/inspect: cmd/common export profile trace events base
		cmd/rewrite: cmd/common rewrite export formats symbol trace base
		cmd/query: cmd/common fleet ship query rewrite export profile trace base
		cmd/ship: cmd/common ship trace base
		cmd/export: cmd/rewrite cmd/common rewrite export trace base
		cmd/record: cmd/common record rewrite ship profile trace kernel base
		bpf:
		include:
	EOT
}

# HEADER of include/ (or generated): folders and layers that may include it.
headers() {
	cat <<-'EOT'
		dial9.h: libdial9 events record trace formats cmd/inspect cmd/record include
		dial9_event.h: include
		prof_abi.h: bpf record include
		prof_rec.h: record
		prof_bound.h: bpf include
		prof_events.h: bpf events record trace formats/perfdata rewrite cmd/inspect cmd/record include
		prof_filter.h: bpf kernel record
		prof_machine.h: bpf record formats/perfdata include
		prof_extract.h: bpf record
		prof_select.h: bpf record
		prof_unwind.h: bpf unwind symbol record formats/perfdata include
		prof_walk.h: bpf record formats/perfdata include
		prof_walk_arm64.h: include
		prof_walk_step.h: bpf record formats/perfdata
		prof_walk_x86_64.h: include
		prof.skel.h: record
		ptregs.h: bpf
		vmlinux.h: bpf
	EOT
}

# Start of an outside header's name: layers that may include it.
libraries() {
	cat <<-'EOT'
		bpf/: bpf record
		elfutils/: symbol
		libelf.h: symbol
		gelf.h: symbol
		dwarf.h: symbol
		libiberty/: symbol
		demangle.h: symbol
		brotli/: formats
		snappy: formats
		zstd.h: export formats record symbol trace
		sqlite3.h: query
		curl/: ship
		traceevent/: kernel
		event-parse.h: kernel
	EOT
}

edges=$(mktemp) || exit 1
trap 'rm -f "$edges" "$edges.js"' EXIT

# The quotes hold awk.
# shellcheck disable=SC2016
{
	folders | sed 's/^/folder /'
	headers | sed 's/^/header /'
	libraries | sed 's/^/library /'
	find user bpf include -name '*.[ch]' | sort | sed 's/^/file /'
} | awk -v edges="$edges" '
	function complain(what) {
		print file ":" line ": " what
		bad = 1
	}
	# Of user/a/b/c.h "a/b".
	function folder_of(path) {
		if (!sub("/[^/]*$", "", path))
			return ""
		return path
	}
	function layer_of(folder) {
		sub("/.*", "", folder)
		return folder
	}
	function is_in(folder, list,	i, n, a) {
		n = split(list, a, " ")
		for (i = 1; i <= n; i++)
			if (a[i] == folder || a[i] == layer_of(folder))
				return 1
		return 0
	}
	# Within a layer its name stands for the files that are in none of its folders.
	function may_include(to,	i, n, a) {
		n = split(may[folder], a, " ")
		for (i = 1; i <= n; i++)
			if (a[i] == to || (a[i] == layer_of(to) && layer_of(to) != layer_of(folder)))
				return 1
		return 0
	}
	function check_folder(name,	to) {
		to = folder_of(name)
		if (to == folder)
			return
		print folder, to > edges
		if (!(to in may))
			complain("no folder has a row of that name: " name)
		else if (!may_include(to))
			complain(folder " may not include " name)
	}
	function check_quoted(name) {
		if (name ~ /\.\./)
			complain("a path with ..: " name)
		if (name ~ /_impl\.h$/ && index(name, "/") && folder_of(name) != folder)
			complain("only " folder_of(name) " includes " name)
		if (name in header_for) {
			if (!is_in(folder, header_for[name]))
				complain(folder " may not include " name)
		} else if (index(name, "/")) {
			check_folder(name)
		} else if (name ~ /^(dial9|prof)[a-z0-9_]*(\.skel)?\.h$/) {
			complain("no row for the header " name)
		}
	}
	function check_angled(name,	start) {
		for (start in library_for)
			if (index(name, start) == 1 && !is_in(folder, library_for[start]))
				complain("<" name "> belongs to " library_for[start])
		if (folder == "include" && name !~ /^(std[a-z]*|sys\/types|linux\/types)\.h$/)
			complain("a header of include/ has only the plainest includes: <" name ">")
	}
	function check_file(	text, part) {
		folder = folder_of(file)
		if (folder == "user")
			folder = "main"
		sub("^user/", "", folder)
		line = 0
		if (!(folder in may))
			complain("no row for the folder " folder)
		part = file
		if (sub("^include/", "", part) && !(part in header_for))
			complain("no row for the header " part)
		while ((getline text < file) > 0) {
			line++
			if (text ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
				split(text, q, "\"")
				check_quoted(q[2])
			} else if (text ~ /^[ \t]*#[ \t]*include[ \t]*</) {
				sub(/^[^<]*</, "", text)
				sub(/>.*/, "", text)
				check_angled(text)
			}
		}
		close(file)
	}
	{ what = $1; key = $2; rest = $0; sub(/^[^ ]* [^ ]* ?/, "", rest) }
	what != "file" { sub(/:$/, "", key) }
	what == "folder" { may[key] = rest }
	what == "header" { header_for[key] = rest }
	what == "library" { library_for[key] = rest }
	what == "file" { file = key; check_file() }
	END { exit bad }
' >&2
bad=$?

# The page: read, then model, then view.
for rule in 'read model' 'read view' 'model view'; do
	for js in user/web/"${rule% *}"/*.js; do
		[ -e "$js" ] || continue
		grep -n "require('\.\./${rule#* }/" "$js" | sed "s,^,$js: ${rule% *} may not require ,"
	done
done >"$edges.js"
[ ! -s "$edges.js" ] || { cat "$edges.js" >&2; bad=1; }

circles=$(sort -u "$edges" | tsort 2>&1 >/dev/null)
if [ -n "$circles" ]; then
	echo "$circles" | sed 's,^tsort: .*loop.*,these folders include each other in a circle:,; s,^tsort: ,	,' >&2
	bad=1
fi
exit $bad
