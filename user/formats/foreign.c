// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of formats, and the ledgers that all of them fill.
 *
 * Owns the notes (what is not kept, changed, damaged or dropped, by kind and count) and the facts that
 * info shows. It knows no format beyond its row in the table. Notes are bounded in kinds, not in
 * count: a hostile file may be wrong in a million places, but in few ways, and where a kind is made
 * from the file's own words the table stops growing at FOREIGN_NOTES_MAX. Words of the file end up
 * on a terminal, so they are cleaned here, once.
 */
#include "formats/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"

static const struct foreign_format *const formats[] = {
	&tonband_format,
	&heph_format,
	&apitrace_format,
	&perfdata_format,
};

enum { FORMAT_CNT = sizeof(formats) / sizeof(formats[0]) };

#define OTHER_KINDS "other kinds"

/* Control characters, C1 ones too, could drive a terminal. */
static char *clean(const char *s, size_t n)
{
	struct buf b = { 0 };

	str_escape_utf8(&b, s, n);
	for (size_t i = 0; i < b.len; i++) {
		unsigned char c = (unsigned char)b.data[i];

		if (c < 0x20 || c == 0x7f)
			b.data[i] = '?';
		else if (c == 0xc2 && (unsigned char)b.data[i + 1] < 0xa0)
			b.data[i] = b.data[i + 1] = '?';
	}
	return buf_steal(&b);
}

/* ---- notes ------------------------------------------------------------------------------------- */

static struct foreign_note *find_note(const struct foreign_notes *notes,
				      enum foreign_note_class cls, const char *kind)
{
	for (size_t i = 0; i < notes->cnt; i++)
		if (notes->v[i].cls == cls && !strcmp(notes->v[i].kind, kind))
			return &notes->v[i];
	return NULL;
}

static struct foreign_note *add_note(struct foreign_notes *notes, enum foreign_note_class cls,
				     const char *kind)
{
	struct foreign_note *note;

	notes->v = array_reserve(notes->v, &notes->cap, notes->cnt + 1, sizeof(*notes->v));
	note = &notes->v[notes->cnt++];
	*note = (struct foreign_note){ .cls = cls, .kind = xstrdup(kind) };
	return note;
}

void foreign_note(struct foreign_notes *notes, enum foreign_note_class cls, uint64_t n,
		  const char *kind, const char *first, ...)
{
	char *name = clean(kind, strlen(kind));
	struct foreign_note *note = find_note(notes, cls, name);
	struct buf b = { 0 };
	va_list ap;

	/* The kinds past the limit share one row a class. */
	if (!note && notes->cnt >= FOREIGN_NOTES_MAX) {
		note = find_note(notes, cls, OTHER_KINDS);
		if (!note)
			note = add_note(notes, cls, OTHER_KINDS);
	}
	if (!note) {
		note = add_note(notes, cls, name);
		if (first) {
			va_start(ap, first);
			buf_vprintf(&b, first, ap);
			va_end(ap);
			note->first = clean(buf_cstr(&b), b.len);
			buf_free(&b);
		}
	}
	note->count = n > UINT64_MAX - note->count ? UINT64_MAX : note->count + n;
	free(name);
}

uint64_t foreign_notes_count(const struct foreign_notes *notes, enum foreign_note_class cls,
			     const char *kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < notes->cnt; i++)
		if (notes->v[i].cls == cls && (!kind || !strcmp(notes->v[i].kind, kind)))
			sum += notes->v[i].count;
	return sum;
}

const char *foreign_note_class_name(enum foreign_note_class cls)
{
	switch (cls) {
	case FOREIGN_NOTE_NOT_KEPT:
		return "not kept";
	case FOREIGN_NOTE_CHANGED:
		return "changed";
	case FOREIGN_NOTE_DAMAGED:
		return "skipped";
	case FOREIGN_NOTE_DROPPED:
		return "dropped";
	case FOREIGN_NOTE_HINT:
		break;
	}
	return "note";
}

void foreign_notes_print(const struct foreign_notes *notes, struct buf *out)
{
	char count[32];

	for (int cls = FOREIGN_NOTE_NOT_KEPT; cls <= FOREIGN_NOTE_HINT; cls++) {
		for (size_t i = 0; i < notes->cnt; i++) {
			const struct foreign_note *note = &notes->v[i];

			if ((int)note->cls != cls)
				continue;
			str_count(count, note->count);
			buf_printf(out, "%-8s %10s  %s", foreign_note_class_name(note->cls), count,
				   note->kind);
			if (note->first)
				buf_printf(out, " (%s%s)", note->count > 1 ? "first: " : "",
					   note->first);
			buf_addch(out, '\n');
		}
	}
}

void foreign_notes_fini(struct foreign_notes *notes)
{
	for (size_t i = 0; i < notes->cnt; i++) {
		free(notes->v[i].kind);
		free(notes->v[i].first);
	}
	free(notes->v);
	*notes = (struct foreign_notes){ 0 };
}

/* ---- facts ------------------------------------------------------------------------------------- */

static struct foreign_fact *add_fact(struct foreign_facts *facts, const char *label)
{
	struct foreign_fact *fact;

	facts->v = array_reserve(facts->v, &facts->cap, facts->cnt + 1, sizeof(*facts->v));
	fact = &facts->v[facts->cnt++];
	*fact = (struct foreign_fact){ .label = clean(label, strlen(label)) };
	return fact;
}

void foreign_fact_text(struct foreign_facts *facts, const char *label, const char *fmt, ...)
{
	struct foreign_fact *fact = add_fact(facts, label);
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	fact->text = clean(buf_cstr(&b), b.len);
	buf_free(&b);
}

void foreign_fact_count(struct foreign_facts *facts, const char *label, uint64_t count)
{
	add_fact(facts, label)->count = count;
}

void foreign_fact_samples(struct foreign_facts *facts, const char *event, uint64_t count)
{
	struct foreign_fact *fact;
	char text[32];

	str_count(text, count);
	foreign_fact_text(facts, "event", "%s: %s samples", event, text);
	fact = &facts->v[facts->cnt - 1];
	fact->name = clean(event, strlen(event));
	fact->count = count;
}

void foreign_fact_ns(struct foreign_facts *facts, const char *label, uint64_t ns, int digits)
{
	const uint64_t rest = ns % 1000000000 / (digits < 9 ? 1000 : 1);
	struct foreign_fact *fact;

	foreign_fact_text(facts, label, "%" PRIu64 ".%0*" PRIu64 " s", ns / 1000000000, digits,
			  rest);
	fact = &facts->v[facts->cnt - 1];
	fact->is_ns = true;
	fact->count = ns;
}

void foreign_facts_fini(struct foreign_facts *facts)
{
	for (size_t i = 0; i < facts->cnt; i++) {
		free(facts->v[i].label);
		free(facts->v[i].text);
		free(facts->v[i].name);
	}
	free(facts->v);
	*facts = (struct foreign_facts){ 0 };
}

/* ---- memory as an input ------------------------------------------------------------------------ */

static ssize_t mem_read(void *ctx, void *buf, size_t sz)
{
	struct foreign_mem *m = ctx;
	size_t n = m->sz - m->pos < sz ? m->sz - m->pos : sz;

	if (n)
		memcpy(buf, (const char *)m->data + m->pos, n);
	m->pos += n;
	return (ssize_t)n;
}

static int mem_rewind(void *ctx)
{
	((struct foreign_mem *)ctx)->pos = 0;
	return 0;
}

void foreign_mem_input(struct foreign_mem *m, const void *data, size_t sz, struct foreign_input *in)
{
	*m = (struct foreign_mem){ .data = data, .sz = sz };
	*in = (struct foreign_input){
		.name = "memory", .read = mem_read, .rewind = mem_rewind, .ctx = m
	};
}

/* ---- the table --------------------------------------------------------------------------------- */

const struct foreign_format *foreign_find(const char *name)
{
	for (size_t i = 0; i < FORMAT_CNT; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct foreign_format *foreign_detect(const void *head, size_t sz, bool whole)
{
	const struct foreign_format *best = NULL;
	int best_score = 0;

	if (sz >= 4 && !memcmp(head, "TRC", 4))
		return NULL;
	for (size_t i = 0; i < FORMAT_CNT; i++) {
		int score = formats[i]->detect(head, sz, whole);

		if (score > best_score) {
			best_score = score;
			best = formats[i];
		}
	}
	return best;
}

/* ---- dial9 in ---------------------------------------------------------------------------------- */

int foreign_open_dec(const struct foreign_input *in, struct dial9_dec **out)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = in->read, .ctx = in->ctx };

	return dial9_dec_new(&opts, out);
}

bool foreign_is_stop(int err)
{
	return err == -EBADMSG || err == -E2BIG || err == -EPROTONOSUPPORT;
}

int foreign_end_dec(const struct foreign_input *in, int ret, const struct dial9_error *where,
		    struct foreign_notes *notes)
{
	if (ret == -ENODATA) {
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "torn end of the dial9 trace",
			     "%s: byte %" PRIu64, in->name, where->offset);
		return 0;
	}
	if (foreign_is_stop(ret)) {
		log_error("convert: %s: %s at byte %" PRIu64
			  ": %s; everything before it is converted, the rest is missing",
			  in->name, ret == -EPROTONOSUPPORT ? "stopped" : "damaged", where->offset,
			  where->reason);
		return -EBADMSG;
	}
	return ret;
}
