// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page, with the trace in it: gzip, as base64, whose characters mean nothing in HTML. Owns the two encodings.
 */
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"
#include "export/formats.h"
#include "export/page.h"

enum { GZIP_WINDOW = 15 + 16, BLOCK = 48 << 10, LEVEL = 6 };

struct html {
	z_stream z;
	bool open;
	uint8_t rest[3]; /* bytes that are no three yet */
	size_t rest_cnt;
	uint8_t *block;
};

static void put_three(struct buf *out, const uint8_t *three, size_t cnt)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint32_t v = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
	const char text[4] = { digits[v >> 18], digits[v >> 12 & 63],
			       cnt > 1 ? digits[v >> 6 & 63] : '=',
			       cnt > 2 ? digits[v & 63] : '=' };

	buf_add(out, text, sizeof(text));
}

static void put_base64(struct export *x, const uint8_t *data, size_t sz)
{
	struct html *h = x->state;

	for (size_t i = 0; i < sz; i++) {
		h->rest[h->rest_cnt++] = data[i];
		if (h->rest_cnt < sizeof(h->rest))
			continue;
		put_three(&x->out, h->rest, h->rest_cnt);
		h->rest_cnt = 0;
	}
	export_flush(x);
}

static void deflate_all(struct export *x, int flush)
{
	struct html *h = x->state;
	int ret;

	do {
		h->z.next_out = h->block;
		h->z.avail_out = BLOCK;
		ret = deflate(&h->z, flush);
		put_base64(x, h->block, BLOCK - h->z.avail_out);
	} while (ret == Z_OK && !h->z.avail_out);
}

static void html_begin(struct export *x)
{
	struct html *h = x->state;

	h->block = xmalloc(BLOCK);
	h->open =
		deflateInit2(&h->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
	if (!h->open)
		abort(); /* of memory, as all else here dies of */
	page_put_head(&x->out, NULL);
}

static void html_bytes(struct export *x, const void *data, size_t sz)
{
	struct html *h = x->state;

	h->z.next_in = (Bytef *)data;
	h->z.avail_in = (uInt)sz;
	deflate_all(x, Z_NO_FLUSH);
}

static void html_end(struct export *x)
{
	struct html *h = x->state;

	h->z.avail_in = 0;
	deflate_all(x, Z_FINISH);
	if (h->rest_cnt) {
		for (size_t i = h->rest_cnt; i < sizeof(h->rest); i++)
			h->rest[i] = 0;
		put_three(&x->out, h->rest, h->rest_cnt);
	}
	page_put_tail(&x->out);
}

static void html_fini(struct export *x)
{
	struct html *h = x->state;

	if (h->open)
		deflateEnd(&h->z);
	free(h->block);
}

const struct exporter export_html = {
	.name = "html",
	.brief = "one page to look at in a browser: timeline and flame graph",
	.state_sz = sizeof(struct html),
	.begin = html_begin,
	.bytes = html_bytes,
	.end = html_end,
	.fini = html_fini,
};
