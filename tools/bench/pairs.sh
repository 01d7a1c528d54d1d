#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Records programs as distributions build them, and checks all pairs of neighbouring user frames against the code
# (pairs.py has the rules). Columns: stacks, the share that is complete, pairs, impossible pairs, pairs that are
# marked as guesses or above one, impossible ones of these, pairs in generated code. Fails if an unmarked pair is impossible.
# tools/bench/pairs.sh [-v] [SECONDS [HZ [PROGRAM...]]]   (10 999 all; needs root; programs that are missing are skipped)
set -eu

verbose=
[ "${1:-}" != -v ] || { verbose=-v; shift; }
seconds=${1:-10}
hz=${2:-999}
shift $(($# < 2 ? $# : 2))
here=$(dirname "$0")
build=${D9_BUILD:-build}
prog=$build/dial9-prof
dir=$(mktemp -d)
pids=
trap 'stop; rm -rf "$dir"' EXIT

stop() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	pids=
}

[ "$(id -u)" -eq 0 ] || { echo "bench: recording needs root" >&2; exit 1; }
[ -x "$prog" ] || { echo "bench: no $prog: run make" >&2; exit 1; }

# shellcheck source=tools/bench/work.sh
. "$here/work.sh"
# shellcheck source=tools/bench/servers.sh
. "$here/servers.sh"
cat >"$dir/work.pl" <<'PL'
for (my $i = 0;; $i++) {
	my %h = map { $_ => join('-', reverse split(//, $_ * $i)) } 1 .. 500;
	my $n = grep { /(\d-)+7/ } sort { $h{$a} cmp $h{$b} } keys %h;
}
PL
cat >"$dir/work.go" <<'GO'
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"
)

func deep(n int, b []byte) int {
	var pad [200]byte
	pad[n%200] = byte(len(b))
	if n == 0 {
		return int(pad[0]) + call(len(b))
	}
	return deep(n-1, b) + int(pad[1])
}

func handle(w http.ResponseWriter, r *http.Request) {
	m := map[string]int{}
	for i := 0; i < 200; i++ {
		m[fmt.Sprint(i*7919%997)] = i
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	done := make(chan int)
	go func() { done <- deep(60, []byte(strings.Join(keys, ","))) }()
	m["deep"] = <-done
	f, err := os.Open("/proc/self/stat")
	if err == nil {
		io.Copy(io.Discard, f)
		f.Close()
	}
	json.NewEncoder(w).Encode(m)
}

func client(url string) {
	for i := 0; ; i++ {
		r, err := http.Get(url)
		if err != nil {
			continue
		}
		var b bytes.Buffer
		b.ReadFrom(r.Body)
		r.Body.Close()
		if i%50 == 0 {
			time.Sleep(time.Millisecond)
		}
		if i%500 == 0 {
			runtime.GC()
		}
	}
}

func main() {
	s := httptest.NewServer(http.HandlerFunc(handle))
	for i := 0; i < 4; i++ {
		go client(s.URL)
	}
	select {}
}
GO
cat >"$dir/call.go" <<'GO'
package main

func call(n int) int { return n * 31 }
GO
cat >"$dir/call_cgo.go" <<'GO'
package main

/*
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int goCompare(void *, void *);

static int compare(const void *a, const void *b)
{
	return goCompare((void *)a, (void *)b);
}

static int plain(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int work(int n)
{
	int v[256];

	for (int i = 0; i < 256; i++)
		v[i] = (i + n) * 7919 % 997;
	qsort(v, 256, sizeof(*v), plain);
	qsort(v, 16, sizeof(*v), compare);
	if (n % 16 == 0)
		usleep(100);
	return v[n & 255];
}
*/
import "C"
import "unsafe"

//export goCompare
func goCompare(a, b unsafe.Pointer) C.int {
	return C.int(*(*C.int)(b)) - C.int(*(*C.int)(a))
}

func call(n int) int { return int(C.work(C.int(n))) }
GO
for i in $(seq 400); do
	echo "static int f$i(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] / (i + $i); return s; }"
	echo "int g$i(int *p, int n) { return n > $i ? f$i(p, n) : f$i(p + 1, n - 1); }"
done >"$dir/work.c"
for i in $(seq 100); do
	echo "pub fn f$i(v: &mut Vec<String>) { v.sort_by_key(|s| s.len() * $i); v.iter().map(|s| s.len()).max(); }"
done >"$dir/work.rs"

build_go() { # NAME FILE [OPTION...]
	name=$1 file=$2
	shift 2
	mkdir -p "$dir/$name.src"
	cp "$dir/work.go" "$dir/$file" "$dir/$name.src"
	(cd "$dir/$name.src" && go mod init work && go build -o "$dir/$name" "$@" .) >"$dir/err" 2>&1
}

can_run() { # WORKLOAD
	case $1 in
	rsa | aes | hash) command -v openssl ;;
	throw | rust | signals | bare) [ -x "$build/stimuli/unwind_$1" ] ;;
	redis) command -v redis-server ;;
	cc1) command -v gcc ;;
	postgres) command -v runuser && command -v initdb && write_database ;;
	go) command -v go && build_go go call.go ;;
	gostrip) command -v go && build_go gostrip call.go -ldflags='-s -w' ;;
	gopie) command -v go && build_go gopie call.go -buildmode=pie ;;
	cgo) command -v go && build_go cgo call_cgo.go ;;
	cgostrip) command -v go && build_go cgostrip call_cgo.go -ldflags='-s -w' ;;
	*) command -v "$1" ;;
	esac >/dev/null
}

# Replaces the shell, so that its process is the one to record.
start() { # WORKLOAD
	case $1 in
	xz) exec xz -3 -T1 -c ;;
	gzip) exec gzip -c ;;
	python3) exec /usr/bin/python3 "$dir/work.py" ;;
	perl) exec perl "$dir/work.pl" ;;
	node) exec node "$dir/work.js" ;;
	sqlite3) exec sqlite3 :memory: "$sql" ;;
	zstd) exec zstd -7 -T1 -c ;;
	ruby) exec ruby "$dir/work.rb" ;;
	php) exec php "$dir/work.php" ;;
	awk) exec awk -f "$dir/work.awk" ;;
	rustc) while :; do rustc -O --crate-type lib -o "$dir/work.rlib" "$dir/work.rs"; done ;;
	postgres) serve_postgres ;;
	sort) exec sort -m -k2,2 -g /dev/urandom /dev/urandom ;;
	rsa) exec openssl speed -seconds 3000 rsa2048 ecdsap256 ;;
	aes) while :; do openssl speed -seconds 1 -evp aes-256-gcm; done ;;
	hash) while :; do openssl speed -seconds 1 sha256 sha512 md5; done ;;
	ffmpeg) exec ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=640x360:r=30 -vf scale=854x480 -c:v libx264 \
		-preset medium -f null - ;;
	redis) serve_redis ;;
	nginx) serve_nginx ;;
	cc1) while :; do gcc -O2 -c -o "$dir/work.o" "$dir/work.c"; done ;;
	git) while :; do git log -p --stat -200; done ;;
	throw | rust | signals) exec "$build/stimuli/unwind_$1" ;;
	bare) exec "$build/stimuli/unwind_bare" --now ;;
	go | gostrip | gopie | cgo | cgostrip) exec "$dir/$1" ;;
	esac
}

load() { # WORKLOAD: what makes a server work
	case $1 in
	redis) exec redis-benchmark -s "$dir/redis" -n 100000000 -P 4 -q ;;
	postgres)
		fill_database
		exec runuser -u nobody -- pgbench -h "$dir/database" -c 2 -T 3600 -b simple-update -b select-only postgres
		;;
	nginx) while :; do curl -s --unix-socket "$dir/nginx" "http://x/[1-2000]" ; done ;;
	esac
}

write_nginx_conf
printf '%-12s %8s %10s %9s %10s %8s %10s %9s\n' program stacks complete pairs impossible guessed impossible unchecked
failed=0
[ $# -gt 0 ] || set -- xz gzip zstd python3 perl ruby php awk node sqlite3 postgres sort git rsa aes hash ffmpeg redis nginx \
	cc1 rustc throw signals rust bare go gostrip gopie cgo cgostrip
for work; do
	can_run "$work" || continue
	start "$work" </dev/urandom >/dev/null 2>&1 &
	target=$!
	pids=$target
	sleep 0.5
	load "$work" >/dev/null 2>&1 &
	pids="$pids $!"
	"$prog" record -q -F "$hz" -d "$seconds" -p "$target" -o "$dir/trace" 2>"$dir/err" || {
		cat "$dir/err" >&2
		exit 1
	}
	stop
	# shellcheck disable=SC2086 # no option if empty
	"$prog" script --json "$dir/trace" | python3 "$here/pairs.py" $verbose "$work" || failed=1
done
exit $failed
