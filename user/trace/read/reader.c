// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads one input so that names are known when they are needed. Owns the source, the names and one
 * or two traces over the same bytes. Prints the messages about bad input, because only this file
 * knows both the file name and the decoder's error. Does not interpret events.
 *
 * A name may follow the first event that needs it by seconds. A regular file is simply read twice.
 * For a pipe, two decoders run over the bytes at a distance. The one ahead learns names, the other
 * one returns events, and the bytes between them are in a queue that is limited in trace time and
 * in size. Queueing bytes instead of events needs one copy and no bookkeeping.
 */
#include "trace/read/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* How long a growing file may stand still before held events are returned. */
#define FOLLOW_STEP_US 100000
#define FOLLOW_PATIENCE 20

/* Bytes of a trace before its first frame. */
#define HEADER_SIZE 5

struct reader {
	struct source *src;
	struct names *names;
	bool shares_names; /* they belong to another reader */
	enum reader_mode mode;
	bool skip_stacks;
	struct trace *events; /* returns events */
	struct trace *lookahead; /* learns names; NULL: not needed */
	bool ahead_done;
	bool torn, newer, damaged, told_long;
	bool failed; /* an error was printed */
	bool failed_before; /* the reader that has the names has printed it */
	int read_err; /* error of the source itself */
	uint64_t ahead_ts;
	int idle;
	uint8_t *queue; /* read by the trace ahead, not yet by the other: pos..len */
	size_t pos, len, cap;
};

/* ---- errors ---------------------------------------------------------------------------------- */

/* The offset within the file @name of a byte of the stream: errors are in the file read last. */
static unsigned long long file_offset(const struct reader *r, uint64_t offset, const char **name)
{
	uint64_t before;

	*name = source_place(r->src, &before);
	return offset > before ? offset - before : 0;
}

static const char *of_unpacked(const struct reader *r)
{
	return source_is_packed(r->src) ? " of the uncompressed data" : "";
}

/* Nothing of the input is good. */
static int print_error(struct reader *r, const struct trace *t, int err)
{
	const char *gz = of_unpacked(r), *name;
	unsigned long long consumed, at;
	struct dial9_error de;

	r->failed = true;
	/* of a stop that was asked for there is nothing to report */
	if (r->failed_before || r->read_err == -EINTR)
		return err;
	trace_error(t, &de);
	consumed = file_offset(r, trace_consumed(t), &name);
	at = file_offset(r, de.offset, &name);
	if (r->read_err == -EBADMSG)
		log_error("%s: damaged %s data after byte %llu%s (copy the file again)", name,
			  source_packing(r->src), consumed, gz);
	else if (r->read_err)
		log_error("cannot read %s: %s", name, strerror(-r->read_err));
	else if (err == -EBADMSG && de.offset < HEADER_SIZE && source_print_perf_data(r->src))
		return err;
	else if (err == -EBADMSG && de.offset < HEADER_SIZE)
		log_error(
			"%s: not a dial9 trace: %s at byte %llu%s; dial9-prof convert reads some other formats",
			name, de.reason, at, gz);
	else if (err == -EBADMSG || err == -E2BIG)
		log_error(
			"%s: damaged: %s at byte %llu%s; no events before it (copy the file again)",
			name, de.reason, at, gz);
	else
		log_error("cannot read %s: %s", name, strerror(-err));
	return err;
}

/* Whether @err ends the input, but what was read before it is good. */
static bool has_good_start(const struct reader *r, const struct trace *t, int err)
{
	return trace_consumed(t) > HEADER_SIZE && r->read_err != -EINTR &&
	       (r->read_err || err == -EBADMSG || err == -E2BIG);
}

static void print_damage(const struct reader *r, const struct trace *t)
{
	static const char rest[] = "everything before it is used, the rest is missing";
	const char *gz = of_unpacked(r), *name;
	unsigned long long consumed, at;
	struct dial9_error de;

	trace_error(t, &de);
	consumed = file_offset(r, trace_consumed(t), &name);
	at = file_offset(r, de.offset, &name);
	if (r->read_err == -EBADMSG)
		log_error("%s: damaged %s data after byte %llu%s; %s (copy the file again)", name,
			  source_packing(r->src), consumed, gz, rest);
	else if (r->read_err)
		log_error("cannot read %s after byte %llu%s: %s; %s", name, consumed, gz,
			  strerror(-r->read_err), rest);
	else
		log_error("%s: damaged: %s at byte %llu%s; %s (copy the file again)", name,
			  de.reason, at, gz, rest);
}

/* The rest is damaged or cannot be read. */
static int end_at_damage(struct reader *r, const struct trace *t)
{
	if (!r->damaged)
		print_damage(r, t);
	r->torn = r->damaged = true;
	return 0;
}

/* The rest is in a later format. */
static int end_at_newer(struct reader *r, const struct trace *t)
{
	struct dial9_error de;
	unsigned long long at;
	const char *name;

	trace_error(t, &de);
	at = file_offset(r, de.offset, &name);
	if (!r->newer)
		log_error("%s: stopped at byte %llu%s: %s; everything before it is used (a later "
			  "dial9-prof may read on)",
			  name, at, of_unpacked(r), de.reason);
	r->torn = r->newer = true;
	return 0;
}

/* Once, even if read twice. */
static void print_long_stacks(struct reader *r, const struct trace *t)
{
	const uint64_t cnt = trace_long_stacks(t);

	if (!cnt || r->told_long)
		return;
	r->told_long = true;
	log_warn("%s: %llu %s more than %d frames: the outermost callers are dropped",
		 source_name(r->src), (unsigned long long)cnt,
		 cnt == 1 ? "stack has" : "stacks have", TRACE_STACK_MAX);
}

/* The end after an error: 0 if everything before it is good, the error otherwise. */
static int end(struct reader *r, const struct trace *t, int ret)
{
	const char *name;
	const unsigned long long at = file_offset(r, trace_consumed(t), &name);
	const bool cut = source_is_cut(r->src);

	print_long_stacks(r, t);
	if (has_good_start(r, t, ret))
		return end_at_damage(r, t);
	/* with a queue the decoder sees only the end of bytes; the source has the reason */
	if (r->read_err)
		return print_error(r, t, r->read_err);
	if (ret == -EPROTONOSUPPORT)
		return end_at_newer(r, t);
	if (ret < 0 && ret != -ENODATA)
		return print_error(r, t, ret);
	if (ret == -ENODATA && !trace_consumed(t)) {
		if (source_is_empty(r->src))
			source_print_empty(source_name(r->src));
		else
			log_error("%s: not a dial9 trace: it ends inside the 5-byte header (was it "
				  "copied whole?)",
				  source_name(r->src));
		return -EBADMSG;
	}
	if ((ret == -ENODATA || cut) && !r->torn) {
		r->torn = true;
		log_warn("%s: the end is cut off after byte %llu%s; everything before it is used",
			 name, at, of_unpacked(r));
	}
	return 0;
}

/* ---- look-ahead ------------------------------------------------------------------------------ */

static ssize_t read_source(void *ctx, void *buf, size_t sz)
{
	struct reader *r = ctx;
	ssize_t n = source_read(r->src, buf, sz);

	r->read_err = n < 0 ? (int)n : 0;
	return n;
}

static ssize_t read_ahead(void *ctx, void *buf, size_t sz)
{
	struct reader *r = ctx;
	ssize_t n = read_source(r, buf, sz);

	if (n <= 0)
		return n;
	if (r->pos && r->pos >= r->len - r->pos) {
		memmove(r->queue, r->queue + r->pos, r->len - r->pos);
		r->len -= r->pos;
		r->pos = 0;
	}
	r->queue = array_reserve(r->queue, &r->cap, r->len + (size_t)n, 1);
	memcpy(r->queue + r->len, buf, (size_t)n);
	r->len += (size_t)n;
	return n;
}

static ssize_t read_queue(void *ctx, void *buf, size_t sz)
{
	struct reader *r = ctx;
	size_t n = r->len - r->pos;

	if (!n)
		return 0;
	if (n > sz)
		n = sz;
	memcpy(buf, r->queue + r->pos, n);
	r->pos += n;
	return (ssize_t)n;
}

/* Advances the trace ahead by one event. */
static void step_ahead(struct reader *r)
{
	struct trace_event ev;
	int ret = trace_next(r->lookahead, &ev);

	if (ret == 1) {
		r->idle = 0;
		if (ev.has_ts && ev.ts > r->ahead_ts)
			r->ahead_ts = ev.ts;
		return;
	}
	if (r->mode == READER_FOLLOW && (ret == 0 || ret == -ENODATA)) {
		usleep(FOLLOW_STEP_US);
		if (r->idle < FOLLOW_PATIENCE)
			r->idle++;
		return;
	}
	/* the other trace will meet the same error and report it */
	r->ahead_done = true;
}

static bool may_hand_out(const struct reader *r, const struct trace_event *ev)
{
	if (r->ahead_done || r->idle >= FOLLOW_PATIENCE)
		return true;
	if (r->len - r->pos >= READER_HOLD_BYTES)
		return true;
	return ev->has_ts && r->ahead_ts >= ev->ts && r->ahead_ts - ev->ts >= READER_HOLD_NS;
}

static int next_queued(struct reader *r, struct trace_event *ev)
{
	int ret;

	for (;;) {
		ret = trace_next(r->events, ev);
		if (ret == 1)
			break;
		if ((ret != 0 && ret != -ENODATA) || r->ahead_done)
			return ret;
		step_ahead(r);
	}
	while (!may_hand_out(r, ev))
		step_ahead(r);
	return 1;
}

/* ---- open and close -------------------------------------------------------------------------- */

enum purpose {
	EVENTS,
	NAMES,
	BOTH,
};

static int open_trace(struct reader *r, dial9_read_fn read, enum purpose purpose,
		      struct trace **out)
{
	struct trace_opts opts = { .read = read,
				   .ctx = r,
				   .names = r->names,
				   .learn = purpose != EVENTS,
				   .names_only = purpose == NAMES };

	return trace_new(&opts, out);
}

/* A regular file: one pass for names, then from the start. */
static int learn_names(struct reader *r)
{
	struct trace_event ev;
	struct trace *t;
	int ret;

	ret = open_trace(r, read_source, NAMES, &t);
	if (ret)
		return ret;
	do {
		ret = trace_next(t, &ev);
	} while (ret == 1);
	trace_free(t);
	ret = source_rewind(r->src);
	return ret ? ret : open_trace(r, read_source, EVENTS, &r->events);
}

static int start(struct reader *r)
{
	int err;

	if (r->mode == READER_ONE_PASS)
		return open_trace(r, read_source, BOTH, &r->events);
	if (r->mode == READER_NAMES_AHEAD && source_is_regular(r->src))
		return learn_names(r);
	err = open_trace(r, read_ahead, NAMES, &r->lookahead);
	return err ? err : open_trace(r, read_queue, EVENTS, &r->events);
}

int reader_new(struct source *src, enum reader_mode mode, struct reader **out)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int err;

	r->src = src;
	r->mode = mode;
	err = names_new(&r->names);
	if (!err)
		err = start(r);
	if (err) {
		log_error("cannot read %s: %s", source_name(src), strerror(-err));
		reader_free(r);
		return err;
	}
	*out = r;
	return 0;
}

int reader_new_sharing(const struct reader *of, struct source *src, struct reader **out)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int err;

	r->src = src;
	r->mode = READER_ONE_PASS;
	r->names = of->names;
	r->shares_names = true;
	r->torn = of->torn;
	r->newer = of->newer;
	r->damaged = of->damaged;
	r->told_long = of->told_long;
	r->failed_before = of->failed;
	err = open_trace(r, read_source, EVENTS, &r->events);
	if (err) {
		log_error("cannot read %s: %s", source_name(src), strerror(-err));
		reader_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	trace_free(r->events);
	trace_free(r->lookahead);
	if (!r->shares_names)
		names_free(r->names);
	source_close(r->src);
	free(r->queue);
	free(r);
}

int reader_next(struct reader *r, struct trace_event *ev)
{
	int ret = r->lookahead ? next_queued(r, ev) : trace_next(r->events, ev);

	if (ret == 1)
		return 1;
	return end(r, r->events, ret);
}

bool reader_can_rewind(const struct reader *r)
{
	return r->mode == READER_ONE_PASS && source_is_regular(r->src);
}

int reader_rewind(struct reader *r)
{
	int err = r->mode == READER_ONE_PASS ? source_rewind(r->src) : -ESPIPE;

	if (err)
		return err;
	trace_free(r->events);
	r->events = NULL;
	err = open_trace(r, read_source, EVENTS, &r->events);
	if (!err && r->skip_stacks)
		trace_skip_stacks(r->events);
	return err;
}

void reader_skip_stacks(struct reader *r)
{
	r->skip_stacks = true;
	trace_skip_stacks(r->events);
}

void reader_skip_kinds(struct reader *r, unsigned int kinds)
{
	trace_skip_kinds(r->events, kinds);
}

void reader_skip_tasks(struct reader *r)
{
	trace_names_only(r->events);
}

uint64_t reader_frame(struct reader *r, uint64_t addr)
{
	return trace_frame(r->events, addr);
}

const struct trace *reader_trace(const struct reader *r)
{
	return r->events;
}

struct names *reader_names(const struct reader *r)
{
	return r->names;
}

const char *reader_input(const struct reader *r)
{
	return source_name(r->src);
}

uint64_t reader_first_number(const struct reader *r)
{
	return source_first_number(r->src);
}

bool reader_is_truncated(const struct reader *r)
{
	return r->torn;
}

bool reader_is_newer(const struct reader *r)
{
	return r->newer;
}

bool reader_is_damaged(const struct reader *r)
{
	return r->damaged;
}

bool reader_is_incomplete(const struct reader *r)
{
	return r->newer || r->damaged || source_is_damaged(r->src);
}
