// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a Tonbandgerät recording, and any bytes as a dial9 trace to convert; the first byte selects one.
 * A recording must survive a round trip through dial9 frame by frame, by two passes and by one; a converted
 * dial9 trace must be read without errors.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "formats/foreign.h"
#include "formats/tonbandgeraet/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static int add_to_buf(void *ctx, const void *data, size_t sz)
{
	buf_add(ctx, data, sz);
	return 0;
}

/* A stream that returns its data in chunks of changing size. */
static ssize_t piece_read(void *ctx, void *buf, size_t sz)
{
	struct foreign_mem *m = ctx;
	size_t n = m->pos * 7 % 61 + 1;

	n = n < sz ? n : sz;
	n = n < m->sz - m->pos ? n : m->sz - m->pos;
	memcpy(buf, (const char *)m->data + m->pos, n);
	m->pos += n;
	return (ssize_t)n;
}

static void as_stream(struct foreign_input *in)
{
	in->read = piece_read;
	in->rewind = NULL;
}

static int import(const void *data, size_t sz, bool follow, struct buf *out)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = follow };
	struct dial9_enc_opts enc_opts = {
		.sz = sizeof(enc_opts), .write = add_to_buf, .ctx = out, .first_type_id = 256
	};
	struct foreign_notes notes = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	struct dial9_enc *enc;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	if (follow)
		as_stream(&in);
	assert(!dial9_enc_new(&enc_opts, &enc));
	err = tonband_format.import(&in, 1, &opts, enc, &notes);
	assert(!err || err == -74 /* EBADMSG: no event in it */);
	assert(!dial9_enc_flush(enc));
	dial9_enc_free(enc);
	foreign_notes_fini(&notes);
	return err;
}

static int export(const void *data, size_t sz, bool stream, struct buf *out)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	int err;

	foreign_mem_input(&mem, data, sz, &in);
	if (stream)
		as_stream(&in);
	err = tonband_format.export(&in, &opts, add_to_buf, out, &notes);
	foreign_notes_fini(&notes);
	return err;
}

static void assert_same_event(const struct tonband_event *a, const struct tonband_event *b)
{
	assert(a->id == b->id && a->ts == b->ts);
	assert(a->num[0] == b->num[0] && a->num[1] == b->num[1]);
	assert(a->str_len == b->str_len && (!a->str_len || !memcmp(a->str, b->str, a->str_len)));
}

/* Frame for frame the same, and on the same core. The same first bytes determine the encoding of a. */
static void assert_same_frames(const void *a, size_t a_sz, bool follow, const struct buf *b)
{
	struct foreign_mem mem[2];
	struct foreign_input in[2];
	struct tonband_frames *scan[2];
	struct tonband_item x, y;
	int ret;

	foreign_mem_input(&mem[0], a, a_sz, &in[0]);
	if (follow)
		as_stream(&in[0]);
	foreign_mem_input(&mem[1], b->data, b->len, &in[1]);
	tonband_frames_new(&in[0], NULL, &scan[0]);
	tonband_frames_new(&in[1], NULL, &scan[1]);
	do {
		ret = tonband_frames_next(scan[0], &x);
		assert(tonband_frames_next(scan[1], &y) == ret);
		if (ret != 1)
			break;
		assert(!x.why == !y.why && x.core == y.core && x.ended == y.ended);
		if (x.why)
			assert(x.frame_sz == y.frame_sz && !memcmp(x.frame, y.frame, x.frame_sz));
		else
			assert_same_event(&x.ev, &y.ev);
	} while (ret == 1);
	tonband_frames_free(scan[0]);
	tonband_frames_free(scan[1]);
}

/* One buffer, in an encoding in which the output would be read, too. */
static bool is_comparable(const void *data, size_t sz, bool follow)
{
	struct foreign_mem mem;
	struct foreign_input in;
	struct tonband_frames *scan;
	struct tonband_item item;
	bool ended = false;

	foreign_mem_input(&mem, data, sz, &in);
	if (follow)
		as_stream(&in);
	tonband_frames_new(&in, NULL, &scan);
	while (tonband_frames_next(scan, &item) == 1)
		ended |= item.ended;
	ended &= !tonband_frames_is_sure(scan);
	tonband_frames_free(scan);
	return ended;
}

static void recording(const uint8_t *data, size_t sz)
{
	for (int follow = 0; follow < 2; follow++) {
		struct buf trace = { 0 }, back = { 0 };

		if (!import(data, sz, follow, &trace)) {
			assert(!export(trace.data, trace.len, false, &back));
			if (is_comparable(data, sz, follow))
				assert_same_frames(data, sz, follow, &back);
		}
		buf_free(&trace);
		buf_free(&back);
	}
}

static void stranger(const uint8_t *data, size_t sz)
{
	struct buf out = { 0 }, dump = { 0 };
	struct foreign_notes notes = { 0 };
	struct foreign_facts facts = { 0 };
	struct foreign_opts opts = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;

	export(data, sz, true, &out);
	buf_clear(&out);
	export(data, sz, false, &out);
	foreign_mem_input(&mem, buf_cstr(&out), out.len, &in);
	assert(!tonband_format.dump(&in, &opts, add_to_buf, &dump, &notes));
	assert(!in.rewind(in.ctx) && !tonband_format.info(&in, &opts, &facts, &notes));
	assert(!memmem(data, sz, "tband.invalid", 13) ?
		       !foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL) :
		       true);
	foreign_facts_fini(&facts);
	foreign_notes_fini(&notes);
	buf_free(&dump);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	log_set_level(LOG_LEVEL_QUIET);
	if (!sz)
		return 0;
	if (data[0] & 1)
		stranger(data + 1, sz - 1);
	else
		recording(data + 1, sz - 1);
	return 0;
}
