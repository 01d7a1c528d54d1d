// SPDX-License-Identifier: BSD-2-Clause
/* The tables `traces` and `tasks`: their rows are known after the first pass over each trace. Independent of SQL. */
#include "query/memory_tables.h"

#include "query/cgroup_names.h"

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

static void set_string(const struct names *n, uint32_t id, struct query_value *out)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id == NAMES_NONE || !len)
		return;
	query_value_text(out, s, len);
	out->string = id + 1;
}

static void set_host(const struct trace_input_part *p, struct query_value *out)
{
	query_value_text(out, p->host, p->host_len);
	out->string = p->host_string;
}

static void set_id(uint32_t id, struct query_value *out)
{
	if (id != TRACE_NONE)
		query_value_integer(out, id);
}

static void set_time(const struct trace_input *in, uint32_t part, bool last, bool wall,
		     struct query_value *out)
{
	const struct trace_input_part *p = trace_input_part(in, part);
	const uint64_t ts = last ? p->last_ts : p->first_ts;
	int64_t t = (int64_t)ts;

	if (p->any && (!wall || trace_input_wall(in, part, ts, &t)))
		query_value_integer(out, t);
}

static size_t count_traces(const struct trace_input *in)
{
	return in->part_cnt;
}

static void set_loss(const struct trace_input *in, uint32_t part, bool incomplete,
		     struct query_value *out)
{
	const struct loss_accounting *a = trace_input_losses(in, part);

	if (incomplete)
		query_value_integer(out, loss_accounting_is_incomplete(a));
	else
		query_value_integer(out, (int64_t)loss_accounting_lost(a));
}

static void traces_column(struct trace_input *in, size_t row, size_t column,
			  struct query_value *out)
{
	const uint32_t part = (uint32_t)row;
	const struct trace_input_part *p = &in->parts[row];

	switch ((enum traces_column)column) {
	case TRACES_TRACE:
		query_value_integer(out, p->number);
		break;
	case TRACES_PATH:
		query_value_word(out, reader_input(in->first));
		break;
	case TRACES_PART:
		query_value_integer(out, (int64_t)row + 1);
		break;
	case TRACES_HOST:
		set_host(p, out);
		break;
	case TRACES_BOOT:
		set_string(in->names, names_part(in->names, part)->boot_id, out);
		break;
	case TRACES_CLOCK:
		query_value_integer(out, p->clock);
		break;
	case TRACES_FIRST_TS:
	case TRACES_LAST_TS:
		set_time(in, part, column == TRACES_LAST_TS, false, out);
		break;
	case TRACES_FIRST_WALL:
	case TRACES_LAST_WALL:
		set_time(in, part, column == TRACES_LAST_WALL, true, out);
		break;
	case TRACES_LOST:
	case TRACES_INCOMPLETE:
		set_loss(in, part, column == TRACES_INCOMPLETE, out);
		break;
	case TRACES_DAMAGED:
		/* only the last recording of the file lacks its end */
		query_value_integer(out, in->damaged || (in->torn && row + 1 == in->part_cnt));
		break;
	case TRACES_SWITCHES:
		query_value_integer(out, p->switches);
		break;
	case TRACES_PERIOD:
		if (p->period_ns)
			query_value_integer(out, (int64_t)p->period_ns);
		break;
	case TRACES_SCHEMA_VERSION:
		query_value_integer(out, MEMORY_TABLES_SCHEMA_VERSION);
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

static void set_container(const struct names *n, uint32_t cgroup, struct query_value *out)
{
	size_t len;
	const char *path = names_str(n, cgroup, &len);
	const char *id = cgroup_names_container(path, len);

	if (id)
		query_value_text(out, id, CGROUP_NAMES_CONTAINER);
}

static void set_pod(struct trace_input *in, uint32_t cgroup, struct query_value *out)
{
	size_t len;
	const char *path = names_str(in->names, cgroup, &len);

	buf_clear(&in->text);
	if (cgroup_names_pod(&in->text, path, len))
		query_value_bytes(out, QUERY_TEXT, in->text.data, in->text.len);
}

static void tasks_column(struct trace_input *in, size_t row, size_t column, struct query_value *out)
{
	const struct names_task *task = &in->tasks[row].task;
	const struct trace_input_part *p = trace_input_part(in, in->tasks[row].part);

	switch ((enum tasks_column)column) {
	case TASKS_TRACE:
		query_value_integer(out, p->number);
		break;
	case TASKS_HOST:
		set_host(p, out);
		break;
	case TASKS_TID:
		set_id(task->tid, out);
		break;
	case TASKS_PID:
		set_id(task->pid, out);
		break;
	case TASKS_PPID:
		set_id(task->ppid, out);
		break;
	case TASKS_COMM:
		set_string(in->names, task->comm, out);
		break;
	case TASKS_EXE:
		set_string(in->names, task->exe, out);
		break;
	case TASKS_CGROUP:
		set_string(in->names, task->cgroup, out);
		break;
	case TASKS_CONTAINER:
		set_container(in->names, task->cgroup, out);
		break;
	case TASKS_POD:
		set_pod(in, task->cgroup, out);
		break;
	case TASKS_CNT:
		break;
	}
}

/* ---- tables --------------------------------------------------------------------------------------- */

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
