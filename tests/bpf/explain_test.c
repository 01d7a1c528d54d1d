// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `explain` says of a server that stalls in known ways on a live kernel (stimuli/stalls.c): each stall
 * is told with its cause and who ended it, and times add up to the stall, to the nanosecond.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

TestSuite(explain, .fini = live_cleanup, .timeout = 120);

enum { ROUNDS = 3, STALL_NS = 20000000, REQUESTS = 72 };
enum kind { MUTEX, HOG, FAULT, READ, KINDS };

#define SPAN "syscalls:sys_exit_recvfrom,syscalls:sys_enter_sendto"

static const struct {
	const char *kind, *helper; /* as the workload calls them */
	const char *functions[2]; /* where the server was blocked */
	const char *cause; /* as it is told of all together, without the helper's number */
} kinds[KINDS] = {
	[MUTEX] = { "mutex",
		    "holder",
		    { "pthread_mutex_lock", "stall_on_mutex" },
		    "blocked in pthread_mutex_lock under stall_on_mutex\n" },
	[HOG] = { "hog", "hog", { NULL, NULL }, "waited for a CPU behind hog " },
	[FAULT] = { "fault",
		    "pager",
		    { "page_fault", "stall_on_page" },
		    "blocked by a page fault in stall_on_page\n" },
	[READ] = { "read",
		   "writer",
		   { "\"read\"", "stall_on_read" },
		   "blocked in read under stall_on_read\n" },
};

struct stall {
	enum kind kind;
	uint64_t helper, from, to;
};

const char *live_missing(void)
{
	const long fd = syscall(SYS_userfaultfd, 0);

	if (fd < 0)
		return "userfaultfd";
	close((int)fd);
	return NULL;
}

static struct stall stall_of(const struct live_proc *server, int round, enum kind kind)
{
	struct stall s = { .kind = kind,
			   .helper = (uint64_t)live_truth(server, kinds[kind].helper) };
	char key[32];

	snprintf(key, sizeof(key), "%s%d_from", kinds[kind].kind, round);
	s.from = (uint64_t)live_truth(server, key);
	snprintf(key, sizeof(key), "%s%d_to", kinds[kind].kind, round);
	s.to = (uint64_t)live_truth(server, key);
	return s;
}

/* ---- one stall --------------------------------------------------------------------------------- */

/* Steps follow each other and make up the whole; so do the times of the thread. */
static void expect_sums(const char *said, const struct stall *s)
{
	const char *line = strstr(said, "\n{\"start_ns\":"), *row = strstr(said, "\n{\"tid\":") + 1;
	uint64_t at = s->from, row_ns = 0;
	static const char *const states[] = { "\"running_ns\":", "\"waiting_ns\":",
					      "\"blocked_ns\":", "\"unknown_ns\":",
					      "\"absent_ns\":" };

	cr_expect_eq(live_said_number(said, "\"from_ns\":"), s->from);
	cr_expect_eq(live_said_number(said, "\"to_ns\":"), s->to);
	for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++)
		row_ns += live_said_number(row, states[k]);
	cr_expect_eq(row_ns, s->to - s->from, "%s", said);
	for (; line; line = strstr(line + 1, "\n{\"start_ns\":")) {
		cr_expect_eq(live_said_number(line + 1, "\"start_ns\":"), at);
		at += live_said_number(line + 1, "\"ns\":");
	}
	cr_expect_eq(at, s->to, "%s", said);
}

static bool has(const char *line, const char *word)
{
	return !word || strstr(line, word) != NULL;
}

/* Whether one step says it: where and for how long, and who ended it or ran instead. */
static bool step_tells(const char *line, const struct stall *s)
{
	const bool hog = s->kind == HOG;
	char helper[64];
	const char *ns = strstr(line, hog ? "\"waiting_ns\":" : "\"blocked_ns\":");

	/* the one who ran longest comes first */
	snprintf(helper, sizeof(helper),
		 hog ? "\"behind\":[{\"tid\":%" PRIu64 "," : "\"waker_tid\":%" PRIu64 ",",
		 s->helper);
	return ns && strtoull(strchr(ns, ':') + 1, NULL, 10) >= STALL_NS / 2 && has(line, helper) &&
	       has(line, kinds[s->kind].functions[0]) && has(line, kinds[s->kind].functions[1]);
}

static bool story_tells(const char *said, const struct stall *s)
{
	const char *line = strstr(said, "\n{\"start_ns\":");
	bool told = false;

	for (; line && !told; line = strstr(line + 1, "\n{\"start_ns\":")) {
		char *copy = strndup(line + 1, strcspn(line + 1, "\n"));
		char *meanwhile = strstr(copy, "\"meanwhile\":");

		/* what the other did is another story */
		if (meanwhile)
			*meanwhile = '\0';
		told = step_tells(copy, s);
		free(copy);
	}
	return told;
}

static bool is_told(const char *path, const char *server, const struct stall *s)
{
	char time[80];
	const char *args[] = { "explain", "--json", "-t", server, "--time", time, path, NULL };
	struct buf said;
	bool told;

	snprintf(time, sizeof(time), "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64,
		 s->from / 1000000000, s->from % 1000000000, s->to / 1000000000,
		 s->to % 1000000000);
	said = live_output(args);
	expect_sums(said.data, s);
	told = story_tells(said.data, s);
	if (!told)
		fprintf(stderr, "not told: %s: %s\n", kinds[s->kind].kind, said.data);
	buf_free(&said);
	return told;
}

/* ---- all of them together ---------------------------------------------------------------------- */

/* How many stalls are among the slowest; each lies in a pair of its own. */
static int stalls_among(const char *said, const struct live_proc *server, uint64_t *all_ns)
{
	const char *line = strstr(said, "\n{\"event\":");
	int found = 0;

	*all_ns = 0;
	for (; line; line = strstr(line + 1, "\n{\"event\":")) {
		const uint64_t from = live_said_number(line + 1, "\"from_ns\":"),
			       to = live_said_number(line + 1, "\"to_ns\":");
		int within = 0;

		*all_ns += to - from;
		for (int k = 0; k < ROUNDS * KINDS; k++) {
			const struct stall s = stall_of(server, k / KINDS, (enum kind)(k % KINDS));

			within += from <= s.from && s.to <= to;
		}
		cr_expect_leq(within, 1);
		found += within;
	}
	return found;
}

static void expect_slowest(const char *path, const char *tid, const struct live_proc *server)
{
	const char *args[] = { "explain", "--json", "--slowest", "12", "--span",
			       SPAN,	  "-t",	    tid,	 path, NULL };
	struct buf said = live_output(args);
	const char *line = strstr(said.data, "\n{\"kind\":");
	uint64_t all_ns, causes_ns = 0;

	cr_expect_eq(live_said_number(said.data, "\"pairs\":"), REQUESTS);
	/* one that was not to stall may have met a CPU that was taken away from this machine */
	cr_expect_geq(stalls_among(said.data, server, &all_ns), ROUNDS * KINDS * 3 / 4);
	for (; line; line = strstr(line + 1, "\n{\"kind\":"))
		causes_ns += live_said_number(line + 1, "\"ns\":");
	cr_expect_eq(causes_ns, all_ns, "%s", said.data);
	buf_free(&said);
}

static void expect_causes(const char *path, const char *tid, const struct live_proc *server)
{
	const char *args[] = { "explain", "--slowest", "12", "--span", SPAN,
			       "--limit", "0",	       tid,  path,     NULL };
	struct buf said = live_output(args);
	char cause[80];

	for (int k = 0; k < KINDS; k++) {
		snprintf(cause, sizeof(cause), "  %s", kinds[k].cause);
		if (k == HOG)
			snprintf(cause, sizeof(cause), "  %s%" PRIu64 "\n", kinds[k].cause,
				 stall_of(server, 0, HOG).helper);
		cr_expect(strstr(said.data, cause), "no %s in %s", cause, said.data);
	}
	buf_free(&said);
}

Test(explain, stalls_of_a_server_are_told_with_their_causes_and_add_up)
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
	while (live_next(&lt, &ev))
		;
	live_assert_no_loss(&lt);
	live_close(&lt);
	for (int k = 0; k < KINDS; k++) {
		int told = 0;

		for (int round = 0; round < ROUNDS; round++) {
			const struct stall s = stall_of(&server, round, (enum kind)k);

			told += is_told(rec.path, tid, &s);
		}
		/* where init is hidden from tracing, so is a switch to or from it */
		cr_expect_geq(told, ROUNDS - 1, "%d of %d stalls by %s", told, ROUNDS,
			      kinds[k].kind);
	}
	expect_slowest(rec.path, tid, &server);
	expect_causes(rec.path, tid, &server);
	live_end(&server);
	free((char *)tid);
}
