#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which share of user stacks reaches its root, and what a sample takes in the file: ours beside
# `perf record --call-graph fp` and `dwarf`, of programs as distributions build them, attached to while they
# run. A stack is rooted when its outermost frame lies at the entry of a file or in the clone() of a thread.
# tools/bench/rooted.sh [SECONDS [HZ]]   (3 199; needs root and perf)
set -eu

seconds=${1:-3}
hz=${2:-199}
build=${D9_BUILD:-build}
prog=$build/dial9-prof
dir=$(mktemp -d)
target=
trap 'drop; rm -rf "$dir"' EXIT

drop() {
	[ -n "$target" ] || return 0
	kill -KILL "$target" 2>/dev/null || :
	wait "$target" 2>/dev/null || :
	target=
}

# shellcheck source=tools/bench/needs.sh
. "$(dirname "$0")/needs.sh"

# shellcheck source=tools/bench/work.sh
. "$(dirname "$0")/work.sh"

# The program itself, so that its process is the one to attach to.
start() { # WORKLOAD
	case $1 in
	xz) exec xz -3 -T1 -c ;;
	gzip) exec gzip -c ;;
	python3) exec /usr/bin/python3 "$dir/work.py" ;;
	sqlite3) exec sqlite3 :memory: "$sql" ;;
	sort) exec sort -m -k2,2 -g /dev/urandom /dev/urandom ;;
	rsa) exec openssl speed -seconds 3000 rsa2048 ;;
	aes) exec openssl enc -aes-256-cbc -k x -pbkdf2 ;;
	chacha) exec openssl enc -chacha20 -k x -pbkdf2 ;;
	node) exec node "$dir/work.js" ;;
	throw | signals | rust) exec "$build/stimuli/unwind_$1" ;;
	esac
}


# Reads `script` of either: a stack is lines of "address symbol (file)" up to an empty one.
count() { # prints "samples rooted"
	awk '
	function low(hex,	i, n) {
		hex = substr(hex, length(hex) - 2)
		for (n = 0; length(hex); hex = substr(hex, 2))
			n = n * 16 + index("0123456789abcdef", substr(hex, 1, 1)) - 1
		return n
	}
	function flush(	off) {
		if (!user)
			return
		samples++
		if (!(file in entries)) {
			command = "readelf -h \"" file "\" 2>/dev/null | sed -n \"s/.*Entry point.*0x//p\""
			command | getline entries[file]
			close(command)
		}
		off = low(addr) - low(entries[file])
		if (entries[file] != "" && entries[file] != "0" && off >= 0 && off < 64)
			rooted++
		else if (file ~ /\/libc\.so/ && line ~ /clone|start_thread|\[libc\.so\.6\]/)
			rooted++
	}
	/^[ \t]+[0-9a-f]+ .*\(.*\)$/ {
		file = $NF
		gsub(/[()]/, "", file)
		if (file ~ /^\[kernel|^\[guest|\.ko/)
			next
		addr = $1
		line = $0
		user = 1
		next
	}
	/^$/ { flush(); user = 0 }
	END { flush(); printf "%d %d\n", samples, rooted }'
}

measure() { # TOOL
	case $1 in
	ours)
		"$prog" record -q -F "$hz" --no-sched -d "$seconds" -p "$target" -o "$dir/ours" \
			2>"$dir/err" || { cat "$dir/err" >&2; return 1; }
		"$prog" script "$dir/ours" | count
		;;
	*)
		perf record -q -e cpu-clock -F "$hz" --call-graph "$1" -p "$target" -o "$dir/$1" \
			-- sleep "$seconds" 2>"$dir/err" || { cat "$dir/err" >&2; return 1; }
		perf script -i "$dir/$1" -F ip,sym,dso 2>/dev/null | count
		;;
	esac
}

printf '%-10s %22s %22s %22s\n' '' ours 'perf fp' 'perf dwarf'
printf '%-10s %9s %12s %9s %12s %9s %12s\n' workload rooted bytes rooted bytes rooted bytes
for work in xz gzip python3 sqlite3 sort rsa aes chacha node throw signals rust; do
	case $work in
	rsa | aes | chacha) command -v openssl >/dev/null || continue ;;
	throw | signals | rust) [ -x "$build/stimuli/unwind_$work" ] || continue ;;
	*) command -v "$work" >/dev/null || continue ;;
	esac
	start "$work" </dev/urandom >/dev/null 2>&1 &
	target=$!
	sleep 0.5
	printf '%-10s' "$work"
	for tool in ours fp dwarf; do
		measure "$tool" >"$dir/counts"
		read -r samples rooted <"$dir/counts"
		echo "$samples $rooted $(stat -c %s "$dir/$tool")" | awk '{
			if ($1) printf " %8.2f%% %7d*%-5d", 100 * $2 / $1, $1, $3 / $1
			else printf " %9s %12s", "-", "-" }'
	done
	echo
	drop
done
echo "bytes: samples * bytes of the file for each"
