// SPDX-License-Identifier: BSD-2-Clause
/*
 * The named queries for servers. Text only. The columns of an answer, its order and its rounding are as in
 * query/named_queries.c: a test compares the rows. Each part sums up by stack, then joins stacks, then names: no join of
 * raw rows. The right side of a join has each key once, because versions differ in what ANY JOIN does with more.
 */
#include "fleet/fleet_queries.h"

#include <string.h>

/* clang-format off */

/* The functions at a frame, the outermost first: name and depth. A later trace may have better names. */
#define FUNCTIONS(frames) \
"SELECT frame, depth, if(max(function) = '', '[unknown]', max(function)) AS name,\n" \
"    max(module) AS of_module, max(build_id) AS of_build\n" \
"  FROM frames WHERE frame GLOBAL IN (" frames ") GROUP BY frame, depth"

#define NAME "concat(name, if(depth > 0, ' (inlined)', ''))"

/* Rows with each stack once. GLOBAL: the tables may be distributed ones. */
#define STACKS(of) \
"SELECT stack, any(frames) AS of_stack FROM stacks WHERE stack GLOBAL IN (" of ") GROUP BY stack"

#define LEAVES(of) "SELECT stack, of_stack[1] AS frame FROM (" STACKS(of) ")"

/* Stacks as text, root first. */
#define FOLDED(of) \
"SELECT stack, arrayStringConcat(arrayMap(x -> x.2, arraySort(x -> x.1, groupArray((-number, text)))), ';') AS folded\n" \
"  FROM (SELECT stack, frame, number FROM (" STACKS(of) ")\n" \
"    ARRAY JOIN of_stack AS frame, arrayEnumerate(of_stack) AS number) AS places\n" \
"  ALL LEFT JOIN (\n" \
"    SELECT frame, arrayStringConcat(arrayMap(x -> x.2, arraySort(x -> x.1,\n" \
"      groupArray((depth, concat(replaceAll(name, ';', ':'), if(depth > 0, ' (inlined)', '')))))), ';') AS text\n" \
"    FROM (" FUNCTIONS("SELECT arrayJoin(frames) FROM stacks WHERE stack GLOBAL IN (" of ")") ")\n" \
"    GROUP BY frame) AS texts USING frame\n" \
"  GROUP BY stack"

#define LEAF_FRAMES(of) "SELECT frames[1] FROM stacks WHERE stack GLOBAL IN (" of ")"

#define CPU_SAMPLES "samples WHERE source = 'cpu' AND :range"
#define CPU_STACKS "SELECT stack FROM " CPU_SAMPLES
#define CPU_ROLLUP "cpu_rollup WHERE :range"

/* @sums: columns host, stack, n and ns of the rows in @of. */
#define TOP_FUNCTIONS(sums, of) \
"SELECT host, if(leaf = '', '[unknown]', leaf) AS function, sum(n) AS samples, sum(ns) AS cpu_ns\n" \
"FROM (SELECT host, frame, n, ns\n" \
"  FROM (SELECT host, stack, " sums " FROM " of " GROUP BY host, stack) AS sums\n" \
"  ALL LEFT JOIN (" LEAVES("SELECT stack FROM " of) ") AS leaves USING stack) AS frames_of_sums\n" \
"ALL LEFT JOIN (\n" \
"  SELECT frame, argMax(" NAME ", depth) AS leaf\n" \
"  FROM (" FUNCTIONS(LEAF_FRAMES("SELECT stack FROM " of)) ") GROUP BY frame) AS names USING frame\n" \
"GROUP BY host, function"

#define TOP_FUNCTIONS_MERGE \
"WITH total AS (SELECT sum(samples) AS n FROM part1)\n" \
"SELECT round(100.0 * sum(p.samples) / t.n, 2) AS percent, sum(p.samples) AS samples, nullif(sum(p.cpu_ns), 0) AS cpu_ns,\n" \
"  count(DISTINCT nullif(p.host, '')) AS hosts, p.function AS function\n" \
"FROM part1 p, total t GROUP BY p.function ORDER BY 2 DESC, p.function LIMIT :limit"

#define BLOCKED "slices WHERE state = 'blocked' AND NOT recorder AND match(comm, :comm) AND :range"
#define BLOCKED_ROLLUP "offcpu_rollup WHERE match(comm, :comm) AND :range"

/* @sums: columns n, ns and longest of the rows in @of. */
#define OFFCPU_STACKS(sums, of) \
"SELECT comm, if(folded = '', '[no stack]', folded) AS stack, sum(n) AS count, sum(ns) AS blocked_ns, max(longest) AS max_ns\n" \
"FROM (SELECT comm, folded, n, ns, longest\n" \
"  FROM (SELECT stack, comm, " sums " FROM " of " GROUP BY stack, comm) AS sums\n" \
"  ALL LEFT JOIN (" FOLDED("SELECT stack FROM " of) ") AS texts USING stack)\n" \
"GROUP BY comm, stack ORDER BY blocked_ns DESC, comm LIMIT :rows"

#define OFFCPU_STACKS_MERGE \
"SELECT sum(blocked_ns) AS blocked_ns, sum(count) AS count, max(max_ns) AS max_ns, nullif(comm, '') AS comm, stack\n" \
"FROM part1 p GROUP BY p.comm, stack ORDER BY 1 DESC, p.comm LIMIT :limit"

/* The rank as quantile() of `query` has it: a product that is too large by rounding alone does not count. */
#define RANK "toInt64(" PRODUCT ") - (" PRODUCT " - 1 >= :q * count() * (1 - 8.8817841970012523e-16))"
#define PRODUCT "ceil(:q * count())"

/* Around a request: clocks of other boots have other distances to wall. A file has no longer intervals than a week. */
#define AROUND \
"slices WHERE host = :r_host AND pid = :r_pid AND ts < :r_end AND ts + dur > :r_ts\n" \
"  AND day >= toDate(intDiv(:r_wall, 86400000000000)) - 7 AND day <= toDate(intDiv(:r_wall, 86400000000000)) + 2\n" \
"  AND abs(wall - ts - :r_offset) < 60000000000"

#define COMMON_PARAMS \
	{ "host", "*", FLEET_PARAM_HOST }, { "from", "", FLEET_PARAM_FROM }, { "to", "", FLEET_PARAM_TO }
#define SERVICE_PARAMS { "service", "*", FLEET_PARAM_SERVICE }, COMMON_PARAMS
#define LIMIT { "limit", "30", FLEET_PARAM_COUNT }

/* ---- hosts and losses ------------------------------------------------------------------------- */

#define RECORDINGS \
"SELECT host, trace_file, part, max(first_wall) AS start, max(last_wall) AS stop, max(damaged) AS damaged\n" \
"FROM traces WHERE :span GROUP BY host, trace_file, part"

#define LOSSES \
"SELECT host, class, intDiv(wall, 60000000000) AS minute, min(wall) AS start, max(wall) AS stop, sum(count) AS n\n" \
"FROM lost WHERE :range AND class NOT IN ('sideband', 'pauses') GROUP BY host, class, minute"

#define DOUBLES \
"SELECT host, sum(if(seen > sent, seen - sent, 0)) AS doubled, sum(if(seen < sent, sent - seen, 0)) AS missing\n" \
"FROM (SELECT host, trace_file, table_name, batch, toInt64(max(rows)) AS sent, toInt64(max(rows_seen)) AS seen\n" \
"  FROM ledger WHERE :days GROUP BY host, trace_file, table_name, batch)\n" \
"WHERE seen != sent GROUP BY host"

/* Recordings with the end of what came before them on their host. Files of one recording follow within milliseconds. */
#define GAP_NS "1000000000"
/* A host whose last file is this much older than the last one of all: it does not send. */
#define SILENCE_NS "600000000000"
#define GAPS \
"recordings AS MATERIALIZED (\n" \
"  SELECT host, start, stop,\n" \
"    max(stop) OVER (PARTITION BY host ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before\n" \
"  FROM (SELECT host, min(start) AS start, max(stop) AS stop FROM part1 WHERE start > 0 GROUP BY host, trace_file, part)),\n" \
"gaps AS MATERIALIZED (\n" \
"  SELECT host, before AS start, start AS stop FROM recordings WHERE start > before + " GAP_NS "\n" \
"  UNION ALL SELECT host, max(stop), (SELECT max(stop) FROM recordings) FROM recordings\n" \
"  GROUP BY host HAVING max(stop) < (SELECT max(stop) FROM recordings) - " SILENCE_NS ")"

#define TIME(t) "strftime('%Y-%m-%d %H:%M:%S', " t " / 1000000000, 'unixepoch')"

const struct fleet_query fleet_queries_warnings = {
	.name = "warnings",
	.params = { COMMON_PARAMS },
	.parts = { RECORDINGS, LOSSES, DOUBLES },
	.merge =
"WITH " GAPS ",\n"
"losses AS (SELECT host, class, sum(n) AS n, min(start) AS start, max(stop) AS stop FROM part2 GROUP BY host, class),\n"
"lines AS (\n"
"  SELECT host, 1 AS number, 'lost: ' || group_concat(n || ' ' || class, ', ') || ' (' || " TIME("min(start)") "\n"
"    || ' to ' || " TIME("max(stop)") " || ' UTC)' AS line FROM losses GROUP BY host\n"
"  UNION ALL SELECT host, 2, 'no data: ' || count(*) || CASE count(*) WHEN 1 THEN ' gap, ' ELSE ' gaps, ' END\n"
"    || printf('%.1f s', sum(stop - start) / 1e9) || ' (' || " TIME("min(start)") " || ' to '\n"
"    || " TIME("max(stop)") " || ' UTC)' FROM gaps GROUP BY host\n"
"  UNION ALL SELECT host, 3, 'rows that the server has twice: ' || sum(doubled) FROM part3 GROUP BY host HAVING sum(doubled)\n"
"  UNION ALL SELECT host, 4, 'rows that the server lacks: ' || sum(missing) FROM part3 GROUP BY host HAVING sum(missing)\n"
"  UNION ALL SELECT host, 5, 'damaged: ' || count(*) || CASE count(*) WHEN 1 THEN ' recording' ELSE ' recordings' END\n"
"    FROM part1 WHERE damaged GROUP BY host)\n"
"SELECT host, line, number = 5 AS damaged FROM lines ORDER BY host, number",
};

const struct fleet_query fleet_queries[] = {
	{
		.name = "top-functions",
		.brief = "functions by CPU time, over all hosts",
		.params = { LIMIT, SERVICE_PARAMS },
		.parts = { TOP_FUNCTIONS("count() AS n, sum(weight) AS ns", CPU_SAMPLES) },
		.merge = TOP_FUNCTIONS_MERGE,
	},
	{
		.name = "runq-latency",
		.brief = "p99 run-queue latency of each service (control group), by minute",
		.params = { { "q", "0.99", FLEET_PARAM_SHARE }, SERVICE_PARAMS },
		.parts = {
"SELECT intDiv(wall, 60000000000) AS minute, host, service, count() AS n, max(dur) AS longest,\n"
"  arraySort(groupArray(dur))[greatest(1, least(toInt64(count()), " RANK "))] AS quantile\n"
"FROM slices WHERE state = 'runnable' AND NOT cut AND NOT recorder AND :range\n"
"GROUP BY minute, host, service" },
		.merge =
"SELECT CASE WHEN p.minute THEN strftime('%Y-%m-%d %H:%M', p.minute * 60, 'unixepoch') END AS minute,\n"
"  nullif(p.host, '') AS host, nullif(p.service, '') AS service, sum(p.n) AS waits,\n"
"  max(p.quantile) AS quantile_ns, max(p.longest) AS max_ns\n"
"FROM part1 p GROUP BY p.minute, p.host, p.service ORDER BY 1, quantile_ns DESC",
		.check = "SELECT count(*) FROM (SELECT 1 FROM part1 GROUP BY minute, host, service HAVING count(*) > 1)",
		.warning = "hosts are on several servers: quantile_ns is the largest one of the servers, in rows",
	},
	{
		.name = "offcpu-stacks",
		.brief = "stacks by blocked time, over all hosts",
		.params = { LIMIT, { "comm", "*", FLEET_PARAM_GLOB }, SERVICE_PARAMS },
		.parts = { OFFCPU_STACKS("count() AS n, sum(dur) AS ns, max(dur) AS longest", BLOCKED) },
		.merge = OFFCPU_STACKS_MERGE,
	},
	{
		.name = "build-diff",
		.brief = "functions whose share of CPU time differs between two builds of a file",
		.params = { { "module", "*", FLEET_PARAM_GLOB }, { "before", "", FLEET_PARAM_TEXT },
			    { "after", "", FLEET_PARAM_TEXT }, LIMIT, SERVICE_PARAMS },
		.parts = {
"SELECT module, build_id, function, sum(n) AS n, min(first) AS first\n"
"FROM (SELECT frame, n, first\n"
"  FROM (SELECT stack, count() AS n, min(if(wall != 0, wall, ts)) AS first FROM " CPU_SAMPLES " AND stack != 0 GROUP BY stack) AS sums\n"
"  ALL INNER JOIN (" LEAVES(CPU_STACKS) ") AS leaves USING stack) AS frames_of_sums\n"
"ALL INNER JOIN (\n"
"  SELECT frame, argMax(name, depth) AS function, max(of_module) AS module, max(of_build) AS build_id\n"
"  FROM (" FUNCTIONS(LEAF_FRAMES(CPU_STACKS)) ") GROUP BY frame) AS names USING frame\n"
"WHERE build_id != '' AND match(module, :module) GROUP BY module, build_id, function" },
		.merge =
"WITH leaves AS MATERIALIZED (\n"
"  SELECT nullif(module, '') AS module, build_id, function, sum(n) AS n, min(first) AS first\n"
"  FROM part1 p GROUP BY p.module, p.build_id, p.function),\n"
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
		.brief = "the longest system call, span or poll, and what its process did in it",
		.params = { { "start", "*sys_enter*", FLEET_PARAM_GLOB }, COMMON_PARAMS },
		.parts = {
"SELECT host, pid, tid, ts, dur, wall, if(call != '', call, event) AS request FROM spans\n"
"WHERE pid != 0 AND cut = 0 AND match(event, :start) AND :range ORDER BY dur DESC, ts DESC LIMIT 1",
"SELECT greatest(ts, :r_ts) - :r_ts AS at_ns, least(ts + dur, :r_end) - greatest(ts, :r_ts) AS ns,\n"
"  state, tid, comm, cpu, if(waker_comm != '', waker_comm, ran_comm) AS other, host, ts, folded\n"
"FROM (SELECT * FROM " AROUND ") AS around\n"
"ALL LEFT JOIN (" FOLDED("SELECT stack FROM " AROUND) ") AS texts USING stack" },
		.pick =
"SELECT * FROM (SELECT host AS r_host, pid AS r_pid, ts AS r_ts, ts + dur AS r_end, wall AS r_wall, wall - ts AS r_offset\n"
"  FROM part1 ORDER BY dur DESC, ts DESC LIMIT 1)\n"
"UNION ALL SELECT '', 0, 0, 0, 0, 0 LIMIT 1",
		.merge =
"WITH slowest AS (SELECT request, tid, dur FROM part1 ORDER BY dur DESC, ts DESC LIMIT 1)\n"
"SELECT r.request, r.tid AS request_tid, r.dur AS request_ns, at_ns, ns, state, p.tid AS tid, nullif(comm, '') AS comm,\n"
"  nullif(cpu, -1) AS cpu, nullif(other, '') AS other, nullif(host, '') AS host, ts, nullif(folded, '') AS stack\n"
"FROM part2 p, slowest r ORDER BY p.tid <> r.tid, at_ns, ts",
	},
	{
		.name = "event-counts",
		.brief = "events that ship --events sent, by name, and by the value of a field",
		.params = { LIMIT, { "event", "*:*", FLEET_PARAM_GLOB }, { "field", "", FLEET_PARAM_TEXT }, COMMON_PARAMS },
		.parts = {
"SELECT event, value, count() AS n, uniqExactIf(host, host != '') AS hosts\n"
"FROM (SELECT event, host, if(:field = '', '', if(substring(raw, 1, 1) = '\"', visitParamExtractString(fields, :field), raw))\n"
"    AS value\n"
"  FROM (SELECT event, host, fields, visitParamExtractRaw(fields, :field) AS raw FROM events\n"
"    WHERE match(event, :event) AND :range))\n"
"GROUP BY event, value ORDER BY n DESC, event, value LIMIT :rows" },
		.merge =
"SELECT sum(n) AS events, sum(hosts) AS hosts, event, nullif(value, '') AS value\n"
"FROM part1 p GROUP BY p.event, p.value ORDER BY 1 DESC, p.event, p.value LIMIT :limit",
	},
	{
		.name = "noisy-neighbours",
		.brief = "which threads ran while a service (control group) waited for a CPU",
		.params = { LIMIT, SERVICE_PARAMS },
		.parts = {
"SELECT service, if(ran_tid = 0, '(idle CPU)', ran_comm) AS ran_instead, ran_service AS its_service, count() AS n,\n"
"  sumIf(ran_ns, ran_tid != -1) AS ran, countIf(ran_tid != -1) AS known, sum(dur) AS latency\n"
"FROM slices WHERE state = 'runnable' AND NOT recorder AND :range\n"
"GROUP BY service, ran_instead, its_service" },
		.merge =
"SELECT nullif(service, '') AS service, nullif(ran_instead, '') AS ran_instead, nullif(its_service, '') AS its_service,\n"
"  sum(n) AS waits, CASE WHEN sum(known) THEN sum(ran) END AS ran_ns, sum(latency) AS latency_ns\n"
"FROM part1 p GROUP BY p.service, p.ran_instead, p.its_service ORDER BY ran_ns DESC, p.service LIMIT :limit",
	},
	{
		.name = "rollup-functions",
		.brief = "top-functions from sums by 10 seconds, which are kept longer",
		.params = { LIMIT, SERVICE_PARAMS },
		.parts = { TOP_FUNCTIONS("sum(count) AS n, sum(cpu_rollup.ns) AS ns", CPU_ROLLUP) },
		.merge = TOP_FUNCTIONS_MERGE,
	},
	{
		.name = "rollup-offcpu",
		.brief = "offcpu-stacks from sums by 10 seconds, which are kept longer",
		.params = { LIMIT, { "comm", "*", FLEET_PARAM_GLOB }, SERVICE_PARAMS },
		.parts = { OFFCPU_STACKS("sum(count) AS n, sum(offcpu_rollup.ns) AS ns, max(max_ns) AS longest", BLOCKED_ROLLUP) },
		.merge = OFFCPU_STACKS_MERGE,
	},
	{
		.name = "rollup-latency",
		.brief = "runq-latency from sums by second, which are kept longer: the quantile is at most twice as large",
		.params = { { "q", "0.99", FLEET_PARAM_SHARE }, SERVICE_PARAMS },
		.parts = {
"SELECT intDiv(wall, 60000000000) AS minute, host, service, log2_ns, sum(waits) AS n, max(max_ns) AS longest\n"
"FROM waits_rollup WHERE :range GROUP BY minute, host, service, log2_ns" },
		.merge =
"WITH buckets AS (\n"
"  SELECT minute, host, service, log2_ns, sum(n) AS n, max(longest) AS longest FROM part1\n"
"  GROUP BY minute, host, service, log2_ns),\n"
"ranks AS (\n"
"  SELECT *, sum(n) OVER (PARTITION BY minute, host, service ORDER BY log2_ns) AS below,\n"
"    sum(n) OVER (PARTITION BY minute, host, service) AS waits FROM buckets)\n"
"SELECT CASE WHEN r.minute THEN strftime('%Y-%m-%d %H:%M', r.minute * 60, 'unixepoch') END AS minute,\n"
"  nullif(r.host, '') AS host, nullif(r.service, '') AS service, r.waits,\n"
"  min(CASE WHEN r.below >= :q * r.waits * (1 - 8.8817841970012523e-16) THEN min(r.longest, (2 << r.log2_ns) - 1) END)\n"
"    AS quantile_ns, max(r.longest) AS max_ns\n"
"FROM ranks r GROUP BY r.minute, r.host, r.service ORDER BY 1, quantile_ns DESC",
	},
	{
		.name = "hosts",
		.brief = "hosts, their recordings, and for how long they have data",
		.params = { COMMON_PARAMS },
		.parts = { RECORDINGS, LOSSES },
		.merge =
"WITH " GAPS "\n"
"SELECT nullif(r.host, '') AS host, count(*) AS recordings, " TIME("min(r.start)") " AS first,\n"
"  " TIME("max(r.stop)") " AS last, round(sum(r.stop - max(r.start, min(r.stop, coalesce(r.before, 0)))) / 1e9, 3) AS recorded_s,\n"
"  (SELECT round(coalesce(sum(g.stop - g.start), 0) / 1e9, 3) FROM gaps g WHERE g.host = r.host) AS no_data_s,\n"
"  (SELECT coalesce(sum(n), 0) FROM part2 l WHERE l.host = r.host AND l.class IN ('events', 'samples', 'estimated samples'))\n"
"    AS lost_events,\n"
"  (SELECT coalesce(sum(n), 0) FROM part2 l WHERE l.host = r.host AND l.class = 'files') AS lost_files\n"
"FROM recordings r GROUP BY r.host ORDER BY r.host",
	},
	{
		.name = "losses",
		.brief = "times in which hosts lost events, or have no data; times are UTC",
		.params = { COMMON_PARAMS },
		.parts = { RECORDINGS, LOSSES },
		.merge =
"WITH " GAPS ",\n"
"times AS (\n"
"  SELECT host, class AS what, min(start) AS start, max(stop) AS stop, sum(n) AS count\n"
"  FROM part2 GROUP BY host, class, minute\n"
"  UNION ALL SELECT host, 'no data', start, stop, NULL FROM gaps)\n"
"SELECT nullif(host, '') AS host, what, " TIME("start") " AS first, " TIME("stop") " AS last,\n"
"  round((stop - start) / 1e9, 3) AS seconds, count\n"
"FROM times ORDER BY times.host, start, what",
	},
};
/* clang-format on */
const size_t fleet_queries_cnt = sizeof(fleet_queries) / sizeof(fleet_queries[0]);

const struct fleet_query *fleet_queries_find(const char *name)
{
	for (size_t i = 0; i < fleet_queries_cnt; i++)
		if (!strcmp(fleet_queries[i].name, name))
			return &fleet_queries[i];
	return NULL;
}
