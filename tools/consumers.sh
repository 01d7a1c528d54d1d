#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Gets the programs for which exports are made, those that no distribution has: tools/consumers.sh DIR
# Each is a package for node of a pinned version and a pinned hash, in DIR/NAME. What is there stays.
# Exit status: 0 all are there, 77 they cannot be fetched from here, 1 what came is not what was pinned.
set -eu

[ $# -eq 1 ] || { echo "usage: tools/consumers.sh DIR" >&2; exit 1; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
temp=$(mktemp -d "$dir/.fetch-XXXXXX")
trap 'rm -rf "$temp"' EXIT

fetch() { # NAME PACKAGE VERSION SHA512
	[ ! -e "$dir/$1/$3.whole" ] || return 0
	if ! command -v npm >/dev/null 2>&1; then
		echo "consumers: no npm, which fetches $2" >&2
		exit 77
	fi
	if ! (cd "$temp" && timeout 120 npm pack --silent --fetch-retries=1 --fetch-timeout=30000 \
		"$2@$3") >"$temp/name" 2>"$temp/err"; then
		echo "consumers: cannot fetch $2 $3 with npm" >&2
		exit 77
	fi
	file=$temp/$(tail -n 1 "$temp/name")
	if [ "$(openssl dgst -sha512 -binary "$file" | base64 -w 0)" != "$4" ]; then
		echo "consumers: what came as $2 $3 is not what was pinned" >&2
		exit 1
	fi
	mkdir -p "$temp/$1" "$dir/$(dirname "$1")"
	tar -xzf "$file" -C "$temp/$1" --strip-components=1 --no-same-owner
	: >"$temp/$1/$3.whole"
	rm -rf "${dir:?}/$1"
	mv "$temp/$1" "$dir/$1"
}

fetch speedscope speedscope 1.25.0 \
	cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag==
fetch profiler-cli @firefox-devtools/profiler-cli 0.10.0 \
	f9fqdHh7B6ddQIYrwrEs4FE5D8BMOsXSorYF4NRFfwPaGikVBlhorBxHT7zrb6WMgJgKQYHC9kazkRjbItLx8Q==
# DuckDB, where node finds it.
case $(uname -m) in
x86_64)
	fetch node_modules/@duckdb/node-bindings-linux-x64 @duckdb/node-bindings-linux-x64 1.5.6-r.1 \
		IXcrZJE6kEqM0Z4wwdVnGBHX/frOS33VPNAwDXQ/Q+Fs84b058Qe94chrCCIcNJlG8Y3UHIUU4eBeCQxW5mN1Q==
	;;
aarch64)
	fetch node_modules/@duckdb/node-bindings-linux-arm64 @duckdb/node-bindings-linux-arm64 1.5.6-r.1 \
		3jnUaDil1BrF/6vAZwVaInJ1xoBaWGHB4PDiUnzJWKCo8a8TLx9j7/gPyPl/UGRBftrYIuTihRZSfF4mWMgtWA==
	;;
esac
fetch node_modules/@duckdb/node-bindings @duckdb/node-bindings 1.5.6-r.1 \
	/pWlTyvKC1d16iSMJCBAPwlmzoeXRs5Y9cqG+TpKd/YAW6Ke05FJg099v/Im2bkS9BgznNyNcAK1NxA1eQhSUw==
fetch node_modules/@duckdb/node-api @duckdb/node-api 1.5.6-r.1 \
	yIPol6P4EQmsAUsb27donJf7iADrM31Ei/WkvhkZpSscjhEErYsuF19lsJ/qz5mUWxsKFQpLdjvrlhPQnMTBqw==
fetch node_modules/detect-libc detect-libc 2.1.2 \
	Btj2BOOO83o3WyH59e8MgXsxEQVcarkUOpEYrubB0urwnN10yQ364rsiByU11nZlqWYZm05i/of7io4mzihBtQ==
