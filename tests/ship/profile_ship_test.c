// SPDX-License-Identifier: BSD-2-Clause
/* ALONE: random_trace.h */
/*
 * A directory of traces to a fake server of profiles. Sums of what arrives equal the sums of `query` and `export pprof`, and
 * whatever fails, each profile arrives at least once before its file is deleted.
 */
#include "ship/ship.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "tests/cmd/random_trace.h"
#include "tests/export/proto_read.h"
#include "tests/ship/fake_http.h"
#include "tests/ship/fake_pyroscope.h"
#include "tests/support/temp_dir.h"

TestSuite(profile_ship, .timeout = 120);

#define MS 1000000ULL

struct scene {
	struct fake_pyroscope *fake;
	char dir[64];
	const char *user, *password, *path;
	enum fake_pyroscope_fault fault; /* at the requests first .. first + count - 1 */
	unsigned int first, count;
	pid_t victim; /* killed at the request first */
	bool anonymize;
	const char *label; /* one more */
	uint64_t disk_max;
	struct ship_counts counts;
};

static enum fake_pyroscope_fault choose(void *ctx, unsigned int request)
{
	const struct scene *s = ctx;

	if (s->victim && request == s->first)
		kill(s->victim, SIGKILL);
	return request >= s->first && request - s->first < s->count ? s->fault : PROFILE_FINE;
}

/* Takes the file @from. */
static void begin_scene(struct scene *s, int from)
{
	temp_dir_make(s->dir, sizeof(s->dir));
	temp_dir_put(s->dir, "a.0.bin", from);
	s->fake = fake_pyroscope_start(&(struct fake_pyroscope_opts){ .fault = choose, .ctx = s });
}

static void end_scene(struct scene *s)
{
	fake_pyroscope_free(s->fake);
	temp_dir_remove(s->dir);
}

static bool has_file(const struct scene *s, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	return !access(path, F_OK);
}

static int run_with(struct scene *s, uint64_t give_up_ns)
{
	const char *const labels[] = { "rack=b7, {west}", s->label };
	struct http_url url;
	char text[96];
	int err;

	snprintf(text, sizeof(text), "http://%s127.0.0.1:%u/%s", s->user ?: "",
		 fake_pyroscope_port(s->fake), s->path ?: "");
	cr_assert_eq(http_url_parse("ship", text, &url), 0);
	err = ship_run(&(struct ship_opts){ .dir = s->dir,
					    .target = SHIP_TO_PYROSCOPE,
					    .sender = { .server = { .url = &url,
								    .password = s->password,
								    .timeout_ns = 20000 * MS } },
					    .attempts = { .end_fd = -1,
							  .pause_min_ns = MS,
							  .pause_max_ns = 2 * MS,
							  .give_up_ns = give_up_ns },
					    .labels = labels,
					    .label_cnt = s->label ? 2 : 1,
					    .anonymize = s->anonymize,
					    .disk_max = s->disk_max,
					    .poll_ns = MS,
					    .once = true },
		       &s->counts);
	http_url_fini(&url);
	return err;
}

static int run_once(struct scene *s)
{
	return run_with(s, 20000 * MS);
}

static const struct fake_profile *find(struct scene *s, const char *name, const char *type)
{
	size_t cnt;
	const struct fake_profile *p = fake_pyroscope_profiles(s->fake, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(p[i].name, name) && strstr(p[i].types.data, type))
			return &p[i];
	cr_assert(false, "no profile %s", name);
	return NULL;
}

/* ---- what arrives ------------------------------------------------------------------------------ */

#define APP "/{rack=b7_ {west_,host=box}"

Test(profile_ship, a_profile_of_each_kind_arrives_and_the_file_is_deleted)
{
	struct scene s = { 0 };
	const struct fake_profile *cpu, *blocked;

	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(s.counts.files, 1);
	cr_expect_eq(s.counts.batches, 2);
	cr_expect_not(has_file(&s, "a.0.bin"));
	cpu = find(&s, APP, "\"cpu\"");
	cr_expect_eq(cpu->count, 8);
	cr_expect_eq(cpu->ns, 8 * 10101010ULL);
	cr_expect_eq(cpu->samples, 2);
	cr_expect_eq(cpu->from, 1700000000);
	cr_expect_eq(cpu->until, 1700000005);
	cr_expect_eq(cpu->rate, 99);
	cr_expect_eq(cpu->time_ns, 1700000000 * RUN_SEC);
	blocked = find(&s, APP, "block_duration");
	cr_expect_eq(blocked->count, 1);
	cr_expect_eq(blocked->ns, RUN_SEC - 1234567);
	cr_expect_eq(blocked->rate, 0);
	cr_expect(fake_pyroscope_saw(s.fake, "POST /ingest?name="));
	cr_expect_not(fake_pyroscope_saw(s.fake, "Authorization"));
	end_scene(&s);
}

static char *text_of(const struct buf *pprof)
{
	static const char *const messages[] = { "1", "2", "3", "4", "4.4", "5", "11", NULL };
	static const char *const packed[] = { "2.1", "2.2", NULL };
	const struct proto_read r = { messages, packed };
	struct buf out = { 0 };

	proto_read(&out, &r, pprof->data, pprof->len);
	return buf_steal(&out);
}

/* Leaf first; functions and files as in the trace, types and the period as servers know them from Go. */
Test(profile_ship, a_profile_has_names_types_and_modules)
{
	struct scene s = { 0 };
	char *text;

	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), 0);
	text = text_of(&find(&s, APP, "\"cpu\"")->pprof);
	run_expect_in(text, "1 { 1: 1 2: 2 }\n1 { 1: 3 2: 4 }\n14: 3\n11 { 1: 3 2: 4 }\n"
			    "12: 10101010\n2 { 1 [1,2,3] 2 [6,60606060] }\n2 { 1 [4,3] 2 "
			    "[2,20202020] }\n");
	run_expect_in(text, "6: \"leaf\"\n");
	run_expect_in(text, "6: \"/opt/app/bin/app\"\n");
	cr_expect_null(strstr(text, "dial9-prof -p 10"), "a command line has arguments");
	free(text);
	end_scene(&s);
}

/* Otherwise two profiles had the same labels and start, and a server would keep one of them. */
Test(profile_ship, a_label_with_the_service_makes_one_service_of_all)
{
	struct scene s = { .label = "service_name=my shop" };
	const struct fake_profile *p;
	struct make m;
	size_t cnt;

	run_make_app(&m);
	make_task_in(&m, 15 * RUN_SEC, 20, 20, "other", "/other.slice");
	make_sample(&m, 16 * RUN_SEC, 20, 20, PROF_SOURCE_SAMPLE, 0,
		    (const uint64_t[]){ make_frame(1, 0x310) }, 1);
	begin_scene(&s, make_done(&m));
	cr_expect_eq(run_once(&s), 0);
	p = fake_pyroscope_profiles(s.fake, &cnt);
	cr_assert_eq(cnt, 2);
	cr_expect_str_eq(p[0].name, "my_shop{rack=b7_ {west_,service_name=my shop,host=box}");
	cr_expect_str_eq(p[1].name, p[0].name);
	cr_expect_eq(p[0].count, 9);
	end_scene(&s);
}

static void expect_hidden(const struct buf *pprof, const char *text, bool hidden)
{
	cr_expect_eq(!memmem(pprof->data, pprof->len, text, strlen(text)), hidden, "%s", text);
}

Test(profile_ship, anonymized_profiles_have_functions_but_no_names_of_files)
{
	struct scene s = { .anonymize = true };
	const struct fake_profile *p;
	struct make m;
	size_t cnt;

	run_make_app(&m);
	make_task_in(&m, 15 * RUN_SEC, 20, 20, "secret", "/secret.slice");
	make_sample(&m, 16 * RUN_SEC, 20, 20, PROF_SOURCE_SAMPLE, 0,
		    (const uint64_t[]){ make_frame(1, 0x310) }, 1);
	begin_scene(&s, make_done(&m));
	cr_expect_eq(run_once(&s), 0);
	p = fake_pyroscope_profiles(s.fake, &cnt);
	cr_assert_eq(cnt, 3);
	for (size_t i = 0; i < cnt; i++) {
		cr_expect_null(strstr(p[i].name, "box"));
		cr_expect_null(strstr(p[i].name, "secret"));
		expect_hidden(&p[i].pprof, "/opt/app", true);
		expect_hidden(&p[i].pprof, "app.c", true);
		expect_hidden(&p[i].pprof, "main", p[i].samples == 1 && p[i].ns == 10101010);
	}
	cr_expect_eq(strcspn(p[0].name, "{"), 16);
	end_scene(&s);
}

Test(profile_ship, a_password_goes_with_the_user_or_as_a_token)
{
	struct scene s = { .user = "me@", .password = "secret", .path = "sub/" },
		     t = { .password = "token7" };

	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), 0);
	cr_expect(fake_pyroscope_saw(s.fake, "POST /sub/ingest?name="));
	cr_expect(fake_pyroscope_saw(s.fake, "Authorization: Basic bWU6c2VjcmV0\r\n"));
	end_scene(&s);
	begin_scene(&t, run_app_file());
	cr_expect_eq(run_once(&t), 0);
	cr_expect(fake_pyroscope_saw(t.fake, "Authorization: Bearer token7\r\n"));
	end_scene(&t);
}

/* ---- sums ------------------------------------------------------------------------------------- */

enum { SEEDS = 14, STEPS = 1500 };

/* From 100 on there are off-CPU intervals in place of switches, see sched_trace.c. */
static uint64_t seed_of(int i)
{
	return (uint64_t)(i < 11 ? i + 1 : i + 89);
}

/* With a host and two control groups. */
static int long_trace(uint64_t seed)
{
	return random_trace_with(seed, STEPS,
				 (const char *const[]){ "task", "h1", "/bin/app", "200", NULL });
}

static void expect_sums(struct scene *s, uint64_t seed, const char *type, const char *sql)
{
	struct run r =
		run_cmd(cmd_query, long_trace(seed), "query", sql, "-", "--format", "csv", NULL);
	size_t cnt;
	const struct fake_profile *p = fake_pyroscope_profiles(s->fake, &cnt);
	struct buf got = { 0 };

	for (size_t i = 0; i < cnt; i++)
		if (strstr(p[i].types.data, type))
			buf_printf(&got, "%.*s,%lu,%lu,%lu\n", (int)strcspn(p[i].name, "{"),
				   p[i].name, p[i].samples, p[i].count, p[i].ns);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect_str_eq(buf_cstr(&got), strchr(r.out, '\n') + 1, "seed %lu, %s:\n%s\nwanted:\n%s",
			 seed, type, buf_cstr(&got), r.out);
	buf_free(&got);
	run_free(&r);
}

#define SERVICE "replace(ifnull(cgroup, 'unknown'), ':', '_') AS service"

Test(profile_ship, sums_equal_group_by_of_query)
{
	for (int i = 0; i < SEEDS; i++) {
		struct scene s = { 0 };

		begin_scene(&s, long_trace(seed_of(i)));
		cr_expect_eq(run_once(&s), 0);
		expect_sums(&s, seed_of(i), "\"cpu\"",
			    "SELECT " SERVICE ", count(DISTINCT ifnull(stack, -1)), count(*),"
			    " ifnull(sum(weight), 0) FROM samples WHERE source = 'cpu'"
			    " GROUP BY service ORDER BY service");
		expect_sums(&s, seed_of(i), "block_count",
			    "SELECT " SERVICE ", count(DISTINCT ifnull(stack, -1)), count(*),"
			    " sum(dur) FROM slices WHERE state = 'blocked' AND NOT recorder"
			    " GROUP BY service ORDER BY service");
		end_scene(&s);
	}
}

/* Counts and times in the output of `export pprof`. */
static struct fake_profile export_sums(uint64_t seed, const char *kind)
{
	char path[] = "/tmp/d9-profile-XXXXXX", option[64];
	struct fake_profile sums = { .name = "" };
	struct buf packed = { 0 }, raw = { 0 };
	const char *at;
	struct run r;
	char *text;

	close(mkstemp(path));
	snprintf(option, sizeof(option), "-o%s", path);
	r = run_cmd(cmd_export, long_trace(seed), "export", "pprof", "-", kind, option, NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	run_free(&r);
	cr_assert_eq(file_read(AT_FDCWD, path, 1 << 24, &packed), 0);
	fake_http_unpack(packed.data, packed.len, &raw);
	text = text_of(&raw);
	for (at = text; (at = strstr(at, "\n2 { 1 [")); at++) {
		uint64_t count, ns;

		cr_assert_eq(sscanf(strstr(at, "] 2 ["), "] 2 [%lu,%lu]", &count, &ns), 2);
		sums.count += count;
		sums.ns += ns;
	}
	unlink(path);
	buf_free(&packed);
	buf_free(&raw);
	free(text);
	return sums;
}

static void expect_export(struct scene *s, uint64_t seed, const char *type, const char *kind)
{
	const struct fake_profile want = export_sums(seed, kind);
	uint64_t count = 0, ns = 0;
	size_t cnt;
	const struct fake_profile *p = fake_pyroscope_profiles(s->fake, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		if (!strstr(p[i].types.data, type))
			continue;
		count += p[i].count;
		ns += p[i].ns;
	}
	cr_expect_eq(count, want.count, "seed %lu, %s: %lu, wanted %lu", seed, kind, count,
		     want.count);
	cr_expect_eq(ns, want.ns, "seed %lu, %s: %lu ns, wanted %lu", seed, kind, ns, want.ns);
}

Test(profile_ship, sums_equal_export_pprof)
{
	for (int i = 0; i < SEEDS; i++) {
		struct scene s = { 0 };

		begin_scene(&s, long_trace(seed_of(i)));
		cr_expect_eq(run_once(&s), 0);
		expect_export(&s, seed_of(i), "\"cpu\"", "--kind=cpu");
		expect_export(&s, seed_of(i), "block_count", "--kind=offcpu");
		end_scene(&s);
	}
}

/* More stacks than a server takes, and names that are larger than it takes. */
static int large_trace(uint32_t stacks, uint32_t name_len)
{
	char name[2048];
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, 1, 1700000000 * RUN_SEC);
	make_task_in(&m, 1, 10, 10, "app", "/big");
	for (uint32_t i = 0; i < stacks; i++) {
		const uint64_t frame = make_frame(1, 0x100 + 16ULL * i);

		make_sample(&m, 2 + i, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
		snprintf(name, sizeof(name), "f%0*u", (int)name_len, i);
		if (name_len)
			make_symbol(&m, 2 + i, frame, 0, frame, name, "", 0);
	}
	return make_done(&m);
}

static void expect_parts(uint32_t stacks, uint32_t name_len, size_t parts)
{
	struct scene s = { 0 };
	const struct fake_profile *p;
	uint64_t samples = 0;
	size_t cnt;

	begin_scene(&s, large_trace(stacks, name_len));
	cr_expect_eq(run_once(&s), 0);
	p = fake_pyroscope_profiles(s.fake, &cnt);
	cr_expect_eq(cnt, parts, "%zu parts", cnt);
	for (size_t i = 0; i < cnt; i++) {
		samples += p[i].count;
		cr_expect_leq(p[i].samples, 15000);
		cr_expect_leq(p[i].pprof.len, 3u << 20);
		/* equal times would be one profile */
		cr_expect_eq(p[i].time_ns, p[0].time_ns + i);
	}
	cr_expect_eq(samples, stacks);
	end_scene(&s);
}

Test(profile_ship, a_profile_that_is_too_large_becomes_several)
{
	expect_parts(15000, 0, 1);
	expect_parts(15001, 0, 2);
	expect_parts(4000, 1900, 4);
}

/* ---- faults ----------------------------------------------------------------------------------- */

/* Each fault at each request, twice in a row. */
static void try_fault(enum fake_pyroscope_fault fault, unsigned int extra)
{
	for (unsigned int at = 0; at < 2; at++) {
		struct scene s = { .fault = fault, .first = at, .count = 2 };
		size_t cnt;

		begin_scene(&s, run_app_file());
		cr_expect_eq(run_once(&s), 0, "fault %d at request %u", fault, at);
		find(&s, APP, "\"cpu\"");
		find(&s, APP, "block_duration");
		fake_pyroscope_profiles(s.fake, &cnt);
		cr_expect_eq(cnt, 2 + extra, "fault %d at request %u: %zu", fault, at, cnt);
		cr_expect_eq(fake_pyroscope_requests(s.fake), 4);
		cr_expect_not(has_file(&s, "a.0.bin"));
		end_scene(&s);
	}
}

Test(profile_ship, errors_that_pass_lose_nothing)
{
	try_fault(PROFILE_ERROR, 0);
	try_fault(PROFILE_BUSY, 0);
	try_fault(PROFILE_LIMIT, 0);
	try_fault(PROFILE_RING, 0);
	try_fault(PROFILE_PAGE, 0);
	try_fault(PROFILE_CUT, 0);
}

/* The server cannot know that it has it: at least once. */
Test(profile_ship, a_lost_answer_sends_the_same_profile_again)
{
	struct scene s = { .fault = PROFILE_EAT, .first = 0, .count = 1 };
	const struct fake_profile *p;
	size_t cnt;

	try_fault(PROFILE_EAT, 2);
	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), 0);
	p = fake_pyroscope_profiles(s.fake, &cnt);
	cr_assert_eq(cnt, 3);
	cr_expect_str_eq(p[0].name, p[1].name);
	cr_expect_eq(p[0].from, p[1].from);
	cr_expect_eq(p[0].until, p[1].until);
	cr_expect_eq(p[0].time_ns, p[1].time_ns);
	cr_expect_eq(p[0].pprof.len, p[1].pprof.len);
	end_scene(&s);
}

Test(profile_ship, a_refusal_ends_and_keeps_the_file)
{
	struct scene s = { .fault = PROFILE_DENIED, .first = 1, .count = 100 };

	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), -EPROTO);
	cr_expect(has_file(&s, "a.0.bin"));
	/* what the server has is not sent again */
	s.count = 0;
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(fake_pyroscope_requests(s.fake), 3);
	cr_expect_not(has_file(&s, "a.0.bin"));
	end_scene(&s);
}

/* Other files go on, and nothing is deleted that the server does not have. */
Test(profile_ship, a_profile_that_is_not_taken_is_counted_and_its_file_is_kept)
{
	static const enum fake_pyroscope_fault faults[] = { PROFILE_OLD, PROFILE_LABELS,
							    PROFILE_LARGE, PROFILE_LONG };

	for (int i = 0; i < 4; i++) {
		struct scene s = { .fault = faults[i], .first = 0, .count = 1 };

		begin_scene(&s, run_app_file());
		temp_dir_put(s.dir, "a.1.bin", large_trace(3, 0));
		cr_expect_eq(run_once(&s), 0);
		cr_expect_eq(s.counts.refused, 1);
		cr_expect_eq(s.counts.files, 1);
		cr_expect_eq(fake_pyroscope_requests(s.fake), 3);
		cr_expect_not(has_file(&s, "a.0.bin"));
		cr_expect_not(has_file(&s, "a.1.bin"));
		cr_expect(has_file(&s, "a.0.bin.refused"));
		end_scene(&s);
	}
}

/* Files that were not taken do not fill the disk. */
Test(profile_ship, the_disk_budget_includes_files_that_were_not_taken)
{
	struct scene s = { .fault = PROFILE_OLD, .first = 0, .count = 1 };

	begin_scene(&s, run_app_file());
	cr_expect_eq(run_once(&s), 0);
	cr_assert(has_file(&s, "a.0.bin.refused"));
	temp_dir_put(s.dir, "a.1.bin", large_trace(100, 0));
	s.disk_max = 1;
	cr_expect_eq(run_once(&s), 0);
	cr_expect_not(has_file(&s, "a.0.bin.refused"));
	/* it was never shipped, the other one was counted before */
	cr_expect_not(has_file(&s, "a.1.bin"));
	cr_expect_eq(s.counts.dropped, 1);
	end_scene(&s);
}

Test(profile_ship, without_a_server_it_gives_up_and_keeps_the_file)
{
	struct scene s = { 0 }, silent = { .fault = PROFILE_SILENT, .count = UINT_MAX };

	begin_scene(&s, run_app_file());
	fake_pyroscope_stop(s.fake);
	cr_expect_eq(run_with(&s, 5 * MS), -ETIMEDOUT);
	cr_expect(has_file(&s, "a.0.bin"));
	end_scene(&s);
	begin_scene(&silent, run_app_file());
	cr_expect_eq(run_with(&silent, 1500 * MS), -ETIMEDOUT);
	cr_expect_eq(fake_pyroscope_requests(silent.fake), 1);
	cr_expect(has_file(&silent, "a.0.bin"));
	end_scene(&silent);
}

Test(profile_ship, killed_at_any_request_it_continues)
{
	for (unsigned int at = 0; at < 2; at++) {
		struct scene s = { .first = at };
		int go[2], status;
		char byte = 0;
		pid_t child;
		size_t cnt;

		cr_assert_eq(pipe(go), 0);
		begin_scene(&s, run_app_file());
		child = fork();
		if (!child) {
			cr_assert_eq(read(go[0], &byte, 1), 1);
			_exit(run_once(&s) ? 1 : 0);
		}
		s.victim = child;
		cr_assert_eq(write(go[1], &byte, 1), 1);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect(WIFSIGNALED(status));
		cr_expect(has_file(&s, "a.0.bin"));
		s.victim = 0;
		cr_expect_eq(run_once(&s), 0);
		find(&s, APP, "\"cpu\"");
		find(&s, APP, "block_duration");
		fake_pyroscope_profiles(s.fake, &cnt);
		cr_expect_leq(cnt, 3);
		cr_expect_not(has_file(&s, "a.0.bin"));
		close(go[0]);
		close(go[1]);
		end_scene(&s);
	}
}

Test(profile_ship, a_damaged_file_is_sent_as_far_as_it_goes_and_kept)
{
	struct scene s = { 0 };
	static const char nonsense[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
	const int fd = run_app_file();

	cr_assert_eq(pwrite(fd, nonsense, sizeof(nonsense), lseek(fd, 0, SEEK_END)),
		     (ssize_t)sizeof(nonsense));
	lseek(fd, 0, SEEK_SET);
	begin_scene(&s, fd);
	cr_expect_eq(run_once(&s), 0);
	cr_expect_eq(s.counts.unreadable, 1);
	cr_expect(has_file(&s, "a.0.bin.unreadable"));
	find(&s, APP, "\"cpu\"");
	end_scene(&s);
}
