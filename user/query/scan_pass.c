// SPDX-License-Identifier: BSD-2-Clause
/* One pass over a trace for several tables. Owns what the reader may skip: what none of them needs. */
#include "query/scan_pass.h"

#include <errno.h>

#define STOP_EVERY 8192

static void begin(struct trace_input *in, struct scan *scans, size_t cnt, struct reader *r)
{
	struct scan_skip all = { ~0U, true, true };

	for (size_t i = 0; i < cnt; i++) {
		const struct scan_skip *one = &scans[i].skip;

		scan_begin(&scans[i], in, reader_trace(r));
		all.kinds &= one->kinds;
		all.stacks = all.stacks && one->stacks;
		all.tasks = all.tasks && one->tasks;
	}
	scan_skip_apply(&all, r);
}

static int give_pending(struct scan *s, int (*row)(void *ctx, struct scan *s), void *ctx)
{
	int err = 0;

	while (!err && scan_pending(s))
		err = row(ctx, s);
	return err;
}

static int give_rows(struct scan *s, const struct trace_event *ev,
		     int (*row)(void *ctx, struct scan *s), void *ctx)
{
	const int err = scan_event(s, ev) ? row(ctx, s) : 0;

	return err ?: give_pending(s, row, ctx);
}

int scan_pass(struct trace_input *in, struct scan *scans, size_t cnt,
	      int (*row)(void *ctx, struct scan *s), void *ctx)
{
	struct trace_event ev;
	struct reader *r;
	uint64_t n = 0;
	int ret = 0, err = trace_input_read(in, 0, UINT64_MAX, &r);

	if (err)
		return err;
	begin(in, scans, cnt, r);
	while (!err && (ret = reader_next(r, &ev)) == 1) {
		for (size_t i = 0; i < cnt && !err; i++)
			err = give_rows(&scans[i], &ev, row, ctx);
		if (++n % STOP_EVERY == 0 && cnt && trace_inputs_is_stopped(scans[0].table->all))
			err = -EINTR;
	}
	/* if the first pass has reported damage, what is before it counts */
	if (!err && !in->damaged && (ret < 0 || reader_is_damaged(r)))
		err = ret ?: -EBADMSG;
	for (size_t i = 0; i < cnt; i++) {
		scan_end(&scans[i]);
		if (!err)
			err = give_pending(&scans[i], row, ctx);
	}
	reader_free(r);
	return err;
}
