// SPDX-License-Identifier: BSD-2-Clause
/* Compares reported stalls with stalls of the workload. */
#include "tests/bpf/stalled.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *kind, *helper; /* as the workload calls them */
	const char *functions[2]; /* where the thread was blocked */
	const char *cause; /* as reports print it for all stalls, without the helper's number */
} kinds[STALLED_KINDS] = {
	[STALLED_MUTEX] = { "mutex",
			    "holder",
			    { "pthread_mutex_lock", "stall_on_mutex" },
			    "blocked in pthread_mutex_lock under stall_on_mutex\n" },
	[STALLED_HOG] = { "hog", "hog", { NULL, NULL }, "runnable, ran instead: hog " },
	[STALLED_FAULT] = { "fault",
			    "pager",
			    { "page_fault", "stall_on_page" },
			    "blocked by a page fault in stall_on_page\n" },
	[STALLED_READ] = { "read",
			   "writer",
			   { "\"read\"", "stall_on_read" },
			   "blocked in read under stall_on_read\n" },
	[STALLED_COMPUTE] = { "compute", NULL, { NULL, NULL }, "ran\n" },
};

const char *stalled_missing(void)
{
	const long fd = syscall(SYS_userfaultfd, 0);

	if (fd < 0)
		return "userfaultfd";
	close((int)fd);
	return NULL;
}

const char *stalled_name(enum stalled_kind kind)
{
	return kinds[kind].kind;
}

struct stalled stalled_truth(const struct live_proc *workload, int round, enum stalled_kind kind)
{
	struct stalled s = { .kind = kind };
	char key[32];

	if (kinds[kind].helper)
		s.helper = (uint64_t)live_truth(workload, kinds[kind].helper);
	snprintf(key, sizeof(key), "%s%d_from", kinds[kind].kind, round);
	s.from = (uint64_t)live_truth(workload, key);
	snprintf(key, sizeof(key), "%s%d_to", kinds[kind].kind, round);
	s.to = (uint64_t)live_truth(workload, key);
	return s;
}

bool stalled_is_cause(const char *text, const struct stalled *s)
{
	char cause[96];

	snprintf(cause, sizeof(cause), "  %s", kinds[s->kind].cause);
	if (s->kind == STALLED_HOG)
		snprintf(cause, sizeof(cause), "  %s%" PRIu64 "\n", kinds[s->kind].cause,
			 s->helper);
	return strstr(text, cause) != NULL;
}

/* Kinds of moments are rows that begin with an event, too, but have no times. */
const char *stalled_next_row(const char *at)
{
	for (; (at = strstr(at, "\n{\"event\":")); at++) {
		const char *from = strstr(at, "\"from_ns\":");

		if (from && from < stalled_line_end(at + 1))
			return at;
	}
	return NULL;
}

const char *stalled_line_end(const char *at)
{
	return at + strcspn(at, "\n");
}

static const char *next_step(const char *at, const char *end)
{
	const char *step = strstr(at, "\n{\"start_ns\":");

	return step && step < end ? step + 1 : NULL;
}

void stalled_expect_sums(const char *row, const char *at, const char *end, const struct stalled *s)
{
	static const char *const states[] = { "\"running_ns\":", "\"runnable_ns\":",
					      "\"blocked_ns\":", "\"unknown_ns\":",
					      "\"absent_ns\":" };
	uint64_t until = s->from, row_ns = 0;

	for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++)
		row_ns += live_output_number(row, states[k]);
	cr_expect_eq(row_ns, s->to - s->from, "%s", row);
	for (const char *step = at; (step = next_step(step, end));) {
		cr_expect_eq(live_output_number(step, "\"start_ns\":"), until);
		until += live_output_number(step, "\"ns\":");
	}
	cr_expect_eq(until, s->to, "%s", at);
}

static bool has(const char *line, const char *word)
{
	return !word || strstr(line, word) != NULL;
}

static bool step_names_stall(const char *line, const struct stalled *s)
{
	static const char *const states[STALLED_KINDS] = {
		[STALLED_MUTEX] = "\"blocked_ns\":",   [STALLED_HOG] = "\"runnable_ns\":",
		[STALLED_FAULT] = "\"blocked_ns\":",   [STALLED_READ] = "\"blocked_ns\":",
		[STALLED_COMPUTE] = "\"running_ns\":",
	};
	const char *ns = strstr(line, states[s->kind]);
	char helper[64];

	/* the thread that ran longest comes first */
	snprintf(helper, sizeof(helper),
		 s->kind == STALLED_HOG ? "\"ran_instead\":[{\"tid\":%" PRIu64 "," :
					  "\"waker_tid\":%" PRIu64 ",",
		 s->helper);
	return ns && strtoull(strchr(ns, ':') + 1, NULL, 10) >= STALLED_NS / 2 &&
	       has(line, s->helper ? helper : NULL) && has(line, kinds[s->kind].functions[0]) &&
	       has(line, kinds[s->kind].functions[1]);
}

bool stalled_is_reported(const char *at, const char *end, const struct stalled *s)
{
	bool found = false;

	for (const char *step = at; !found && (step = next_step(step, end));) {
		char *copy = strndup(step, (size_t)(stalled_line_end(step) - step));
		char *activity = strstr(copy, "\"waker_activity\":");

		/* what the other did is another story */
		if (activity)
			*activity = '\0';
		found = step_names_stall(copy, s);
		free(copy);
	}
	return found;
}
