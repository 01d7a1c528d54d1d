// SPDX-License-Identifier: BSD-2-Clause
/*
 * annotate.c - writes annotations that describe the fields of schemas
 *
 * Owns the format of enum lines (user/libdial9/FORMAT.md); writes one frame per schema. TracepointSymbol events
 * contain the same data about tracepoints for readers of level 3. They also contain symbols of addresses, as these
 * appear.
 */
#include "record/tracepoint/annotate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "dial9.h"
#include "events/emit.h"
#include "kernel/tracefs/format.h"
#include "prof_events.h"
#include "record/tracepoint/enum_names.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"
#include "record/tracepoint/field_notes.h"

/* The unfinished annotations of a schema. */
struct notes {
	struct dial9_annotation *v;
	size_t cnt, cap;
	struct buf *enums; /* one per field, reused */
	size_t enum_cnt;
};

/* The enum of a field. */
struct lines {
	struct buf *text;
	bool bad; /* a name is invalid in a line */
};

/* Names of values without another source. */
static const struct {
	const char *event, *field, *lines;
} own_enums[] = {
	{ PROF_EV_CPU_SAMPLE, PROF_F_SOURCE, "0=sample\n1=switch_out\n2=waking\n3=event" },
	{ PROF_EV_CPU_SAMPLE, PROF_F_FLAGS, "|0x1=user_truncated\n|0x2=kernel_truncated" },
	{ PROF_EV_MODULE, PROF_F_KIND, "0=elf\n1=kernel\n2=kmod\n3=bpf\n4=vdso\n5=anon" },
	{ PROF_EV_TP_SYMBOL, PROF_F_KIND,
	  "0=symbol\n1=flag\n2=mask\n3=shift\n4=delim\n5=zero\n6=nonzero\n7=hex\n8=decimal\n9=errno\n"
	  "10=array" },
	{ PROF_EV_CPU_WATCH, PROF_F_WATCH, "0=ended\n1=begun\n2=begun_unseen" },
};

static void note(struct notes *n, size_t field, const char *key, const char *value, size_t len)
{
	n->v = array_reserve(n->v, &n->cap, n->cnt + 1, sizeof(*n->v));
	n->v[n->cnt++] =
		(struct dial9_annotation){ (uint16_t)field, { key, strlen(key) }, { value, len } };
}

static void note_known(struct notes *n, size_t field, struct field_note known)
{
	if (known.unit)
		note(n, field, PROF_NOTE_UNIT, known.unit, strlen(known.unit));
	if (known.kind)
		note(n, field, PROF_NOTE_KIND, known.kind, strlen(known.kind));
}

/* ---- names of values --------------------------------------------------------------------------- */

static void add_number(struct buf *out, uint64_t v)
{
	if ((int64_t)v > -1000000 && (int64_t)v < 1000000) {
		buf_addi(out, (int64_t)v);
		return;
	}
	buf_addstr(out, "0x");
	buf_addx(out, v);
}

static int add_line(void *ctx, uint8_t kind, uint64_t value, const char *name)
{
	static const char *const keys[] = {
		[PROF_TP_FLAG] = "|0x",	   [PROF_TP_MASK] = "&0x",    [PROF_TP_SHIFT] = ">>",
		[PROF_TP_DELIM] = "delim", [PROF_TP_ZERO] = "zero",   [PROF_TP_NONZERO] = "nonzero",
		[PROF_TP_HEX] = "hex",	   [PROF_TP_DECIMAL] = "dec", [PROF_TP_ERRNO] = "errno",
		[PROF_TP_ARRAY] = "array",
	};
	struct lines *l = ctx;

	l->bad |= strchr(name, '\n') != NULL || kind >= sizeof(keys) / sizeof(keys[0]);
	if (l->bad)
		return 0;
	if (l->text->len)
		buf_addch(l->text, '\n');
	if (keys[kind])
		buf_addstr(l->text, keys[kind]);
	if (kind == PROF_TP_SYMBOL)
		add_number(l->text, value);
	else if (kind == PROF_TP_FLAG || kind == PROF_TP_MASK)
		buf_addx(l->text, value);
	else if (kind == PROF_TP_SHIFT || kind == PROF_TP_ARRAY)
		buf_addu(l->text, value);
	if (kind <= PROF_TP_MASK || (kind >= PROF_TP_DELIM && kind <= PROF_TP_NONZERO)) {
		buf_addch(l->text, '=');
		buf_addstr(l->text, name);
	}
	return 0;
}

static struct lines begin_enum(struct notes *n)
{
	return (struct lines){ .text = &n->enums[n->enum_cnt++] };
}

static void end_enum(struct notes *n, size_t field, const struct lines *l)
{
	if (!l->bad && l->text->len)
		note(n, field, PROF_NOTE_ENUM, buf_cstr(l->text), l->text->len);
}

/* Values from print fmt. Symbols of addresses come with TracepointSymbol. */
static void note_print_fmt(struct notes *n, size_t field, const struct format_event *ev,
			   const struct format_field *f)
{
	struct lines l = begin_enum(n);

	for (size_t i = 0; i < ev->symbol_cnt && !f->code; i++)
		if (ev->symbols[i].field == f->name)
			add_line(&l, (uint8_t)ev->symbols[i].kind, ev->symbols[i].value,
				 ev->symbols[i].name);
	end_enum(n, field, &l);
}

static void note_own_enum(struct notes *n, const char *event, const char *name, size_t field)
{
	for (size_t i = 0; i < sizeof(own_enums) / sizeof(own_enums[0]); i++)
		if (!strcmp(own_enums[i].event, event) && !strcmp(own_enums[i].field, name))
			note(n, field, PROF_NOTE_ENUM, own_enums[i].lines,
			     strlen(own_enums[i].lines));
}

static void note_words(struct notes *n, const char *name, size_t field)
{
	struct lines l;

	if (strcmp(name, PROF_F_USER_END) && strcmp(name, PROF_F_CONTEXT))
		return;
	l = begin_enum(n);
	if (!strcmp(name, PROF_F_CONTEXT))
		enum_names_context(add_line, &l);
	else
		enum_names_user_end(add_line, &l);
	end_enum(n, field, &l);
}

/* ---- schemas ----------------------------------------------------------------------------------- */

/* A tracepoint's schema has the fields of its format, and some of the recorder's own. */
static void note_field(struct notes *n, const struct dial9_schema *s, size_t i,
		       const struct format_event *format)
{
	const char *event = dial9_schema_name(s), *name = dial9_schema_field_name(s, i);
	const struct format_field *f = format ? format_find(format, name) : NULL;

	note_known(n, i, f ? field_notes_of(format, f) : field_notes_known(event, name));
	if (f)
		note_print_fmt(n, i, format, f);
	else
		note_words(n, name, i);
	note_own_enum(n, event, name, i);
}

static int note_schema(struct notes *n, struct dial9_enc *enc, const struct dial9_schema *s,
		       const struct format_event *format)
{
	const size_t cnt = dial9_schema_field_cnt(s);
	int err;

	n->enums = xcalloc(cnt, sizeof(*n->enums));
	n->cnt = n->enum_cnt = 0;
	for (size_t i = 0; i < cnt; i++)
		note_field(n, s, i, format);
	err = dial9_enc_annotate_all(enc, s, n->v, n->cnt);
	for (size_t i = 0; i < n->enum_cnt; i++)
		buf_free(&n->enums[i]);
	free(n->enums);
	return err;
}

int annotate_all(struct dial9_enc *enc, const struct emit *emit, const struct eventset *events)
{
	struct dial9_schema *const *own;
	struct notes n = { 0 };
	int err = 0;
	size_t cnt;

	own = emit_schemas(emit, &cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = note_schema(&n, enc, own[i], NULL);
	for (size_t i = 0; i < events->cnt && !err; i++) {
		const struct event_def *def = events->defs[i];

		err = note_schema(&n, enc, def->compact, def->format);
		if (!err && def->wide)
			err = note_schema(&n, enc, def->wide, def->format);
	}
	free(n.v);
	return err;
}
