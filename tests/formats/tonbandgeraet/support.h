/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_TONBANDGERAET_SUPPORT_H
#define D9_TESTS_FORMATS_TONBANDGERAET_SUPPORT_H

/* Recordings in memory: put together event by event, converted, dumped as lines. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/dump.h"
#include "formats/foreign.h"
#include "formats/tonbandgeraet/event.h"

/* Refusals print their line by design. */
static inline void quiet(void)
{
	int fd = open("/dev/null", O_WRONLY);

	dup2(fd, STDERR_FILENO);
	close(fd);
}

static inline int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

static inline struct buf load(const char *name)
{
	const char *top = getenv("D9_TOP");
	struct buf path = { 0 }, b = { 0 };
	char piece[4096];
	size_t n;
	FILE *f;

	buf_printf(&path, "%s/tests/golden/tonbandgeraet/%s", top ? top : ".", name);
	f = fopen(buf_cstr(&path), "rb");
	cr_assert(f, "cannot open %s", buf_cstr(&path));
	while ((n = fread(piece, 1, sizeof(piece), f)))
		buf_add(&b, piece, n);
	fclose(f);
	buf_free(&path);
	return b;
}

/* One event at the end of a recording. */
static inline void event(struct buf *rec, int id, uint64_t ts, uint64_t a, uint64_t b,
			 const char *str)
{
	struct tonband_event ev = { .id = (uint8_t)id,
				    .type = tonband_event_type((unsigned int)id),
				    .ts = ts,
				    .num = { a, b },
				    .str = str ? str : "",
				    .str_len = str ? strlen(str) : 0 };

	tonband_event_write(rec, &ev);
}

/* A stream that cannot go back, in small pieces. */
static inline ssize_t pipe_read(void *ctx, void *buf, size_t sz)
{
	struct foreign_mem *m = ctx;
	size_t n = m->pos % 7 + 1;

	n = n < sz ? n : sz;
	n = n < m->sz - m->pos ? n : m->sz - m->pos;
	memcpy(buf, (const char *)m->data + m->pos, n);
	m->pos += n;
	return (ssize_t)n;
}

static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Short and long numbers are equally likely. */
static inline uint64_t random_number(uint64_t *seed, enum tonband_kind kind)
{
	uint64_t v = next_random(seed) >> next_random(seed) % 64;

	if (kind == TONBAND_U32)
		return (uint32_t)v;
	return kind == TONBAND_QUEUE_KIND ? v % 6 : v;
}

#define RANDOM_TEXT_MAX 1024

/* Any event with any values; its text, of any bytes, is in `text`. False: no such id, this time. */
static inline bool random_event(uint64_t *seed, char *text, struct tonband_event *ev)
{
	unsigned int id = (unsigned int)(next_random(seed) % 256);

	*ev = (struct tonband_event){ .id = (uint8_t)id, .type = tonband_event_type(id) };
	if (!ev->type)
		return false;
	ev->ts = ev->type->has_ts ? random_number(seed, TONBAND_U64) : 0;
	for (int f = 0; f < TONBAND_FIELDS_MAX && ev->type->fields[f].name; f++)
		ev->num[f] = random_number(seed, ev->type->fields[f].kind);
	if (!ev->type->str)
		return true;
	ev->str = text;
	ev->str_len = next_random(seed) % (RANDOM_TEXT_MAX >> next_random(seed) % 8);
	for (size_t k = 0; k < ev->str_len; k++)
		text[k] = (char)(next_random(seed) % 300 ? next_random(seed) : 0);
	return true;
}

#define FILES_MAX 4

struct files {
	struct foreign_mem mem[FILES_MAX];
	struct foreign_input in[FILES_MAX];
	size_t cnt;
};

static inline void add_file(struct files *f, const struct buf *rec)
{
	foreign_mem_input(&f->mem[f->cnt], rec->data, rec->len, &f->in[f->cnt]);
	f->cnt++;
}

static inline void add_core_file(struct files *f, const struct buf *rec, uint32_t core)
{
	add_file(f, rec);
	f->in[f->cnt - 1].has_core = true;
	f->in[f->cnt - 1].core = core;
}

static inline int import_files(struct files *f, bool follow, struct buf *out,
			       struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = follow };
	struct dial9_enc_opts enc_opts = {
		.sz = sizeof(enc_opts), .write = add_to_buf, .ctx = out, .first_type_id = 256
	};
	struct dial9_enc *enc;
	int err;

	for (size_t i = 0; follow && i < f->cnt; i++) {
		f->in[i].read = pipe_read;
		f->in[i].rewind = NULL;
	}
	cr_assert_eq(dial9_enc_new(&enc_opts, &enc), 0);
	err = tonband_format.import(f->in, f->cnt, &opts, enc, notes);
	cr_assert_eq(dial9_enc_flush(enc), 0);
	dial9_enc_free(enc);
	return err;
}

static inline int import(const struct buf *rec, bool follow, struct buf *out,
			 struct foreign_notes *notes)
{
	struct files f = { 0 };

	add_file(&f, rec);
	return import_files(&f, follow, out, notes);
}

static inline int export(const struct buf *trace, struct buf *out, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, trace->data, trace->len, &in);
	return tonband_format.export(&in, &opts, add_to_buf, out, notes);
}

static inline struct buf dump(const struct buf *rec, struct foreign_notes *notes)
{
	struct foreign_opts opts = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	struct buf out = { 0 };

	foreign_mem_input(&mem, rec->data, rec->len, &in);
	cr_assert_eq(tonband_format.dump(&in, &opts, add_to_buf, &out, notes), 0);
	return out;
}

/* The events of a dial9 trace as `dump --json` has them, and proof that it is one. */
static inline struct buf events_of(const struct buf *trace)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts),
				       .data = trace->data,
				       .data_sz = trace->len };
	struct buf out = { 0 };
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		dump_json_frame(&out, dec, &f);
		buf_addch(&out, '\n');
	}
	cr_assert_eq(ret, 0);
	dial9_dec_free(dec);
	return out;
}

#endif
