// SPDX-License-Identifier: BSD-2-Clause
/*
 * A directory of traces to a fake server that fails in every known way. Whatever happens, the server has each row once, or
 * the difference is reported; a file is deleted only after the server has it.
 */
#include "ship/ship.h"

#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "ship/finished_files.h"
#include "ship/ship_state.h"
#include "tests/cmd/run_cmd.h"
#include "tests/ship/fake_clickhouse.h"
#include "tests/support/temp_dir.h"

#define MS 1000000ULL

/* Rows of the trace of run_make_app(), as `query` counts them. */
#define SAMPLES 8
#define LOST 1

struct scene {
	struct fake_clickhouse *fake;
	char dir[64];
	enum fake_fault fault; /* at the inserts first .. first + count - 1 */
	unsigned int first, count;
	pid_t victim; /* killed at the insert first */
	struct ship_counts counts;
};

static enum fake_fault choose(void *ctx, unsigned int insert)
{
	const struct scene *s = ctx;

	if (s->victim && insert == s->first)
		kill(s->victim, SIGKILL);
	return insert >= s->first && insert - s->first < s->count ? s->fault : FAKE_FINE;
}

static void copy_trace(const struct scene *s, const char *name)
{
	temp_dir_put(s->dir, name, run_app_file());
}

static bool has_file(const struct scene *s, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	return !access(path, F_OK);
}

/* 0 or -1, for example on a file system without such files. */
static int make_immutable(const char *path, bool immutable)
{
	int fd = open(path, O_RDONLY), flags = 0, ret;

	ret = ioctl(fd, FS_IOC_GETFLAGS, &flags);
	flags = immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	ret = ret ?: ioctl(fd, FS_IOC_SETFLAGS, &flags);
	close(fd);
	return ret;
}

static void begin(struct scene *s, bool tokens)
{
	temp_dir_make(s->dir, sizeof(s->dir));
	copy_trace(s, "a.0.bin");
	s->fake = fake_start(&(struct fake_opts){ .tokens = tokens, .fault = choose, .ctx = s });
}

static void end(struct scene *s)
{
	fake_free(s->fake);
	temp_dir_remove(s->dir);
}

static int run_until(struct scene *s, uint64_t give_up_ns, uint64_t disk_max, int end_fd)
{
	static const char *const labels[] = { "rack=b7" };
	struct http_url url;
	char text[64];
	int err;

	snprintf(text, sizeof(text), "http://me@127.0.0.1:%u/fleet", fake_port(s->fake));
	cr_assert_eq(http_url_parse("ship", text, &url), 0);
	err = ship_run(&(struct ship_opts){ .dir = s->dir,
					    .sender = { .server = { .url = &url,
								    .timeout_ns = 20000 * MS },
							.grace_ns = MS },
					    .attempts = { .end_fd = end_fd,
							  .end_give_up_ns = 1000 * MS,
							  .pause_min_ns = MS,
							  .pause_max_ns = 2 * MS,
							  .give_up_ns = give_up_ns },
					    .labels = labels,
					    .label_cnt = 1,
					    .disk_max = disk_max,
					    .poll_ns = MS,
					    .once = end_fd < 0 },
		       &s->counts);
	http_url_fini(&url);
	return err;
}

static int run_with(struct scene *s, uint64_t give_up_ns, uint64_t disk_max)
{
	return run_until(s, give_up_ns, disk_max, -1);
}

static int run_once(struct scene *s)
{
	return run_with(s, 20000 * MS, 0);
}

/* The rows of @files traces, each once. */
static void expect_all(struct scene *s, uint64_t files)
{
	const uint64_t slices = fake_rows(s->fake, "slices");

	cr_expect_eq(fake_rows(s->fake, "samples"), SAMPLES * files, "%lu samples",
		     fake_rows(s->fake, "samples"));
	cr_expect_eq(fake_rows(s->fake, "lost"), LOST * files);
	cr_expect(slices && slices % files == 0, "%lu slices", slices);
	/* the server keeps one of equal rows */
	cr_expect_geq(fake_rows(s->fake, "ledger"), 3 * files);
	cr_expect_not(has_file(s, "a.0.bin"));
	cr_expect_eq(s->counts.doubled, 0);
	cr_expect_eq(s->counts.missing, 0);
}

Test(ship, all_rows_arrive_and_the_file_is_deleted)
{
	struct scene s = { 0 };

	begin(&s, true);
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect_eq(s.counts.files, 1);
	cr_expect(fake_saw(s.fake, "database=fleet&query=INSERT INTO `samples` (`day`, `host`, "));
	cr_expect(fake_saw(s.fake, "insert_deduplication_token="));
	cr_expect(fake_saw(s.fake, "Content-Encoding: gzip"));
	cr_expect(fake_saw(s.fake, "ALTER TABLE `stacks` ADD COLUMN `day` Date"));
	end(&s);
}

Test(ship, a_server_without_tokens_gets_none)
{
	struct scene s = { 0 };

	begin(&s, false);
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect_not(fake_saw(s.fake, "insert_deduplication_token="));
	end(&s);
}

/* Each fault at each insert, twice in a row. */
static void try_fault(enum fake_fault fault, bool tokens)
{
	unsigned int inserts = 1;

	for (unsigned int at = 0; at < inserts; at++) {
		struct scene s = { .fault = fault, .first = at, .count = 2 };

		begin(&s, tokens);
		cr_expect_eq(run_once(&s), 0, "fault %d at insert %u", fault, at);
		expect_all(&s, 1);
		inserts = fake_inserts(s.fake) > at + 2 ? at + 2 : at + 1;
		end(&s);
	}
}

Test(ship, errors_of_the_server_lose_nothing)
{
	try_fault(FAKE_ERROR, true);
	try_fault(FAKE_ERROR, false);
}

Test(ship, a_cut_connection_loses_nothing)
{
	try_fault(FAKE_CUT, true);
	try_fault(FAKE_CUT, false);
}

Test(ship, a_lost_answer_doubles_nothing)
{
	try_fault(FAKE_EAT, true);
	try_fault(FAKE_EAT, false);
	try_fault(FAKE_PARTIAL, false);
}

Test(ship, an_endless_answer_ends)
{
	try_fault(FAKE_ENDLESS, false);
}

Test(ship, success_needs_status_header_and_body)
{
	try_fault(FAKE_HEADER, true);
	try_fault(FAKE_BODY, true);
}

Test(ship, a_refusal_ends_and_keeps_the_file)
{
	static const enum fake_fault faults[] = { FAKE_STATUS, FAKE_TABLE };

	for (int i = 0; i < 2; i++) {
		struct scene s = { .fault = faults[i], .first = 3, .count = 100 };

		begin(&s, true);
		cr_expect_eq(run_once(&s), -EPROTO);
		cr_expect(has_file(&s, "a.0.bin"));
		end(&s);
	}
}

Test(ship, without_a_server_it_gives_up_and_keeps_the_file)
{
	struct scene s = { 0 };

	begin(&s, true);
	fake_stop(s.fake);
	cr_expect_eq(run_with(&s, 5 * MS, 0), -ETIMEDOUT);
	cr_expect(has_file(&s, "a.0.bin"));
	end(&s);
}

/* It answers questions all the while, for example because its disk is full. */
Test(ship, a_server_that_takes_no_rows_is_given_up, .timeout = 20)
{
	/* after tasks, traces, frames and stacks: rows that a server may have twice */
	struct scene s = { .fault = FAKE_ERROR, .first = 4, .count = UINT_MAX };

	begin(&s, true);
	cr_expect_eq(run_with(&s, 50 * MS, 0), -ETIMEDOUT);
	cr_expect(has_file(&s, "a.0.bin"));
	end(&s);
}

/* A request must not take longer than the limit either. */
Test(ship, a_server_that_is_silent_is_given_up, .timeout = 15)
{
	struct scene s = { .fault = FAKE_SILENT, .first = 0, .count = UINT_MAX };

	begin(&s, true);
	cr_expect_eq(run_with(&s, 1500 * MS, 0), -ETIMEDOUT);
	cr_expect_eq(fake_inserts(s.fake), 1);
	cr_expect(has_file(&s, "a.0.bin"));
	end(&s);
}

Test(ship, doubled_rows_are_counted)
{
	/* tasks, traces, frames, stacks, lost */
	struct scene s = { .fault = FAKE_DOUBLE, .first = 4, .count = 1 };

	begin(&s, false);
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(s.counts.doubled, LOST, "%lu", s.counts.doubled);
	end(&s);
}

/* ---- crashes ---------------------------------------------------------------------------------- */

Test(ship, killed_at_any_insert_it_continues, .timeout = 60)
{
	for (unsigned int at = 0; at < 8; at++) {
		for (int tokens = 0; tokens < 2; tokens++) {
			struct scene s = { .first = at };
			int go[2], status;
			char byte = 0;
			pid_t child;

			cr_assert_eq(pipe(go), 0);
			begin(&s, tokens);
			child = fork();
			if (!child) {
				cr_assert_eq(read(go[0], &byte, 1), 1);
				_exit(run_once(&s) ? 1 : 0);
			}
			s.victim = child;
			cr_assert_eq(write(go[1], &byte, 1), 1);
			cr_assert_eq(waitpid(child, &status, 0), child);
			cr_expect(WIFSIGNALED(status), "insert %u", at);
			cr_expect(has_file(&s, "a.0.bin"));
			s.victim = 0;
			cr_expect_eq(run_once(&s), 0);
			expect_all(&s, 1);
			close(go[0]);
			close(go[1]);
			end(&s);
		}
	}
}

/*
 * What of a file's stacks and frames an ended program had sent before the file decides which ones each of its batches has, so
 * another program must not take its own batches for those.
 */
Test(ship, after_a_restart_stacks_are_sent_again)
{
	/* after tasks, traces, frames, stacks and lost */
	struct scene s = { .fault = FAKE_STATUS, .first = 5, .count = 1 };
	uint64_t stacks, frames, tasks;

	begin(&s, true);
	cr_expect_eq(run_once(&s), -EPROTO);
	stacks = fake_rows(s.fake, "stacks");
	frames = fake_rows(s.fake, "frames");
	tasks = fake_rows(s.fake, "tasks");
	cr_assert(stacks && frames && tasks);
	s.count = 0;
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect_eq(fake_rows(s.fake, "stacks"), 2 * stacks);
	cr_expect_eq(fake_rows(s.fake, "frames"), 2 * frames);
	cr_expect_eq(fake_rows(s.fake, "tasks"), tasks);
	end(&s);
}

Test(ship, a_file_that_is_done_is_only_deleted)
{
	struct scene s = { 0 };
	unsigned int inserts;

	begin(&s, true);
	cr_expect_eq(run_once(&s), 0);
	inserts = fake_inserts(s.fake);
	/* as after a crash before the file was deleted */
	copy_trace(&s, "a.0.bin");
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(fake_inserts(s.fake), inserts);
	expect_all(&s, 1);
	end(&s);
}

Test(ship, on_a_full_disk_files_are_shipped)
{
	const struct rlimit none = { 0, 0 };
	struct scene s = { .fault = FAKE_EAT, .first = 3, .count = 3 };

	begin(&s, false);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	end(&s);
}

Test(ship, a_lack_of_descriptors_is_not_the_fault_of_a_file)
{
	/* the directory, the lock and the file; the last one is then opened again */
	const struct rlimit few = { 3 + 3, 3 + 3 };
	struct scene s = { 0 };
	int status;
	pid_t child;

	begin(&s, true);
	child = fork();
	if (!child) {
		if (close_range(3, ~0U, 0) || setrlimit(RLIMIT_NOFILE, &few))
			_exit(2);
		_exit(run_once(&s) == -EMFILE ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	cr_expect(has_file(&s, "a.0.bin"));
	end(&s);
}

/* ---- the directory ---------------------------------------------------------------------------- */

Test(ship, open_and_other_files_stay)
{
	struct scene s = { 0 };

	begin(&s, true);
	copy_trace(&s, "a.1.bin.active");
	copy_trace(&s, "other.bin");
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect(has_file(&s, "a.1.bin.active"));
	cr_expect(has_file(&s, "other.bin"));
	end(&s);
}

Test(ship, a_file_that_is_no_trace_is_set_aside)
{
	struct scene s = { 0 };
	char path[128];
	int fd;

	begin(&s, true);
	snprintf(path, sizeof(path), "%s/a.1.bin", s.dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert_eq(write(fd, "nonsense nonsense", 17), 17);
	close(fd);
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect_eq(s.counts.unreadable, 1);
	cr_expect(has_file(&s, "a.1.bin.unreadable"));
	end(&s);
}

/* What is readable of it was shipped, so it is not lost. */
Test(ship, the_disk_budget_includes_files_that_are_no_traces)
{
	struct scene s = { 0 };

	begin(&s, false);
	copy_trace(&s, "a.1.bin.unreadable");
	cr_expect_eq(run_with(&s, 20000 * MS, 1), 0);
	cr_expect_not(has_file(&s, "a.1.bin.unreadable"));
	/* the other one, which was never shipped */
	cr_expect_eq(s.counts.dropped, 1);
	end(&s);
}

Test(ship, a_file_without_its_end_is_shipped_and_counted)
{
	struct scene s = { 0 };
	struct stat st;
	char path[128];

	begin(&s, true);
	snprintf(path, sizeof(path), "%s/a.0.bin", s.dir);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(truncate(path, st.st_size - 1), 0);
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(s.counts.files, 1);
	cr_expect_eq(s.counts.torn, 1);
	cr_expect_eq(s.counts.unreadable, 0);
	cr_expect_eq(fake_rows(s.fake, "samples"), SAMPLES);
	cr_expect_not(has_file(&s, "a.0.bin"));
	end(&s);
}

Test(ship, a_full_budget_drops_the_oldest_file_and_reports_it)
{
	struct scene s = { 0 };

	begin(&s, true);
	cr_expect_eq(run_with(&s, 20000 * MS, 1), 0);
	cr_expect_not(has_file(&s, "a.0.bin"));
	cr_expect_eq(s.counts.dropped, 1);
	cr_expect_eq(s.counts.files, 0);
	cr_expect_eq(fake_rows(s.fake, "lost"), 1);
	cr_expect_eq(fake_rows(s.fake, "samples"), 0);
	/* once */
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(fake_rows(s.fake, "lost"), 1);
	end(&s);
}

/* As after a long time without a server: one insert for all of them, whenever it or the program fails. */
Test(ship, lost_files_are_reported_together, .timeout = 60)
{
	static const enum fake_fault faults[] = { FAKE_FINE, FAKE_ERROR, FAKE_CUT, FAKE_EAT };

	for (int i = 0; i < 8; i++) {
		struct scene s = { .fault = faults[i / 2], .first = 0, .count = 1 };
		const bool tokens = i % 2;
		char name[32];

		begin(&s, tokens);
		for (int k = 1; k < 20; k++) {
			snprintf(name, sizeof(name), "a.%d.bin", k);
			copy_trace(&s, name);
		}
		cr_expect_eq(run_with(&s, 20000 * MS, 1), 0);
		cr_expect_eq(s.counts.dropped, 20);
		cr_expect_eq(fake_rows(s.fake, "lost"), 20, "fault %d: %lu rows", s.fault,
			     fake_rows(s.fake, "lost"));
		cr_expect_leq(fake_inserts(s.fake), 2);
		end(&s);
	}
}

Test(ship, killed_while_it_reports_lost_files_it_reports_them_once, .timeout = 60)
{
	for (int tokens = 0; tokens < 2; tokens++) {
		struct scene s = { 0 };
		int go[2], status;
		char byte = 0;
		pid_t child;

		cr_assert_eq(pipe(go), 0);
		begin(&s, tokens);
		copy_trace(&s, "a.1.bin");
		copy_trace(&s, "a.2.bin");
		child = fork();
		if (!child) {
			cr_assert_eq(read(go[0], &byte, 1), 1);
			_exit(run_with(&s, 20000 * MS, 1) ? 1 : 0);
		}
		s.victim = child;
		cr_assert_eq(write(go[1], &byte, 1), 1);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect(WIFSIGNALED(status));
		s.victim = 0;
		copy_trace(&s, "a.3.bin");
		cr_expect_eq(run_with(&s, 20000 * MS, 1), 0);
		cr_expect_eq(fake_rows(s.fake, "lost"), 4, "%lu", fake_rows(s.fake, "lost"));
		close(go[0]);
		close(go[1]);
		end(&s);
	}
}

Test(ship, a_file_that_cannot_be_deleted_is_not_lost)
{
	struct ship_state *state;
	struct scene s = { 0 };
	char path[128];
	size_t drops;
	int dir;

	begin(&s, true);
	dir = open(s.dir, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir, 0);
	cr_assert_eq(ship_state_open(dir, s.dir, &state), 0);
	snprintf(path, sizeof(path), "%s/a.0.bin", s.dir);
	if (make_immutable(path, true))
		cr_skip_test("the file system has no immutable files");
	cr_expect_eq(finished_files_trim(dir, 1, NULL, state), 0);
	ship_state_drops(state, &drops);
	cr_expect_eq(drops, 0);
	cr_assert_eq(make_immutable(path, false), 0);
	cr_expect_eq(finished_files_trim(dir, 1, NULL, state), 1);
	ship_state_drops(state, &drops);
	cr_expect_eq(drops, 1);
	ship_state_close(state);
	close(dir);
	end(&s);
}

Test(ship, one_program_per_directory)
{
	struct scene s = { 0 };
	struct ship_state *other;
	int dir;

	begin(&s, true);
	dir = open(s.dir, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(ship_state_open(dir, s.dir, &other), 0);
	cr_expect_eq(run_once(&s), -EBUSY);
	ship_state_close(other);
	close(dir);
	end(&s);
}

Test(ship, old_servers_get_plain_tables)
{
	struct scene s = { 0 };

	begin(&s, false);
	fake_free(s.fake);
	s.fake = fake_start(&(struct fake_opts){ .old = true });
	cr_expect_eq(run_once(&s), 0);
	expect_all(&s, 1);
	cr_expect(
		fake_saw(s.fake, "CREATE TABLE IF NOT EXISTS `lost` (`day` Date, `host` String, "));
	end(&s);
}

/* ---- the end of a descriptor ------------------------------------------------------------------ */

struct closing {
	int fd;
	struct fake_clickhouse *fake;
};

/* Closes the descriptor when everything was sent, so that the program waits for files by then. */
static void *close_later(void *ctx)
{
	const struct closing *c = ctx;

	while (!fake_rows(c->fake, "ledger"))
		poll(NULL, 0, 1);
	close(c->fd);
	return NULL;
}

Test(ship, it_waits_for_files_until_the_descriptor_ends)
{
	struct scene s = { 0 };
	struct closing c;
	pthread_t thread;
	int ends[2];

	begin(&s, true);
	cr_assert_eq(pipe(ends), 0);
	c = (struct closing){ ends[1], s.fake };
	cr_assert_eq(pthread_create(&thread, NULL, close_later, &c), 0);
	cr_expect_eq(run_until(&s, 0, 0, ends[0]), 0);
	pthread_join(thread, NULL);
	expect_all(&s, 1);
	close(ends[0]);
	end(&s);
}

Test(ship, after_the_end_it_does_not_wait_long_for_a_server)
{
	struct scene s = { 0 };
	int ends[2];

	begin(&s, true);
	fake_stop(s.fake);
	cr_assert_eq(pipe(ends), 0);
	close(ends[1]);
	cr_expect_eq(run_until(&s, 0, 0, ends[0]), -ETIMEDOUT);
	cr_expect(has_file(&s, "a.0.bin"));
	close(ends[0]);
	end(&s);
}

/* The descriptor ends when the request has arrived. */
static void *close_at_insert(void *ctx)
{
	struct closing *c = ctx;

	while (!fake_inserts(c->fake))
		poll(NULL, 0, 1);
	close(c->fd);
	return NULL;
}

Test(ship, after_the_end_it_waits_for_a_silent_server_for_the_limit, .timeout = 15)
{
	struct scene s = { .fault = FAKE_SILENT, .first = 0, .count = UINT_MAX };
	struct closing c;
	pthread_t thread;
	uint64_t begun;
	int ends[2];

	begin(&s, true);
	cr_assert_eq(pipe(ends), 0);
	c = (struct closing){ ends[1], s.fake };
	begun = clock_timer_ns();
	cr_assert_eq(pthread_create(&thread, NULL, close_at_insert, &c), 0);
	cr_expect_eq(run_until(&s, 0, 0, ends[0]), -ETIMEDOUT);
	cr_expect_geq(clock_timer_ns() - begun, 1000 * MS);
	pthread_join(thread, NULL);
	cr_expect(has_file(&s, "a.0.bin"));
	close(ends[0]);
	end(&s);
}
