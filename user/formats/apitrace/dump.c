// SPDX-License-Identifier: BSD-2-Clause
/*
 * An apitrace stream as it is: JSON lines for `dump`, rows for `info`.
 *
 * Lines are the file first, then each enter and leave as it stands, nothing joined. The first line says
 * what is only known at the end (chunks, size of the stream), so a file is gone through twice; a stream
 * that cannot be rewound has a last line for it instead. The names of arguments stand with the enter and
 * are wanted at the leave, so the functions of the last million calls are kept. Of rows nothing is kept
 * but counts, in one pass.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/apitrace/json.h"
#include "formats/apitrace/print.h"
#include "formats/apitrace/signatures.h"
#include "formats/apitrace/stream.h"
#include "formats/apitrace/value.h"

#define RECENT ((uint64_t)1 << 20)

struct dump {
	struct apitrace_json json;
	struct apitrace_sink sink;
	struct apitrace_trace trace;
	const struct apitrace_sig **recent; /* by call number modulo RECENT */
	size_t recent_cap;
	uint64_t next_no;
};

static void key_uint(const struct apitrace_sink *k, const char *key, uint64_t v)
{
	k->ops->key(k->s, key);
	k->ops->uint(k->s, v);
}

static void key_text(const struct apitrace_sink *k, const char *key, const char *text)
{
	k->ops->key(k->s, key);
	k->ops->text(k->s, text, strlen(text));
}

/* ---- the first line ---------------------------------------------------------------------------- */

static void dump_chunk(void *ctx, size_t packed, size_t plain)
{
	const struct apitrace_sink *k = &((struct dump *)ctx)->sink;

	k->ops->open(k->s, false);
	k->ops->uint(k->s, packed);
	k->ops->uint(k->s, plain);
	k->ops->close(k->s, false);
}

/* Decompresses all to see what there is. 0, or an error of read(). */
static int survey(const struct foreign_input *in, struct dump *d, uint64_t *bytes,
		  const char **reason)
{
	char *block = xmalloc((size_t)1 << 18);
	struct container *box;
	ssize_t n;
	int err = container_open(in, dump_chunk, d, &box);

	if (err) {
		free(block);
		return err;
	}
	while ((n = container_read(box, block, (size_t)1 << 18)) > 0)
		*bytes += (uint64_t)n;
	*reason = container_error(box);
	container_close(box);
	free(block);
	return n < 0 && n != -EBADMSG ? (int)n : 0;
}

static enum container_kind kind_of(const struct foreign_input *in, int *err)
{
	enum container_kind kind = CONTAINER_SNAPPY;
	struct container *box;

	*err = container_open(in, NULL, NULL, &box);
	if (!*err) {
		kind = container_kind(box);
		container_close(box);
		*err = in->rewind(in->ctx);
	}
	return kind;
}

static void dump_file(struct dump *d, enum container_kind kind)
{
	const struct apitrace_sink *k = &d->sink;

	k->ops->open(k->s, true);
	k->ops->key(k->s, "file");
	k->ops->open(k->s, true);
	key_text(k, "container", container_kind_name(kind));
}

/* The first part of the line, by a pass of its own. */
static int dump_survey(struct dump *d, const struct foreign_input *in)
{
	const struct apitrace_sink *k = &d->sink;
	const char *reason = NULL;
	uint64_t bytes = 0;
	enum container_kind kind;
	int err;

	kind = kind_of(in, &err);
	if (err)
		return err;
	dump_file(d, kind);
	if (kind == CONTAINER_SNAPPY) {
		k->ops->key(k->s, "chunks");
		k->ops->open(k->s, false);
	}
	err = survey(in, d, &bytes, &reason);
	if (err)
		return err;
	if (kind == CONTAINER_SNAPPY)
		k->ops->close(k->s, false);
	k->ops->close(k->s, true);
	k->ops->key(k->s, "warnings");
	k->ops->open(k->s, false);
	if (reason)
		k->ops->text(k->s, reason, strlen(reason));
	k->ops->close(k->s, false);
	key_uint(k, "stream_bytes", bytes);
	return in->rewind(in->ctx);
}

static void dump_version(struct dump *d)
{
	const struct apitrace_sink *k = &d->sink;
	const struct apitrace_property *props;
	int64_t version = apitrace_parse_version(d->trace.parser);
	int64_t semantic = apitrace_parse_semantic_version(d->trace.parser);
	size_t cnt;

	k->ops->key(k->s, "version");
	if (version < 0)
		k->ops->null(k->s);
	else
		k->ops->uint(k->s, (uint64_t)version);
	if (version >= 6 && semantic >= 0) {
		key_uint(k, "semantic_version", (uint64_t)semantic);
		props = apitrace_parse_properties(d->trace.parser, &cnt);
		k->ops->key(k->s, "properties");
		k->ops->open(k->s, false);
		for (size_t i = 0; i < cnt; i++) {
			k->ops->open(k->s, false);
			apitrace_print_text(k, props[i].name.ptr, props[i].name.len);
			apitrace_print_text(k, props[i].value.ptr, props[i].value.len);
			k->ops->close(k->s, false);
		}
		k->ops->close(k->s, false);
	}
	if (!d->trace.header) {
		k->ops->key(k->s, "truncated");
		k->ops->boolean(k->s, true);
	}
	k->ops->close(k->s, true);
	apitrace_json_line(&d->json);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* The function of a call, at its enter remembered, at its leave recalled; NULL when it is too long ago. */
static const struct apitrace_sig *function_of(struct dump *d, const struct apitrace_event *ev)
{
	uint64_t slot = ev->no % RECENT;

	if (!ev->has_no)
		return NULL;
	if (ev->leave)
		return ev->no < d->next_no && d->next_no - ev->no <= RECENT ? d->recent[slot] :
									      NULL;
	d->recent = array_reserve(d->recent, &d->recent_cap, slot + 1, sizeof(*d->recent));
	d->recent[slot] = ev->fn;
	d->next_no = ev->no + 1;
	return ev->fn;
}

static void dump_frame(const struct apitrace_sink *k, const struct apitrace_sig *sig)
{
	static const char *const names[] = { "", "module", "function", "file" };
	const struct apitrace_frame *f = sig->frame;

	k->ops->open(k->s, true);
	key_uint(k, "id", sig->id);
	for (unsigned int part = APITRACE_FRAME_MODULE; part <= APITRACE_FRAME_FILE; part++) {
		if (!(f->has & 1 << part))
			continue;
		k->ops->key(k->s, names[part]);
		apitrace_print_text(k, f->text[part].ptr, f->text[part].len);
	}
	if (f->has & 1 << APITRACE_FRAME_LINE)
		key_uint(k, "line", f->line);
	if (f->has & 1 << APITRACE_FRAME_OFFSET)
		key_uint(k, "offset", f->offset);
	k->ops->close(k->s, true);
}

static void dump_stack(struct dump *d, struct apitrace_detail *det)
{
	const struct apitrace_sigs *sigs = apitrace_parse_sigs(d->trace.parser);
	const struct apitrace_sink *k = &d->sink;

	k->ops->key(k->s, "backtrace");
	k->ops->open(k->s, false);
	for (uint64_t i = 0; i < det->number; i++)
		dump_frame(k, apitrace_sig_get(sigs, APITRACE_SIG_FRAME,
					       apitrace_value_uint(&det->value)));
	k->ops->close(k->s, false);
}

static void dump_args(struct dump *d, const struct apitrace_event *ev,
		      const struct apitrace_sig *fn)
{
	const struct apitrace_sigs *sigs = apitrace_parse_sigs(d->trace.parser);
	struct apitrace_cur c = { ev->details, ev->details + ev->details_sz };
	const struct apitrace_sink *k = &d->sink;
	struct apitrace_detail det;

	k->ops->key(k->s, "args");
	k->ops->open(k->s, false);
	while (apitrace_value_detail(sigs, &c, &det)) {
		if (det.tag != APITRACE_DETAIL_ARG)
			continue;
		k->ops->open(k->s, false);
		k->ops->uint(k->s, det.number);
		if (fn && det.number < fn->cnt)
			apitrace_print_text(k, fn->v[det.number].name.ptr,
					    fn->v[det.number].name.len);
		else
			k->ops->null(k->s);
		apitrace_print_value(k, sigs, &det.value);
		k->ops->close(k->s, false);
	}
	k->ops->close(k->s, false);
}

/* What an event has at most one of; the last counts. */
static void dump_rest(struct dump *d, const struct apitrace_event *ev)
{
	const struct apitrace_sigs *sigs = apitrace_parse_sigs(d->trace.parser);
	struct apitrace_cur c = { ev->details, ev->details + ev->details_sz };
	struct apitrace_detail det, last[APITRACE_DETAIL_FLAGS + 1] = { 0 };
	const struct apitrace_sink *k = &d->sink;

	while (apitrace_value_detail(sigs, &c, &det))
		last[det.tag] = det;
	if (last[APITRACE_DETAIL_RET].tag) {
		k->ops->key(k->s, "ret");
		apitrace_print_value(k, sigs, &last[APITRACE_DETAIL_RET].value);
	}
	if (last[APITRACE_DETAIL_FLAGS].tag)
		key_uint(k, "flags", last[APITRACE_DETAIL_FLAGS].number);
	if (last[APITRACE_DETAIL_STACK].tag)
		dump_stack(d, &last[APITRACE_DETAIL_STACK]);
}

static void dump_event(struct dump *d, const struct apitrace_event *ev)
{
	const struct apitrace_sig *fn = function_of(d, ev);
	const struct apitrace_sink *k = &d->sink;

	k->ops->open(k->s, true);
	key_text(k, "ev", ev->leave ? "leave" : "enter");
	key_uint(k, "off", ev->off);
	if (ev->has_no)
		key_uint(k, "no", ev->no);
	if (ev->has_thread)
		key_uint(k, "thread", ev->thread);
	if (ev->fn) {
		k->ops->key(k->s, "fn");
		apitrace_print_text(k, ev->fn->name.ptr, ev->fn->name.len);
		key_uint(k, "sig", ev->fn->id);
	}
	if (ev->fn || (ev->leave && ev->has_no)) {
		dump_args(d, ev, fn);
		dump_rest(d, ev);
	}
	if (ev->cut) {
		k->ops->key(k->s, "truncated");
		k->ops->boolean(k->s, true);
	}
	k->ops->close(k->s, true);
	apitrace_json_line(&d->json);
}

static void dump_error(struct dump *d, int err)
{
	const struct apitrace_sink *k = &d->sink;

	k->ops->open(k->s, true);
	key_text(k, "error", apitrace_reason(&d->trace, err));
	k->ops->close(k->s, true);
	apitrace_json_line(&d->json);
}

static int dump_events(struct dump *d, struct foreign_notes *notes)
{
	struct apitrace_event ev;
	int err = 0;

	while (!d->json.err && (err = apitrace_parse_next(d->trace.parser, &ev)) == 1) {
		dump_event(d, &ev);
		if (ev.cut)
			foreign_note(notes, FOREIGN_NOTE_HINT, 1, "the last event is cut off",
				     NULL);
	}
	if (err < 0)
		dump_error(d, err);
	return d->json.err ? d->json.err : apitrace_conclude(&d->trace, err, notes);
}

int apitrace_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		  dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct dump d = { .json = { .write = write, .ctx = ctx } };
	bool twice = in->rewind && !opts->follow;
	int err = 0;

	d.sink = (struct apitrace_sink){ .ops = &apitrace_json_ops, .s = &d.json };
	if (twice)
		err = dump_survey(&d, in);
	if (!err)
		err = apitrace_open(in, NULL, NULL, &d.trace);
	if (err == -EBADMSG && d.trace.parser) {
		buf_clear(&d.json.out);
		d.json.comma = false;
		dump_error(&d, err);
		err = apitrace_refuse(in, apitrace_reason(&d.trace, err));
	} else if (!err) {
		if (!twice)
			dump_file(&d, container_kind(d.trace.box));
		if (!twice)
			d.sink.ops->close(d.sink.s, true);
		dump_version(&d);
		err = dump_events(&d, notes);
	}
	apitrace_json_flush(&d.json);
	if (!err)
		err = d.json.err;
	apitrace_close(&d.trace);
	buf_free(&d.json.out);
	free(d.recent);
	return err;
}

/* ---- info ---------------------------------------------------------------------------------------- */

/* Limit of distinct threads: the numbers come from the file. */
#define THREADS_MAX 65536
/* Bytes of a property; dial9.schemas may be long. */
#define PROPERTY_SHOWN 200

struct tally {
	uint64_t enters, leaves, frames, fake, stacks, blobs, blob_bytes, bytes;
	struct hmap threads;
	const char *api;
};

static void count_blob(struct tally *t, struct apitrace_cur c)
{
	if (apitrace_value_byte(&c) != APITRACE_BLOB)
		return;
	t->blobs++;
	t->blob_bytes += apitrace_value_uint(&c);
}

static void count_event(struct tally *t, const struct apitrace_sigs *sigs,
			const struct apitrace_event *ev)
{
	struct apitrace_cur c = { ev->details, ev->details + ev->details_sz };
	struct apitrace_detail det;

	if (ev->leave)
		t->leaves++;
	else
		t->enters++;
	if (ev->fn && apitrace_func_ends_frame(ev->fn->name))
		t->frames++;
	if (ev->fn && !t->api)
		t->api = apitrace_func_api(ev->fn->name);
	if (ev->has_thread && t->threads.cnt < THREADS_MAX)
		hmap_set(&t->threads, ev->thread, t);
	while (apitrace_value_detail(sigs, &c, &det)) {
		if (det.tag == APITRACE_DETAIL_FLAGS)
			t->fake += det.number & 1;
		else if (det.tag == APITRACE_DETAIL_STACK)
			t->stacks++;
		else
			count_blob(t, det.value);
	}
}

static void show_head(const struct apitrace_trace *t, struct foreign_facts *facts)
{
	int64_t version = apitrace_parse_version(t->parser);
	const char *box = container_kind_name(container_kind(t->box));
	const struct apitrace_property *props;
	size_t cnt;

	if (container_kind(t->box) == CONTAINER_BROTLI)
		box = "brotli";
	if (version < 0)
		foreign_fact_text(facts, "format", "apitrace trace, cut before the version, %s",
				  box);
	else
		foreign_fact_text(facts, "format", "apitrace trace, version %d, %s", (int)version,
				  box);
	if (apitrace_parse_semantic_version(t->parser) != version)
		foreign_fact_text(facts, "semantic version", "%d",
				  (int)apitrace_parse_semantic_version(t->parser));
	props = apitrace_parse_properties(t->parser, &cnt);
	for (size_t i = 0; i < cnt; i++)
		foreign_fact_text(facts, props[i].name.ptr, "%.*s%s", PROPERTY_SHOWN,
				  props[i].value.ptr,
				  props[i].value.len > PROPERTY_SHOWN ? "..." : "");
}

static void show_counts(const struct tally *t, const struct apitrace_sigs *sigs,
			struct foreign_facts *facts)
{
	static const char *const labels[] = {
		[APITRACE_SIG_FUNCTION] = "functions", [APITRACE_SIG_STRUCT] = "structures",
		[APITRACE_SIG_ENUM] = "enumerations",  [APITRACE_SIG_MASK] = "bit masks",
		[APITRACE_SIG_FRAME] = "stack frames",
	};

	if (t->api)
		foreign_fact_text(facts, "API", "%s", t->api);
	foreign_fact_count(facts, "bytes decompressed", t->bytes);
	foreign_fact_count(facts, "calls", t->enters);
	foreign_fact_count(facts, "returns", t->leaves);
	foreign_fact_count(facts, "frames", t->frames);
	foreign_fact_count(facts, "threads", t->threads.cnt);
	foreign_fact_count(facts, "calls by the tracer itself", t->fake);
	foreign_fact_count(facts, "backtraces", t->stacks);
	foreign_fact_count(facts, "blobs as arguments", t->blobs);
	foreign_fact_count(facts, "bytes in them", t->blob_bytes);
	for (size_t k = 0; k < APITRACE_SIG_KINDS; k++)
		foreign_fact_count(facts, labels[k], sigs->cnt[k]);
}

int apitrace_info(const struct foreign_input *in, const struct foreign_opts *opts,
		  struct foreign_facts *facts, struct foreign_notes *notes)
{
	const struct apitrace_sigs *sigs;
	struct apitrace_trace trace;
	struct apitrace_event ev;
	struct tally t = { 0 };
	int err = apitrace_open(in, NULL, NULL, &trace);

	if (err == -EBADMSG && trace.parser)
		err = apitrace_refuse(in, apitrace_reason(&trace, err));
	if (err)
		goto out;
	sigs = apitrace_parse_sigs(trace.parser);
	while ((err = apitrace_parse_next(trace.parser, &ev)) == 1) {
		count_event(&t, sigs, &ev);
		if (ev.cut)
			foreign_note(notes, FOREIGN_NOTE_HINT, 1, "the last event is cut off",
				     NULL);
	}
	t.bytes = apitrace_parse_offset(trace.parser);
	show_head(&trace, facts);
	show_counts(&t, sigs, facts);
	err = apitrace_conclude(&trace, err, notes);
out:
	hmap_fini(&t.threads);
	apitrace_close(&trace);
	return err;
}
