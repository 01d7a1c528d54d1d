// SPDX-License-Identifier: BSD-2-Clause
/*
 * SQL for questions that are asked often. Text only: all values are bound. Each query reads a
 * large table once; what it joins is small, or materialized.
 */
#include "query/named_queries.h"

#include <string.h>

/* clang-format off */
const struct named_query named_queries[] = {
	{
		.name = "top-functions",
		.brief = "functions by CPU time, over all hosts",
		.needs = NAMED_QUERY_NEEDS_SAMPLES,
		.params = { { "limit", "30", QUERY_PARAM_COUNT } },
		.sql =
"WITH leaves AS MATERIALIZED (\n"
"  SELECT host, stack, count(*) AS n, sum(weight) AS ns\n"
"  FROM samples WHERE source = 'cpu' GROUP BY host, stack),\n"
"total AS (SELECT sum(ns) AS ns, sum(n) AS n FROM leaves)\n"
"SELECT round(100.0 * sum(l.n) / t.n, 2) AS percent, sum(l.n) AS samples, sum(l.ns) AS cpu_ns,\n"
"  count(DISTINCT l.host) AS hosts, coalesce(leaf(l.stack), '[unknown]') AS function\n"
"FROM leaves l, total t GROUP BY function ORDER BY samples DESC, function LIMIT :limit",
	},
	{
		.name = "runq-latency",
		.brief = "p99 run-queue latency of each service (control group), by minute",
		.needs = NAMED_QUERY_NEEDS_SWITCHES,
		.params = { { "q", "0.99", QUERY_PARAM_SHARE } },
		.sql =
"SELECT strftime('%Y-%m-%d %H:%M', wall / 1000000000, 'unixepoch') AS minute, host,\n"
"  cgroup AS service, count(*) AS waits, quantile(dur, :q) AS quantile_ns, max(dur) AS max_ns\n"
"FROM slices WHERE state = 'runnable' AND NOT cut AND NOT recorder\n"
"GROUP BY wall / 60000000000, host, cgroup ORDER BY minute, quantile_ns DESC",
	},
	{
		.name = "offcpu-stacks",
		.brief = "stacks by blocked time, over all hosts",
		.needs = NAMED_QUERY_NEEDS_SWITCHES,
		.params = { { "limit", "30", QUERY_PARAM_COUNT }, { "comm", "*", QUERY_PARAM_TEXT } },
		.sql =
"WITH blocked AS MATERIALIZED (\n"
"  SELECT stack, comm, count(*) AS n, sum(dur) AS ns, max(dur) AS longest\n"
"  FROM slices WHERE state = 'blocked' AND NOT recorder AND coalesce(comm, '') GLOB :comm\n"
"  GROUP BY stack, comm)\n"
"SELECT sum(ns) AS blocked_ns, sum(n) AS count, max(longest) AS max_ns, comm,\n"
"  coalesce(folded(stack), '[no stack]') AS stack\n"
"FROM blocked GROUP BY comm, folded(stack) ORDER BY blocked_ns DESC, comm LIMIT :limit",
	},
	{
		.name = "build-diff",
		.brief = "functions whose share of CPU time differs between two builds of a file",
		.needs = NAMED_QUERY_NEEDS_SAMPLES,
		.params = { { "module", "*", QUERY_PARAM_TEXT }, { "before", "", QUERY_PARAM_TEXT },
			    { "after", "", QUERY_PARAM_TEXT }, { "limit", "30", QUERY_PARAM_COUNT } },
		.sql =
"WITH stacks AS MATERIALIZED (\n"
"  SELECT stack, count(*) AS n, min(coalesce(wall, ts)) AS first\n"
"  FROM samples WHERE source = 'cpu' AND stack IS NOT NULL GROUP BY stack),\n"
"leaves AS MATERIALIZED (\n"
"  SELECT f.module, f.build_id, coalesce(f.function, '[unknown]') AS function, sum(s.n) AS n,\n"
"    min(s.first) AS first\n"
"  FROM stacks s, frames(s.stack) f\n"
"  WHERE f.depth = 0 AND f.build_id IS NOT NULL AND f.module GLOB :module\n"
"  GROUP BY f.module, f.build_id, f.function),\n"
"builds AS MATERIALIZED (\n"
"  SELECT module, build_id, sum(n) AS n,\n"
"    row_number() OVER (PARTITION BY module ORDER BY min(first), build_id) AS number,\n"
"    count(*) OVER (PARTITION BY module) AS builds\n"
"  FROM leaves GROUP BY module, build_id),\n"
"chosen AS MATERIALIZED (\n"
"  SELECT a.module, a.build_id AS a, a.n AS a_n, b.build_id AS b, b.n AS b_n\n"
"  FROM builds a JOIN builds b ON a.module = b.module\n"
"  WHERE CASE :before WHEN '' THEN a.number = 1 ELSE a.build_id GLOB :before || '*' END\n"
"    AND CASE :after WHEN '' THEN b.number = b.builds ELSE b.build_id GLOB :after || '*' END\n"
"    AND a.build_id <> b.build_id),\n"
"shares AS (\n"
"  SELECT c.module, l.function, substr(c.a, 1, 12) AS before, substr(c.b, 1, 12) AS after,\n"
"    100.0 * sum(l.n * (l.build_id = c.a)) / c.a_n AS x,\n"
"    100.0 * sum(l.n * (l.build_id = c.b)) / c.b_n AS y\n"
"  FROM chosen c JOIN leaves l ON l.module = c.module AND l.build_id IN (c.a, c.b)\n"
"  GROUP BY c.module, l.function)\n"
"SELECT round(y - x, 2) AS change, round(x, 2) AS before_percent, round(y, 2) AS after_percent,\n"
"  function, module, before, after\n"
"FROM shares ORDER BY abs(y - x) DESC, function LIMIT :limit",
	},
	{
		.name = "slowest-request",
		.brief = "the longest time from a start to an end event, and what its process did in it",
		.params = { { "start", "*sys_enter*", QUERY_PARAM_TEXT },
			    { "end", "*sys_exit*", QUERY_PARAM_TEXT } },
		.sql =
"WITH request AS MATERIALIZED (\n"
"  SELECT trace, tid, pid, coalesce(call, event) AS name, ts AS first, ts + dur AS last FROM spans(:start, :end)\n"
"  WHERE pid IS NOT NULL AND cut = 0 ORDER BY dur DESC LIMIT 1),\n"
"own AS (\n"
"  SELECT s.host, s.ts, max(s.ts, r.first) - r.first AS at_ns, min(s.ts + s.dur, r.last) - max(s.ts, r.first) AS ns,\n"
"    s.state, s.tid, s.comm, s.cpu, coalesce(s.waker_comm, s.ran_comm) AS other, s.stack\n"
"  FROM request r, slices s\n"
"  WHERE s.trace = r.trace AND s.pid = r.pid AND s.ts < r.last AND s.ts + s.dur > r.first)\n"
"SELECT r.name AS request, r.tid AS request_tid, r.last - r.first AS request_ns, o.at_ns, o.ns, o.state, o.tid, o.comm, o.cpu, o.other,\n"
"  o.host, o.ts, folded(o.stack) AS stack\n"
"FROM own o, request r ORDER BY o.tid <> r.tid, o.at_ns, o.ts",
	},
	{
		.name = "event-counts",
		.brief = "events by name, and by the value of a field",
		.params = { { "limit", "30", QUERY_PARAM_COUNT }, { "event", "*:*", QUERY_PARAM_TEXT },
			    { "field", "", QUERY_PARAM_TEXT } },
		.sql =
"WITH named AS (SELECT host, event, fields, '$.\"' || :field || '\"' AS path FROM events WHERE event GLOB :event)\n"
"SELECT count(*) AS events, count(DISTINCT host) AS hosts, event,\n"
"  CASE :field WHEN '' THEN NULL ELSE nullif(CASE json_type(fields, path) WHEN 'text' THEN fields ->> path WHEN 'null' THEN NULL\n"
"    ELSE fields -> path END, '') END AS value\n"
"FROM named GROUP BY event, value ORDER BY 1 DESC, event, value LIMIT :limit",
	},
	{
		.name = "noisy-neighbours",
		.brief = "which threads ran while a service (control group) waited for a CPU",
		.needs = NAMED_QUERY_NEEDS_SWITCHES,
		.params = { { "limit", "30", QUERY_PARAM_COUNT } },
		.sql =
"SELECT cgroup AS service, CASE ran_tid WHEN 0 THEN '(idle CPU)' ELSE ran_comm END AS ran_instead,\n"
"  ran_cgroup AS its_service, count(*) AS waits, sum(ran_ns) AS ran_ns, sum(dur) AS latency_ns\n"
"FROM slices WHERE state = 'runnable' AND NOT recorder\n"
"GROUP BY service, ran_instead, its_service ORDER BY ran_ns DESC, service LIMIT :limit",
	},
};
/* clang-format on */
const size_t named_queries_cnt = sizeof(named_queries) / sizeof(named_queries[0]);

const struct named_query *named_queries_find(const char *name)
{
	for (size_t i = 0; i < named_queries_cnt; i++)
		if (!strcmp(named_queries[i].name, name))
			return &named_queries[i];
	return NULL;
}
