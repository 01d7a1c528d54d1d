// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables `traces` and `tasks`: their rows are known after the first pass over each trace. Owns the module and its
 * cursors. A condition on the TID of a task finds its rows without a scan, so tasks can be joined.
 */
#include "query/memory_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/cgroup_names.h"
#include "query/scan.h"

struct list_vtab {
	sqlite3_vtab base; /* must be first */
	const struct memory_table *table;
};

struct list_cursor {
	sqlite3_vtab_cursor base; /* must be first */
	const struct memory_table *table;
	size_t trace, row, end; /* rows of this trace up to end */
	int64_t rowid;
	bool by_tid;
	uint32_t tid;
};

/* clang-format off */
#define TRACE_COLUMNS(X) \
	X(TRACE, trace, INTEGER, TRACE, "number of the recording: the column trace of other tables") \
	X(PATH, path, TEXT, NONE, "file") \
	X(PART, part, INTEGER, NONE, "number of the recording in its file, from 1") \
	X(HOST, host, TEXT, HOST, "host name") \
	X(BOOT, boot, TEXT, NONE, "id of the boot") \
	X(CLOCK, clock, INTEGER, NONE, "recordings with equal numbers have comparable ts: same host and boot") \
	X(FIRST_TS, first_ts, INTEGER, NONE, "first event, ns on the clock of the trace") \
	X(LAST_TS, last_ts, INTEGER, NONE, "last event") \
	X(FIRST_WALL, first_wall, INTEGER, NONE, "first event, ns since 1970") \
	X(LAST_WALL, last_wall, INTEGER, NONE, "last event, ns since 1970") \
	X(LOST, lost, INTEGER, NONE, "number of lost events and samples, see the table lost") \
	X(INCOMPLETE, incomplete, INTEGER, NONE, "1: events, samples or an unknown number of them are missing") \
	X(DAMAGED, damaged, INTEGER, NONE, "1: the file could not be read to its end") \
	X(SWITCHES, switches, INTEGER, NONE, "1: context switches or off-CPU intervals were recorded, so it has slices") \
	X(PERIOD, period, INTEGER, NONE, "CPU time in ns that a CPU sample stands for") \
	X(SCHEMA_VERSION, schema_version, INTEGER, NONE, "version of these tables: 1")

#define TASK_COLUMNS(X) \
	X(TRACE, trace, INTEGER, TRACE, "recording, see the table traces") \
	X(HOST, host, TEXT, HOST, "host name") \
	X(TID, tid, INTEGER, TID, "thread") \
	X(PID, pid, INTEGER, PID, "process") \
	X(PPID, ppid, INTEGER, NONE, "parent process") \
	X(COMM, comm, TEXT, NONE, "last known name of the thread") \
	X(EXE, exe, TEXT, NONE, "path of the executable") \
	X(CGROUP, cgroup, TEXT, NONE, "path of the control group") \
	X(CONTAINER, container, TEXT, NONE, "id of the container, from the control group") \
	X(POD, pod, TEXT, NONE, "UID of the Kubernetes pod, from the control group")
/* clang-format on */

#define COLUMN(id, name, type, role, doc) TRACES_##id,
enum traces_column { TRACE_COLUMNS(COLUMN) TRACES_CNT };
#undef COLUMN
#define COLUMN(id, name, type, role, doc) TASKS_##id,
enum tasks_column { TASK_COLUMNS(COLUMN) TASKS_CNT };
#undef COLUMN

#define COLUMN(id, name, type, role, doc) { #name, #type, doc, SCAN_ROLE_##role },
static const struct scan_column traces_columns[] = { TRACE_COLUMNS(COLUMN) };
static const struct scan_column tasks_columns[] = { TASK_COLUMNS(COLUMN) };
#undef COLUMN

/* ---- rows --------------------------------------------------------------------------------------- */

static void result_string(sqlite3_context *ctx, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id != NAMES_NONE && len)
		sqlite3_result_text64(ctx, s, len, SQLITE_STATIC, SQLITE_UTF8);
}

static void result_host(sqlite3_context *ctx, const struct trace_input_part *p)
{
	if (p->host)
		sqlite3_result_text64(ctx, p->host, p->host_len, SQLITE_STATIC, SQLITE_UTF8);
}

static void result_time(sqlite3_context *ctx, const struct trace_input *in, uint32_t part,
			bool last, bool wall)
{
	const struct trace_input_part *p = trace_input_part(in, part);
	const uint64_t ts = last ? p->last_ts : p->first_ts;
	int64_t t = (int64_t)ts;

	if (p->any && (!wall || trace_input_wall(in, part, ts, &t)))
		sqlite3_result_int64(ctx, t);
}

static size_t count_traces(const struct trace_input *in)
{
	return in->part_cnt;
}

static void result_loss(sqlite3_context *ctx, const struct trace_input *in, uint32_t part,
			bool incomplete)
{
	const struct loss_accounting *a = trace_input_losses(in, part);

	if (incomplete)
		sqlite3_result_int(ctx, loss_accounting_is_incomplete(a));
	else
		sqlite3_result_int64(ctx, (sqlite3_int64)loss_accounting_lost(a));
}

static void traces_column(sqlite3_context *ctx, struct trace_input *in, size_t row, size_t column)
{
	const uint32_t part = (uint32_t)row;
	const struct trace_input_part *p = &in->parts[row];

	switch ((enum traces_column)column) {
	case TRACES_TRACE:
		sqlite3_result_int64(ctx, p->number);
		break;
	case TRACES_PATH:
		sqlite3_result_text(ctx, reader_input(in->first), -1, SQLITE_TRANSIENT);
		break;
	case TRACES_PART:
		sqlite3_result_int64(ctx, (sqlite3_int64)row + 1);
		break;
	case TRACES_HOST:
		result_host(ctx, p);
		break;
	case TRACES_BOOT:
		result_string(ctx, in->names, names_part(in->names, part)->boot_id);
		break;
	case TRACES_CLOCK:
		sqlite3_result_int64(ctx, p->clock);
		break;
	case TRACES_FIRST_TS:
	case TRACES_LAST_TS:
		result_time(ctx, in, part, column == TRACES_LAST_TS, false);
		break;
	case TRACES_FIRST_WALL:
	case TRACES_LAST_WALL:
		result_time(ctx, in, part, column == TRACES_LAST_WALL, true);
		break;
	case TRACES_LOST:
	case TRACES_INCOMPLETE:
		result_loss(ctx, in, part, column == TRACES_INCOMPLETE);
		break;
	case TRACES_DAMAGED:
		/* only the last recording of the file lacks its end */
		sqlite3_result_int(ctx, in->damaged || (in->torn && row + 1 == in->part_cnt));
		break;
	case TRACES_SWITCHES:
		sqlite3_result_int(ctx, p->switches);
		break;
	case TRACES_PERIOD:
		if (p->period_ns)
			sqlite3_result_int64(ctx, (sqlite3_int64)p->period_ns);
		break;
	case TRACES_SCHEMA_VERSION:
		sqlite3_result_int(ctx, MEMORY_TABLES_SCHEMA_VERSION);
		break;
	case TRACES_CNT:
		break;
	}
}

static size_t count_tasks(const struct trace_input *in)
{
	return in->task_cnt;
}

static uint32_t task_tid(const struct trace_input *in, size_t row)
{
	return in->tasks[row].task.tid;
}

static void result_container(sqlite3_context *ctx, const struct names *n, uint32_t cgroup)
{
	size_t len;
	const char *path = names_str(n, cgroup, &len);
	const char *id = cgroup_names_container(path, len);

	if (id)
		sqlite3_result_text(ctx, id, 64, SQLITE_TRANSIENT);
}

static void result_pod(sqlite3_context *ctx, const struct names *n, uint32_t cgroup)
{
	struct buf out = { 0 };
	size_t len;
	const char *path = names_str(n, cgroup, &len);

	if (cgroup_names_pod(&out, path, len))
		sqlite3_result_text(ctx, out.data, (int)out.len, SQLITE_TRANSIENT);
	buf_free(&out);
}

static void tasks_column(sqlite3_context *ctx, struct trace_input *in, size_t row, size_t column)
{
	const struct names_task *task = &in->tasks[row].task;
	const struct trace_input_part *p = trace_input_part(in, in->tasks[row].part);

	switch ((enum tasks_column)column) {
	case TASKS_TRACE:
		sqlite3_result_int64(ctx, p->number);
		break;
	case TASKS_HOST:
		result_host(ctx, p);
		break;
	case TASKS_TID:
		scan_result_id(ctx, task->tid);
		break;
	case TASKS_PID:
		scan_result_id(ctx, task->pid);
		break;
	case TASKS_PPID:
		scan_result_id(ctx, task->ppid);
		break;
	case TASKS_COMM:
		result_string(ctx, in->names, task->comm);
		break;
	case TASKS_EXE:
		result_string(ctx, in->names, task->exe);
		break;
	case TASKS_CGROUP:
		result_string(ctx, in->names, task->cgroup);
		break;
	case TASKS_CONTAINER:
		result_container(ctx, in->names, task->cgroup);
		break;
	case TASKS_POD:
		result_pod(ctx, in->names, task->cgroup);
		break;
	case TASKS_CNT:
		break;
	}
}

/* ---- the module --------------------------------------------------------------------------------- */

static int connect_list(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **out, char **err)
{
	const struct memory_table *table = aux;
	char *sql = scan_declaration(table->columns, table->column_cnt, 0);
	struct list_vtab *v;
	int ret = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (ret)
		return ret;
	v = sqlite3_malloc(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct list_vtab){ .table = table };
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect_list(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct memory_table *table = ((struct list_vtab *)v)->table;
	size_t rows = 0;

	for (size_t i = 0; i < table->all->cnt; i++)
		rows += table->count(table->all->v[i]);
	info->estimatedCost = (double)rows + 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	for (int i = 0; table->tid && i < info->nConstraint; i++) {
		const int column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || column < 0 ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		    table->columns[column].role != SCAN_ROLE_TID)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = 1;
		info->estimatedCost = 10;
		info->estimatedRows = 1;
		break;
	}
	return SQLITE_OK;
}

static int open_list(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct list_cursor *c = xcalloc(1, sizeof(*c));

	c->table = ((struct list_vtab *)v)->table;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_list(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* The first row with at least this TID. */
static size_t lower_bound(const struct list_cursor *c, const struct trace_input *in, uint64_t tid)
{
	size_t low = 0, high = c->table->count(in);

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (c->table->tid(in, mid) < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void begin_list(struct list_cursor *c)
{
	const struct trace_inputs *all = c->table->all;

	for (; c->trace < all->cnt; c->trace++) {
		const struct trace_input *in = all->v[c->trace];

		c->row = c->by_tid ? lower_bound(c, in, c->tid) : 0;
		c->end = c->by_tid ? lower_bound(c, in, (uint64_t)c->tid + 1) : c->table->count(in);
		if (c->row < c->end)
			return;
	}
}

static int filter_list(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		       sqlite3_value **argv)
{
	struct list_cursor *c = (struct list_cursor *)cursor;
	sqlite3_int64 tid;

	c->trace = 0;
	c->rowid = 1;
	c->by_tid = false;
	if (number && argc && sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		tid = sqlite3_value_int64(argv[0]);
		c->by_tid = tid >= 0 && tid < TRACE_NONE;
		c->tid = (uint32_t)tid;
	}
	begin_list(c);
	return SQLITE_OK;
}

static int next_list(sqlite3_vtab_cursor *cursor)
{
	struct list_cursor *c = (struct list_cursor *)cursor;

	c->rowid++;
	if (++c->row < c->end)
		return SQLITE_OK;
	c->trace++;
	begin_list(c);
	return SQLITE_OK;
}

static int is_list_eof(sqlite3_vtab_cursor *cursor)
{
	const struct list_cursor *c = (struct list_cursor *)cursor;

	return c->trace >= c->table->all->cnt;
}

static int get_list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	const struct list_cursor *c = (struct list_cursor *)cursor;

	c->table->column(ctx, c->table->all->v[c->trace], c->row, (size_t)column);
	return SQLITE_OK;
}

static int get_list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct list_cursor *)cursor)->rowid;
	return SQLITE_OK;
}

int memory_table_register(sqlite3 *db, const struct memory_table *table)
{
	static const sqlite3_module module = {
		.xConnect = connect_list,
		.xBestIndex = best_index,
		.xDisconnect = disconnect_list,
		.xDestroy = disconnect_list,
		.xOpen = open_list,
		.xClose = close_list,
		.xFilter = filter_list,
		.xNext = next_list,
		.xEof = is_list_eof,
		.xColumn = get_list_column,
		.xRowid = get_list_rowid,
	};

	return sqlite3_create_module_v2(db, table->name, &module, (void *)table, NULL);
}

struct memory_table memory_tables_traces(struct trace_inputs *all)
{
	return (struct memory_table){ .name = "traces",
				      .doc = "recordings, with their time ranges and losses",
				      .columns = traces_columns,
				      .column_cnt = TRACES_CNT,
				      .count = count_traces,
				      .column = traces_column,
				      .all = all };
}

struct memory_table memory_tables_tasks(struct trace_inputs *all)
{
	return (struct memory_table){
		.name = "tasks",
		.doc = "threads, with their processes, programs and containers",
		.columns = tasks_columns,
		.column_cnt = TASKS_CNT,
		.count = count_tasks,
		.tid = task_tid,
		.column = tasks_column,
		.all = all
	};
}
