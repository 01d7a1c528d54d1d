// SPDX-License-Identifier: BSD-2-Clause
/* The first lines of `count`: what was counted over which time, and what is missing. */
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/color.h"
#include "cmd/count/count.h"

void count_put_line(struct buf *out, const struct count *c, bool warn, const char *fmt, ...)
{
	struct buf line = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	buf_addstr(out, "# ");
	color_put(out, c->view.color, warn ? COLOR_WARN : COLOR_PLAIN, buf_cstr(&line), line.len);
	buf_addch(out, '\n');
	buf_free(&line);
}

static void put_losses(struct buf *out, const struct count *c)
{
	const struct loss_accounting *a = &c->losses.account;
	const bool incomplete = loss_accounting_is_incomplete(a);
	struct buf line = { 0 };

	report_text_lost(&line, a);
	count_put_line(out, c, incomplete, "lost: %s%s", buf_cstr(&line),
		       incomplete ? " (see dial9-prof info)" : "");
	buf_clear(&line);
	if (report_text_incomplete(&line, c->reader))
		count_put_line(out, c, true, "%s", buf_cstr(&line));
	buf_clear(&line);
	if (report_text_skipped_slices(&line, a, c->names, count_span_ns(c)))
		count_put_line(out, c, true, "skipped: %s", buf_cstr(&line));
	buf_free(&line);
}

void count_put_head(struct buf *out, const struct count *c, const char *what)
{
	const char *file = reader_input(c->reader);
	struct buf name = { 0 }, of_recorder = { 0 };

	value_text_clean(&name, file, strlen(file));
	count_put_line(out, c, false, "%s: %s over %.3f s", buf_cstr(&name), what,
		       (double)count_span_ns(c) / 1e9);
	buf_free(&name);
	put_losses(out, c);
	if (!c->recorder_cnt)
		return;
	str_counted(&of_recorder, c->recorder_cnt, "event");
	count_put_line(out, c, false, "includes %s in threads of the recorder",
		       buf_cstr(&of_recorder));
	buf_free(&of_recorder);
}

size_t count_shown(const struct count *c, size_t cnt)
{
	return report_text_rows(c->opts->top, c->opts->json ? 0 : 20, cnt);
}

void count_put_more(struct buf *out, size_t more, const char *how)
{
	if (more)
		buf_printf(out, "# %zu more row%s %s: --top 0 shows all\n", more,
			   more == 1 ? "" : "s", how);
}

void count_json_head(struct buf *out, const struct count *c)
{
	value_text_json_begin(out);
	json_str(out, "file", reader_input(c->reader));
	json_u64(out, "span_ns", count_span_ns(c));
	report_text_json_account(out, &c->losses.account);
	if (c->recorder_cnt)
		json_u64(out, "recorder_events", c->recorder_cnt);
}
