#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Plain English: finds the words of tools/words.txt in documents, messages, comments and names of tests, and manual pages
# whose sentences are too long: tools/check-words.sh [DIR]
#
# Each line of tools/words.txt has a pattern, where it is forbidden (c: comments, d: documents, s: strings and names of
# tests, t: names of tests), and the plain word, separated by tabs. A pattern is an extended regular expression in lower
# case, and matches whole words. White space and line breaks of a text count as one space, as do underscores of a name.
set -u

MAX_AVERAGE=18 # words per sentence of a manual page
words=$(realpath "$(dirname "$0")")/words.txt
cd "${1:-.}" || exit 1

# Strings that traces contain: never changed.
TRACE_STRINGS='user/formats/tonbandgeraet/event.c'

sources() { # each C file, after the kinds of text to check
	find user bpf include tests -name '*.[ch]' 2>/dev/null | sort | while read -r file; do
		kinds=c
		case $file in
		"$TRACE_STRINGS" | tests/*) ;;
		*) kinds=${kinds}s ;;
		esac
		printf '%s\n%s\n' "kinds=$kinds" "$file"
	done
}

test_files() {
	find tests '(' -name '*_test.c' -o -name '*.test.js' ')' 2>/dev/null | sort
}

documents() {
	find tools/man README.md CONTRIBUTING.md .github/SECURITY.md user/libdial9/*.md -type f 2>/dev/null | sort
}

# Each program prints the parts of a text: file, line, kind and part, separated by tabs. A line "." ends the text.
# A string without a blank is a name: a key, or a value in traces.
# shellcheck disable=SC2016
c_texts='
	function part(k, t) {
		if (k != kind)
			end()
		if (index(kinds, k))
			print FILENAME "\t" FNR "\t" k "\t" t
		kind = k
	}
	function end() { if (kind != "") print "."; kind = "" }
	FNR == 1 { end(); inside = 0 }
	{
		rest = $0
		if (inside && rest !~ /^[ \t]*\*\//)
			sub(/^[ \t]*\*/, "", rest)
		while (rest != "") {
			if (inside) {
				if (!match(rest, /\*\//)) {
					part("c", rest)
					break
				}
				part("c", substr(rest, 1, RSTART - 1))
				rest = substr(rest, RSTART + 2)
				inside = 0
				end()
				continue
			}
			if (!match(rest, /["\047]|\/\*|\/\//)) {
				if (rest ~ /[^ \t]/)
					end()
				break
			}
			if (substr(rest, 1, RSTART - 1) ~ /[^ \t]/)
				end()
			what = substr(rest, RSTART, RLENGTH)
			rest = substr(rest, RSTART + RLENGTH)
			if (what == "/*") {
				end()
				inside = 1
			} else if (what == "//") {
				part("c", rest)
				rest = ""
			} else if (what == "\"" && match(rest, /^([^"\\]|\\.)*"/)) {
				found = substr(rest, 1, RLENGTH - 1)
				if ($0 !~ /^#include/ && found ~ /[ %]/)
					part("s", found)
				rest = substr(rest, RLENGTH + 1)
			} else if (match(rest, /^(\\.[^\047]*|[^\047\\])\047/)) {
				rest = substr(rest, RLENGTH + 1)
			}
		}
	}
	END { end() }
'

# Names of tests: Test(SUITE, NAME) of criterion, and test('NAME') of node.
# shellcheck disable=SC2016
test_names='
	function name(line, text) { print FILENAME "\t" line "\tt\t" text "\n." }
	/^(Parameterized)?Test\(/ {
		line = FNR
		text = $0
		while (text ~ /,[ \t]*$/ && (getline more) > 0)
			text = text more
		sub(/^ParameterizedTest\([^,]*,/, "", text)
		split(text, parts, /[,)]/)
		gsub(/_/, " ", parts[2])
		name(line, parts[2])
	}
	match($0, /^[ \t]*test\(["\047`]/) {
		split(substr($0, RSTART + RLENGTH), parts, substr($0, RSTART + RLENGTH - 1, 1))
		name(FNR, parts[1])
	}
'

# Paragraphs: of roff without requests and bold text, which is what the program prints or reads; of Markdown without code.
# shellcheck disable=SC2016
document_texts='
	FNR == 1 { print "."; code = 0; roff = FILENAME ~ /\.[1-9]$/ }
	roff && /^\.\\"/ { next }
	roff && /^\.(nf|EX|TS)/ { code = 1 }
	roff && /^\.(fi|EE|TE)/ { code = 0; print "."; next }
	!roff && /^ *```/ { code = !code; print "."; next }
	code { next }
	roff && /^\.(B|BR|BI|IB|RB|SB) / { $0 = "code" }
	roff && /^\.(I|IR|RI) / { sub(/^\.[A-Z]+ /, ""); gsub(/"/, "") }
	/^[ \t]*$/ || (roff && /^\./) || (!roff && /^([|#]|[ \t]*[-*0-9][.]? )/) { print "." }
	roff && /^\./ { next }
	{
		gsub(/\\fB[^\\]*(\\-[^\\]*)*\\f[PR]/, "code")
		gsub(/\\f[A-Z]/, "")
		gsub(/\\-/, "-")
		print FILENAME "\t" FNR "\td\t" $0
	}
	END { print "." }
'

# What scripts print.
# shellcheck disable=SC2016
script_texts='
	/^[ \t]*#/ || !/echo|printf|skip |fail |die |usage |missing / { next }
	{
		rest = $0
		while (match(rest, /"([^"\\]|\\.)*"|\047[^\047]*\047/)) {
			print FILENAME "\t" FNR "\ts\t" substr(rest, RSTART + 1, RLENGTH - 2)
			print "."
			rest = substr(rest, RSTART + RLENGTH)
		}
	}
'

# shellcheck disable=SC2016
find_words='
	BEGIN { FS = "\t"; edge = "[^a-z0-9_-]" }
	FILENAME == words {
		if (NF != 3 || $2 !~ /^[cdst]+$/) {
			print words ":" FNR ": expected PATTERN, WHERE and PLAIN, separated by tabs"
			bad = 1
		}
		pattern[++patterns] = edge "(" $1 ")" edge
		where[patterns] = $2
		plain[patterns] = $3
		next
	}
	$0 == "." { check(); next }
	{
		start[++parts] = length(text) + 1
		line[parts] = $2
		gsub(/`[^`]*`/, "code", $4)
		gsub(/\\[nt]|[ \t]+/, " ", $4)
		gsub(/^ +| +$/, "", $4)
		text = text " " tolower($4)
		file = $1
		kind = $3
	}
	function line_at(at,   i) {
		for (i = parts; i > 1 && start[i] > at; i--)
			;
		return line[i]
	}
	function check(   i, found) {
		text = text " "
		for (i = 1; parts && i <= patterns; i++) {
			if (!index(where[i], kind) && !(kind == "t" && index(where[i], "s")))
				continue
			if (!match(text, pattern[i]))
				continue
			found = substr(text, RSTART + 1, RLENGTH - 2)
			print file ":" line_at(RSTART + 1) ": \"" found "\": write: " plain[i]
			bad = 1
		}
		text = ""
		parts = 0
	}
	END { check(); exit bad }
'

# A sentence ends before a capital letter, or with its paragraph. The tag of a list item is none.
# shellcheck disable=SC2016
sentence_lengths='
	function sentence(   n, w) {
		n = split(text, w, " ")
		if (n > 2) {
			sentences++
			all += n
		}
		text = ""
	}
	function paragraph(   at) {
		while (match(text, /[.?!:][)]? +[A-Z]/)) {
			at = RSTART + RLENGTH - 1
			keep = substr(text, at)
			text = substr(text, 1, at - 1)
			sentence()
			text = keep
		}
		sentence()
	}
	/^\.\\"/ { next }
	/^\.(nf|EX|TS)/ { code = 1 }
	/^\.(fi|EE|TE)/ { code = 0 }
	/^\.TP/ { paragraph(); tag = 1; next }
	code { next }
	tag && !/^\.PD/ { tag = 0; next }
	/^\.(B|I|BR|IR|BI|IB|RB|RI) / { sub(/^\.[A-Z]+ /, ""); gsub(/"/, "") }
	/^\./ || /^[ \t]*$/ { paragraph(); next }
	{ gsub(/\\f[A-Z]/, ""); text = text " " $0 }
	END {
		paragraph()
		if (sentences && all / sentences > max) {
			printf "%s: %.1f words per sentence, at most %d are allowed\n", FILENAME, all / sentences, max
			exit 1
		}
	}
'

bad=0
{
	sources | xargs -r -n 200 awk "$c_texts"
	test_files | xargs -r -n 200 awk "$test_names"
	documents | xargs -r awk "$document_texts"
	find tools -name '*.sh' 2>/dev/null | sort | xargs -r awk "$script_texts"
} | awk -v words="$words" "$find_words" "$words" - >&2 || bad=1

for page in tools/man/*.[1-9]; do
	[ ! -e "$page" ] || awk -v max=$MAX_AVERAGE "$sentence_lengths" "$page" >&2 || bad=1
done
exit $bad
