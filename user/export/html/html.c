// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page with the trace in it: gzip as base64, whose characters have no meaning in HTML. Owns the
 * base64.
 */
#include "export/formats.h"
#include "export/gzip.h"
#include "export/html/page.h"

struct html {
	struct gzip *gzip;
	uint8_t rest[3]; /* incomplete group of three bytes */
	size_t rest_cnt;
};

static void put_triple(struct buf *out, const uint8_t *three, size_t cnt)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint32_t v = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
	const char text[4] = { digits[v >> 18], digits[v >> 12 & 63],
			       cnt > 1 ? digits[v >> 6 & 63] : '=',
			       cnt > 2 ? digits[v & 63] : '=' };

	buf_add(out, text, sizeof(text));
}

static void put_base64(void *ctx, const void *packed, size_t sz)
{
	const uint8_t *data = packed;
	struct export *x = ctx;
	struct html *h = x->state;

	for (size_t i = 0; i < sz; i++) {
		h->rest[h->rest_cnt++] = data[i];
		if (h->rest_cnt < sizeof(h->rest))
			continue;
		put_triple(&x->out, h->rest, h->rest_cnt);
		h->rest_cnt = 0;
	}
	export_flush(x);
}

static void html_begin(struct export *x)
{
	struct html *h = x->state;

	h->gzip = gzip_new(put_base64, x);
	page_put_head(&x->out, NULL);
}

static void html_bytes(struct export *x, const void *data, size_t sz)
{
	struct html *h = x->state;

	gzip_put(h->gzip, data, sz);
}

static void html_end(struct export *x)
{
	struct html *h = x->state;

	gzip_end(h->gzip);
	if (h->rest_cnt) {
		for (size_t i = h->rest_cnt; i < sizeof(h->rest); i++)
			h->rest[i] = 0;
		put_triple(&x->out, h->rest, h->rest_cnt);
	}
	page_put_tail(&x->out);
}

static void html_fini(struct export *x)
{
	struct html *h = x->state;

	gzip_free(h->gzip);
}

const struct exporter export_html = {
	.name = "html",
	.brief = "one page for a browser: timeline and flame graph",
	.state_sz = sizeof(struct html),
	.begin = html_begin,
	.bytes = html_bytes,
	.end = html_end,
	.fini = html_fini,
};
