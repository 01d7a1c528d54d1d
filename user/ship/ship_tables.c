// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of the server. Owns their columns, keys and statements. Names and values are as in `query`; NULL becomes an
 * empty text, 0 or -1, because columns with NULL are slower.
 */
#include "ship/ship_tables.h"

#define DAY_NS (24 * 3600 * 1000000000LL)
/* Date has 16 bits. */
#define DAY_MAX 65535

#define LOW "LowCardinality(String)"
#define DELTA "Int64 CODEC(Delta, ZSTD)"

/* clang-format off */
#define COMMON \
	{ .name = "day", .type = NATIVE_DATE, .value = SHIP_DAY }, \
	{ .name = "host", .type = NATIVE_TEXT, .from = "host", .rich = LOW, .text = ANONYMIZER_PRIVATE }, \
	{ .name = "labels", .type = NATIVE_TEXTS, .value = SHIP_LABELS }

#define FACT \
	COMMON, \
	{ .name = "batch", .type = NATIVE_U64, .value = SHIP_BATCH }, \
	{ .name = "wall", .type = NATIVE_I64, .from = "wall", .rich = DELTA }, \
	{ .name = "ts", .type = NATIVE_I64, .from = "ts", .rich = DELTA }

#define TEXT(n, e) { .name = n, .type = NATIVE_TEXT, .from = e, .rich = LOW }
#define PRIVATE(n, e) { .name = n, .type = NATIVE_TEXT, .from = e, .rich = LOW, .text = ANONYMIZER_PRIVATE }
#define PATH(n, e) { .name = n, .type = NATIVE_TEXT, .from = e, .text = ANONYMIZER_PRIVATE }
#define BUILD(n, e) { .name = n, .type = NATIVE_TEXT, .value = SHIP_BUILD, .from = e, .rich = LOW }
#define ID(n, e) { .name = n, .type = NATIVE_U32, .from = e }
#define CPU(n, e) { .name = n, .type = NATIVE_I32, .from = e, .none = -1 }
#define NUMBER(n, e) { .name = n, .type = NATIVE_I64, .from = e }
#define FLAG(n, e) { .name = n, .type = NATIVE_U8, .from = e }
#define STACK(n, e) { .name = n, .type = NATIVE_U64, .value = SHIP_STACK, .from = e }
#define OWN(n, t) { .name = n, .type = t, .value = SHIP_OWN }

static const struct ship_column stack_columns[] = {
	{ .name = "day", .type = NATIVE_DATE, .value = SHIP_DAY },
	OWN("stack", NATIVE_U64),
	OWN("frames", NATIVE_U64S),
};

static const struct ship_column frame_columns[] = {
	OWN("frame", NATIVE_U64),
	OWN("depth", NATIVE_U32),
	OWN("function", NATIVE_TEXT),
	OWN("module", NATIVE_TEXT),
	OWN("build_id", NATIVE_TEXT),
	OWN("offset", NATIVE_U64),
	OWN("kernel", NATIVE_U8),
	OWN("file", NATIVE_TEXT),
	OWN("line", NATIVE_U32),
};

static const struct ship_column task_columns[] = {
	COMMON,
	{ .name = "trace_file", .type = NATIVE_TEXT, .value = SHIP_FILE },
	ID("tid", "tid"), ID("pid", "pid"), ID("ppid", "ppid"),
	PRIVATE("comm", "comm"), PRIVATE("exe", "exe"),
	PRIVATE("service", "cgroup"), PRIVATE("container", "container"), PRIVATE("pod", "pod"),
};

static const struct ship_column trace_columns[] = {
	COMMON,
	{ .name = "trace_file", .type = NATIVE_TEXT, .value = SHIP_FILE },
	PATH("path", "path"), ID("part", "part"), PRIVATE("boot", "boot"),
	NUMBER("first_ts", "first_ts"), NUMBER("last_ts", "last_ts"),
	NUMBER("first_wall", "first_wall"), NUMBER("last_wall", "last_wall"),
	NUMBER("lost", "lost"), FLAG("incomplete", "incomplete"), FLAG("damaged", "damaged"),
	FLAG("switches", "switches"), NUMBER("period", "period"), ID("schema_version", "schema_version"),
};

static const struct ship_column sample_columns[] = {
	FACT,
	PRIVATE("service", "cgroup"), ID("tid", "tid"), ID("pid", "pid"), PRIVATE("comm", "comm"),
	CPU("cpu", "cpu"), TEXT("source", "source"), STACK("stack", "stack"), NUMBER("weight", "weight"),
	BUILD("build", "stack"),
};

static const struct ship_column slice_columns[] = {
	FACT,
	PRIVATE("service", "cgroup"), ID("tid", "tid"), ID("pid", "pid"), PRIVATE("comm", "comm"),
	NUMBER("dur", "dur"), CPU("cpu", "cpu"), TEXT("state", "state"), TEXT("task_state", "task_state"),
	TEXT("why", "why"), TEXT("end", "end"),
	TEXT("waker", "waker"), ID("waker_tid", "waker_tid"), PRIVATE("waker_comm", "waker_comm"),
	STACK("waker_stack", "waker_stack"), STACK("stack", "stack"),
	CPU("ran_tid", "ran_tid"), PRIVATE("ran_comm", "ran_comm"), PRIVATE("ran_service", "ran_cgroup"),
	NUMBER("ran_ns", "ran_ns"),
	FLAG("cut", "cut"), FLAG("loss", "loss"), FLAG("unsure", "unsure"), FLAG("recorder", "recorder"),
	BUILD("build", "stack"),
};

static const struct ship_column span_columns[] = {
	FACT,
	NUMBER("dur", "dur"), ID("tid", "tid"), ID("pid", "pid"), PRIVATE("comm", "comm"), ID("end_tid", "end_tid"),
	TEXT("event", "event"), TEXT("call", "call"), FLAG("cut", "cut"),
};

static const struct ship_column event_columns[] = {
	FACT,
	PRIVATE("service", "task_cgroup"), ID("tid", "task_tid"), ID("pid", "task_pid"), PRIVATE("comm", "task_comm"),
	CPU("cpu", "task_cpu"), TEXT("event", "event"), PATH("fields", "fields"),
};

/* The columns of the key come first, and rows are sorted by the time, then by these. */
#define ROLLUP \
	COMMON, \
	{ .name = "batch", .type = NATIVE_U64, .value = SHIP_BATCH }, \
	{ .name = "wall", .type = NATIVE_I64, .value = SHIP_TIME, .from = "wall", .rich = DELTA }, \
	PRIVATE("service", "cgroup")

#define SUM(n, v, e) { .name = n, .type = NATIVE_I64, .value = v, .from = e }

static const struct ship_column wait_columns[] = {
	ROLLUP,
	{ .name = "log2_ns", .type = NATIVE_U8, .value = SHIP_LOG2, .from = "dur" },
	SUM("waits", SHIP_COUNT, NULL), SUM("ns", SHIP_SUM, "dur"), SUM("max_ns", SHIP_MAX, "dur"),
};

static const struct ship_column offcpu_columns[] = {
	ROLLUP,
	PRIVATE("comm", "comm"), STACK("stack", "stack"), BUILD("build", "stack"),
	SUM("count", SHIP_COUNT, NULL), SUM("ns", SHIP_SUM, "dur"), SUM("max_ns", SHIP_MAX, "dur"),
};

static const struct ship_column cpu_columns[] = {
	ROLLUP,
	STACK("stack", "stack"), BUILD("build", "stack"),
	SUM("count", SHIP_COUNT, NULL), SUM("ns", SHIP_SUM, "weight"),
};

static const struct ship_column lost_columns[] = {
	FACT,
	NUMBER("last_ts", "last_ts"), CPU("cpu", "cpu"), TEXT("kind", "kind"), TEXT("class", "class"),
	NUMBER("count", "count"),
};

static const struct ship_column ledger_columns[] = {
	{ .name = "day", .type = NATIVE_DATE, .value = SHIP_DAY },
	{ .name = "host", .type = NATIVE_TEXT, .value = SHIP_OWN, .rich = LOW },
	{ .name = "labels", .type = NATIVE_TEXTS, .value = SHIP_LABELS },
	{ .name = "trace_file", .type = NATIVE_TEXT, .value = SHIP_FILE },
	OWN("table_name", NATIVE_TEXT),
	OWN("batch", NATIVE_U64),
	OWN("rows", NATIVE_U64),
	OWN("rows_seen", NATIVE_U64),
};
/* clang-format on */

#define COLUMNS(c) .columns = (c), .column_cnt = sizeof(c) / sizeof((c)[0])

#define SECOND 1000000000ULL

const struct ship_table ship_tables[SHIP_TABLE_CNT] = {
	[SHIP_STACKS] = { .name = "stacks",
			  COLUMNS(stack_columns),
			  .order = "day, stack",
			  .replaces = true },
	[SHIP_FRAMES] = { .name = "frames",
			  COLUMNS(frame_columns),
			  .order = "frame, depth",
			  .replaces = true },
	[SHIP_TASKS] = { .name = "tasks",
			 COLUMNS(task_columns),
			 .from = "tasks",
			 .order = "host, trace_file, pid, tid, comm",
			 .replaces = true },
	[SHIP_TRACES] = { .name = "traces",
			  COLUMNS(trace_columns),
			  .from = "traces",
			  .wall = "first_wall",
			  .order = "host, trace_file, part",
			  .replaces = true },
	[SHIP_SAMPLES] = { .name = "samples",
			   COLUMNS(sample_columns),
			   .from = "samples",
			   .conditions = { { "source", "switch", true } },
			   .wall = "wall",
			   .order = "host, service, ts",
			   .keep = SHIP_KEEP_RAW },
	[SHIP_SLICES] = { .name = "slices",
			  COLUMNS(slice_columns),
			  .from = "slices",
			  .wall = "wall",
			  .order = "host, service, ts",
			  .keep = SHIP_KEEP_RAW },
	[SHIP_SPANS] = { .name = "spans",
			 COLUMNS(span_columns),
			 .from = "spans",
			 .wall = "wall",
			 .order = "host, event, ts",
			 .keep = SHIP_KEEP_RAW },
	[SHIP_EVENTS] = { .name = "events",
			  COLUMNS(event_columns),
			  .from = "events",
			  .wall = "wall",
			  .order = "host, event, ts",
			  .keep = SHIP_KEEP_RAW },
	[SHIP_WAITS] = { .name = "waits_rollup",
			 COLUMNS(wait_columns),
			 .from = "slices",
			 .conditions = { { .from = "state", .text = "runnable" },
					 { .from = "cut" },
					 { .from = "recorder" } },
			 .period_ns = SECOND,
			 .order = "host, service, wall",
			 .keep = SHIP_KEEP_ROLLUP },
	[SHIP_OFFCPU] = { .name = "offcpu_rollup",
			  COLUMNS(offcpu_columns),
			  .from = "slices",
			  .conditions = { { .from = "state", .text = "blocked" },
					  { .from = "recorder" } },
			  .period_ns = 10 * SECOND,
			  .order = "host, service, wall",
			  .keep = SHIP_KEEP_ROLLUP },
	[SHIP_CPU] = { .name = "cpu_rollup",
		       COLUMNS(cpu_columns),
		       .from = "samples",
		       .conditions = { { .from = "source", .text = "cpu" } },
		       .period_ns = 10 * SECOND,
		       .order = "host, service, wall",
		       .keep = SHIP_KEEP_ROLLUP },
	[SHIP_LOST] = { .name = "lost",
			COLUMNS(lost_columns),
			.from = "lost",
			.wall = "wall",
			.order = "host, ts" },
	[SHIP_LEDGER] = { .name = "ledger",
			  COLUMNS(ledger_columns),
			  .order = "host, trace_file, table_name, batch",
			  .replaces = true },
};

/* ---- statements ------------------------------------------------------------------------------- */

uint64_t ship_tables_day(int64_t wall)
{
	return wall >= 0 && wall / DAY_NS <= DAY_MAX ? (uint64_t)(wall / DAY_NS) : 0;
}

static void put_column(struct buf *out, const struct ship_column *c, bool rich)
{
	buf_printf(out, "`%s` %s", c->name,
		   rich && c->rich ? c->rich : native_block_type_name(c->type));
}

uint64_t ship_tables_ttl(const struct ship_table *t, const struct ship_ttl *ttl)
{
	if (t->keep == SHIP_KEEP_RAW)
		return ttl->raw;
	if (t->keep == SHIP_KEEP_ROLLUP || !ttl->raw || !ttl->rollup)
		return t->keep == SHIP_KEEP_ROLLUP ? ttl->rollup : 0;
	return ttl->raw > ttl->rollup ? ttl->raw : ttl->rollup;
}

void ship_tables_put_create(struct buf *out, const struct ship_table *t, bool rich,
			    const struct ship_ttl *ttl)
{
	const uint64_t ttl_days = ship_tables_ttl(t, ttl);
	const bool by_day = t->columns[0].value == SHIP_DAY;

	buf_printf(out, "CREATE TABLE IF NOT EXISTS `%s` (", t->name);
	for (size_t i = 0; i < t->column_cnt; i++) {
		if (i)
			buf_addstr(out, ", ");
		put_column(out, &t->columns[i], rich);
	}
	buf_printf(out, ") ENGINE = %sMergeTree%s ORDER BY (%s)", t->replaces ? "Replacing" : "",
		   by_day ? " PARTITION BY day" : "", t->order);
	if (rich && by_day && ttl_days)
		buf_printf(out, " TTL day + INTERVAL %llu DAY", (unsigned long long)ttl_days);
	if (rich)
		buf_printf(out, " SETTINGS non_replicated_deduplication_window = %d",
			   SHIP_TABLES_WINDOW);
}

void ship_tables_put_alter(struct buf *out, const struct ship_table *t, const struct ship_column *c)
{
	buf_printf(out, "ALTER TABLE `%s` ADD COLUMN `%s` %s", t->name, c->name,
		   native_block_type_name(c->type));
}

void ship_tables_put_insert(struct buf *out, const struct ship_table *t)
{
	buf_printf(out, "INSERT INTO `%s` (", t->name);
	for (size_t i = 0; i < t->column_cnt; i++)
		buf_printf(out, "%s`%s`", i ? ", " : "", t->columns[i].name);
	buf_addstr(out, ") FORMAT Native");
}
