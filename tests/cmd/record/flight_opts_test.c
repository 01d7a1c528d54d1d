// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of --flight and its triggers. */
#include "cmd/record/flight_opts.h"

#include <criterion/criterion.h>
#include <string.h>

#include "record/control/trigger.h"
#include "record/output/flight.h"

#define MS 1000000ULL

static struct flight_cfg flight;
static struct trigger_cfg trigger;
static struct flight_events events;

/* NULL: fine. */
static const char *read_opts(const char *keep, const char *event, const char *latency)
{
	struct flight_opts o = {
		.keep = keep,
		.events = { &event, event != NULL },
		.latencies = { &latency, latency != NULL },
		.post_ns = 3,
		.rearm_ns = 4,
	};

	flight_opts_fini(&events);
	flight = (struct flight_cfg){ 0 };
	trigger = (struct trigger_cfg){ 0 };
	return flight_opts_read(&o, &flight, &trigger, &events);
}

Test(flight_opts, time_and_size_are_parsed)
{
	cr_expect_null(read_opts("30s,1G", NULL, "runq>20ms"));
	cr_expect_eq(flight.ns, 30000 * MS);
	cr_expect_eq(flight.bytes, 1UL << 30);
	cr_expect_eq(trigger.runq_ns, 20 * MS);
	cr_expect_eq(trigger.offcpu_ns, 0);
	cr_expect_eq(trigger.post_ns, 3);
	cr_expect_eq(trigger.rearm_ns, 4);
	cr_expect_null(read_opts("5", NULL, "offcpu>1"));
	cr_expect_eq(flight.ns, 5000 * MS);
	cr_expect_eq(flight.bytes, 256UL << 20);
	cr_expect_eq(trigger.offcpu_ns, 1000 * MS);
	flight_opts_fini(&events);
}

Test(flight_opts, event_and_its_filter_are_parsed)
{
	cr_expect_null(read_opts("5", "block:*", NULL));
	cr_expect_eq(events.cnt, 1);
	cr_expect_str_eq(events.names[0], "block:*");
	cr_expect_null(events.filters[0]);
	cr_expect_null(read_opts("5", "a:b/name == \"x/y\"/", NULL));
	cr_expect_str_eq(events.names[0], "a:b");
	cr_expect_str_eq(events.filters[0], "name == \"x/y\"");
	cr_expect_str_eq(trigger.events[0], "a:b");
	flight_opts_fini(&events);
}

Test(flight_opts, other_arguments_are_refused)
{
	static const char *const keeps[] = { "",       ",",   "0",  "30s,",    "30s,x",
					     "30s,1M", "1ms", "1G", "30s,1G,2" };
	static const char *const names[] = { "a",	"a:b/", "a:b//", "a:b/x",
					     "a:b,c:d", "/x/",	"a/:b/", "a:b/x/y" };
	static const char *const waits[] = { "runq",   "runq>",	 "runq>0",
					     "runq<5", "idle>5", "offcpu>fast" };
	size_t i;

	for (i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++)
		cr_expect_not_null(read_opts(keeps[i], NULL, NULL), "%s", keeps[i]);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_not_null(read_opts("5", names[i], NULL), "%s", names[i]);
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		cr_expect_not_null(read_opts("5", NULL, waits[i]), "%s", waits[i]);
	cr_expect_not_null(read_opts(NULL, "a:b", NULL), "nothing is kept");
	cr_expect_not_null(read_opts(NULL, NULL, NULL), "nor a pause between two");
	flight_opts_fini(&events);
}
