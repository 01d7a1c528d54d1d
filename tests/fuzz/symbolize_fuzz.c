// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes get symbols, as symbolize writes them, with made-up answers of a broker. The first byte
 * selects the answers, the rest is the trace. What must hold: the output reads to its end, begins like the
 * trace, and needs no more symbols from the same answers.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "rewrite/symbolize/symbolize_copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static volatile sig_atomic_t stop;

static int append(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

static struct source *source_of(const void *data, size_t sz)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct source *src;

	if (fd < 0 || write(fd, data, sz) != (ssize_t)sz || lseek(fd, 0, SEEK_SET) ||
	    source_open_fd(fd, "trace", &src))
		abort();
	return src;
}

/* A symbol for most addresses, an inlined function and a line for some. */
static void answer(struct symbolize_find *find, uint8_t how)
{
	size_t cnt;
	struct symbolize_find_module **v = symbolize_find_modules(find, &cnt);

	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; v[i]->why == SYMBOLIZE_FIND_FILE && k < v[i]->cnt; k++) {
			struct sym_client_answer a = {
				.kind = SYM_CLIENT_NAME,
				.module_id = (uint32_t)i + 1,
				.offset = v[i]->frames[k] & PROF_FRAME_OFFSET_MASK,
				.size = how & 4,
				.name = how & 8 ? "[f]" : "f\xff",
				.name_len = how & 8 ? 3 : 2,
			};

			if (a.offset % 7 == 6)
				continue;
			a.start = how & 16 ? a.offset + 1 : a.offset / 2;
			symbolize_find_add_answer(find, &a);
			if (!(how & 1))
				continue;
			a.kind = SYM_CLIENT_FRAME;
			a.depth = how & 2 ? 3 : 1;
			a.file = "f.c";
			a.file_len = 3;
			a.line = 5;
			symbolize_find_add_answer(find, &a);
		}
}

/* 0: the trace is refused, and nothing is written. */
static int symbolize(const void *data, size_t sz, uint8_t how, struct buf *out, uint64_t *added)
{
	struct symbolize_find_cfg cfg = { .lines = how & 32, .stop = &stop };
	const struct cut_out to = { append, out };
	struct symbolize_copy c = { 0 };
	struct symbolize_find *find;
	struct source *src;
	int err, calls = 0;
	bool reported;

	if (reader_new(source_of(data, sz), READER_ONE_PASS, &c.reader))
		return 0;
	cfg.names = reader_names(c.reader);
	find = symbolize_find_new(&cfg);
	err = symbolize_copy_scan(&c, find, &stop);
	if (!err && !reader_is_newer(c.reader)) {
		answer(find, how);
		src = source_of(data, sz);
		if (reader_rewind(c.reader) ||
		    symbolize_copy_write(&c, find, src, &to, &stop, added, &reported))
			abort();
		source_close(src);
		calls = 1;
	}
	symbolize_find_free(find);
	symbolize_copy_fini(&c);
	reader_free(c.reader);
	return calls;
}

static void check_whole(const struct buf *out)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = out->data, .data_sz = out->len };
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	if (dial9_dec_new(&opts, &dec))
		abort();
	while ((ret = dial9_dec_next(dec, &f)) == 1)
		;
	if (ret)
		abort();
	dial9_dec_free(dec);
}

static void mute(void)
{
	static int done;

	if (done)
		return;
	done = 1;
	log_set_level(LOG_LEVEL_QUIET);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct buf once = { 0 }, twice = { 0 };
	uint64_t added, more;

	mute();
	if (!sz)
		return 0;
	if (symbolize(data + 1, sz - 1, data[0], &once, &added)) {
		check_whole(&once);
		if (!symbolize(once.data, once.len, data[0], &twice, &more) || more ||
		    once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
			abort();
	}
	buf_free(&once);
	buf_free(&twice);
	return 0;
}
