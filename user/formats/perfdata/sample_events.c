// SPDX-License-Identifier: BSD-2-Clause
/*
 * sample_events.c - SAMPLE records as dial9 events
 *
 * Owns which dial9 event a sample becomes, and how its callchain becomes frames. dial9 has one kind of CPU sample, each
 * of the same weight. So one event of the recording is chosen for it; samples of others are events named perf:NAME.
 */
#include "formats/perfdata/sample_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/perfdata/stack_unwind.h"
#include "formats/perfdata/tracepoint.h"

enum { FRAMES_MAX = UINT16_MAX / sizeof(uint64_t) + 2, UNWOUND_MAX = 512 };

struct perfdata_samples {
	struct perfdata_samples_cfg cfg;
	struct perfdata_tracepoints *tracepoints;
	struct perfdata_unwind *unwind;
	uint64_t frames[FRAMES_MAX];
	uint64_t unwound[UNWOUND_MAX];
};

void perfdata_samples_new(const struct perfdata_samples_cfg *cfg, struct perfdata_samples **out)
{
	struct perfdata_samples *w = xcalloc(1, sizeof(*w));

	w->cfg = *cfg;
	perfdata_tracepoints_new(cfg->enc, &w->tracepoints);
	perfdata_unwind_new(cfg->unwind, cfg->tasks, &w->unwind);
	*out = w;
}

void perfdata_samples_free(struct perfdata_samples *w)
{
	if (!w)
		return;
	perfdata_tracepoints_free(w->tracepoints);
	perfdata_unwind_free(w->unwind);
	free(w);
}

/* ---- events ------------------------------------------------------------------------------------ */

bool perfdata_samples_is_clock(const struct perfdata_event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && (ev->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
						       ev->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool is_dummy(const struct perfdata_event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config == PERF_COUNT_SW_DUMMY;
}

static bool is_cycles(const struct perfdata_event *ev)
{
	struct buf name = { 0 };
	bool is;

	perfdata_samples_name(ev, &name);
	is = (ev->attr.type == PERF_TYPE_HARDWARE &&
	      (ev->attr.config == PERF_COUNT_HW_CPU_CYCLES ||
	       ev->attr.config == PERF_COUNT_HW_REF_CPU_CYCLES)) ||
	     !strcmp(buf_cstr(&name), "cycles") || strstr(buf_cstr(&name), "/cycles/");
	buf_free(&name);
	return is;
}

bool perfdata_samples_have_time(const struct perfdata_event *ev)
{
	return perfdata_samples_is_clock(ev) || (ev->attr.freq && is_cycles(ev));
}

void perfdata_samples_name(const struct perfdata_event *ev, struct buf *out)
{
	if (ev->name)
		buf_add(out, ev->name, strcspn(ev->name, ":"));
	else if (perfdata_samples_is_clock(ev))
		buf_addstr(out,
			   ev->attr.config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock");
	else
		buf_printf(out, "type%u-config%llx", ev->attr.type,
			   (unsigned long long)ev->attr.config);
}

const struct perfdata_event *perfdata_samples_cpu_event(const struct perfdata_header *h)
{
	const struct perfdata_event *other = NULL;

	for (size_t i = 0; i < h->event_cnt; i++) {
		const struct perfdata_event *ev = &h->events[i];

		if (ev->attr.type == PERF_TYPE_TRACEPOINT || is_dummy(ev))
			continue;
		if (perfdata_samples_is_clock(ev) || is_cycles(ev))
			return ev;
		other = other ? other : ev;
	}
	return other;
}

/* ---- stacks ------------------------------------------------------------------------------------ */

/* Part of a callchain: the marker before it says which. */
enum chain_part { CHAIN_KERNEL, CHAIN_USER, CHAIN_OTHER };

static enum chain_part part_of_marker(uint64_t marker)
{
	return marker == (uint64_t)PERF_CONTEXT_KERNEL ? CHAIN_KERNEL :
	       marker == (uint64_t)PERF_CONTEXT_USER   ? CHAIN_USER :
							 CHAIN_OTHER;
}

static enum chain_part part_of_mode(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return CHAIN_KERNEL;
	case PERF_RECORD_MISC_USER:
		return CHAIN_USER;
	default:
		return CHAIN_OTHER;
	}
}

/* A stack in the making. */
struct stack {
	size_t cnt, user_cnt;
	bool tracepoint; /* the kernel's leaf is a return address, too */
	uint8_t user_end; /* of a copied stack */
};

/* Every frame but the leaf is a return address: its call is one byte before. */
static int add_frame(struct perfdata_samples *w, const struct perfdata_sample *s, uint64_t ts,
		     struct stack *st, enum chain_part part, bool leaf, uint64_t addr)
{
	bool kernel = part == CHAIN_KERNEL;
	bool exact = leaf && !(kernel && st->tracepoint);

	if (part == CHAIN_OTHER || st->cnt >= FRAMES_MAX)
		return 0;
	st->user_cnt += !kernel;
	return perfdata_tasks_frame(w->cfg.tasks, ts, s->pid, addr - !exact, kernel,
				    &w->frames[st->cnt++]);
}

static int add_chain(struct perfdata_samples *w, const struct perfdata_record *r,
		     const struct perfdata_sample *s, uint64_t ts, struct stack *st)
{
	enum chain_part part = part_of_mode(r->misc);
	struct perfdata_bytes chain = s->chain;
	bool leaf = true;
	uint64_t addr;
	int err = 0;

	while (!err && perfdata_bytes_u64(&chain, &addr)) {
		if (addr >= (uint64_t)PERF_CONTEXT_MAX) {
			part = part_of_marker(addr);
			leaf = true;
		} else {
			err = add_frame(w, s, ts, st, part, leaf, addr);
			leaf = false;
		}
	}
	return err;
}

/* With a copy of the stack the chain has kernel frames only. */
static int add_copied(struct perfdata_samples *w, const struct perfdata_sample *s, uint64_t ts,
		      struct stack *st)
{
	const size_t cnt =
		perfdata_unwind_walk(w->unwind, s, w->unwound, UNWOUND_MAX, &st->user_end);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = add_frame(w, s, ts, st, CHAIN_USER, true, w->unwound[i]);
	if (cnt && (st->user_end & PROF_USER_END_MASK) != PROF_END_COMPLETE)
		foreign_note(w->cfg.notes, FOREIGN_NOTE_HINT, 1,
			     "copied user stacks that could not be unwound to their end", NULL);
	return err;
}

static int add_stack(struct perfdata_samples *w, const struct perfdata_record *r,
		     const struct perfdata_sample *s, uint64_t ts, struct stack *st)
{
	int err = 0;

	if (s->has & PERF_SAMPLE_CALLCHAIN)
		err = add_chain(w, r, s, ts, st);
	if (!err && !st->user_cnt)
		err = add_copied(w, s, ts, st);
	if (!err && !st->cnt && (s->has & PERF_SAMPLE_IP))
		err = add_frame(w, s, ts, st, part_of_mode(r->misc), true, s->ip);
	return err;
}

static int write_stack(struct perfdata_samples *w, const struct perfdata_record *r,
		       const struct perfdata_sample *s, uint64_t ts, enum prof_sample_source source)
{
	const struct perf_event_attr *attr = &s->event->attr;
	bool whole = s->has & PERF_SAMPLE_CALLCHAIN && !s->stack.sz;
	struct stack st = { .tracepoint = attr->type == PERF_TYPE_TRACEPOINT };
	struct emit_sample out = { .ts = ts,
				   .tid = s->tid,
				   .pid = s->pid,
				   .cpu = s->cpu,
				   .no_cpu = !(s->has & PERF_SAMPLE_CPU),
				   .source = source,
				   .frames = w->frames };
	int err = add_stack(w, r, s, ts, &st);

	if (err)
		return err;
	out.frame_cnt = st.cnt;
	if (st.user_cnt)
		out.user_end = whole ? PROF_END_UNCHECKED : st.user_end;
	if (attr->sample_max_stack && st.cnt >= attr->sample_max_stack)
		out.flags = st.user_cnt ? PROF_SAMPLE_USER_TRUNCATED : PROF_SAMPLE_KERNEL_TRUNCATED;
	return emit_sample(w->cfg.emit, &out);
}

/* ---- samples ----------------------------------------------------------------------------------- */

static int write_tracepoint(struct perfdata_samples *w, const struct perfdata_record *r,
			    const struct perfdata_sample *s, uint64_t ts)
{
	const struct perfdata_format *format =
		perfdata_tracing_find(&w->cfg.header->tracing, s->event->attr.config);
	enum prof_sample_source source = PROF_SOURCE_EVENT;
	int err;

	if (!format || !(s->has & PERF_SAMPLE_RAW)) {
		foreign_note(w->cfg.notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "tracepoints without their format", "%s",
			     s->event->name ? s->event->name : "no name");
		return 0;
	}
	if (!(s->has & PERF_SAMPLE_CPU))
		foreign_note(w->cfg.notes, FOREIGN_NOTE_CHANGED, 1,
			     "tracepoints without a CPU, written as of CPU 0", NULL);
	err = perfdata_tracepoints_write(w->tracepoints, format, ts, s);
	if (err == -EBADMSG) {
		foreign_note(w->cfg.notes, FOREIGN_NOTE_DAMAGED, 1, "damaged tracepoint records",
			     "%s at byte %" PRIu64, format->name, r->off);
		return 0;
	}
	if (err || !(s->has & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER)))
		return err;
	if (!strcmp(format->name, PROF_EV_SCHED_SWITCH))
		source = PROF_SOURCE_SWITCH_OUT;
	else if (!strcmp(format->name, PROF_EV_SCHED_WAKING) ||
		 !strcmp(format->name, PROF_EV_SCHED_WAKEUP_NEW))
		source = PROF_SOURCE_WAKING;
	return write_stack(w, r, s, ts, source);
}

static int write_sample(struct perfdata_samples *w, const struct perfdata_record *r,
			const struct perfdata_sample *s, uint64_t ts)
{
	const struct perfdata_header *h = w->cfg.header;
	int err;

	if (s->event->attr.type == PERF_TYPE_TRACEPOINT)
		return write_tracepoint(w, r, s, ts);
	if (s->event == perfdata_samples_cpu_event(h))
		return write_stack(w, r, s, ts, PROF_SOURCE_SAMPLE);
	err = perfdata_tracepoints_write_other(w->tracepoints, (size_t)(s->event - h->events), ts,
					       s);
	return err ? err : write_stack(w, r, s, ts, PROF_SOURCE_EVENT);
}

/* What has no place in dial9, by the bit of sample_type. */
static void note_unused(struct foreign_notes *notes, uint64_t has)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} unused[] = {
		{ PERF_SAMPLE_READ, "values of counters in samples" },
		{ PERF_SAMPLE_BRANCH_STACK, "branch stacks" },
		{ PERF_SAMPLE_REGS_INTR, "registers" },
		{ PERF_SAMPLE_WEIGHT, "weights of memory accesses" },
		{ PERF_SAMPLE_WEIGHT_STRUCT, "weights of memory accesses" },
		{ PERF_SAMPLE_DATA_SRC, "data sources" },
		{ PERF_SAMPLE_TRANSACTION, "transaction states" },
		{ PERF_SAMPLE_PHYS_ADDR, "physical addresses" },
		{ PERF_SAMPLE_AUX, "AUX data of samples" },
		{ PERF_SAMPLE_CGROUP, "cgroups of samples" },
		{ PERF_SAMPLE_DATA_PAGE_SIZE, "page sizes" },
		{ PERF_SAMPLE_CODE_PAGE_SIZE, "page sizes" },
	};

	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		if (has & unused[i].bit)
			foreign_note(notes, FOREIGN_NOTE_NOT_KEPT, 1, unused[i].name, NULL);
}

static bool is_guest(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

int perfdata_samples_write(struct perfdata_samples *w, const struct perfdata_record *r, uint64_t ts)
{
	struct foreign_notes *notes = w->cfg.notes;
	struct perfdata_sample s;
	int err = perfdata_sample_parse(w->cfg.header, r, &s);

	if (err) {
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1,
			     err == -ENOENT ? "samples of unknown events" : "damaged samples",
			     "byte %" PRIu64, r->off);
		return 0;
	}
	if (is_dummy(s.event))
		return 0;
	if (is_guest(r->misc)) {
		foreign_note(notes, FOREIGN_NOTE_NOT_KEPT, 1, "samples of virtual machines", NULL);
		return 0;
	}
	if (!(s.has & PERF_SAMPLE_TIME))
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
			     "samples without a time (perf record -T), written as of time 0", NULL);
	note_unused(notes, s.has);
	return write_sample(w, r, &s, ts);
}
