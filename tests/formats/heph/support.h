/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_HEPH_SUPPORT_H
#define D9_TESTS_FORMATS_HEPH_SUPPORT_H

/* Heph traces in memory: put together packet by packet, converted there and back, dumped. */
#include "tests/formats/support.h"

#include "base/log.h"
#include "formats/heph/wire.h"

static inline struct dial9_str str(const char *s)
{
	return (struct dial9_str){ s, strlen(s) };
}

static inline struct buf load(const char *stem, const char *suffix)
{
	struct buf path = { 0 }, b;

	buf_printf(&path, "heph/%s.%s", stem, suffix);
	b = load_golden(buf_cstr(&path));
	buf_free(&path);
	return b;
}

/*
 * ---- packets ------------------------------------------------------------------------------------
 */

static inline void put_epoch(struct buf *out, uint64_t epoch)
{
	struct buf value = { 0 };
	struct heph_meta m = { .name = { "epoch", 5 } };

	heph_wire_put_bits(&value, epoch);
	m.value = (struct dial9_str){ value.data, value.len };
	heph_wire_put_meta(out, &m);
	buf_free(&value);
}

static inline void put_event(struct buf *out, uint32_t stream, uint32_t counter, uint64_t start,
			     uint64_t end, const char *desc, const struct buf *attrs)
{
	struct heph_event ev = { .stream = stream,
				 .counter = counter,
				 .start_ns = start,
				 .end_ns = end,
				 .desc = str(desc) };

	if (attrs)
		ev.attrs = (struct dial9_str){ attrs->data, attrs->len };
	heph_wire_put_event(out, &ev);
}

static inline void put_u64(struct buf *attrs, const char *name, uint64_t v)
{
	heph_wire_put_attr(attrs,
			   &(struct heph_attr){ .name = str(name), .type = HEPH_U64, .bits = v });
}

static inline void put_text(struct buf *attrs, const char *name, const char *text)
{
	heph_wire_put_attr(attrs, &(struct heph_attr){
					  .name = str(name), .type = HEPH_STR, .text = str(text) });
}

/*
 * ---- conversions --------------------------------------------------------------------------------
 */

/* An input over memory that gives a few bytes at a time. */
struct trickle {
	struct foreign_mem mem;
	size_t step;
};

static inline ssize_t trickle_read(void *ctx, void *buf, size_t sz)
{
	struct trickle *t = ctx;
	size_t n = t->mem.sz - t->mem.pos;

	n = n < t->step ? n : t->step;
	n = n < sz ? n : sz;
	if (n)
		memcpy(buf, (const char *)t->mem.data + t->mem.pos, n);
	t->mem.pos += n;
	return (ssize_t)n;
}

static inline struct foreign_input trickle_input(struct trickle *t, const struct buf *b,
						 size_t step)
{
	*t = (struct trickle){ .mem = { .data = b->data, .sz = b->len }, .step = step };
	return (struct foreign_input){ .name = "memory", .read = trickle_read, .ctx = t };
}

static inline int import_to(const struct buf *heph, int level, struct foreign_notes *notes,
			    struct buf *out)
{
	struct foreign_opts opts = { .level = level };

	return import_one(&heph_format, heph, &opts, out, notes);
}

static inline int export_to(const struct buf *dial9, struct foreign_notes *notes, struct buf *out)
{
	return export_one(&heph_format, dial9, out, notes);
}

static inline struct buf import_ok(const struct buf *heph, int level)
{
	struct foreign_notes notes = { 0 };
	struct buf out = { 0 };

	cr_assert_eq(import_to(heph, level, &notes, &out), 0);
	foreign_notes_fini(&notes);
	return out;
}

static inline struct buf export_ok(const struct buf *dial9)
{
	struct foreign_notes notes = { 0 };
	struct buf out = { 0 };

	cr_assert_eq(export_to(dial9, &notes, &out), 0);
	foreign_notes_fini(&notes);
	return out;
}

static inline struct buf dump_in_steps(const struct buf *heph, size_t step, bool follow)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = follow };
	struct foreign_notes notes = { 0 };
	struct buf out = { 0 };
	struct trickle t;
	struct foreign_input in = trickle_input(&t, heph, step);

	cr_assert_eq(heph_format.dump(&in, &opts, add_to_buf, &out, &notes), 0);
	foreign_notes_fini(&notes);
	buf_cstr(&out);
	return out;
}

static inline struct buf dump(const struct buf *heph)
{
	return dump_in_steps(heph, SIZE_MAX, false);
}

static inline void assert_same(const struct buf *got, const struct buf *want, const char *what)
{
	size_t n = got->len < want->len ? got->len : want->len, i = 0;

	while (i < n && got->data[i] == want->data[i])
		i++;
	cr_assert(got->len == want->len && i == n,
		  "%s: %zu bytes, not %zu; first difference at %zu", what, got->len, want->len, i);
}

static inline size_t count(const struct buf *text, const char *word)
{
	const char *p = text->data, *end = p + text->len;
	size_t n = 0, len = strlen(word);

	for (; p && (p = memmem(p, (size_t)(end - p), word, len)); p += len)
		n++;
	return n;
}

#endif /* D9_TESTS_FORMATS_HEPH_SUPPORT_H */
