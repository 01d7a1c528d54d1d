// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording that is sent to a listener: what arrives is the trace, a listener that does not read costs events but
 * no time of others, and a listener that goes away ends it.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/bpf/support.h"

TestSuite(sent, .fini = live_cleanup);

enum { MANY = 1500000 };

/* The far end: what comes goes to a file when it is let. */
struct far {
	int listening, fd;
	char output[160];
	char file[160];
	pthread_t thread;
};

static void far_listen(struct far *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", live_path("socket"));
	snprintf(f->output, sizeof(f->output), "unix:%s", addr.sun_path);
	snprintf(f->file, sizeof(f->file), "%s", live_path("received"));
	f->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(f->listening, (struct sockaddr *)&addr, sizeof(addr)), 0);
	cr_assert_eq(listen(f->listening, 1), 0);
}

/* Returns when the recorder has connected, and what it records is under way. */
static void far_accept(struct far *f)
{
	char byte;

	f->fd = accept4(f->listening, NULL, NULL, SOCK_CLOEXEC);
	cr_assert_geq(f->fd, 0);
	cr_assert_eq(recv(f->fd, &byte, 1, MSG_PEEK), 1);
}

static void *receive(void *ctx)
{
	const struct far *f = ctx;
	FILE *out = fopen(f->file, "we");
	char part[65536];
	ssize_t n;

	while ((n = read(f->fd, part, sizeof(part))) > 0)
		fwrite(part, 1, (size_t)n, out);
	fclose(out);
	return NULL;
}

static void far_read(struct far *f)
{
	cr_assert_eq(pthread_create(&f->thread, NULL, receive, f), 0);
}

static void far_end(struct far *f)
{
	pthread_join(f->thread, NULL);
	close(f->fd);
	close(f->listening);
}

/* With a small ring events are lost as soon as they are not taken, and now and then before. */
static void record_to(struct far *f, struct live_rec *rec, const struct live_proc *target,
		      const char *ring, const char *option)
{
	far_listen(f);
	live_record(rec, "-o", f->output, "-m", ring, "--no-samples", "-e",
		    "syscalls:sys_enter_close", "-p", live_number(target->pid), option, NULL);
	far_accept(f);
}

/* Of those that the stimulus closed. */
static uint64_t count_numbers(const char *path)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t n = 0;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		n += live_is(&ev, "syscalls:sys_enter_close") && live_int(&ev, "fd") >= 1000000;
	live_close(&lt);
	return n;
}

static void expect_arrival(const char *option)
{
	struct live_proc numbers;
	struct live_rec rec;
	struct far far;

	live_stimulus(&numbers, "numbers", "10", "1000", NULL);
	record_to(&far, &rec, &numbers, "4M", option);
	far_read(&far);
	live_go(&numbers);
	cr_assert_eq(live_stop(&rec), 0);
	far_end(&far);
	cr_expect_eq(count_numbers(far.file), 1000);
	live_end(&numbers);
}

Test(sent, recorded_events_arrive)
{
	expect_arrival(NULL);
}

Test(sent, recorded_events_arrive_compressed)
{
	expect_arrival("--compress=zstd");
}

Test(sent, reader_that_pauses_costs_counted_events)
{
	struct live_proc numbers;
	struct live_trace lt;
	struct live_rec rec;
	struct far far;
	uint64_t n;

	live_stimulus(&numbers, "numbers", "1000", live_number(MANY), NULL);
	record_to(&far, &rec, &numbers, "64K", NULL);
	live_go(&numbers);
	far_read(&far);
	cr_assert_eq(live_stop(&rec), 0);
	far_end(&far);
	n = count_numbers(far.file);
	cr_expect(n > 1000 && n < MANY, "%llu of %d", (unsigned long long)n, MANY);
	live_open(&lt, far.file, false);
	cr_expect_eq(lt.produced, lt.written + lt.lost);
	cr_expect_geq(lt.produced, MANY);
	cr_expect_geq(lt.lost, MANY - n);
	live_close(&lt);
	live_end(&numbers);
}

Test(sent, reader_that_stops_at_the_end_does_not_block_the_recorder)
{
	struct live_proc numbers;
	struct live_rec rec;
	struct far far;

	live_stimulus(&numbers, "numbers", "1000", live_number(MANY / 10), NULL);
	record_to(&far, &rec, &numbers, "64K", NULL);
	live_go(&numbers);
	cr_expect_eq(live_stop(&rec), 3);
	close(far.fd);
	close(far.listening);
	live_end(&numbers);
}

/* A shell, so that the recorder's standard output is a pipe. */
static int run_shell(const char *command)
{
	struct live_proc shell;
	int status;

	live_spawn(&shell, (const char *[]){ "/bin/bash", "-c", command, NULL }, NULL);
	status = live_wait(&shell);
	live_proc_fini(&shell);
	return status;
}

/* $p is the program, $d a directory. */
static void expect_shell(const char *script, int want)
{
	struct buf command = { 0 };

	buf_printf(&command, "p='%s/dial9-prof record -a --no-names'; d=%s; %s", getenv("D9_BUILD"),
		   live_path("."), script);
	cr_expect_eq(run_shell(buf_cstr(&command)), want, "%s", script);
	buf_free(&command);
}

Test(sent, fifo_that_is_not_read_at_the_end_does_not_block_the_recorder)
{
	/* a full pipe: how much is recorded does not matter */
	expect_shell(
		"mkfifo $d/f; exec 3<>$d/f; dd if=/dev/zero of=$d/f bs=4096 oflag=nonblock 2>$d/dd; "
		"$p -d 0.5 -o $d/f 2>$d/err; s=$?; "
		"grep -q 'the other end does not read' $d/err && exit $s",
		3);
}

Test(sent, fifo_without_a_reader_does_not_block_the_recorder)
{
	expect_shell("mkfifo $d/f; $p -d 0.5 -o $d/f 2>$d/err; s=$?; "
		     "grep -q 'no process reads it' $d/err && exit $s",
		     3);
}

Test(sent, closed_pipe_ends_the_recording_without_a_message)
{
	expect_shell("$p --progress -d 50 -o - 2>$d/err | head -c 1000 >/dev/null; "
		     "s=${PIPESTATUS[0]}; test ! -s $d/err && exit $s",
		     0);
}

Test(sent, reader_that_disconnects_ends_the_recording)
{
	struct live_proc numbers;
	struct live_rec rec;
	struct far far;

	live_stimulus(&numbers, "numbers", "10", NULL);
	record_to(&far, &rec, &numbers, "64K", NULL);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	close(far.fd);
	cr_expect_eq(live_finish(&rec), 3);
	close(far.listening);
	live_kill(&numbers);
}
