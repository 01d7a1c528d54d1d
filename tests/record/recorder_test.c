// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=recorder_prepare,--wrap=recorder_start,--wrap=recorder_cleanup,--wrap=notify_ready */
/* LINK: -Wl,--wrap=load_shedding_begin,--wrap=load_shedding_write,--wrap=notify_stopping */
/* LINK: -Wl,--wrap=capture_stop,--wrap=realtime_end,--wrap=status_end,--wrap=pipeline_finish */
/* LINK: -Wl,--wrap=status_totals,--wrap=capture_sampler,--wrap=capture_hz,--wrap=segments_close */
/* LINK: -Wl,--wrap=sym_client_hurry */
/* The order of the steps at the end of a recording. All parts are stubs that record their calls. */
#include "record/recorder.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "base/buf.h"
#include "kernel/realtime.h"
#include "record/capture/capture.h"
#include "record/control/load_shedding.h"
#include "record/control/notify.h"
#include "record/encode/segments.h"
#include "record/encode/status.h"
#include "record/pipeline.h"
#include "record/recorder_impl.h"
#include "record/recorder_setup.h"
#include "symbol/broker/sym_client.h"

static struct buf steps;

int __wrap_recorder_prepare(struct recorder *r);
int __wrap_recorder_start(struct recorder *r);
void __wrap_recorder_cleanup(struct recorder *r);
void __wrap_notify_ready(struct notify *n, const char *file);
void __wrap_notify_stopping(struct notify *n);
void __wrap_load_shedding_begin(struct load_shedding *t, const struct load_shedding_cfg *cfg,
				struct capture *capture, struct status *status, uint64_t now_ns);
int __wrap_load_shedding_write(const struct load_shedding *t, struct status *status);
void __wrap_capture_stop(struct capture *c);
void __wrap_realtime_end(struct realtime *rt);
void __wrap_status_end(struct status *s);
int __wrap_pipeline_finish(struct pipeline *p, struct notify *notify, uint64_t *end_ns);
void __wrap_status_totals(struct status *s, uint64_t now_ns, struct status_totals *out);
void __wrap_sym_client_hurry(struct sym_client *b);
const char *__wrap_capture_sampler(const struct capture *c);
uint32_t __wrap_capture_hz(const struct capture *c);
int __wrap_segments_close(struct segments *s);

int __wrap_recorder_prepare(struct recorder *r)
{
	return 0;
}

int __wrap_recorder_start(struct recorder *r)
{
	static char status;

	r->status = (struct status *)&status;
	return 0;
}

void __wrap_recorder_cleanup(struct recorder *r)
{
	buf_addstr(&steps, "cleanup ");
}

void __wrap_notify_ready(struct notify *n, const char *file)
{
	buf_addstr(&steps, "ready ");
}

void __wrap_notify_stopping(struct notify *n)
{
}

void __wrap_load_shedding_begin(struct load_shedding *t, const struct load_shedding_cfg *cfg,
				struct capture *capture, struct status *status, uint64_t now_ns)
{
}

int __wrap_load_shedding_write(const struct load_shedding *t, struct status *status)
{
	return 0;
}

void __wrap_capture_stop(struct capture *c)
{
	buf_addstr(&steps, "stop ");
}

void __wrap_realtime_end(struct realtime *rt)
{
	buf_addstr(&steps, "ordinary ");
}

void __wrap_status_end(struct status *s)
{
}

int __wrap_pipeline_finish(struct pipeline *p, struct notify *notify, uint64_t *end_ns)
{
	buf_addstr(&steps, "drain ");
	return -EIO;
}

void __wrap_status_totals(struct status *s, uint64_t now_ns, struct status_totals *out)
{
}

const char *__wrap_capture_sampler(const struct capture *c)
{
	return NULL;
}

uint32_t __wrap_capture_hz(const struct capture *c)
{
	return 0;
}

int __wrap_segments_close(struct segments *s)
{
	return 0;
}

void __wrap_sym_client_hurry(struct sym_client *b)
{
	buf_addstr(&steps, "hurry ");
}

/*
 * An ordinary thread may wait for a CPU for longer than the rings hold what programs write. Records may wait for
 * unwind tables, which helpers then build without a limit.
 */
Test(recorder, realtime_priority_ends_when_nothing_is_recorded_any_more)
{
	volatile sig_atomic_t stop = 1;
	const struct recorder_cfg cfg = { .stop = &stop };
	struct recorder_result result;

	cr_assert_eq(recorder_run(&cfg, &result), -EIO);
	cr_expect_str_eq(buf_cstr(&steps), "ready stop ordinary hurry drain cleanup ");
	buf_free(&steps);
}
