/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_TONBANDGERAET_SUPPORT_H
#define D9_TESTS_FORMATS_TONBANDGERAET_SUPPORT_H

/* Recordings in memory: put together event by event, converted, dumped as lines. */
#include "tests/formats/support.h"

#include "cmd/inspect/dump.h"
#include "formats/tonbandgeraet/event.h"

static inline struct buf load(const char *name)
{
	struct buf path = { 0 }, b;

	buf_printf(&path, "tonbandgeraet/%s", name);
	b = load_golden(buf_cstr(&path));
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

/* Any event with any values; its text, of any bytes, is in `text`. False: no event for this id. */
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

	return import_inputs(&tonband_format, f->in, f->cnt, &opts, out, notes);
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
	return export_one(&tonband_format, trace, out, notes);
}

static inline struct buf dump(const struct buf *rec, struct foreign_notes *notes)
{
	struct buf out = { 0 };

	cr_assert_eq(dump_one(&tonband_format, rec, &out, notes), 0);
	return out;
}

/* The events of a dial9 trace as printed by `dump --json`, which also checks it. */
static inline struct buf events_of(const struct buf *trace)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts),
				       .data = trace->data,
				       .data_sz = trace->len };
	struct buf out = { 0 };
	struct dump_cache cache;
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	dump_cache_init(&cache);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		dump_json_frame(&out, &cache, dec, &f);
		buf_addch(&out, '\n');
	}
	cr_assert_eq(ret, 0);
	dump_cache_fini(&cache);
	dial9_dec_free(dec);
	return out;
}

#endif /* D9_TESTS_FORMATS_TONBANDGERAET_SUPPORT_H */
