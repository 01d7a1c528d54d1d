// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments of the command line as values for the BPF programs: globs compared with fnmatch(), the rest with
 * the system.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "record/target/selection.h"
#include "tests/record/support.h"
#include "tests/support/chance.h"

static void quiet(void)
{
	log_set_level(LOG_LEVEL_QUIET);
}

TestSuite(selection, .init = quiet, .timeout = 60);

static bool matches(const char *pattern, const char *text)
{
	struct prof_glob glob;
	char name[PROF_COMM_SIZE] = "";

	strncpy(name, text, sizeof(name) - 1);
	cr_assert_eq(selection_glob(pattern, &glob), 0);
	return prof_glob_matches(&glob, name);
}

Test(selection, glob_matches_the_whole_name)
{
	cr_expect(matches("abc", "abc"));
	cr_expect_not(matches("abc", "abcd"));
	cr_expect_not(matches("abc", "ab"));
	cr_expect(matches("*", ""));
	cr_expect_not(matches("?", ""));
	cr_expect(matches("a*c", "abbbc"));
	cr_expect(matches("*b*", "abc"));
	cr_expect(matches("k?orker/*", "kworker/0:1"));
	cr_expect(matches("123456789012345", "123456789012345"));
	cr_expect(matches("***************a", "xya"));
	cr_expect(matches("\xff?", "\xff\x80"));
	/* a bracket is an ordinary letter */
	cr_expect(matches("[a]", "[a]"));
	cr_expect_not(matches("[a]", "a"));
}

Test(selection, globs_match_like_fnmatch)
{
	struct chance chance = { 7 };

	for (int i = 0; i < 200000; i++) {
		char pattern[16] = "", name[16] = "";
		uint32_t plen = chance_below(&chance, 9), len = chance_below(&chance, 13);

		for (uint32_t k = 0; k < plen; k++)
			pattern[k] = "ab*?"[chance_below(&chance, 4)];
		for (uint32_t k = 0; k < len; k++)
			name[k] = "ab"[chance_below(&chance, 2)];
		cr_assert_eq(matches(pattern, name), !fnmatch(pattern, name, 0), "%s of %s",
			     pattern, name);
	}
}

Test(selection, glob_that_no_name_can_match_is_refused)
{
	struct prof_glob glob;

	cr_expect_eq(selection_glob("1234567890123456", &glob), -E2BIG);
	cr_expect_eq(selection_glob("*123456789012345*", &glob), 0);
}

static int make(const struct selection_cfg *cfg, struct prof_select *out)
{
	return selection_make(cfg, true, out);
}

Test(selection, users_are_looked_up)
{
	const char *const known[] = { "0,4242", "nobody" }, *const unknown[] = { "no-such-user" };
	struct selection_cfg cfg = { .users = { known, 2 } };
	struct prof_select s;

	cr_assert_eq(make(&cfg, &s), 0);
	cr_assert_eq(s.user_cnt, 3);
	cr_expect_eq(s.users[0], 0);
	cr_expect_eq(s.users[1], 4242);
	cr_expect_eq(s.users[2], getpwnam("nobody")->pw_uid);
	cr_expect(s.by_task);
	cfg.users = (struct selection_words){ unknown, 1 };
	cr_expect_eq(make(&cfg, &s), -ENOENT);
}

Test(selection, cpus_become_bits_and_impossible_cpus_are_refused)
{
	const uint32_t first[] = { 0 }, none[] = { 0, 511 }, beyond[] = { PROF_CPUS_MAX };
	struct selection_cfg cfg = { .cpus = first, .cpu_cnt = 1 };
	struct prof_select s;

	cr_assert_eq(make(&cfg, &s), 0);
	cr_expect(s.by_cpu);
	cr_expect_eq(s.cpus[0], 1);
	/* with all CPUs, targets need no list */
	cr_expect_not(s.by_task);
	cr_assert_eq(selection_make(&cfg, false, &s), 0);
	cr_expect(s.by_task);
	cfg.cpus = none;
	cfg.cpu_cnt = 2;
	cr_expect_eq(make(&cfg, &s), -ENODEV);
	cfg.cpus = beyond;
	cfg.cpu_cnt = 1;
	cr_expect_eq(make(&cfg, &s), -ENODEV);
}

/* As the kernel prints the list: without spaces, in ranges. */
static void read_online(char *line, int size)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "r");

	cr_assert(f && fgets(line, size, f));
	fclose(f);
}

Test(selection, offline_cpu_is_refused_with_a_list_of_online_cpus)
{
	const uint32_t cpus[] = { 511, PROF_CPUS_MAX };
	struct prof_select s;
	char online[256];
	struct buf want = { 0 };

	read_online(online, sizeof(online));
	log_set_level(LOG_LEVEL_WARN);
	support_catch_stderr();
	for (size_t i = 0; i < 2; i++)
		make(&(struct selection_cfg){ .cpus = &cpus[i], .cpu_cnt = 1 }, &s);
	buf_printf(&want,
		   "dial9-prof: record: -C: CPU 511 is not online; these are: %s"
		   "dial9-prof: record: -C: CPU %d and higher are not supported; online are: %s",
		   online, PROF_CPUS_MAX, online);
	cr_expect_str_eq(support_stderr(), buf_cstr(&want));
	buf_free(&want);
}

Test(selection, path_that_is_no_cgroup_has_its_own_error)
{
	__u64 id = 0;

	cr_expect_eq(selection_cgroup_id("/dev/null", "/", &id), -ENODEV);
	cr_expect_eq(selection_cgroup_id("/dev/null", "some/where", &id), -ENODEV);
	cr_expect_eq(selection_cgroup_id("/nowhere/at/all", "some", &id), -ENOENT);
	cr_expect_eq(id, 0);
}

Test(selection, too_many_patterns_are_refused)
{
	const char *v[PROF_SELECT_CGROUPS + 1];
	struct selection_cfg cfg = { .comms = { v, PROF_SELECT_GLOBS + 1 } };
	struct prof_select s;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		v[i] = "1";
	cr_expect_eq(make(&cfg, &s), -E2BIG);
	cfg = (struct selection_cfg){ .users = { v, PROF_SELECT_USERS + 1 } };
	cr_expect_eq(make(&cfg, &s), -E2BIG);
	cfg = (struct selection_cfg){ .cgroups = { v, PROF_SELECT_CGROUPS + 1 } };
	cr_expect_eq(make(&cfg, &s), -E2BIG);
}

Test(selection, selection_is_described_in_words)
{
	const char *const a[] = { "a/b", "c" }, *const b[] = { "x*" };
	const uint32_t cpus[] = { 8, 0, 2, 3 };
	const struct selection_cfg cfg = {
		.cpus = cpus,
		.cpu_cnt = 4,
		.cgroups = { a, 2 },
		.comms = { b, 1 },
		.no_comms = { b, 1 },
		.threads = { b, 1 },
		.users = { b, 1 },
		.task.no_kthread = true,
	};
	struct buf out = { 0 };

	selection_describe(&cfg, &out);
	cr_expect_str_eq(buf_cstr(&out),
			 "cgroup a/b, cgroup c, user x*, process x*, not process x*, "
			 "thread x*, no kernel threads");
	buf_clear(&out);
	selection_describe_cpus(&cfg, &out);
	cr_expect_str_eq(buf_cstr(&out), "0,2-3,8");
	buf_clear(&out);
	selection_describe(&(struct selection_cfg){ 0 }, &out);
	selection_describe_cpus(&(struct selection_cfg){ 0 }, &out);
	cr_expect_str_eq(buf_cstr(&out), "");
	buf_free(&out);
}
