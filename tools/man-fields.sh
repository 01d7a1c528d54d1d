#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The section FIELDS of dial9-trace(5), made from user/events/own_events.h: tools/man-fields.sh [--write]
# Without --write: to standard output. With it: into the page, between the two comments that name this script.
set -eu

cd "$(dirname "$0")/.."
page=tools/man/dial9-trace.5

fields() {
	awk '
	function type_of(t) {
		if (t == "FOLLOWED")
			return "u8"
		if (t == "OPT_TEXT")
			return "string or none"
		if (t == "OPT_VARINT")
			return "varint or none"
		if (t == "STRING_MAP")
			return "string map"
		return t == "TEXT" ? "string" : tolower(t)
	}
	# One row: TYPE, name, UNIT, KIND, "doc"...
	function print_row(row,    doc, v) {
		doc = row
		sub(/^[^"]*"/, "", doc)
		sub(/".*/, "", doc)
		gsub(/-/, "\\-", doc)
		split(row, v, /, */)
		if (v[1] == "PART") {
			v[1] = "VARINT"
			v[2] = "dial9:" v[2]
		}
		printf ".TP\n.BR %s \" (%s", v[2], type_of(v[1])
		if (v[3] != "NONE")
			printf ", %s", tolower(v[3])
		if (v[4] == "COUNTER" || v[4] == "GAUGE")
			printf ", %s", tolower(v[4])
		printf ")\"\n%s\n", doc
	}
	function print_event(name, rows,    row, i, cnt) {
		printf ".SS %s\n.PD 0\n", name
		cnt = split(rows, row, /X\(/)
		for (i = 2; i <= cnt; i++)
			print_row(row[i])
		print ".PD"
	}
	/^#define PROF_EV_/ { event[$2] = substr($3, 2, length($3) - 2) }
	/^#define OWN_/ { macro = $2 }
	macro { line = $0; sub(/^#define [^ ]*/, "", line); sub(/\\$/, "", line); text[macro] = text[macro] line }
	!/\\$/ { macro = "" }
	END {
		cnt = split(text["OWN_EVENTS(X)"], of, /X\(/)
		for (i = 2; i <= cnt; i++) {
			split(of[i], v, /[,)] */)
			print_event(event[v[3]], text["OWN_" v[1] "_FIELDS(X)"])
		}
	}' include/prof_events.h user/events/own_events.h
}

if [ "${1:-}" != --write ]; then
	fields
	exit
fi
fields >"$page.fields"
awk -v fields="$page.fields" '
	/^\.\\" end of fields/ { skip = 0 }
	!skip
	/^\.\\" tools\/man-fields.sh/ { while ((getline line <fields) > 0) print line; skip = 1 }
' "$page" >"$page.new"
rm "$page.fields"
mv "$page.new" "$page"
