// SPDX-License-Identifier: BSD-2-Clause
/*
 * What arrives at the server is what `query` prints: of random traces each row of each table, in the same order, and the
 * rollups against GROUP BY. Both read the same tables, `query` one by one through SQLite and `ship` all of them in one pass.
 */
#include "ship/ship.h"

#include <limits.h>

#include "base/alloc.h"
#include "tests/cmd/random_trace.h"
#include "tests/ship/fake_clickhouse.h"
#include "tests/support/temp_dir.h"

TestSuite(ship_rows, .timeout = 120);

enum { SEEDS = 14, STEPS = 1500 };

/* From 100 on there are off-CPU intervals in place of switches, see sched_trace.c. */
static uint64_t seed_of(int i)
{
	return (uint64_t)(i < 11 ? i + 1 : i + 89);
}

static struct fake_clickhouse *ship_file(int from)
{
	struct fake_clickhouse *fake = fake_start(&(struct fake_opts){ .tokens = true });
	struct ship_counts counts = { 0 };
	char dir[64], text[64];
	struct http_url url;

	temp_dir_make(dir, sizeof(dir));
	temp_dir_put(dir, "a.0.bin", from);
	snprintf(text, sizeof(text), "http://127.0.0.1:%u/fleet", fake_port(fake));
	cr_assert_eq(http_url_parse("ship", text, &url), 0);
	cr_assert_eq(
		ship_run(&(struct ship_opts){ .dir = dir,
					      .sender = { .server = { .url = &url,
								      .timeout_ns = 20 * RUN_SEC },
							  .grace_ns = 1000000 },
					      .attempts = { .end_fd = -1,
							    .pause_min_ns = 1000000,
							    .pause_max_ns = 1000000,
							    .give_up_ns = 20 * RUN_SEC },
					      .events = true,
					      .once = true },
			 &counts),
		0);
	cr_expect_eq(counts.files, 1);
	http_url_fini(&url);
	temp_dir_remove(dir);
	return fake;
}

static struct fake_clickhouse *ship_trace(uint64_t seed)
{
	return ship_file(random_trace(seed, STEPS));
}

/* Without the head. */
static char *query_file(int fd, const char *sql)
{
	struct run r = run_cmd(cmd_query, fd, "query", sql, "-", "--format", "csv", NULL);
	const char *head = strchr(r.out, '\n');
	char *rows;

	cr_assert_eq(r.code, CMD_OK, "%s\n%s", sql, r.err);
	cr_assert_not_null(head);
	rows = strdup(head + 1);
	run_free(&r);
	return rows;
}

static char *query_rows(uint64_t seed, const char *sql)
{
	return query_file(random_trace(seed, STEPS), sql);
}

static void expect_same(struct fake_clickhouse *fake, uint64_t seed, const char *table,
			const char *columns, const char *sql)
{
	char *want = query_rows(seed, sql);
	struct buf got = { 0 };

	fake_put_rows(fake, table, columns, &got);
	cr_expect_str_eq(buf_cstr(&got), want, "seed %lu, table %s:\n%.2000s\nwanted:\n%.2000s",
			 seed, table, buf_cstr(&got), want);
	buf_free(&got);
	free(want);
}

/* ---- tables of events and lists --------------------------------------------------------------- */

/* Columns that both have, with the server's values for NULL. */
static void put_columns(const struct ship_table *t, struct buf *columns, struct buf *sql)
{
	for (size_t i = 0; i < t->column_cnt; i++) {
		const struct ship_column *c = &t->columns[i];

		/* each has another file */
		if (c->value != SHIP_COLUMN || !c->from || !strcmp(c->name, "path"))
			continue;
		buf_printf(columns, "%s%s", columns->len ? "," : "", c->name);
		buf_printf(sql, "%s", sql->len ? ", " : "");
		if (c->type == NATIVE_TEXT)
			buf_printf(sql, "ifnull(\"%s\", '')", c->from);
		else
			buf_printf(sql, "ifnull(\"%s\", %ld)", c->from, (long)c->none);
	}
}

static void expect_table(struct fake_clickhouse *fake, uint64_t seed, enum ship_table_id id,
			 const char *from)
{
	const struct ship_table *t = &ship_tables[id];
	struct buf columns = { 0 }, list = { 0 }, sql = { 0 };

	put_columns(t, &columns, &list);
	buf_printf(&sql, "SELECT %s FROM %s", buf_cstr(&list), from);
	expect_same(fake, seed, t->name, buf_cstr(&columns), buf_cstr(&sql));
	buf_free(&columns);
	buf_free(&list);
	buf_free(&sql);
}

/* Without what is in other tables. */
static const char other_events[] =
	"events WHERE event NOT IN ('sched:sched_switch', 'sched:sched_waking', 'sched:sched_wakeup_new',"
	" 'dial9:off_cpu', 'dial9:cpu_watch', 'CpuSampleEvent', 'LostEvents', 'TaskEvent', 'ModuleEvent',"
	" 'SymbolTableEntry', 'ClockSyncEvent', 'SegmentMetadataEvent')";

Test(ship_rows, every_table_has_the_rows_of_query)
{
	for (int i = 0; i < SEEDS; i++) {
		const uint64_t seed = seed_of(i);
		struct fake_clickhouse *fake = ship_trace(seed);

		expect_table(fake, seed, SHIP_SLICES, "slices");
		expect_table(fake, seed, SHIP_SAMPLES, "samples WHERE source <> 'switch'");
		expect_table(fake, seed, SHIP_SPANS, "spans");
		expect_table(fake, seed, SHIP_EVENTS, other_events);
		expect_table(fake, seed, SHIP_LOST, "lost");
		expect_table(fake, seed, SHIP_TASKS, "tasks");
		expect_table(fake, seed, SHIP_TRACES, "traces");
		fake_free(fake);
	}
}

/* Texts that rows repeat are kept, but not all of them. */
static int many_names(void)
{
	struct make m;
	char name[32];

	make_init(&m, NULL);
	make_clock(&m, 1, 1700000000 * RUN_SEC);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "thread-%u", i % 2500);
		make_task(&m, 2 + i, 1, 100 + i, name);
	}
	return make_done(&m);
}

Test(ship_rows, many_names_are_not_mixed_up)
{
	struct fake_clickhouse *fake = ship_file(many_names());
	char *want = query_file(many_names(), "SELECT tid, comm FROM tasks");
	struct buf got = { 0 };

	fake_put_rows(fake, "tasks", "tid,comm", &got);
	cr_expect_str_eq(buf_cstr(&got), want);
	cr_expect_gt(got.len, 5000u * 12);
	buf_free(&got);
	free(want);
	fake_free(fake);
}

/* ---- stacks ----------------------------------------------------------------------------------- */

/* Lines of one number each. */
static size_t read_numbers(const char *text, uint64_t **out)
{
	size_t cnt = 0, cap = 0;
	uint64_t *v = NULL;
	char *end;

	for (const char *at = text; *at; at = end + strspn(end, "\n")) {
		v = array_reserve(v, &cap, cnt + 1, sizeof(*v));
		v[cnt++] = strtoull(at, &end, 10);
	}
	*out = v;
	return cnt;
}

/* Equal numbers have equal ids, and others have others. */
static void expect_ids(struct fake_clickhouse *fake, uint64_t seed, const char *table,
		       const char *column, const char *sql, struct hmap *ids)
{
	char *text = query_rows(seed, sql);
	uint64_t *numbers, *got;
	struct buf rows = { 0 };
	struct hmap of = { 0 };
	size_t cnt;

	fake_put_rows(fake, table, column, &rows);
	cnt = read_numbers(text, &numbers);
	cr_assert_eq(read_numbers(buf_cstr(&rows), &got), cnt);
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t known = (uintptr_t)hmap_get(&of, numbers[i] + 1);

		cr_expect_eq(got[i] == 0, numbers[i] == 0, "seed %lu, row %zu of %s", seed, i,
			     table);
		cr_expect(!known || known == got[i], "seed %lu, row %zu of %s", seed, i, table);
		if (got[i])
			hmap_set(&of, numbers[i] + 1, (void *)(uintptr_t)got[i]);
		if (got[i])
			hmap_set(ids, got[i], fake);
	}
	hmap_fini(&of);
	buf_free(&rows);
	free(numbers);
	free(got);
	free(text);
}

/* Each stack that rows name is there, and was before them. */
Test(ship_rows, stacks_have_the_ids_of_query)
{
	for (int i = 0; i < SEEDS; i++) {
		const uint64_t seed = seed_of(i);
		struct fake_clickhouse *fake = ship_trace(seed);
		struct hmap named = { 0 };
		struct buf rows = { 0 };
		uint64_t *stacks;
		size_t cnt;

		expect_ids(fake, seed, "slices", "stack", "SELECT ifnull(stack + 1, 0) FROM slices",
			   &named);
		expect_ids(fake, seed, "slices", "waker_stack",
			   "SELECT ifnull(waker_stack + 1, 0) FROM slices", &named);
		expect_ids(fake, seed, "samples", "stack",
			   "SELECT ifnull(stack + 1, 0) FROM samples WHERE source <> 'switch'",
			   &named);
		fake_put_rows(fake, "stacks", "stack", &rows);
		cnt = read_numbers(buf_cstr(&rows), &stacks);
		cr_expect(named.cnt > 0);
		cr_expect_lt(fake_first(fake, "stacks"), fake_first(fake, "slices"));
		cr_expect_lt(fake_first(fake, "frames"), fake_first(fake, "slices"));
		for (size_t k = 0; k < cnt; k++)
			hmap_del(&named, stacks[k]);
		cr_expect_eq(named.cnt, 0, "seed %lu: %zu stacks are missing", seed, named.cnt);
		hmap_fini(&named);
		buf_free(&rows);
		free(stacks);
		fake_free(fake);
	}
}

/* ---- rollups ---------------------------------------------------------------------------------- */

static const char waits[] =
	"SELECT ifnull(wall / 1000000000 * 1000000000, 0), ifnull(host, ''), ifnull(cgroup, ''),"
	" ifnull(ilog2(dur), 0), count(*), sum(dur), max(dur) FROM slices"
	" WHERE state = 'runnable' AND NOT cut AND NOT recorder"
	" GROUP BY wall / 1000000000, host, cgroup, ilog2(dur)"
	" ORDER BY wall / 1000000000, host, cgroup, ilog2(dur)";

static const char offcpu[] =
	"SELECT ifnull(wall / 10000000000 * 10000000000, 0), ifnull(host, ''), ifnull(cgroup, ''),"
	" ifnull(comm, ''), count(*), sum(dur), max(dur) FROM slices"
	" WHERE state = 'blocked' AND NOT recorder"
	" GROUP BY wall / 10000000000, host, cgroup, comm, stack"
	" ORDER BY 1, 2, 3, 4, 5, 6, 7";

static const char cpu[] =
	"SELECT ifnull(wall / 10000000000 * 10000000000, 0), ifnull(host, ''), ifnull(cgroup, ''),"
	" count(*), ifnull(sum(weight), 0) FROM samples WHERE source = 'cpu'"
	" GROUP BY wall / 10000000000, host, cgroup, stack ORDER BY 1, 2, 3, 4, 5";

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in the order of their bytes: numbers of stacks are not ids, which decide the order of rows. */
static char *sort_lines(char *text)
{
	struct buf out = { 0 };
	char **lines = NULL, *rest = NULL;
	size_t cnt = 0, cap = 0;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		lines = array_reserve(lines, &cap, cnt + 1, sizeof(*lines));
		lines[cnt++] = line;
	}
	if (cnt)
		qsort(lines, cnt, sizeof(*lines), by_text);
	for (size_t i = 0; i < cnt; i++)
		buf_printf(&out, "%s\n", lines[i]);
	free(lines);
	return buf_steal(&out);
}

/* Of some 40 s, with a host and two control groups. */
static int long_trace(uint64_t seed)
{
	return random_trace_with(seed, STEPS,
				 (const char *const[]){ "task", "h1", "/bin/app", "200", NULL });
}

static void expect_groups(struct fake_clickhouse *fake, uint64_t seed, const char *table,
			  const char *columns, const char *sql)
{
	char *rows = query_file(long_trace(seed), sql), *want = sort_lines(rows), *got;
	struct buf csv = { 0 };

	fake_put_rows(fake, table, columns, &csv);
	buf_cstr(&csv);
	got = sort_lines(csv.data);
	cr_expect_str_eq(got, want, "seed %lu, table %s:\n%s\nwanted:\n%s", seed, table, got, want);
	buf_free(&csv);
	free(rows);
	free(want);
	free(got);
}

/* Whether rows of a trace are in several periods and both control groups. */
static bool has_groups(uint64_t seed)
{
	char *sums =
		query_file(long_trace(seed),
			   "SELECT count(DISTINCT wall / 10000000000) > 2, count(DISTINCT host),"
			   " count(DISTINCT cgroup) FROM slices WHERE NOT recorder");
	const bool has = !strcmp(sums, "1,1,2\n");

	free(sums);
	return has;
}

Test(ship_rows, rollups_equal_group_by)
{
	int several = 0;

	for (int i = 0; i < SEEDS; i++) {
		const uint64_t seed = seed_of(i);
		struct fake_clickhouse *fake = ship_file(long_trace(seed));

		several += has_groups(seed);
		expect_groups(fake, seed, "waits_rollup",
			      "wall,host,service,log2_ns,waits,ns,max_ns", waits);
		expect_groups(fake, seed, "offcpu_rollup", "wall,host,service,comm,count,ns,max_ns",
			      offcpu);
		expect_groups(fake, seed, "cpu_rollup", "wall,host,service,count,ns", cpu);
		fake_free(fake);
	}
	cr_expect_gt(several, 5);
}
