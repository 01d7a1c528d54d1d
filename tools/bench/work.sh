# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Work for interpreters, which pairs.sh and rooted.sh record. Sourced with $dir set: writes work.NAME there, and
# sets $sql.

: "${dir:?}"
cat >"$dir/work.py" <<'PY'
import itertools, json, re
def deep(n, s): return deep(n - 1, s) if n else work(s)
def work(s):
    t = json.dumps([{'id': i, 'text': str(i * s % 977) * 3} for i in range(300)], indent=1)
    return sorted(re.findall(r'(?:[0-9]+[^0-9]?)+7(?=[0-9])', t), key=lambda x: x[::-1])
for i in itertools.count(): deep(i % 40, i)
PY
cat >"$dir/work.js" <<'JS'
function f(n, o) { return n ? f(n - 1, o) + 1 : JSON.stringify(o).length }
for (let i = 0, s = 0; s >= 0; i++) {
  const v = Array.from({ length: 300 }, (_, k) => ({ k, t: String(k * i % 977) }));
  s += f(i % 30, v.sort((a, b) => a.t < b.t ? -1 : 1));
}
JS
cat >"$dir/work.rb" <<'RB'
def deep(n, s) = n > 0 ? deep(n - 1, s) : work(s)
def work(s) = (1..300).map { |i| (i * s % 977).to_s * 3 }.sort_by(&:reverse).grep(/(?:[0-9]+)+7(?=[0-9])/).size
(0..).each { |i| deep(i % 40, i) }
RB
cat >"$dir/work.php" <<'PHP'
<?php
function deep($n, $s) { return $n ? deep($n - 1, $s) : work($s); }
function work($s) {
	$v = array_map(fn($i) => str_repeat((string)($i * $s % 977), 3), range(1, 300));
	usort($v, fn($a, $b) => strrev($a) <=> strrev($b));
	return count(preg_grep('/(?:[0-9]+)+7(?=[0-9])/', $v));
}
for ($i = 0;; $i++) deep($i % 40, $i);
PHP
cat >"$dir/work.awk" <<'AWK'
BEGIN {
	for (;;) {
		for (i = 0; i < 5000; i++)
			v[i % 997] = v[i % 89] substr(sprintf("%d-%x", i * 7919, i), i % 5) > "9" ? i : "x" i
		for (k in v)
			gsub(/[0-9]+7/, "-", v[k])
	}
}
AWK
# shellcheck disable=SC2034 # for the script that reads this
sql="WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c)
	SELECT max(y) FROM (SELECT printf('%d-%x', x, x * x) AS y FROM c ORDER BY x % 977)"
