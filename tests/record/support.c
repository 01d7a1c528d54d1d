// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by the tests of user/record: fixtures from files, records made from their parts, and the chain from a
 * record to the bytes of a trace with a decoder after it. The text of rig_text() comes from the decoder alone,
 * independent of the recorder.
 */
#include "tests/record/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dial9.h"
#include "events/emit.h"
#include "kernel/tracefs/format.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/stacks.h"
#include "record/tracepoint/event.h"

/* ---- files -------------------------------------------------------------------------------------- */

char *support_read(const char *path, size_t *sz)
{
	const char *top = getenv("D9_TOP");
	struct buf full = { 0 }, out = { 0 };
	char chunk[4096];
	ssize_t n;
	int fd;

	buf_printf(&full, "%s/tests/%s", top ? top : ".", path);
	fd = open(buf_cstr(&full), O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "cannot open %s", buf_cstr(&full));
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(&out, chunk, n);
	close(fd);
	buf_free(&full);
	*sz = out.len;
	return buf_steal(&out);
}

static struct event_def *parse(const char *text, size_t sz, const char *system)
{
	struct format_event *format = NULL;
	struct event_def *def = NULL;
	const char *why = "";
	int err = format_parse(text, sz, system, &format, &why);

	cr_assert_eq(err, 0, "%s: %s", system, why);
	err = event_def_new(format, &def);
	cr_assert_eq(err, 0, "%s: %d", system, err);
	return def;
}

struct event_def *support_event(const char *dir, const char *name)
{
	struct buf path = { 0 };
	struct event_def *def;
	char *text, *system;
	size_t sz;

	buf_printf(&path, "fixtures/%s/%s.format", dir, name);
	text = support_read(buf_cstr(&path), &sz);
	system = strndup(name, strcspn(name, "."));
	def = parse(text, sz, system);
	free(system);
	free(text);
	buf_free(&path);
	return def;
}

struct event_def *support_event_of(const char *system, const char *fields)
{
	struct event_def *def;
	struct buf text = { 0 };

	buf_printf(&text,
		   "name: made\nID: 4242\nformat:\n"
		   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		   "%s\nprint fmt: \"made\"\n",
		   fields);
	def = parse(buf_cstr(&text), text.len, system);
	buf_free(&text);
	return def;
}

/* ---- records ------------------------------------------------------------------------------------ */

struct prof_rec *support_rec(const struct rec_parts *p)
{
	size_t raw_room = (p->raw_len + 7) & ~(size_t)7;
	size_t sz = sizeof(struct prof_rec) + raw_room + 8 * (p->kstack_cnt + p->ustack_cnt);
	struct prof_rec *rec = calloc(1, sz);
	uint8_t *pos = (uint8_t *)(rec + 1);

	cr_assert_leq(sz, PROF_REC_MAX);
	*rec = (struct prof_rec){
		.size = sz,
		.kind = p->kind ? p->kind : PROF_REC_TRACEPOINT,
		.flags = p->flags,
		.cpu = p->cpu,
		.event = p->event,
		.ts = p->ts,
		.pid = p->pid,
		.tid = p->tid,
		.raw_len = p->raw_len,
		.kstack_cnt = p->kstack_cnt,
		.ustack_cnt = p->ustack_cnt,
	};
	if (p->raw_len)
		memcpy(pos, p->raw, p->raw_len);
	pos += raw_room;
	if (p->kstack_cnt)
		memcpy(pos, p->kstack, 8 * p->kstack_cnt);
	pos += 8 * p->kstack_cnt;
	if (p->ustack_cnt)
		memcpy(pos, p->ustack, 8 * p->ustack_cnt);
	return rec;
}

/* ---- the chain from a record to a trace -------------------------------------------------------- */

void rig_init(struct rig *rig)
{
	*rig = (struct rig){ 0 };
	cr_assert_eq(dial9_enc_new(NULL, &rig->enc), 0);
	cr_assert_eq(emit_new(rig->enc, false, &rig->emit), 0);
	cr_assert_eq(frames_new(rig->emit, NULL, false, &rig->frames), 0);
	rig->tasks = tasks_new(true);
	rig->stacks = stacks_new(rig->frames);
	rig->translate = translate_new(&(struct translate_cfg){
		.enc = rig->enc,
		.emit = rig->emit,
		.events = &rig->events,
		.tasks = rig->tasks,
		.stacks = rig->stacks,
		.frames = rig->frames,
	});
}

void rig_fini(struct rig *rig)
{
	size_t i;

	translate_free(rig->translate);
	stacks_free(rig->stacks);
	tasks_free(rig->tasks);
	frames_free(rig->frames);
	emit_free(rig->emit);
	dial9_enc_free(rig->enc);
	for (i = 0; i < rig->events.cnt; i++)
		event_def_free(rig->events.defs[i]);
	free(rig->events.defs);
}

uint16_t rig_add(struct rig *rig, struct event_def *def)
{
	struct eventset *set = &rig->events;

	set->defs = realloc(set->defs, (set->cnt + 1) * sizeof(*set->defs));
	set->defs[set->cnt] = def;
	return set->cnt++;
}

void rig_task(struct rig *rig, uint32_t pid, uint32_t tid, const char *comm)
{
	tasks_side(rig->tasks, &(struct perf_side){ .type = PERF_SIDE_FORK,
						    .time = 1,
						    .pid = pid,
						    .tid = tid,
						    .ppid = 1,
						    .ptid = 1,
						    .name = "" });
	tasks_side(rig->tasks, &(struct perf_side){ .type = PERF_SIDE_COMM,
						    .time = 1,
						    .pid = pid,
						    .tid = tid,
						    .name = comm,
						    .name_len = strlen(comm) });
}

void rig_map(struct rig *rig, uint32_t pid, uint64_t start, uint64_t end, uint64_t pgoff,
	     const char *path)
{
	tasks_side(rig->tasks, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						    .time = 1,
						    .pid = pid,
						    .tid = pid,
						    .addr = start,
						    .len = end - start,
						    .pgoff = pgoff,
						    .prot = 5,
						    .build_id = { 0xab, 0xcd },
						    .build_id_sz = 2,
						    .name = path,
						    .name_len = strlen(path) });
}

static void print_hex(struct buf *out, const void *p, size_t n)
{
	size_t i;

	buf_addch(out, '<');
	for (i = 0; i < n; i++)
		buf_printf(out, "%02x", ((const uint8_t *)p)[i]);
	buf_addch(out, '>');
}

static void print_map(struct buf *out, const struct dial9_value *v)
{
	struct dial9_value key, value;
	const char *sep = "{";
	struct dial9_iter it;

	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1) {
		buf_printf(out, "%s%.*s:%.*s", sep, (int)key.str.len, key.str.ptr,
			   (int)value.str.len, value.str.ptr);
		sep = ",";
	}
	buf_addstr(out, *sep == '{' ? "{}" : "}");
}

static void print_value(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_str s;
	uint32_t i;

	if (!v->type)
		buf_addstr(out, "none");
	else if (v->type == DIAL9_I64)
		buf_printf(out, "%+lld", (long long)v->i64);
	else if (v->type == DIAL9_BOOL)
		buf_addstr(out, v->b ? "true" : "false");
	else if (v->type == DIAL9_BYTES)
		print_hex(out, v->str.ptr, v->str.len);
	else if (!dial9_value_str(dec, v, &s))
		buf_printf(out, "\"%.*s\"", (int)s.len, s.ptr);
	else if (v->type == DIAL9_STACK)
		for (i = 0; i < v->stack.cnt; i++)
			buf_printf(out, "%s%llx", i ? "," : "",
				   (unsigned long long)dial9_value_frame(v, i));
	else if (v->type == DIAL9_STRING_MAP)
		print_map(out, v);
	else
		buf_printf(out, "%llu", (unsigned long long)v->u64);
}

static void print_event(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev)
{
	size_t i;

	cr_assert(ev->has_ts, "upstream's viewer wants a timestamp on every event");
	buf_printf(out, "%llu %s", (unsigned long long)ev->ts, dial9_schema_name(ev->schema));
	for (i = 0; i < ev->value_cnt; i++) {
		buf_printf(out, " %s=", dial9_schema_field_name(ev->schema, i));
		print_value(out, dec, &ev->values[i]);
	}
	buf_addch(out, '\n');
}

/* The whole trace is decoded each time; events of earlier calls are skipped. */
const char *rig_text(struct rig *rig, const char *prefix)
{
	static struct buf out;
	static const struct dial9_enc *last;
	static size_t seen;
	struct dial9_dec_opts opts = { .sz = sizeof(opts) };
	struct dial9_dec *dec;
	struct dial9_frame frame;
	size_t n = 0;
	int got;

	if (last != rig->enc)
		seen = 0;
	last = rig->enc;
	opts.data = dial9_enc_data(rig->enc, &opts.data_sz);
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	buf_clear(&out);
	while ((got = dial9_dec_next(dec, &frame)) == 1)
		if (frame.kind == DIAL9_FRAME_EVENT && n++ >= seen &&
		    !strncmp(dial9_schema_name(frame.event.schema), prefix, strlen(prefix)))
			print_event(&out, dec, &frame.event);
	cr_assert_eq(got, 0, "the trace does not decode: %d", got);
	seen = n;
	dial9_dec_free(dec);
	return buf_cstr(&out);
}

/* ---- what a test prints -------------------------------------------------------------------------- */

static int saved_stderr = -1;
static FILE *caught;

void support_catch_stderr(void)
{
	fflush(stderr);
	caught = tmpfile();
	saved_stderr = dup(STDERR_FILENO);
	dup2(fileno(caught), STDERR_FILENO);
}

const char *support_stderr(void)
{
	static char text[4096];
	size_t n;

	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	rewind(caught);
	n = fread(text, 1, sizeof(text) - 1, caught);
	text[n] = '\0';
	fclose(caught);
	return text;
}
