// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads Go's table of functions: names, code ranges, and the depth of the stack at each instruction.
 *
 * Go's own stack traces need the table, so it is in all files, also stripped ones. Its first word has
 * the layout. Offsets and counts are untrusted.
 */
#include "symbol/cfi/gopclntab.h"

#include <string.h>

#include "symbol/elf/elfimg.h"

enum {
	MAGIC_16 = 0xfffffffa, /* Go 1.16 */
	MAGIC_18 = 0xfffffff0, /* Go 1.18 */
	MAGIC_20 = 0xfffffff1, /* Go 1.20 */
	WORD = 8,
	HEAD = 8, /* magic, zeros, quantum, size of a word */
	FUNC_SZ = 44, /* the part of a function's record that is read */
	/* Searches are not divided into slices: other files would wait. */
	SEARCH_MAX = 256 << 20, /* bytes of a file */
	CODE_MAX = 32 << 20, /* bytes of code; the runtime comes first */
	FUNCS_MAX = 1 << 20,
};

static uint32_t read32(const struct gopclntab *t, uint64_t off)
{
	uint32_t val = 0;

	if (off <= t->size && t->size - off >= sizeof(val))
		memcpy(&val, t->data + off, sizeof(val));
	return val;
}

static uint64_t read64(const struct gopclntab *t, uint64_t off)
{
	return read32(t, off) | (uint64_t)read32(t, off + 4) << 32;
}

/* ---- the table's head --------------------------------------------------------------------------- */

/* Reads the head; t->data and t->size are set. */
static bool read_head(struct gopclntab *t)
{
	uint32_t magic = read32(t, 0), at;

	if (t->size < HEAD + 8 * WORD || t->data[4] || t->data[5] || t->data[7] != WORD)
		return false;
	if (magic != MAGIC_16 && magic != MAGIC_18 && magic != MAGIC_20)
		return false;
	t->quantum = t->data[6];
	t->narrow = magic != MAGIC_16;
	t->flags_at = magic == MAGIC_18 ? 37 : 41;
	t->func_cnt = read64(t, HEAD);
	t->text = t->narrow ? read64(t, HEAD + 2 * WORD) : 0;
	at = HEAD + (t->narrow ? 3 : 2) * WORD;
	t->names = read64(t, at);
	t->pcs = read64(t, at + 3 * WORD);
	t->funcs = read64(t, at + 4 * WORD);
	return t->func_cnt && t->func_cnt < t->size / WORD && t->names < t->size &&
	       t->pcs < t->size && t->funcs < t->size;
}

/* Some linkers put the table into another section: searches the file. */
static bool search(struct gopclntab *t, const struct elfimg *img)
{
	static const uint8_t middle[] = { 0xff, 0xff, 0xff, 0, 0, 1, WORD };
	const uint8_t *at = img->bytes, *end = img->bytes + img->size;
	const uint8_t *last = img->size > SEARCH_MAX ? at + SEARCH_MAX : end;

	while ((at = memmem(at, last - at, middle, sizeof(middle)))) {
		t->data = at - 1;
		t->size = end - t->data;
		if (at > img->bytes && read_head(t))
			return true;
		at++;
	}
	return false;
}

static bool find_table(struct gopclntab *t, const struct elfimg *img)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	struct elfimg_sec sec;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!elfimg_find(img, names[i], &sec))
			continue;
		t->data = elfimg_data(img, &sec, &t->size);
		return t->data && read_head(t);
	}
	return elfimg_find(img, ".note.go.buildid", &sec) && search(t, img);
}

/*
 * The address of the text if goexit is in this segment, at @off from it; otherwise 0. @left: bytes that may
 * still be searched.
 */
static uint64_t find_goexit(const struct elfimg *img, const struct elfimg_seg *seg, uint64_t off,
			    uint64_t called, uint64_t *left)
{
	enum { CALL = 0xe8, NOP = 0x90, SIZE = 7 };
	const uint8_t *code = img->bytes + seg->off;
	uint64_t size = seg->size, at;
	int32_t to;

	if (seg->off >= img->size)
		return 0;
	if (size > img->size - seg->off)
		size = img->size - seg->off;
	if (size > *left)
		size = *left;
	*left -= size;
	for (at = 0; at + SIZE <= size; at++) {
		if (code[at] != NOP || code[at + 1] != CALL || code[at + 6] != NOP)
			continue;
		memcpy(&to, code + at + 2, sizeof(to));
		if ((uint64_t)(int64_t)to + 6 == called && seg->vaddr + at >= off)
			return seg->vaddr + at - off;
	}
	return 0;
}

/*
 * Position-independent files relocate the address of the text when they start, and Go 1.26 does not
 * write it. Then two functions show it: goexit consists of a no-op, a call of goexit1, and a no-op.
 */
static uint64_t find_text(const struct gopclntab *t, const struct elfimg *img)
{
	struct gopclntab_func f;
	uint64_t exit_at = 0, called_at = 0, text = 0, left = CODE_MAX, i;
	unsigned int s;

	for (i = 0; i < t->func_cnt && i < FUNCS_MAX; i++) {
		if (!gopclntab_func(t, i, &f))
			continue;
		if (!strcmp(f.name, "runtime.goexit") || !strcmp(f.name, "runtime.goexit.abi0"))
			exit_at = f.start;
		if (!strcmp(f.name, "runtime.goexit1"))
			called_at = f.start;
	}
	for (s = 0; exit_at && called_at && !text && s < img->seg_cnt; s++)
		text = find_goexit(img, &img->segs[s], exit_at, called_at - exit_at, &left);
	return text;
}

bool gopclntab_open(struct gopclntab *t, const struct elfimg *img)
{
	*t = (struct gopclntab){ 0 };
	if (find_table(t, img)) {
		if (t->narrow && !t->text)
			t->text = find_text(t, img);
		if (t->text || !t->narrow)
			return true;
	}
	*t = (struct gopclntab){ 0 };
	return false;
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* "" for a long name, or a damaged one. */
static const char *name_at(const struct gopclntab *t, uint64_t off)
{
	const char *name = (const char *)t->data + off;
	uint64_t max = off < t->size ? t->size - off : 0;

	if (max > GOPCLNTAB_NAME_MAX)
		max = GOPCLNTAB_NAME_MAX;
	return max && memchr(name, 0, max) ? name : "";
}

bool gopclntab_func(const struct gopclntab *t, uint64_t i, struct gopclntab_func *out)
{
	uint32_t entry_sz = t->narrow ? sizeof(uint32_t) : sizeof(uint64_t), rest;
	uint64_t at = t->funcs + 2 * i * entry_sz, func;

	if (i >= t->func_cnt || at > t->size || t->size - at < 3 * entry_sz)
		return false;
	if (t->narrow) {
		out->start = t->text + read32(t, at);
		func = t->funcs + read32(t, at + entry_sz);
		out->end = t->text + read32(t, at + 2 * entry_sz);
		rest = 4;
	} else {
		out->start = read64(t, at);
		func = t->funcs + read64(t, at + entry_sz);
		out->end = read64(t, at + 2 * entry_sz);
		rest = 8;
	}
	if (func > t->size || t->size - func < FUNC_SZ || out->end <= out->start)
		return false;
	out->name = name_at(t, t->names + read32(t, func + rest));
	out->depths = read32(t, func + rest + 12);
	out->flags = t->data[func + t->flags_at];
	return true;
}

/* ---- depths of the stack ------------------------------------------------------------------------ */

static bool read_varint(struct gopclntab_depths *d, uint32_t *val)
{
	const struct gopclntab *t = d->table;
	unsigned int shift;

	*val = 0;
	for (shift = 0; shift < 32; shift += 7) {
		uint8_t byte;

		if (d->pos >= t->size)
			return false;
		byte = t->data[d->pos++];
		*val |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

void gopclntab_depths(struct gopclntab_depths *d, const struct gopclntab *t,
		      const struct gopclntab_func *f)
{
	*d = (struct gopclntab_depths){
		.table = t,
		.pos = f->depths ? t->pcs + f->depths : UINT64_MAX,
		.end = f->start,
		.func_end = f->end,
		.depth = -1,
	};
}

bool gopclntab_next(struct gopclntab_depths *d)
{
	uint32_t change, step;

	if (d->end >= d->func_end || !read_varint(d, &change) || (!change && d->started) ||
	    !read_varint(d, &step) || !step || !d->table->quantum)
		return false;
	d->started = true;
	d->depth += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
	d->start = d->end;
	d->end += (uint64_t)step * d->table->quantum;
	if (d->end > d->func_end)
		d->end = d->func_end;
	return true;
}
