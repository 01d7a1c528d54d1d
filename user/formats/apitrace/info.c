// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `info` shows of an apitrace file: version and container, the program, and how much of what there
 * is. One pass over the stream; nothing is kept of an event but counts.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>

#include "formats/apitrace/func.h"
#include "formats/apitrace/value.h"

/* More threads than this are not told apart: numbers come from the file. */
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
