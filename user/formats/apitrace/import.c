// SPDX-License-Identifier: BSD-2-Clause
/*
 * An apitrace stream into dial9: one event a call, written when it returns.
 *
 * Enter and leave are joined by the number of the call and keep their places in the stream as enter_seq
 * and leave_seq, which is all that there is of order and overlap, since the format has no time. A file is
 * gone through twice, to find the field types first (layout.c); a stream once, and a function gets
 * a further schema when a call does not fit. What holds calls back is bounded: of too many open ones the
 * oldest is written as not returned, and its leave, should it come, as an event of its own.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "formats/apitrace/emit.h"
#include "formats/apitrace/layout.h"
#include "formats/apitrace/signatures.h"
#include "formats/apitrace/stream.h"

#define OPEN_MAX 65536
#define OPEN_BYTES_MAX ((size_t)128 << 20)

/* A call that did not return yet; oldest first in the list. */
struct open_call {
	struct open_call *prev, *next;
	const struct apitrace_sig *fn;
	uint64_t no, thread, enter_seq, frame;
	size_t sz;
	uint8_t details[];
};

struct import {
	struct apitrace_trace trace;
	const struct apitrace_sigs *sigs;
	struct foreign_notes *notes;
	struct apitrace_emit *emit; /* NULL in the pass that only looks */
	struct apitrace_layout **layouts; /* by idx of the function */
	size_t layout_cap;
	struct hmap by_no;
	struct open_call *oldest, *newest;
	size_t open_cnt, open_bytes;
	struct apitrace_cur *values; /* of the call at hand */
	bool *at_leave;
	uint64_t seq, calls, frame, left_open;
	bool cut;
};

static struct apitrace_layout *layout_of(struct import *im, const struct apitrace_sig *fn)
{
	struct apitrace_layout *layout;

	im->layouts =
		array_reserve(im->layouts, &im->layout_cap, fn->idx + 1, sizeof(*im->layouts));
	layout = im->layouts[fn->idx];
	if (!layout) {
		layout = xcalloc(1, sizeof(*layout));
		if (fn->cnt <= APITRACE_LAYOUT_ARGS_MAX)
			layout->slots = xcalloc(fn->cnt + 1, sizeof(*layout->slots));
		im->layouts[fn->idx] = layout;
	}
	layout->fn = fn;
	return layout;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* A call is complete, or will not be: ev is its leave, or NULL. */
static int finish_call(struct import *im, const struct open_call *oc,
		       const struct apitrace_event *ev)
{
	struct apitrace_layout *layout = layout_of(im, oc->fn);
	struct apitrace_call call = {
		.no = oc->no,
		.thread = oc->thread,
		.enter_seq = oc->enter_seq,
		.frame = oc->frame,
		.returned = ev,
		.enter = { oc->details, oc->details + oc->sz },
		.values = im->values,
		.at_leave = im->at_leave,
	};
	bool changed = false;

	if (ev) {
		call.leave_seq = im->seq;
		call.leave = (struct apitrace_cur){ ev->details, ev->details + ev->details_sz };
	}
	if (layout->slots) {
		apitrace_layout_gather(im->sigs, oc->fn, &call);
		changed = apitrace_layout_widen(im->sigs, layout, &call);
	}
	return im->emit ? apitrace_emit_call(im->emit, layout, &call, changed, im->seq) : 0;
}

static void unlink_call(struct import *im, struct open_call *oc)
{
	*(oc->prev ? &oc->prev->next : &im->oldest) = oc->next;
	*(oc->next ? &oc->next->prev : &im->newest) = oc->prev;
	hmap_del(&im->by_no, oc->no);
	im->open_cnt--;
	im->open_bytes -= oc->sz + sizeof(*oc);
}

/* Writes the oldest open call as a call that did not return. */
static int close_oldest(struct import *im)
{
	struct open_call *oc = im->oldest;
	int err;

	unlink_call(im, oc);
	err = finish_call(im, oc, NULL);
	free(oc);
	return err;
}

static int enter(struct import *im, const struct apitrace_event *ev)
{
	struct open_call *oc;
	int err = 0;

	while (!err && im->oldest &&
	       (im->open_cnt >= OPEN_MAX || im->open_bytes + ev->details_sz > OPEN_BYTES_MAX)) {
		if (im->emit)
			foreign_note(im->notes, FOREIGN_NOTE_CHANGED, 1,
				     "calls open for very long, their leave apart", "call %" PRIu64,
				     im->oldest->no);
		err = close_oldest(im);
	}
	if (err)
		return err;
	oc = xmalloc(sizeof(*oc) + ev->details_sz);
	*oc = (struct open_call){
		.prev = im->newest,
		.fn = ev->fn,
		.no = ev->no,
		.thread = ev->thread,
		.enter_seq = im->seq,
		.frame = im->frame,
		.sz = ev->details_sz,
	};
	memcpy(oc->details, ev->details, ev->details_sz);
	*(im->newest ? &im->newest->next : &im->oldest) = oc;
	im->newest = oc;
	hmap_set(&im->by_no, oc->no, oc);
	im->open_cnt++;
	im->open_bytes += oc->sz + sizeof(*oc);
	im->calls++;
	if (apitrace_func_ends_frame(ev->fn->name))
		im->frame++;
	return im->emit ? apitrace_emit_enter(im->emit, ev, im->seq) : 0;
}

static int import_leave(struct import *im, const struct apitrace_event *ev)
{
	struct open_call *oc = hmap_get(&im->by_no, ev->no);
	int err;

	if (!oc) {
		if (!im->emit)
			return 0;
		foreign_note(im->notes, FOREIGN_NOTE_HINT, 1,
			     "leaves of calls that are not open, kept as events", "call %" PRIu64,
			     ev->no);
		return apitrace_emit_leave(im->emit, ev, im->seq);
	}
	unlink_call(im, oc);
	err = finish_call(im, oc, ev);
	free(oc);
	return err;
}

static int finish_open(struct import *im)
{
	int err = 0;

	if (im->oldest && im->emit)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, im->open_cnt,
			     "calls that never returned", "call %" PRIu64, im->oldest->no);
	im->left_open = im->open_cnt;
	while (im->oldest && !err)
		err = close_oldest(im);
	return err;
}

static int one_event(struct import *im, const struct apitrace_event *ev)
{
	int err = 0;

	if (ev->cut) {
		im->cut = true;
		if (im->emit)
			foreign_note(im->notes, FOREIGN_NOTE_HINT, 1, "the last event is cut off",
				     "byte %" PRIu64, ev->off);
		return 0;
	}
	if (im->emit)
		err = apitrace_emit_tables(im->emit, im->seq);
	if (!err)
		err = ev->leave ? import_leave(im, ev) : enter(im, ev);
	im->seq++;
	return err;
}

/* ---- passes ------------------------------------------------------------------------------------ */

static void reset(struct import *im)
{
	while (im->oldest) {
		struct open_call *oc = im->oldest;

		im->oldest = oc->next;
		free(oc);
	}
	hmap_fini(&im->by_no);
	apitrace_close(&im->trace);
	im->trace = (struct apitrace_trace){ 0 };
	im->newest = NULL;
	im->open_cnt = im->open_bytes = 0;
	im->seq = im->calls = im->frame = im->left_open = 0;
	im->cut = false;
}

/* All events. 0, or what apitrace_conclude() and the encoder are to say. */
static int all_events(struct import *im, int *parse_err)
{
	struct apitrace_event ev;
	int err = 0;

	while (!err && (*parse_err = apitrace_parse_next(im->trace.parser, &ev)) == 1)
		err = one_event(im, &ev);
	return err ? err : finish_open(im);
}

/* The first pass of two: only layouts. The second pass reports damage. */
static int scan_input(struct import *im, const struct foreign_input *in)
{
	int parse_err, err = apitrace_open(in, NULL, NULL, &im->trace);

	if (!err) {
		im->sigs = apitrace_parse_sigs(im->trace.parser);
		err = all_events(im, &parse_err);
	}
	reset(im);
	return err && err != -EBADMSG ? err : in->rewind(in->ctx);
}

static int convert(struct import *im, const struct foreign_input *in,
		   const struct foreign_opts *opts, struct dial9_enc *enc)
{
	struct apitrace_emit_end end = { 0 };
	int parse_err = 0, err = apitrace_open(in, NULL, NULL, &im->trace);

	if (err == -EBADMSG && im->trace.parser)
		return apitrace_refuse(in, apitrace_reason(&im->trace, err));
	if (err)
		return err;
	im->sigs = apitrace_parse_sigs(im->trace.parser);
	err = apitrace_emit_new(&im->trace, opts, enc, im->notes, &im->emit);
	if (!err)
		err = all_events(im, &parse_err);
	if (!err) {
		end = (struct apitrace_emit_end){
			.events = im->seq,
			.calls = im->calls,
			.open_calls = im->left_open,
			.stream_bytes = apitrace_parse_offset(im->trace.parser),
			.cut = im->cut || !im->trace.header || container_is_cut(im->trace.box),
			.damage = parse_err < 0 ? apitrace_reason(&im->trace, parse_err) : NULL,
		};
		err = apitrace_emit_finish(im->emit, &end);
	}
	return err ? err : apitrace_conclude(&im->trace, parse_err, im->notes);
}

int apitrace_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		    struct dial9_enc *enc, struct foreign_notes *notes)
{
	struct import im = {
		.notes = notes,
		.values = xcalloc(APITRACE_LAYOUT_ARGS_MAX + 1, sizeof(*im.values)),
		.at_leave = xcalloc(APITRACE_LAYOUT_ARGS_MAX + 1, sizeof(*im.at_leave)),
	};
	int err = 0;

	if (cnt != 1) {
		log_error("apitrace: one trace at a time; convert each and merge them");
		err = -EINVAL;
	}
	if (!err && in->rewind && !opts->follow)
		err = scan_input(&im, in);
	if (!err)
		err = convert(&im, in, opts, enc);
	apitrace_emit_free(im.emit);
	reset(&im);
	for (size_t i = 0; i < im.layout_cap; i++) {
		if (im.layouts[i])
			free(im.layouts[i]->slots);
		free(im.layouts[i]);
	}
	free(im.layouts);
	free(im.values);
	free(im.at_leave);
	return err;
}
