/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_EVENT_LINES_H
#define D9_TESTS_CMD_EVENT_LINES_H

/* Events of a trace as lines of text, to compare the output of commands with their input. */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "base/str.h"
#include "dial9.h"
#include "trace/read/value.h"

static inline void text_hex(struct buf *out, struct dial9_str s, bool nested)
{
	str_hex(out, s.ptr, s.len);
}

static inline void pool_id(struct buf *out, const struct dial9_value *v, bool defined)
{
	if (!defined)
		buf_addstr(out, "undefined");
}

static const struct value_style event_line_style = {
	VALUE_STYLE_PLAIN,	.absent = "none", .sep = " ",	    .colon = ":",
	.f64 = value_print_f64, .text = text_hex, .bytes = str_hex, .pooled = pool_id,
};

typedef bool (*wanted_fn)(const struct dial9_event *ev);

/* Events as lines, pools resolved. NULL: all of them. */
static inline char *event_lines(const void *data, size_t sz, wanted_fn wanted)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = data, .data_sz = sz };
	struct buf out = { 0 };
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT || (wanted && !wanted(&f.event)))
			continue;
		buf_printf(&out, "%s %d %llu:", dial9_schema_name(f.event.schema), f.event.has_ts,
			   (unsigned long long)f.event.ts);
		for (size_t i = 0; i < f.event.value_cnt; i++) {
			buf_addch(&out, ' ');
			value_print(&out, &event_line_style, dec, &f.event.values[i]);
		}
		buf_addch(&out, '\n');
	}
	cr_assert_eq(ret, 0, "not a clean end: %d", ret);
	dial9_dec_free(dec);
	return buf_steal(&out);
}

#endif /* D9_TESTS_CMD_EVENT_LINES_H */
