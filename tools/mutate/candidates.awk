# SPDX-License-Identifier: BSD-2-Clause
# All single-token changes of C files that are worth a try, one a line, tab separated:
#	RANDOM FILE LINE COLUMN LENGTH REPLACEMENT
# RANDOM is an order to take them in, which follows from -v seed=N alone. Comments, text and preprocessor lines are
# left alone. Sources are formatted, so binary operators are told by the blanks around them.

# The line with comments and literals blanked, so that columns stay.
function mask(s,	out, i, c, two) {
	out = ""
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		two = substr(s, i, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				out = out " "
				i++
			}
			c = " "
		} else if (quote != "") {
			if (c == "\\") {
				out = out " "
				i++
			} else if (c == quote) {
				quote = ""
			}
			c = " "
		} else if (two == "/*") {
			in_comment = 1
			out = out " "
			i++
			c = " "
		} else if (two == "//") {
			break
		} else if (c == "\"" || c == "'") {
			quote = c
			c = " "
		}
		out = out c
	}
	quote = ""
	return out
}

# Numbers of our own, so that every awk gives the same.
function random() {
	state = (state * 69069 + 12345) % 2147483648
	return int(state / 64)
}

function candidate(col, len, to) {
	printf "%d\t%s\t%d\t%d\t%d\t%s\n", random(), FILENAME, FNR, col, len, to
}

# Every place of `from`, whose first and last characters are its surroundings.
function swap(s, from, to,	at, col) {
	col = 0
	while ((at = index(substr(s, col + 1), from)) > 0) {
		col += at
		candidate(col, length(from), to)
	}
}

function numbers(s,	col, n, to, behind) {
	col = 0
	while (match(substr(s, col + 1), /[^A-Za-z0-9_.](0x[0-9a-f]+|[0-9]+)/)) {
		n = substr(s, col + RSTART + 1, RLENGTH - 1)
		to = n == "0" ? "1" : n == "1" ? "0" : "(" n " + 1)"
		behind = substr(s, col + RSTART + RLENGTH, 1)
		# A suffix would stand behind the bracket; an array of one more changes nothing.
		if ((behind !~ /[A-Za-z_.]/ || length(to) == 1) && !(behind == "]" && to ~ /\+/))
			candidate(col + RSTART + 1, RLENGTH - 1, to)
		col += RSTART + RLENGTH - 1
	}
}

function negations(s,	col) {
	col = 0
	while (match(substr(s, col + 1), /[( ]![a-z(*]/)) {
		candidate(col + RSTART + 1, 1, "")
		col += RSTART
	}
}

function balanced(s,	open, shut) {
	open = gsub(/\(/, "", s)
	shut = gsub(/\)/, "", s)
	return open == shut
}

function statements(s) {
	if (match(s, /return [^;]*;$/) && substr(s, RSTART, RLENGTH) != "return 0;" && balanced(s))
		candidate(RSTART, RLENGTH, "return 0;")
	# A statement that begins and ends on this line: a call, an assignment, a jump.
	if (before !~ /[;{}:)]$/ && before !~ /else$/ && before != "")
		return
	if (match(s, /^\t+[a-z_*(][]A-Za-z0-9_>.*[(+-]*( [-+|&^]?= |\(|\+\+|--).*;$/) && balanced(s) && s !~ /^\t+return/)
		drop(s)
	else if (s ~ /^\t+(break|continue);$/)
		drop(s)
}

function drop(s) {
	match(s, /^\t+/)
	candidate(RLENGTH + 1, length(s) - RLENGTH, ";")
}

BEGIN { state = seed * 7919 + 1 }
FNR == 1 { in_comment = 0; before = ""; in_macro = 0 }
{
	line = mask($0)
	sub(/[ \t]+$/, "", line)
	is_macro = in_macro || line ~ /^#/
	in_macro = is_macro && $0 ~ /\\$/
	if (is_macro || line == "")
		next
	swap(line, " == ", " != "); swap(line, " != ", " == ")
	swap(line, " < ", " <= "); swap(line, " <= ", " < ")
	swap(line, " > ", " >= "); swap(line, " >= ", " > ")
	swap(line, " + ", " - "); swap(line, " - ", " + ")
	swap(line, " && ", " || "); swap(line, " || ", " && ")
	swap(line, " & ", " | "); swap(line, " | ", " & ")
	swap(line, " << ", " >> "); swap(line, " >> ", " << ")
	swap(line, " += ", " -= "); swap(line, " -= ", " += ")
	swap(line, "++", "--"); swap(line, "--", "++")
	swap(line, " true;", " false;"); swap(line, " false;", " true;")
	# Only code: tables at the margin of a file are constants of another kind.
	if (line ~ /^\t/) {
		numbers(line)
		negations(line)
		statements(line)
	}
	before = line
}
