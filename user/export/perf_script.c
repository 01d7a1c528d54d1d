// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text of perf script, line by line as `dial9-prof script` prints it. Intervals become samples
 * with their length in ns as period, which perf's scripts use as weight.
 */
#include "export/formats.h"
#include "export/script_stream.h"
#include "profile/sched/intervals.h"

struct perf_script {
	struct script_stream stream;
	struct buf name;
};

static void perf_script_begin(struct export *x)
{
	const struct script_line_opts opts = { .fields = FIELDS_DEFAULT,
					       .comment_asides = x->kind == EXPORT_ALL };
	struct perf_script *s = x->state;

	script_stream_init(&s->stream, &opts, false, x->reader);
}

/*
 * "10101010 cpu-clock". Without a stack it appends an empty one, because otherwise the line would
 * look like a frame.
 */
static void put_weighed(struct export *x, struct trace_event ev, uint64_t ns, const char *what)
{
	static const uint64_t no_frames[1];
	struct perf_script *s = x->state;

	buf_clear(&s->name);
	buf_addu(&s->name, ns);
	buf_addch(&s->name, ' ');
	buf_addstr(&s->name, what);
	ev.frames = ev.frames ?: no_frames;
	script_line_text(s->stream.lines, &x->out, &ev, buf_cstr(&s->name));
	script_line_stack(s->stream.lines, &x->out, &ev);
}

static void perf_script_sample(struct export *x, const struct export_sample *sample)
{
	struct perf_script *s = x->state;

	if (x->kind != EXPORT_WALL)
		script_stream_put(&s->stream, &x->out, sample->raw);
	else
		put_weighed(x, *sample->raw, sample->ns,
			    script_stream_sample_name(x->names, sample->raw->part));
}

static void perf_script_interval(struct export *x, const struct export_interval *i)
{
	static const char *const names[INTERVAL_STATE_CNT] = {
		[INTERVAL_UNKNOWN] = "unknown",
		[INTERVAL_RUNNABLE] = "runq",
		[INTERVAL_BLOCKED] = "offcpu",
	};

	/* together with the events, that time would be counted twice */
	if (x->kind != EXPORT_ALL)
		put_weighed(x, export_interval_event(i), i->raw->end - i->raw->start,
			    names[i->raw->state]);
}

static void perf_script_event(struct export *x, const struct export_thread *t,
			      const struct trace_event *ev)
{
	struct perf_script *s = x->state;

	if (!trace_is_recorder_info(ev->kind))
		script_stream_put(&s->stream, &x->out, ev);
}

static void perf_script_fini(struct export *x)
{
	struct perf_script *s = x->state;

	script_stream_fini(&s->stream);
	buf_free(&s->name);
}

const struct exporter export_perf_script = {
	.name = "perf-script",
	.brief = "the output of perf script, for the many tools that read it",
	.state_sz = sizeof(struct perf_script),
	.begin = perf_script_begin,
	.sample = perf_script_sample,
	.interval = perf_script_interval,
	.event = perf_script_event,
	.fini = perf_script_fini,
};
