// SPDX-License-Identifier: BSD-2-Clause
/* A process that searches a command's files, and processes in its place that send wrong data, hang, flood or die. */
#include "record/target/exec_probe.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sudo_user.h"
#include "tests/record/found.h"

TestSuite(exec_probe, .timeout = 30);

/* Far more than the tenth of a second for an answer, and far less than endless. */
#define SOON_NS 5000000000ULL

static const struct sudo_user no_other_child;

/* The files received from that life, in a time that does not depend on it. */
static void receive(exec_probe_life_fn life, const void *ctx, struct found *f)
{
	uint64_t start = clock_mono_ns();
	struct exec_probe *s;

	cr_assert_eq(exec_probe_start(life, ctx, &no_other_child, &s), 0);
	exec_probe_receive(s, found_add, f);
	exec_probe_free(s);
	cr_expect_lt(clock_mono_ns() - start, SOON_NS);
}

/* Waits for its end; its output is not lost by that. */
static void await_end(void)
{
	siginfo_t info;

	cr_assert_eq(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
}

Test(exec_probe, finds_the_same_files_as_a_direct_search)
{
	struct found f = { 0 };
	struct exec_probe *s;

	cr_assert_eq(exec_probe_new("/proc/self/exe", true, &s), 0);
	await_end();
	exec_probe_receive(s, found_add, &f);
	exec_probe_free(s);
	found_expect_mine(&f);
	found_fini(&f);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "a process is left");
}

Test(exec_probe, missing_command_has_no_files)
{
	struct found f = { 0 };
	struct exec_probe *s;

	cr_assert_eq(exec_probe_new("/no/such/command", true, &s), 0);
	exec_probe_receive(s, found_add, &f);
	exec_probe_free(s);
	cr_expect_eq(f.cnt, 0);
}

/* ---- probes with faults ------------------------------------------------------------------------------ */

struct output {
	uint64_t numbers[3];
	char path[2 * PATH_MAX];
};

enum { HEAD_SZ = sizeof(uint64_t[3]) };

static void send_path(int sock, const char *path, size_t sz)
{
	struct output s = { .numbers = { 1, 2, 3 } };

	memcpy(s.path, path, sz);
	if (send(sock, &s, HEAD_SZ + sz, 0) < 0)
		_exit(1);
}

static void send_whole(int sock, const char *path)
{
	send_path(sock, path, strlen(path) + 1);
}

struct text {
	const char *bytes;
	size_t sz;
};

static void send_between(const void *ctx, int sock)
{
	const struct text *text = ctx;

	send_whole(sock, "/before");
	send_path(sock, text->bytes, text->sz);
	send_whole(sock, "/after");
}

Test(exec_probe, answer_is_used_up_to_the_first_invalid_entry)
{
	static char long_path[PATH_MAX + 1];
	const struct text texts[] = {
		{ "", 0 }, /* a header and nothing else */
		{ "", 1 },
		{ "/torn", 5 },
		{ "relative", 9 },
		{ "/two\0ends", 10 },
		{ long_path, PATH_MAX }, /* no end within what fits */
		{ long_path, PATH_MAX + 1 },
	};
	struct found f = { 0 };
	size_t i;

	memset(long_path, 'a', PATH_MAX);
	long_path[0] = '/';
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct exec_probe *s;

		cr_assert_eq(exec_probe_start(send_between, &texts[i], &no_other_child, &s), 0);
		await_end();
		exec_probe_receive(s, found_add, &f);
		exec_probe_free(s);
		cr_assert_eq(f.cnt, 1, "text %zu: %zu files", i, f.cnt);
		cr_expect_str_eq(f.v[0].path, "/before");
		cr_expect(f.v[0].dev == 1 && f.v[0].inode == 2 && f.v[0].sz == 3);
		found_fini(&f);
	}
}

static void send_less_than_a_header(const void *ctx, int sock)
{
	(void)ctx;
	if (send(sock, "/", 2, 0) < 0)
		_exit(1);
	send_whole(sock, "/after");
}

static void crash(const void *ctx, int sock)
{
	(void)sock;
	*(volatile char *)ctx = 1;
}

static void be_silent(const void *ctx, int sock)
{
	char c;

	(void)ctx;
	while (read(sock, &c, 1) < 1)
		continue;
}

static void be_busy(const void *ctx, int sock)
{
	(void)ctx;
	(void)sock;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

Test(exec_probe, silent_probe_does_not_block)
{
	static const exec_probe_life_fn lives[] = { send_less_than_a_header, crash, be_silent,
						    be_busy };
	struct found f = { 0 };
	size_t i;

	for (i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		receive(lives[i], NULL, &f);
		cr_expect_eq(f.cnt, 0, "life %zu", i);
		found_fini(&f);
	}
}

static void never_end(const void *ctx, int sock)
{
	(void)ctx;
	for (;;)
		send_whole(sock, "/again");
}

Test(exec_probe, endless_answer_is_limited_to_the_maximum_number_of_files)
{
	struct found f = { 0 };

	receive(never_end, NULL, &f);
	cr_expect_leq(f.cnt, ELF_DEPS_FILES_MAX);
	found_fini(&f);
}
