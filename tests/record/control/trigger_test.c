// SPDX-License-Identifier: BSD-2-Clause
/* When a snapshot is taken, and which trigger is written. Kernel, trace and memory are variables here. */
/* ALONE: capture_latency(), flight_snapshot(), status_*() */
#include "record/control/trigger.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "events/emit.h"
#include "prof_abi.h"
#include "prof_events.h"
#include "record/capture/capture.h"
#include "record/encode/status.h"
#include "record/output/flight.h"
#include "record/process/tasks.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"

#define HOUR 3600000000000ULL

static struct emit_trigger written;
static int written_cnt, snapshots, holes;
static bool has_hit, has_hole;
static struct prof_latency_hit hit;
static volatile sig_atomic_t asked;

int status_trigger(struct status *s, const struct emit_trigger *by)
{
	written = *by;
	written_cnt++;
	return 0;
}

bool flight_snapshot(struct flight *f, uint64_t *from_ns, uint64_t *to_ns)
{
	snapshots++;
	*from_ns = 5;
	*to_ns = 6;
	return has_hole;
}

int status_not_kept(struct status *s, uint64_t from_ns, uint64_t to_ns)
{
	cr_expect_eq(from_ns, 5);
	cr_expect_eq(to_ns, 6);
	holes++;
	return 0;
}

bool capture_latency(struct capture *c, struct prof_latency_hit *out)
{
	bool had = has_hit;

	*out = hit;
	has_hit = false;
	return had;
}

static struct event_def open_def = { .name = (char *)"fs:open" },
			close_def = { .name = (char *)"fs:close" };
static struct event_def *defs[] = { &open_def, &close_def };
static const struct eventset events = { .defs = defs, .cnt = 2 };
static const char *const names[] = { "fs:cl*" };

static struct trigger_self self; /* unknown process */

static struct trigger *make(const struct trigger_cfg *cfg)
{
	static int anything;

	return trigger_new(cfg, &events, &self, NULL, (struct flight *)&anything);
}

static void step(struct trigger *t, uint64_t mark)
{
	cr_assert_eq(trigger_step(t, NULL, mark), 0);
}

static void on_event_of(struct trigger *t, uint16_t event, uint64_t ts, uint32_t pid)
{
	const struct prof_rec rec = {
		.kind = PROF_REC_TRACEPOINT, .event = event, .ts = ts, .pid = pid, .tid = 8
	};

	trigger_check(t, &rec);
}

static void on_event(struct trigger *t, uint16_t event, uint64_t ts)
{
	on_event_of(t, event, ts, 7);
}

Test(trigger, functions_accept_a_missing_trigger)
{
	const struct trigger_cfg cfg = { .asked = &asked };

	cr_expect_null(trigger_new(&cfg, &events, &self, NULL, NULL));
	trigger_check(NULL, NULL);
	trigger_ask(NULL);
	cr_expect_eq(trigger_step(NULL, NULL, 1), 0);
	cr_expect_eq(trigger_end(NULL, NULL, 1), 0);
	trigger_free(NULL);
}

Test(trigger, trigger_event_is_written_with_its_thread_and_other_events_are_not)
{
	struct trigger *t = make(&(struct trigger_cfg){ .events = names, .event_cnt = 1 });

	on_event(t, 0, 100);
	step(t, 200);
	cr_expect_eq(written_cnt, 0);
	on_event(t, 1, 300);
	on_event(t, 1, 310);
	step(t, 305);
	cr_expect_eq(written_cnt, 1);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_EVENT);
	cr_expect_str_eq(written.event, "fs:close");
	cr_expect_eq(written.ts, 300);
	cr_expect_eq(written.pid, 7);
	cr_expect_eq(written.tid, 8);
	step(t, 305);
	cr_expect_eq(snapshots, 1, "what was at that time has been written");
	step(t, 400);
	cr_expect_eq(snapshots, 1);
	trigger_free(t);
}

Test(trigger, request_before_the_start_is_handled)
{
	struct trigger *t;

	asked++;
	t = make(&(struct trigger_cfg){ .asked = &asked });
	step(t, 100);
	cr_expect_eq(written_cnt, 1);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_SIGNAL);
	trigger_free(t);
}

Test(trigger, snapshot_waits_for_its_post_time_and_triggers_in_it_are_merged)
{
	const struct trigger_cfg cfg = {
		.events = names, .event_cnt = 1, .post_ns = 1000, .asked = &asked
	};
	struct trigger *t = make(&cfg);

	on_event(t, 1, 300);
	step(t, 310);
	step(t, 1300);
	cr_expect_eq(snapshots, 0);
	on_event(t, 1, 1200);
	asked++;
	step(t, 1300);
	step(t, 1301);
	cr_expect_eq(snapshots, 1);
	cr_expect_eq(written_cnt, 1, "what asked meanwhile is in it");
	step(t, 1400);
	cr_expect_eq(written_cnt, 1);
	trigger_free(t);
}

Test(trigger, trigger_is_armed_again_after_a_delay_and_signals_always_count)
{
	const struct trigger_cfg cfg = {
		.events = names, .event_cnt = 1, .runq_ns = 1, .rearm_ns = HOUR, .asked = &asked
	};
	uint64_t now = clock_mono_ns();
	struct trigger *t = make(&cfg);

	on_event(t, 1, now);
	step(t, now);
	step(t, now + 10);
	cr_expect_eq(snapshots, 1);
	on_event(t, 1, now + HOUR / 2);
	hit = (struct prof_latency_hit){ .ts = now + HOUR / 2 };
	has_hit = true;
	step(t, now + HOUR / 2);
	cr_expect_eq(written_cnt, 1);
	asked++;
	step(t, now + HOUR / 2);
	cr_expect_eq(written_cnt, 2);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_SIGNAL);
	cr_expect_eq(written.too_soon, 2, "an event, and a wait");
	step(t, now + 2 * HOUR);
	cr_expect_eq(snapshots, 2);
	trigger_ask(t);
	step(t, now + 2 * HOUR);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_CONTROL);
	cr_expect_eq(written.too_soon, 0, "those were told");
	step(t, now + 3 * HOUR);
	cr_expect_eq(snapshots, 3);
	on_event(t, 1, now + 5 * HOUR);
	step(t, now + 5 * HOUR);
	cr_expect_eq(written_cnt, 4, "armed by then");
	trigger_free(t);
}

Test(trigger, too_long_latency_is_written_with_its_duration)
{
	struct trigger *t = make(&(struct trigger_cfg){ .offcpu_ns = 5 });

	hit = (struct prof_latency_hit){
		.kind = PROF_LATENCY_RUNQ, .tid = 8, .tgid = 7, .ts = 50, .ns = 40
	};
	has_hit = true;
	step(t, 60);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_RUNQ);
	cr_expect_eq(written.ns, 40);
	cr_expect_eq(written.pid, 7);
	cr_expect_eq(written.tid, 8);
	cr_expect_eq(written.ts, 50);
	cr_expect_eq(trigger_end(t, NULL, 99), 0);
	cr_expect_str_eq(written.reason, PROF_TRIGGER_END);
	cr_expect_eq(written.ts, 99);
	cr_expect_eq(holes, 0);
	has_hole = true;
	cr_expect_eq(trigger_end(t, NULL, 99), 0);
	cr_expect_eq(holes, 1, "what was not kept is told");
	trigger_free(t);
}

/* How many snapshots an event of this process requests. */
static unsigned int triggers_of(const struct trigger_self *who, uint32_t pid)
{
	const unsigned int before = written_cnt;
	struct trigger *t;

	self = *who;
	t = make(&(struct trigger_cfg){ .events = names, .event_cnt = 1 });
	on_event_of(t, 1, 100, pid);
	step(t, 200);
	trigger_free(t);
	return written_cnt - before;
}

Test(trigger, events_of_the_recorder_are_no_trigger)
{
	struct tasks *tasks = tasks_new(false);
	const uint32_t pid = getpid(), parent = getppid();

	cr_assert_eq(tasks_scan(tasks, (pid_t)pid), 0);
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, pid, { 0 } }, pid), 0);
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, 1, { 2, pid } }, pid), 0,
		     "its helper");
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, 1, { 2, parent } }, pid), 0,
		     "a child of its helper");
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, parent, { 2 } }, pid), 1,
		     "another child of it");
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, 0, { 0 } }, pid), 1,
		     "when all count");
	close_def.cfg.pid_cnt = 1;
	cr_expect_eq(triggers_of(&(struct trigger_self){ tasks, pid, { 0 } }, pid), 1,
		     "an event that is also another's");
	close_def.cfg.pid_cnt = 0;
	tasks_free(tasks);
}
