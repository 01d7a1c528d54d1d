// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `explain` prints for a server that stalls in known ways on a live kernel (stimuli/stalls.c): each stall
 * has its cause and the thread that ended it, and times add up to the stall, to the nanosecond.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bpf/stalled.h"

TestSuite(explain, .fini = live_cleanup);

enum { ROUNDS = 3, REQUESTS = 72, KINDS = STALLED_COMPUTE };

#define SPAN "syscalls:sys_exit_recvfrom,syscalls:sys_enter_sendto"

const char *live_missing(void)
{
	return stalled_missing();
}

/* ---- one stall --------------------------------------------------------------------------------- */

static bool is_stall_reported(const char *path, const char *server, const struct stalled *s)
{
	char time[80];
	const char *args[] = { "explain", "--json", "-t", server, "--time", time, path, NULL };
	struct buf output;
	const char *end;
	bool reported;

	snprintf(time, sizeof(time), "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64,
		 s->from / 1000000000, s->from % 1000000000, s->to / 1000000000,
		 s->to % 1000000000);
	output = live_output(args);
	end = output.data + output.len;
	cr_expect_eq(live_output_number(output.data, "\"from_ns\":"), s->from);
	cr_expect_eq(live_output_number(output.data, "\"to_ns\":"), s->to);
	stalled_expect_sums(strstr(output.data, "\n{\"tid\":") + 1, output.data, end, s);
	reported = stalled_is_reported(output.data, end, s);
	if (!reported)
		fprintf(stderr, "not reported: %s: %s\n", stalled_name(s->kind), output.data);
	buf_free(&output);
	return reported;
}

/* ---- all of them together ---------------------------------------------------------------------- */

/* Each stall lies in a pair of its own, and is among the slowest unless it is shorter than all of these. */
static void expect_stalls_among(const char *output, const struct live_proc *server,
				uint64_t *all_ns)
{
	const char *line = stalled_next_row(output);
	bool found[ROUNDS * KINDS] = { false };
	uint64_t shortest = UINT64_MAX;

	*all_ns = 0;
	for (; line; line = stalled_next_row(line + 1)) {
		const uint64_t from = live_output_number(line + 1, "\"from_ns\":"),
			       to = live_output_number(line + 1, "\"to_ns\":");
		int within = 0;

		*all_ns += to - from;
		shortest = to - from < shortest ? to - from : shortest;
		for (int k = 0; k < ROUNDS * KINDS; k++) {
			const struct stalled s =
				stalled_truth(server, k / KINDS, (enum stalled_kind)(k % KINDS));

			if (from > s.from || s.to > to)
				continue;
			found[k] = true;
			within++;
		}
		cr_expect_leq(within, 1);
	}
	for (int k = 0; k < ROUNDS * KINDS; k++) {
		const struct stalled s =
			stalled_truth(server, k / KINDS, (enum stalled_kind)(k % KINDS));

		cr_expect(found[k] || s.to - s.from <= shortest, "%s is missing",
			  stalled_name(s.kind));
	}
}

static void expect_slowest(const char *path, const char *tid, const struct live_proc *server)
{
	const char *args[] = { "explain", "--json", "--slowest", "12", "--span",
			       SPAN,	  "-t",	    tid,	 path, NULL };
	struct buf output = live_output(args);
	const char *line = strstr(output.data, "\n{\"kind\":");
	uint64_t all_ns, causes_ns = 0;

	cr_expect_eq(live_output_number(output.data, "\"pairs\":"), REQUESTS);
	expect_stalls_among(output.data, server, &all_ns);
	for (; line; line = strstr(line + 1, "\n{\"kind\":"))
		causes_ns += live_output_number(line + 1, "\"ns\":");
	cr_expect_eq(causes_ns, all_ns, "%s", output.data);
	buf_free(&output);
}

static void expect_causes(const char *path, const char *tid, const struct live_proc *server)
{
	const char *args[] = { "explain", "--slowest", "12", "--span", SPAN,
			       "--limit", "0",	       tid,  path,     NULL };
	struct buf output = live_output(args);

	for (int k = 0; k < KINDS; k++) {
		const struct stalled s = stalled_truth(server, 0, (enum stalled_kind)k);

		cr_expect(stalled_is_cause(output.data, &s), "no %s in %s", stalled_name(s.kind),
			  output.data);
	}
	buf_free(&output);
}

Test(explain, stalls_of_a_server_have_their_causes_and_add_up)
{
	struct live_proc server;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	const char *tid;

	live_stimulus(&server, "stalls", live_number(ROUNDS), NULL);
	tid = strdup(live_number((int64_t)live_truth(&server, "server")));
	live_record(&rec, "-a", "--switch-stacks", "both", "-e", "syscalls:sys_exit_recvfrom", "-e",
		    "syscalls:sys_enter_sendto", NULL);
	live_recording(&rec);
	live_go(&server);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		;
	live_assert_no_loss(&lt);
	live_close(&lt);
	for (int k = 0; k < KINDS; k++) {
		int reported = 0;

		for (int round = 0; round < ROUNDS; round++) {
			const struct stalled s =
				stalled_truth(&server, round, (enum stalled_kind)k);

			reported += is_stall_reported(rec.path, tid, &s);
		}
		/* where init is hidden from tracing, so is a switch to or from it */
		cr_expect_geq(reported, ROUNDS - 1, "%d of %d stalls by %s", reported, ROUNDS,
			      stalled_name((enum stalled_kind)k));
	}
	expect_slowest(rec.path, tid, &server);
	expect_causes(rec.path, tid, &server);
	live_end(&server);
	free((char *)tid);
}
