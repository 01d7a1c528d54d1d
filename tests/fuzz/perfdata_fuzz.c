// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a perf.data file, or as a dial9 trace to write as one. The reader must survive them, read the same whole
 * and in small pieces, write events that dial9's own decoder accepts, and make the same of a pipe that is read once when
 * nothing describes the recording late. What is written must be read again without damage, with a size as its header
 * has it.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "formats/foreign.h"
#include "prof_unwind.h"
#include "unwind/table.h"

enum { RECORDS_AT = 264 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

struct trickle {
	struct foreign_mem mem;
	size_t step;
};

static ssize_t trickle_read(void *ctx, void *buf, size_t sz)
{
	struct trickle *t = ctx;
	size_t n = t->mem.sz - t->mem.pos;

	n = n < t->step ? n : t->step;
	n = n < sz ? n : sz;
	if (n)
		memcpy(buf, (const char *)t->mem.data + t->mem.pos, n);
	t->mem.pos += n;
	t->step = t->step * 5 % 251 + 1;
	return (ssize_t)n;
}

static int trickle_rewind(void *ctx)
{
	((struct trickle *)ctx)->mem.pos = 0;
	return 0;
}

static int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

/* Every file has this table: one page, whose functions have no frame. */
static void find_table(void *ctx, const struct foreign_module *file,
		       void (*take)(void *arg, const struct unwind_table *table), void *arg)
{
	uint32_t words[] = { 1U << PROF_UNWIND_INDEX_COUNT_BITS, 1U << PROF_UNWIND_ROW_OFF_SHIFT };
	const struct unwind_table table = { .words = words, .cnt = 2, .page_cnt = 1 };

	assert(unwind_table_check(&table));
	take(arg, &table);
}

static const struct foreign_unwind unwind = { .find = find_table };

static int import(const struct foreign_input *in, size_t cnt, int level, struct buf *out)
{
	struct dial9_enc_opts eo = {
		.sz = sizeof(eo), .write = add_to_buf, .ctx = out, .level = level
	};
	struct foreign_opts opts = { .level = level, .follow = !in->rewind, .unwind = &unwind };
	struct foreign_notes notes = { 0 };
	struct dial9_enc *enc;
	int err;

	assert(!dial9_enc_new(&eo, &enc));
	err = perfdata_format.import(in, cnt, &opts, enc, &notes);
	/* a file that is followed is wrong usage, and so are several that are no directory */
	assert(!err || err == -EBADMSG || (err == -EINVAL && (opts.follow || cnt > 1)));
	assert(!dial9_enc_flush(enc));
	dial9_enc_free(enc);
	foreign_notes_fini(&notes);
	return err;
}

static void check_dial9(const struct buf *bytes)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts),
				       .data = bytes->data,
				       .data_sz = bytes->len };
	struct dial9_frame frame;
	struct dial9_dec *dec;
	int ret;

	assert(!dial9_dec_new(&opts, &dec));
	while ((ret = dial9_dec_next(dec, &frame)) > 0)
		;
	assert(!ret);
	dial9_dec_free(dec);
}

/* A dial9 trace as perf.data: whatever the trace is, the file is complete, and we can read it. */
static void check_export(const void *data, size_t sz)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 }, read_notes = { 0 };
	struct foreign_facts facts = { 0 };
	struct buf out = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	err = perfdata_format.export(&in, &opts, add_to_buf, &out, &notes);
	assert(!err || err == -EBADMSG);
	assert(out.len);
	foreign_mem_input(&mem, out.data, out.len, &in);
	assert(!perfdata_format.info(&in, &opts, &facts, &read_notes));
	assert(!foreign_notes_count(&read_notes, FOREIGN_NOTE_DAMAGED, NULL));
	foreign_facts_fini(&facts);
	foreign_notes_fini(&notes);
	foreign_notes_fini(&read_notes);
	buf_free(&out);
}

static void check_import(const uint8_t *data, size_t sz, int level)
{
	struct trickle t = { .mem = { .data = data, .sz = sz }, .step = 7 };
	struct foreign_input small = {
		.name = "small", .read = trickle_read, .rewind = trickle_rewind, .ctx = &t
	};
	struct buf a = { 0 }, b = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	err = import(&in, 1, level, &a);
	assert(err == import(&small, 1, level, &b));
	assert(a.len == b.len && !memcmp(a.data, b.data, a.len));
	check_dial9(&a);
	check_export(a.data, a.len);
	buf_clear(&a);
	foreign_mem_input(&mem, data, sz, &in);
	in.rewind = NULL;
	import(&in, 1, level, &a);
	check_dial9(&a);
	buf_free(&a);
	buf_free(&b);
}

/* A directory: the file, and its bytes after the header of a file with one event. */
static void check_directory(const uint8_t *data, size_t sz)
{
	const size_t skip = sz < RECORDS_AT ? sz : RECORDS_AT;
	struct foreign_input in[2];
	struct foreign_mem mem[2];
	struct buf out = { 0 };

	foreign_mem_input(&mem[0], data, sz, &in[0]);
	foreign_mem_input(&mem[1], data + skip, sz - skip, &in[1]);
	import(in, 2, DIAL9_LEVEL_3, &out);
	check_dial9(&out);
	buf_free(&out);
}

static void check_dump(const uint8_t *data, size_t sz)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 };
	struct foreign_facts facts = { 0 };
	struct buf out = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	err = perfdata_format.dump(&in, &opts, add_to_buf, &out, &notes);
	assert(!err || err == -EBADMSG);
	foreign_mem_input(&mem, data, sz, &in);
	assert(err == perfdata_format.info(&in, &opts, &facts, &notes));
	foreign_facts_fini(&facts);
	foreign_notes_fini(&notes);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	log_set_level(LOG_LEVEL_QUIET);
	perfdata_format.detect(data, sz, true);
	check_import(data, sz, DIAL9_LEVEL_3);
	check_import(data, sz, DIAL9_LEVEL_4);
	check_directory(data, sz);
	check_dump(data, sz);
	check_export(data, sz);
	return 0;
}
