// SPDX-License-Identifier: BSD-2-Clause
/* The format pprof. Owns what a sample and its labels are; the message is pprof_writer.c's. */
#include "base/str.h"
#include "export/formats.h"
#include "export/pprof_writer.h"
#include "export/value_text.h"
#include "profile/sched/intervals.h"

struct pprof {
	struct pprof_writer *writer;
	struct buf text;
};

static void put_packed(void *ctx, const void *data, size_t sz)
{
	struct export *x = ctx;

	buf_add(&x->out, data, sz);
	export_flush(x);
}

static void put_text_label(struct pprof *p, const char *key, const struct names *n, uint32_t id)
{
	buf_clear(&p->text);
	value_text_name(&p->text, n, id);
	pprof_writer_label(p->writer, key, buf_cstr(&p->text), p->text.len);
}

static void put_sample(struct export *x, struct profile *profile, const struct profile_stack *s)
{
	const uint32_t comm = profile_task_row(profile, s, 1u << PROFILE_COMM).comm;
	struct pprof *p = x->state;
	const char *state;

	pprof_writer_begin_sample(p->writer, profile_stack_frames(profile, s), s->len, s->samples,
				  profile_stack_weight(profile, s));
	if (comm != NAMES_NONE)
		put_text_label(p, "thread", x->names, comm);
	if (s->pid != TRACE_NONE)
		pprof_writer_label_number(p->writer, "pid", s->pid);
	if (s->tid != TRACE_NONE)
		pprof_writer_label_number(p->writer, "tid", s->tid);
	if (x->kind == EXPORT_WALL) {
		state = value_text_state(s->state);
		pprof_writer_label(p->writer, "state", state, strlen(state));
	}
	pprof_writer_end_sample(p->writer);
}

/* The executable of the target, at the end of the trace; NAMES_NONE: unknown, or several targets. */
static uint32_t target_exe(const struct export *x)
{
	const uint32_t pid = (uint32_t)names_meta_u64(x->names, 0, PROF_META_TARGET_PIDS);
	const struct names_task *task = pid ? trace_task(reader_trace(x->reader), pid) : NULL;

	if (!task || task->exe == NAMES_NONE)
		task = pid ? names_task_first(x->names, 0, pid) : NULL;
	return task ? task->exe : NAMES_NONE;
}

static void put_types(struct export *x, struct profile *profile)
{
	static const char *const types[][2] = {
		[EXPORT_CPU] = { "samples", "cpu" },
		[EXPORT_OFFCPU] = { "waits", "offcpu" },
		[EXPORT_RUNQ] = { "waits", "runq" },
		[EXPORT_WALL] = { "events", "wall" },
	};
	const bool timed = profile_weight(profile);
	struct pprof *p = x->state;

	pprof_writer_types(p->writer, &(struct pprof_writer_types){
					      .count = types[x->kind][0],
					      .time = types[x->kind][1],
					      .timed = timed,
					      .period_ns = x->kind == EXPORT_CPU && timed ?
								   names_period_ns(x->names, 0) :
								   0,
				      });
}

static void put_end(struct export *x)
{
	const struct part *part = names_part(x->names, 0);
	const char *command = names_meta(x->names, 0, PROF_META_COMMAND_LINE);
	struct pprof *p = x->state;

	buf_clear(&p->text);
	if (command)
		value_text_clean(&p->text, command, strlen(command));
	pprof_writer_end(p->writer, &(struct pprof_writer_end){
					    .exe = target_exe(x),
					    .has_time = part->synced,
					    .time_ns = part->real + (x->span_start - part->mono),
					    .duration_ns = x->span_ns,
					    .comment = command ? buf_cstr(&p->text) : NULL,
				    });
}

static void pprof_profile(struct export *x, struct profile *profile)
{
	struct pprof *p = x->state;
	const struct profile_stack *v;
	size_t cnt;

	p->writer = pprof_writer_new(
		&(struct pprof_writer_opts){ .names = x->names, .put = put_packed, .ctx = x });
	put_types(x, profile);
	v = profile_stacks(profile, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (v[i].samples)
			put_sample(x, profile, &v[i]);
	put_end(x);
}

static void pprof_fini(struct export *x)
{
	struct pprof *p = x->state;

	pprof_writer_free(p->writer);
	buf_free(&p->text);
}

const struct exporter export_pprof = {
	.name = "pprof",
	.brief = "counts and times by stack, for go tool pprof and other readers of its files",
	.binary = true,
	.state_sz = sizeof(struct pprof),
	.untimed = { [EXPORT_CPU] = "without time", [EXPORT_WALL] = "without time" },
	.profile = pprof_profile,
	.fini = pprof_fini,
};
