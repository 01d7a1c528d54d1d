// SPDX-License-Identifier: BSD-2-Clause
/*
 * dial9 to apitrace, for traces that came from apitrace: the same call stream again.
 *
 * A first pass detects whether the dial9 bytes hold an imported trace; all others go through
 * generic_export.c. Then every call event is split into its enter and its leave, each goes to its
 * place (order.c), and signatures are defined as import recorded them. Calls keep their numbers
 * unless events were cut from the trace, since numbers are implied by order.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/apitrace/build.h"
#include "formats/apitrace/order.h"
#include "formats/apitrace/vocabulary.h"
#include "formats/apitrace/write.h"

struct export
{
	struct dial9_dec *dec;
	struct foreign_notes *notes;
	struct apitrace_tables tables;
	struct apitrace_write *out;
	struct apitrace_order order;
	struct hmap renumbered; /* number in the import -> what it is now, + 1 as a pointer */
	uint64_t next_no;
	bool started;
	struct buf scratch, enter, leave;
	struct apitrace_cur *values;
	size_t *offsets;
};

/* ---- events out -------------------------------------------------------------------------------- */

static int write_enter(struct export *x, const struct apitrace_op *op)
{
	struct apitrace_cur c = { op->details, op->details + op->sz };
	int err;

	if (op->no != x->next_no)
		hmap_set(&x->renumbered, op->no, (void *)(uintptr_t)(x->next_no + 1));
	err = apitrace_write_enter(x->out, op->thread, op->fn, c);
	if (err == -EBADMSG) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "arguments that make no sense",
			     "call %" PRIu64, op->no);
		c.end = c.pos;
		err = apitrace_write_enter(x->out, op->thread, op->fn, c);
	}
	x->next_no++;
	return err;
}

static int write_leave(struct export *x, const struct apitrace_op *op)
{
	struct apitrace_cur c = { op->details, op->details + op->sz };
	void *now = hmap_del(&x->renumbered, op->no);
	uint64_t no = now ? (uint64_t)(uintptr_t)now - 1 : op->no;
	int err = apitrace_write_leave(x->out, no, c);

	if (err == -EBADMSG) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "results that make no sense",
			     "call %" PRIu64, op->no);
		c.end = c.pos;
		err = apitrace_write_leave(x->out, no, c);
	}
	return err;
}

static int drain(struct export *x, bool all)
{
	struct apitrace_op *op;
	bool gap;
	int err = 0;

	while (!err && (op = apitrace_order_next(&x->order, all, &gap))) {
		if (gap)
			foreign_note(x->notes, FOREIGN_NOTE_HINT, 1,
				     "gaps in the order of events: calls are renumbered",
				     "event %" PRIu64, op->seq);
		err = op->fn ? write_enter(x, op) : write_leave(x, op);
		free(op);
	}
	return err;
}

static int add_op(struct export *x, const struct apitrace_op *op, const struct buf *details)
{
	apitrace_order_add(&x->order, op, details->data, details->len);
	return drain(x, false);
}

/* ---- calls in ---------------------------------------------------------------------------------- */

static void unreadable(struct export *x, uint64_t no)
{
	foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "values that cannot be read back",
		     "call %" PRIu64, no);
}

/* Where the fields of a call's schema are; false when it is none, or not of that layout. */
static bool find_fields(const struct dial9_schema *s, struct apitrace_layout *layout, size_t *first,
			bool *has_ret)
{
	size_t cnt = dial9_schema_field_cnt(s), args = layout->fn->cnt;
	uint8_t type = dial9_schema_field_type(s, APITRACE_CALL_FIELDS) & ~DIAL9_OPTIONAL;

	layout->has_stack = type == DIAL9_STACK || type == DIAL9_POOLED_STACK;
	*first = APITRACE_CALL_FIELDS + layout->has_stack;
	*has_ret = cnt == *first + args + 2;
	return (*has_ret || cnt == *first + args + 1) &&
	       dial9_schema_field_type(s, cnt - 1) == (DIAL9_STRING | DIAL9_OPTIONAL);
}

static bool is_call(const struct dial9_schema *s)
{
	if (dial9_schema_field_cnt(s) <= APITRACE_CALL_FIELDS)
		return false;
	for (size_t i = 0; i < APITRACE_CALL_FIELDS; i++)
		if (dial9_schema_field_type(s, i) != apitrace_vocabulary_call[i].type ||
		    strcmp(dial9_schema_field_name(s, i), apitrace_vocabulary_call[i].name) != 0)
			return false;
	return true;
}

/* Addresses of a stack back to ids, in x->scratch. */
static void read_stack(struct export *x, const struct dial9_value *v, struct apitrace_call *call)
{
	const struct apitrace_sig *sig;
	const uint8_t *le;
	uint32_t cnt;

	if (!v->type)
		return;
	if (dial9_value_stack(x->dec, v, &le, &cnt)) {
		unreadable(x, call->no);
		return;
	}
	call->has_stack = true;
	call->stack_cnt = cnt;
	for (uint32_t i = 0; i < cnt; i++) {
		sig = hmap_get(&x->tables.frames, dial9_frame_at(le, i));
		apitrace_value_put_uint(&x->scratch, sig ? sig->id : dial9_frame_at(le, i));
	}
}

/* Values of all slots to x->scratch, then pointed at by call->values. */
static void read_slots(struct export *x, const struct dial9_event *ev,
		       const struct apitrace_layout *layout, size_t first, bool has_ret,
		       struct apitrace_call *call)
{
	size_t args = layout->fn->cnt, total = args + has_ret, stack_sz;

	buf_clear(&x->scratch);
	if (layout->has_stack)
		read_stack(x, &ev->values[APITRACE_CALL_FIELDS], call);
	stack_sz = x->scratch.len;
	for (size_t i = 0; i < total; i++) {
		x->offsets[i] = x->scratch.len;
		if (apitrace_layout_get(x->dec, &x->tables.sigs, &layout->slots[i],
					&ev->values[first + i], call->returned, &x->scratch))
			unreadable(x, call->no);
	}
	x->offsets[total] = x->scratch.len;
	call->stack.pos = (const uint8_t *)buf_cstr(&x->scratch);
	call->stack.end = call->stack.pos + stack_sz;
	memset(x->values, 0, (args + 1) * sizeof(*x->values));
	for (size_t i = 0; i < total; i++)
		if (x->offsets[i] < x->offsets[i + 1])
			x->values[i] = (struct apitrace_cur){ call->stack.pos + x->offsets[i],
							      call->stack.pos + x->offsets[i + 1] };
	call->values = x->values;
}

/* What fields did not say takes the place of what they did. */
static void apply_details(struct export *x, const struct dial9_value *v, uint64_t no)
{
	struct buf enter = { 0 }, leave = { 0 };
	bool has_enter, has_leave;
	struct dial9_str json;

	if (v->type && (dial9_value_str(x->dec, v, &json) ||
			apitrace_details_parse(json, &enter, &has_enter, &leave, &has_leave))) {
		unreadable(x, no);
	} else if (v->type) {
		if (has_enter) {
			buf_clear(&x->enter);
			buf_add(&x->enter, buf_cstr(&enter), enter.len);
		}
		if (has_leave) {
			buf_clear(&x->leave);
			buf_add(&x->leave, buf_cstr(&leave), leave.len);
		}
	}
	buf_free(&enter);
	buf_free(&leave);
}

static int add_call(struct export *x, const struct dial9_event *ev, const struct apitrace_sig *fn)
{
	const struct dial9_value *v = ev->values;
	struct apitrace_op op = {
		.seq = v[APITRACE_CALL_ENTER_SEQ].u64,
		.no = v[APITRACE_CALL_NO].u64,
		.thread = v[APITRACE_CALL_THREAD].u64,
		.fn = fn,
	};
	int err;

	apply_details(x, &v[ev->value_cnt - 1], op.no);
	err = add_op(x, &op, &x->enter);
	if (err || !v[APITRACE_CALL_LEAVE_SEQ].type)
		return err;
	op.fn = NULL;
	op.seq = v[APITRACE_CALL_LEAVE_SEQ].u64;
	return add_op(x, &op, &x->leave);
}

static int on_call(struct export *x, const struct dial9_event *ev, bool generic)
{
	struct apitrace_layout *layout =
		hmap_get(&x->tables.layouts, ev->values[APITRACE_CALL_SIG].u64);
	struct apitrace_call call = {
		.no = ev->values[APITRACE_CALL_NO].u64,
		.flags = ev->values[APITRACE_CALL_FLAGS].u64,
		.returned = ev->values[APITRACE_CALL_LEAVE_SEQ].type,
	};
	bool has_ret;
	size_t first;

	apitrace_tables_settle(&x->tables);
	if (!layout || (!generic && (layout->fn->cnt > APITRACE_LAYOUT_ARGS_MAX ||
				     !find_fields(ev->schema, layout, &first, &has_ret)))) {
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "calls of functions not described",
			     "call %" PRIu64, call.no);
		return 0;
	}
	buf_clear(&x->enter);
	buf_clear(&x->leave);
	if (!generic) {
		read_slots(x, ev, layout, first, has_ret, &call);
		apitrace_layout_enter(layout, &call, &x->enter);
		apitrace_layout_leave(layout, &call, &x->leave);
	}
	return add_call(x, ev, layout->fn);
}

static int on_leave(struct export *x, const struct dial9_event *ev)
{
	struct apitrace_op op = { .no = ev->values[0].u64, .seq = ev->values[1].u64 };

	apitrace_tables_settle(&x->tables);
	buf_clear(&x->leave);
	apply_details(x, &ev->values[2], op.no);
	return add_op(x, &op, &x->leave);
}

static int on_trace(struct export *x, const struct dial9_event *ev)
{
	const struct dial9_value *semantic = &ev->values[1];
	struct dial9_str(*props)[2];
	struct dial9_value key, value;
	struct dial9_iter it;
	size_t n = 0;
	int err;

	props = xreallocarray(NULL, (size_t)ev->values[3].map.cnt + 1, sizeof(*props));
	dial9_iter_init(&it, &ev->values[3]);
	for (; dial9_map_next(&it, &key, &value) == 1; n++) {
		props[n][0] = (struct dial9_str){ key.str.ptr, key.str.len };
		props[n][1] = (struct dial9_str){ value.str.ptr, value.str.len };
	}
	err = apitrace_write_header(x->out, semantic->type ? semantic->u64 : APITRACE_VERSION,
				    (const struct dial9_str(*)[2])props, n);
	free(props);
	x->started = true;
	return err;
}

static int on_table(struct export *x, const struct dial9_event *ev, enum apitrace_word word)
{
	int err = apitrace_tables_add(&x->tables, x->dec, word, ev);

	if (err)
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     err == -EEXIST ? "signatures with the id of another" :
					      "signatures that make no sense",
			     "id %" PRIu64, ev->values[0].u64);
	return 0;
}

static int on_event(struct export *x, const struct dial9_event *ev)
{
	enum apitrace_word word = apitrace_vocabulary_find(ev->schema);

	switch (word) {
	case APITRACE_WORD_TRACE:
		return on_trace(x, ev);
	case APITRACE_WORD_FUNCTION:
	case APITRACE_WORD_ENUM:
	case APITRACE_WORD_FLAG:
	case APITRACE_WORD_STRUCT:
	case APITRACE_WORD_FRAME:
		return on_table(x, ev, word);
	case APITRACE_WORD_CALL:
		return on_call(x, ev, true);
	case APITRACE_WORD_LEAVE:
		return on_leave(x, ev);
	case APITRACE_WORD_SYMBOL:
	case APITRACE_WORD_SPAN_ENTER:
	case APITRACE_WORD_SPAN_EXIT:
	case APITRACE_WORD_END:
		return 0;
	case APITRACE_WORD_CNT:
		break;
	}
	if (is_call(ev->schema))
		return on_call(x, ev, false);
	foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1,
		     "events that are not from the imported trace", "%s",
		     dial9_schema_name(ev->schema));
	return 0;
}

/* Every event from the imported trace's own on. A second trace would number its calls again. */
static int all_events(struct export *x, const struct foreign_input *in)
{
	struct dial9_error where;
	struct dial9_frame f;
	int ret, err = 0;

	while (!err && (ret = dial9_dec_next(x->dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		if (apitrace_vocabulary_find(f.event.schema) == APITRACE_WORD_TRACE && x->started) {
			foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1,
				     "further apitrace traces in the file", NULL);
			return drain(x, true);
		}
		err = on_event(x, &f.event);
	}
	if (err)
		return err;
	err = drain(x, true);
	dial9_dec_error(x->dec, &where);
	return err ? err : foreign_end_dec(in, ret, &where, x->notes);
}

static int export_imported(const struct foreign_input *in, dial9_write_fn write, void *ctx,
			   struct foreign_notes *notes)
{
	struct export x = {
		.notes = notes,
		.values = xcalloc(APITRACE_LAYOUT_ARGS_MAX + 1, sizeof(*x.values)),
		.offsets = xcalloc(APITRACE_LAYOUT_ARGS_MAX + 2, sizeof(*x.offsets)),
	};
	int done, err = foreign_open_dec(in, &x.dec);

	if (!err)
		err = apitrace_write_new(write, ctx, &x.tables.sigs, &x.out);
	if (!err) {
		err = all_events(&x, in);
		done = err && err != -EBADMSG ? 0 : apitrace_write_finish(x.out);
		err = err ? err : done;
		if (apitrace_write_renumbered(x.out))
			foreign_note(notes, FOREIGN_NOTE_CHANGED, apitrace_write_renumbered(x.out),
				     "frame ids that no program made, renumbered", NULL);
	}
	apitrace_write_free(x.out);
	apitrace_order_fini(&x.order);
	apitrace_tables_fini(&x.tables);
	hmap_fini(&x.renumbered);
	dial9_dec_free(x.dec);
	buf_free(&x.scratch);
	buf_free(&x.enter);
	buf_free(&x.leave);
	free(x.values);
	free(x.offsets);
	return err;
}

/* Whether there is an imported trace in it. 1, 0, or -errno of reading. */
static int is_imported(const struct foreign_input *in)
{
	struct dial9_dec *dec;
	struct dial9_frame f;
	int err = foreign_open_dec(in, &dec), found = 0;

	if (err)
		return err;
	while (!found && dial9_dec_next(dec, &f) == 1)
		found = f.kind == DIAL9_FRAME_SCHEMA &&
			apitrace_vocabulary_find(f.schema.schema) == APITRACE_WORD_TRACE;
	dial9_dec_free(dec);
	err = in->rewind(in->ctx);
	return err ? err : found;
}

int apitrace_export(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	int found = is_imported(in);

	if (found < 0)
		return found;
	return found ? export_imported(in, write, ctx, notes) :
		       apitrace_generic_export(in, write, ctx, notes);
}
