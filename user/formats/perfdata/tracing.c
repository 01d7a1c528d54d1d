// SPDX-License-Identifier: BSD-2-Clause
/*
 * tracing.c - the tracepoint formats in a perf.data file
 *
 * A section of the kernel's format files, written by perf. Anyone may have written the file, so libtraceevent, which
 * hostile text crashes, does not see it. Here only the lines with fields are read, strictly: a format with a line that
 * is not understood is not used. Kinds of fields are decided as in the recorder, so that both write equal schemas.
 */
#include "formats/perfdata/tracing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"

#define MAGIC "\x17\x08\x44tracing"
#define COMMON "common_"

enum {
	FORMATS_MAX = 65536,
	FIELDS_MAX = 1024,
	RECORD_MAX = 65535, /* dynamic fields have 16-bit offsets */
	NAME_MAX_LEN = 255,
};

static void free_format(struct perfdata_format *f)
{
	for (size_t i = 0; i < f->cnt; i++)
		free(f->fields[i].name);
	free(f->fields);
	free(f->name);
}

void perfdata_tracing_fini(struct perfdata_tracing *t)
{
	for (size_t i = 0; i < t->cnt; i++)
		free_format(&t->formats[i]);
	free(t->formats);
	hmap_fini(&t->by_id);
	*t = (struct perfdata_tracing){ 0 };
}

const struct perfdata_format *perfdata_tracing_find(const struct perfdata_tracing *t, uint64_t id)
{
	size_t at = (uintptr_t)hmap_get(&t->by_id, id);

	return at ? &t->formats[at - 1] : NULL;
}

/* ---- words ------------------------------------------------------------------------------------- */

/* A piece of the text. */
struct span {
	const char *s;
	size_t len;
};

static bool span_is(struct span w, const char *word)
{
	return w.len == strlen(word) && !memcmp(w.s, word, w.len);
}

static bool strip_start(struct span *w, const char *word)
{
	size_t len = strlen(word);

	if (w->len < len || memcmp(w->s, word, len) != 0)
		return false;
	w->s += len;
	w->len -= len;
	return true;
}

static void strip_end_blanks(struct span *w)
{
	while (w->len && w->s[w->len - 1] == ' ')
		w->len--;
}

/* Cuts off what is before the first c: false without one. */
static bool cut_at(struct span *rest, char c, struct span *out)
{
	const char *at = memchr(rest->s, c, rest->len);

	if (!at)
		return false;
	*out = (struct span){ rest->s, (size_t)(at - rest->s) };
	rest->len -= out->len + 1;
	rest->s = at + 1;
	return true;
}

static bool span_number(struct span w, uint64_t max, uint64_t *out)
{
	char text[24];

	if (!w.len || w.len >= sizeof(text))
		return false;
	memcpy(text, w.s, w.len);
	text[w.len] = '\0';
	return !str_parse_u64(text, max, out);
}

/* "\toffset:8;" */
static bool take_number(struct span *rest, const char *key, uint64_t max, uint64_t *out)
{
	struct span part;

	return cut_at(rest, ';', &part) && strip_start(&part, key) && span_number(part, max, out);
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static bool is_name(struct span w)
{
	for (size_t i = 0; i < w.len; i++)
		if (!is_name_char(w.s[i]))
			return false;
	return w.len && w.len <= NAME_MAX_LEN;
}

/* ---- fields ------------------------------------------------------------------------------------ */

/* "const char *name", "char comm[16]", "__data_loc char[] name": the type, without brackets, and the name. */
struct declaration {
	struct span type, name;
	bool array, dynamic, relative;
};

static bool parse_declaration(struct span d, struct declaration *out)
{
	const char *bracket;
	size_t at;

	*out = (struct declaration){ 0 };
	out->relative = strip_start(&d, "__rel_loc ");
	out->dynamic = out->relative || strip_start(&d, "__data_loc ");
	if (d.len && d.s[d.len - 1] == ']') {
		bracket = memchr(d.s, '[', d.len);
		if (!bracket)
			return false;
		out->array = true;
		d.len = (size_t)(bracket - d.s);
	}
	strip_end_blanks(&d);
	for (at = d.len; at && is_name_char(d.s[at - 1]); at--)
		;
	out->name = (struct span){ d.s + at, d.len - at };
	out->type = (struct span){ d.s, at };
	bracket = memchr(d.s, '[', at);
	if (bracket) {
		out->array = true;
		out->type.len = (size_t)(bracket - d.s);
	}
	strip_start(&out->type, "const ");
	strip_start(&out->type, "volatile ");
	strip_end_blanks(&out->type);
	return is_name(out->name) && out->type.len;
}

static enum perfdata_field_kind kind_of(const struct declaration *d, uint64_t size, bool is_signed)
{
	bool text = span_is(d->type, "char");

	if (d->relative)
		return text ? PERFDATA_FIELD_REL_STRING : PERFDATA_FIELD_REL_BYTES;
	if (d->dynamic)
		return text ? PERFDATA_FIELD_STRING : PERFDATA_FIELD_DYN_BYTES;
	if (d->array)
		return text ? PERFDATA_FIELD_CHARS : PERFDATA_FIELD_BYTES;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return PERFDATA_FIELD_BYTES; /* a struct */
	if (size == 1 && (span_is(d->type, "bool") || span_is(d->type, "_Bool")))
		return PERFDATA_FIELD_BOOL;
	return is_signed ? PERFDATA_FIELD_SINT : PERFDATA_FIELD_UINT;
}

static bool has_field(const struct perfdata_format *f, struct span name)
{
	for (size_t i = 0; i < f->cnt; i++)
		if (span_is(name, f->fields[i].name))
			return true;
	return false;
}

/* A line after "\tfield:" */
static bool add_field(struct perfdata_format *f, struct span line)
{
	uint64_t off, size, is_signed = 0;
	struct declaration d;
	struct span decl;

	if (!cut_at(&line, ';', &decl) || !parse_declaration(decl, &d) ||
	    !take_number(&line, "\toffset:", RECORD_MAX, &off) ||
	    !take_number(&line, "\tsize:", RECORD_MAX, &size) ||
	    (line.len && !take_number(&line, "\tsigned:", 1, &is_signed)))
		return false;
	if (strip_start(&d.name, COMMON))
		return true;
	if (off + size > RECORD_MAX || (d.dynamic && size != sizeof(uint32_t)) ||
	    f->cnt >= FIELDS_MAX || has_field(f, d.name))
		return false;
	f->fields = array_reserve(f->fields, &f->cap, f->cnt + 1, sizeof(*f->fields));
	f->fields[f->cnt++] = (struct perfdata_field){ .name = xstrndup(d.name.s, d.name.len),
						       .off = (uint32_t)off,
						       .size = (uint32_t)size,
						       .kind = kind_of(&d, size, is_signed) };
	return true;
}

static bool parse_lines(struct span text, const char *system, struct perfdata_format *f)
{
	bool has_id = false;
	struct buf name = { 0 };
	struct span line;

	while (cut_at(&text, '\n', &line)) {
		if (strip_start(&line, "name: ") && is_name(line) && !f->name) {
			buf_printf(&name, "%s:%.*s", system, (int)line.len, line.s);
			f->name = buf_steal(&name);
		} else if (strip_start(&line, "ID: ")) {
			has_id = span_number(line, UINT32_MAX, &f->id);
		} else if (strip_start(&line, "\tfield:") && !add_field(f, line)) {
			return false;
		} else if (strip_start(&line, "print fmt:")) {
			break;
		}
	}
	return has_id && f->name;
}

bool perfdata_tracing_add(struct perfdata_tracing *t, const char *system,
			  struct perfdata_bytes text)
{
	struct perfdata_format f = { 0 };

	if (t->cnt >= FORMATS_MAX || !is_name((struct span){ system, strlen(system) }) ||
	    !parse_lines((struct span){ (const char *)text.p, text.sz }, system, &f) ||
	    perfdata_tracing_find(t, f.id)) {
		free_format(&f);
		return false;
	}
	t->formats = array_reserve(t->formats, &t->cap, t->cnt + 1, sizeof(*t->formats));
	t->formats[t->cnt++] = f;
	hmap_set(&t->by_id, f.id, (void *)(uintptr_t)t->cnt);
	return true;
}

/* ---- the section ------------------------------------------------------------------------------- */

/* A file's text after its size. */
static bool take_file(struct perfdata_bytes *b, struct perfdata_bytes *out)
{
	uint64_t sz;

	return perfdata_bytes_u64(b, &sz) && perfdata_bytes_take(b, sz, out);
}

static bool skip_named_file(struct perfdata_bytes *b, const char *name)
{
	struct perfdata_bytes file;
	const char *text;

	return perfdata_bytes_text(b, &text) && !strcmp(text, name) && take_file(b, &file);
}

/* Magic, version, byte order, size of long and of a page, and formats of the ring buffer and of ftrace. */
static bool skip_head(struct perfdata_bytes *b)
{
	struct perfdata_bytes part;
	const char *version;
	uint32_t page_sz, cnt;
	uint8_t big_endian, long_sz;
	bool ok;

	if (!perfdata_bytes_take(b, sizeof(MAGIC) - 1, &part) ||
	    memcmp(part.p, MAGIC, sizeof(MAGIC) - 1) != 0 || !perfdata_bytes_text(b, &version) ||
	    !perfdata_bytes_get(b, &big_endian, 1) || big_endian ||
	    !perfdata_bytes_get(b, &long_sz, 1) || !perfdata_bytes_u32(b, &page_sz) ||
	    !skip_named_file(b, "header_page") || !skip_named_file(b, "header_event"))
		return false;
	ok = perfdata_bytes_u32(b, &cnt);
	while (ok && cnt--)
		ok = take_file(b, &part);
	return ok;
}

static bool read_system(struct perfdata_tracing *t, struct perfdata_bytes *b,
			struct foreign_notes *notes)
{
	struct perfdata_bytes text;
	const char *system;
	uint32_t cnt;

	if (!perfdata_bytes_text(b, &system) || !perfdata_bytes_u32(b, &cnt))
		return false;
	while (cnt--) {
		if (!take_file(b, &text))
			return false;
		if (!perfdata_tracing_add(t, system, text))
			foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "unusable tracepoint formats",
				     "of system %s", system);
	}
	return true;
}

void perfdata_tracing_read(struct perfdata_tracing *t, struct perfdata_bytes b,
			   struct foreign_notes *notes)
{
	uint32_t cnt;
	bool ok = skip_head(&b) && perfdata_bytes_u32(&b, &cnt);

	while (ok && cnt--)
		ok = read_system(t, &b, notes);
	if (!ok)
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "damaged tracepoint formats", NULL);
}

/* ---- values ------------------------------------------------------------------------------------ */

bool perfdata_field_bytes(const struct perfdata_field *f, struct perfdata_bytes raw,
			  struct perfdata_bytes *out)
{
	bool relative = f->kind == PERFDATA_FIELD_REL_STRING || f->kind == PERFDATA_FIELD_REL_BYTES;
	bool dynamic =
		relative || f->kind == PERFDATA_FIELD_STRING || f->kind == PERFDATA_FIELD_DYN_BYTES;
	bool text = f->kind == PERFDATA_FIELD_CHARS || f->kind == PERFDATA_FIELD_STRING ||
		    f->kind == PERFDATA_FIELD_REL_STRING;
	size_t off = f->off, n = f->size;
	uint32_t word;

	if (off + n > raw.sz)
		return false;
	if (dynamic) {
		memcpy(&word, raw.p + off, sizeof(word));
		off = (word & 0xffff) + (relative ? off + sizeof(word) : 0);
		n = word >> 16;
		if (off + n > raw.sz)
			return false;
	}
	*out = (struct perfdata_bytes){ raw.p + off, n };
	if (text)
		out->sz = strnlen((const char *)out->p, n);
	return true;
}

bool perfdata_field_int(const struct perfdata_field *f, struct perfdata_bytes raw, int64_t *out)
{
	unsigned int shift = 64 - 8 * f->size;
	uint64_t v = 0;

	if ((size_t)f->off + f->size > raw.sz)
		return false;
	memcpy(&v, raw.p + f->off, f->size);
	*out = f->kind == PERFDATA_FIELD_SINT ? (int64_t)(v << shift) >> shift : (int64_t)v;
	return true;
}
