// SPDX-License-Identifier: BSD-2-Clause
/* A CPU that is taken away and given back while all is recorded: it is sampled again, and its processes have names. */
/* ALONE: takes a CPU away */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/support.h"

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

enum { HZ = 499, TRIES = 1000, TRY_MS = 10 };

static void put_online(const char *state)
{
	int fd = open(ONLINE, O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s", ONLINE);
	cr_assert_eq(write(fd, state, 1), 1, "%s: %m", ONLINE);
	close(fd);
}

const char *live_missing(void)
{
	return access(ONLINE, W_OK) ? "a second CPU that can be taken away" : NULL;
}

/* If the test is killed in between, the machine is restored. */
static int keep_a_guard(void)
{
	int ends[2], fd;
	char c;

	cr_assert_eq(pipe(ends), 0);
	if (!fork()) {
		close(ends[1]);
		while (read(ends[0], &c, 1) > 0)
			;
		fd = open(ONLINE, O_WRONLY);
		_exit(write(fd, "1", 1) != 1);
	}
	close(ends[0]);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return ends[1];
}

static void end_hotplug(void)
{
	put_online("1");
	live_cleanup();
}

TestSuite(hotplug, .fini = end_hotplug);

static void await_word(const struct live_rec *rec, const char *word)
{
	bool found = false;

	for (int i = 0; i < TRIES && !found; i++) {
		struct buf text = live_errors(&rec->proc);

		found = strstr(buf_cstr(&text), word);
		buf_free(&text);
		if (!found)
			poll(NULL, 0, TRY_MS);
	}
	cr_assert(found, "%s", word);
}

static void on_cpu_1(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(99);
}

static void expect_samples(const struct live_rec *rec, pid_t pid, const struct live_proc *spinner)
{
	const double expected = live_truth(spinner, "total_ns") * HZ / 1e9;
	uint64_t samples = 0;
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, rec->path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_SAMPLE ||
		    ev.pid != (uint32_t)pid)
			continue;
		/* its own clock runs in these alone */
		if ((!live_stack_has(&lt, &ev, "hot_a") && !live_stack_has(&lt, &ev, "hot_b")) ||
		    !live_stack_has(&lt, &ev, "main"))
			continue;
		cr_expect_eq(ev.cpu, 1);
		samples++;
	}
	cr_expect_eq(lt.produced, lt.written + lt.lost);
	live_close(&lt);
	cr_expect_gt(samples, expected * 0.9, "%llu samples of %.0f", (unsigned long long)samples,
		     expected);
	cr_expect_lt(samples, expected * 1.1, "%llu samples of %.0f", (unsigned long long)samples,
		     expected);
}

Test(hotplug, cpu_that_returns_is_sampled_and_its_processes_have_names)
{
	const char *const argv[] = { live_built("stimuli/spinner"), "--now", "70", "1000", NULL };
	struct live_proc spinner;
	struct live_rec rec;
	int guard = keep_a_guard();
	pid_t pid;

	live_record(&rec, "-a", "-v", "-F", live_number(HZ), NULL);
	live_recording(&rec);
	put_online("0");
	await_word(&rec, "CPU 1 went offline");
	put_online("1");
	await_word(&rec, "CPU 1 is online again");
	live_spawn(&spinner, argv, on_cpu_1);
	pid = spinner.pid;
	cr_assert_eq(live_wait(&spinner), 0);
	live_read_rest(&spinner);
	cr_assert_eq(live_stop(&rec), 0);
	expect_samples(&rec, pid, &spinner);
	live_proc_fini(&spinner);
	close(guard);
}
