// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `polls` prints for a service that stalls in known ways while it is recorded (stimuli/poller.c): from the recording,
 * from the service's own file, from both and from their merge. Each stall has its cause and the thread that ended it, and
 * times add up to the poll, to the nanosecond. For a service that ran elsewhere, nothing is printed.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/stalled.h"
#include "trace/source/source.h"

TestSuite(polls, .fini = live_cleanup);

enum { ROUNDS = 3, POLLS = 72 };

const char *live_missing(void)
{
	return stalled_missing();
}

/* Their uncompressed bytes, concatenated. */
static void join(const char *path, const char *a, const char *b)
{
	const char *const parts[] = { a, b };
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char bytes[65536];
	ssize_t n;

	cr_assert_geq(fd, 0);
	for (int k = 0; k < 2; k++) {
		struct source *src;

		cr_assert_eq(source_open(parts[k], &src), 0);
		while ((n = source_read(src, bytes, sizeof(bytes))) > 0)
			cr_assert_eq(write(fd, bytes, (size_t)n), n);
		cr_assert_eq(n, 0);
		source_close(src);
	}
	close(fd);
}

static void merge(const char *path, const char *a, const char *b)
{
	const char *args[] = { "merge", "-q", "-o", path, a, b, NULL };
	struct buf output = live_output(args);

	buf_free(&output);
}

/* @more may be NULL. */
static struct buf polls(const char *opt, const char *path, const char *more)
{
	const char *args[] = { "polls", "--min=10ms", "--limit=0", opt, path, more, NULL };

	return live_output(args);
}

/* Of all of them; it comes after the rows of their kinds. */
static uint64_t number(const struct buf *output, const char *key)
{
	const char *at = strstr(output->data, key);

	cr_assert(at, "no %s in %s", key, output->data);
	return live_output_number(at, key);
}

/* ---- one stall --------------------------------------------------------------------------------- */

/* The line of that poll; it must be there. */
static const char *row_of(const struct buf *output, const struct stalled *s)
{
	char times[96];
	const char *at;

	snprintf(times, sizeof(times), "\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",", s->from,
		 s->to);
	at = strstr(output->data, times);
	cr_assert(at, "no %s in %s", times, output->data);
	while (at[-1] != '\n')
		at--;
	return at;
}

static void expect_names(const char *row, const struct live_proc *service, const struct stalled *s,
			 int round)
{
	char want[160], *line = strndup(row, (size_t)(stalled_line_end(row) - row));
	const char *name = stalled_name(s->kind);

	/* the n-th of each round's twelve; and the worker's number changes */
	snprintf(want, sizeof(want),
		 "\"worker\":%d,\"task\":%d,\"spawned\":\"src/%s.rs:7:9\",\"spans\":[\"%s\"],",
		 (round + 1) % 2, round * 12 + 2 * (int)s->kind + 2, name, name);
	cr_expect(strstr(line, want), "no %s in %s", want, line);
	if (!strstr(line, "\"unexplained\":"))
		cr_expect_eq(live_output_number(line, "\"tid\":"),
			     (uint64_t)live_truth(service, "stalled"));
	free(line);
}

static bool is_poll_reported(const struct buf *output, const struct live_proc *service, int round,
			     enum stalled_kind kind)
{
	const struct stalled s = stalled_truth(service, round, kind);
	const char *row = row_of(output, &s), *next = stalled_next_row(row),
		   *end = next ? next : output->data + output->len;
	bool reported;

	expect_names(row, service, &s, round);
	reported = stalled_is_reported(row, end, &s);
	if (reported)
		stalled_expect_sums(row, row, end, &s);
	if (!reported)
		fprintf(stderr, "not reported: %s: %.*s\n", stalled_name(kind), (int)(end - row),
			row);
	return reported;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static void expect_stalls(const struct buf *output, const struct live_proc *service)
{
	for (int k = 0; k < STALLED_KINDS; k++) {
		int reported = 0;

		for (int round = 0; round < ROUNDS; round++)
			reported += is_poll_reported(output, service, round, (enum stalled_kind)k);
		/* where init is hidden from tracing, so is a switch to or from it */
		cr_expect_geq(reported, ROUNDS - 1, "%d of %d stalls by %s", reported, ROUNDS,
			      stalled_name((enum stalled_kind)k));
	}
}

/* The reported stalls are the sum of all causes. */
static void expect_causes(const struct buf *output)
{
	uint64_t causes_ns = 0, reported_ns = 0, reported = 0;

	for (const char *at = output->data; (at = strstr(at, "\n{\"kind\":")); at++)
		causes_ns += live_output_number(at + 1, "\"ns\":");
	for (const char *at = output->data; (at = stalled_next_row(at)); at++) {
		const char *end = stalled_line_end(at + 1),
			   *unexplained = strstr(at, "\"unexplained\":");

		if (unexplained && unexplained < end)
			continue;
		reported++;
		reported_ns += live_output_number(at + 1, "\"to_ns\":") -
			       live_output_number(at + 1, "\"from_ns\":");
	}
	cr_expect_eq(causes_ns, reported_ns, "%s", output->data);
	cr_expect_eq(reported, number(output, "\"explained\":"));
	cr_expect_eq(number(output, "\"no_thread\":"), 0);
	cr_expect_eq(number(output, "\"not_recorded\":"), 0);
	cr_expect_eq(number(output, "\"not_kept\":"), 0);
}

static void expect_polls_reported(const struct live_proc *service, const char *path,
				  const char *more)
{
	struct buf output = polls("--json", path, more), text = polls("--no-pager", path, more);

	cr_expect_eq(number(&output, "\"pairs\":"), POLLS);
	expect_stalls(&output, service);
	expect_causes(&output);
	for (int k = 0; k < STALLED_KINDS; k++) {
		const struct stalled s = stalled_truth(service, 0, (enum stalled_kind)k);

		cr_expect(stalled_is_cause(text.data, &s), "no %s in %s", stalled_name(s.kind),
			  text.data);
	}
	buf_free(&output);
	buf_free(&text);
}

static void expect_nothing_of_another_host(const char *recording)
{
	const char *path = live_path("elsewhere.bin");
	char service[512];
	struct buf output;

	snprintf(service, sizeof(service), "%s/tests/golden/dial9/tokio-service.bin.gz",
		 getenv("D9_TOP"));
	join(path, recording, service);
	for (int merged = 0; merged < 2; merged++) {
		output = merged ? polls("--json", recording, service) : polls("--json", path, NULL);
		cr_expect_eq(number(&output, "\"pairs\":"), 36801);
		cr_expect_eq(number(&output, "\"slow\":"), 3);
		cr_expect_eq(number(&output, "\"explained\":"), 0);
		cr_expect_eq(number(&output, "\"not_recorded\":"), 3);
		cr_expect(strstr(output.data, "\"causes\":[]"));
		buf_free(&output);
	}
}

Test(polls, stalls_of_a_service_have_their_causes_and_add_up)
{
	struct live_proc service;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	char app[128], both[128];

	snprintf(app, sizeof(app), "%s", live_path("app.bin"));
	snprintf(both, sizeof(both), "%s", live_path("both.bin"));
	live_stimulus(&service, "poller", app, live_number(ROUNDS), NULL);
	live_record(&rec, "-a", "--switch-stacks", "both", NULL);
	live_recording(&rec);
	live_go(&service);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		;
	live_assert_no_loss(&lt);
	live_close(&lt);
	join(both, rec.path, app);
	expect_polls_reported(&service, both, NULL);
	expect_polls_reported(&service, app, rec.path);
	merge(both, rec.path, app);
	expect_polls_reported(&service, both, NULL);
	expect_nothing_of_another_host(rec.path);
	live_end(&service);
}
