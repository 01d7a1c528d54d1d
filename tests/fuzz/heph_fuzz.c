// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a Heph trace. The reader must survive them, return every byte in one item, return the same for
 * whole input and for small chunks, and a round trip through dial9 must restore the same bytes. The writer also
 * gets any bytes as dial9; it must survive them and write nothing that its own reader reports as damaged,
 * except damage of the input.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "formats/foreign.h"
#include "formats/heph/scan.h"

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

static int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

static int dump(const struct foreign_input *in, struct buf *out)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 };
	int err = heph_format.dump(in, &opts, add_to_buf, out, &notes);

	foreign_notes_fini(&notes);
	return err;
}

static void check_dump(const uint8_t *data, size_t sz)
{
	struct trickle t = { .mem = { .data = data, .sz = sz }, .step = 7 };
	struct foreign_input small = { .name = "small", .read = trickle_read, .ctx = &t };
	struct buf a = { 0 }, b = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	int err, other;

	foreign_mem_input(&mem, data, sz, &in);
	err = dump(&in, &a);
	other = dump(&small, &b);
	assert(err == other && a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len)));
	buf_free(&a);
	buf_free(&b);
}

static void check_scan(const uint8_t *data, size_t sz, bool follow)
{
	struct foreign_input in;
	struct foreign_mem mem;
	struct heph_scan *scan;
	struct heph_item it;
	uint64_t off = 0;

	foreign_mem_input(&mem, data, sz, &in);
	heph_scan_new(&in, follow, &scan);
	while (heph_scan_next(scan, &it) > 0) {
		assert(it.off == off && it.sz && !memcmp(it.p, data + off, it.sz));
		off += it.sz;
	}
	assert(off == sz);
	heph_scan_free(scan);
}

static int export(const void *data, size_t sz, bool once, struct buf *out)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = once };
	struct foreign_notes notes = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	if (once)
		in.rewind = NULL;
	err = heph_format.export(&in, &opts, add_to_buf, out, &notes);
	foreign_notes_fini(&notes);
	return err;
}

static void check_round_trip(const uint8_t *data, size_t sz, int level)
{
	struct buf dial9 = { 0 }, back = { 0 };
	struct dial9_enc_opts eo = {
		.sz = sizeof(eo), .write = add_to_buf, .ctx = &dial9, .level = level
	};
	struct foreign_opts opts = { .level = level };
	struct foreign_notes notes = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	struct dial9_enc *enc;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	assert(!dial9_enc_new(&eo, &enc));
	err = heph_format.import(&in, 1, &opts, enc, &notes);
	assert(!err || err == -EBADMSG);
	assert(!dial9_enc_flush(enc));
	dial9_enc_free(enc);
	assert(!export(dial9.data, dial9.len, false, &back));
	/* At level 3 an array becomes text, which is another packet. */
	if (!foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL))
		assert(back.len == sz && (!sz || !memcmp(back.data, data, sz)));
	foreign_notes_fini(&notes);
	buf_free(&dial9);
	buf_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct buf out = { 0 };
	int err;

	log_set_level(LOG_LEVEL_QUIET);
	heph_format.detect(data, sz, true);
	check_scan(data, sz, false);
	check_scan(data, sz, true);
	check_dump(data, sz);
	check_round_trip(data, sz, DIAL9_LEVEL_3);
	check_round_trip(data, sz, DIAL9_LEVEL_4);
	for (int once = 0; once < 2; once++) {
		err = export(data, sz, once, &out);
		assert(!err || err == -EBADMSG);
		buf_clear(&out);
	}
	buf_free(&out);
	return 0;
}
