#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Puts the page together: assemble.sh > page.html. Style and modules go into page.html; their digests into its
# policy, by which a browser runs nothing else. @TRACE@, @FROM@ and @CONNECT@ are left to whoever writes the page.
set -eu
LC_ALL=C
export LC_ALL

cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A module is a function; require() is by the last part of a name. First those that others need does not matter.
{
	echo "'use strict';"
	echo '(() => {'
	echo 'const makers = {}, made = {};'
	echo "const need = (path) => {"
	echo "	const name = path.slice(path.lastIndexOf('/') + 1);"
	echo '	if (!made[name]) {'
	echo '		made[name] = { exports: {} };'
	echo '		makers[name](made[name], need);'
	echo '	}'
	echo '	return made[name].exports;'
	echo '};'
	for file in read/*.js model/*.js view/*.js; do
		echo "makers['${file##*/}'] = (module, require) => {"
		cat "$file"
		echo '};'
	done
	echo "need('./main.js');"
	echo '})();'
} >"$tmp/script"
cat view/style.css >"$tmp/style"

# The text of an element ends at its end tag, whatever stands around it.
if grep -n -i '</script\|<!--' "$tmp/script" || grep -n -i '</style' "$tmp/style"; then
	echo "assemble.sh: the text of an element cannot hold that" >&2
	exit 1
fi

# Base64 of a digest in hexadecimal, three digits at a time.
digest() {
	sha256sum "$1" | cut -c1-64 | awk '
		BEGIN { digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" }
		{
			for (i = 1; i <= 64; i += 3) {
				v = 0
				for (k = 0; k < 3; k++)
					v = v * 16 + (i + k <= 64 ? index("0123456789abcdef", substr($0, i + k, 1)) - 1 : 0)
				printf "%s%s", substr(digits, int(v / 64) + 1, 1), i + 2 <= 64 ? substr(digits, v % 64 + 1, 1) : "="
			}
		}'
}

awk -v script="$tmp/script" -v style="$tmp/style" \
	-v script_hash="sha256-$(digest "$tmp/script")" -v style_hash="sha256-$(digest "$tmp/style")" '
	function put(file, line, first) {
		first = 1
		while ((getline line < file) > 0) {
			printf "%s%s", first ? "" : "\n", line
			first = 0
		}
		printf "\n"
	}
	{
		sub("@SCRIPT_HASH@", script_hash)
		sub("@STYLE_HASH@", style_hash)
		if (match($0, /@(STYLE|SCRIPT)@/)) {
			printf "%s", substr($0, 1, RSTART - 1)
			put($0 ~ /@STYLE@/ ? style : script)
			print substr($0, RSTART + RLENGTH)
		} else {
			print
		}
	}' view/page.html
