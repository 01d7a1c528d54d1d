// SPDX-License-Identifier: BSD-2-Clause
/* export parquet: partitions of merged recordings, and selections without rows. */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/cmd/run_cmd.h"

/* Thread 7 is sampled. Recordings of one boot have the same clock. */
static int record(const char *host, const char *boot, uint64_t first_ns, int samples)
{
	const char *kv[] = { "host",
			     host,
			     "sample_period_ns",
			     "1000000",
			     "sample_event",
			     "cycles",
			     boot ? "boot_id" : NULL,
			     boot,
			     NULL };
	const uint64_t at = make_frame(1, 0x10);
	uint64_t ts = first_ns;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_clock(&m, ts, 1700000000 * RUN_SEC + ts);
	make_module_with(&m, ts, 1, "/bin/app", "one", PROF_MODULE_ELF);
	make_task(&m, ts, 7, 7, "app");
	for (int i = 0; i < samples; i++)
		make_sample(&m, ts += 10000, 7, 7, PROF_SOURCE_SAMPLE, 0, &at, 1);
	return make_done(&m);
}

static int merge(const int fds[2])
{
	char out[] = "/tmp/export-merged-XXXXXX", option[64], paths[2][32];
	struct run r;
	int fd;

	close(mkstemp(out));
	unlink(out);
	snprintf(option, sizeof(option), "-qo%s", out);
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d", fds[i]);
	r = run_cmd(cmd_merge, make_fd("", 0), "merge", option, paths[0], paths[1], NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	run_free(&r);
	fd = open(out, O_RDONLY);
	cr_assert_geq(fd, 0);
	unlink(out);
	return fd;
}

/* The single file that matches a pattern below the directory of an export. */
static struct buf file_of(int fd, const char *pattern)
{
	char dir[] = "/tmp/export-parquet-XXXXXX", word[256];
	struct buf bytes = { 0 };
	glob_t found;
	ssize_t n;
	int file;

	cr_assert(mkdtemp(dir));
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	run_expect(run_cmd(cmd_export, dup(fd), "export", "parquet", "-", "-o", dir, NULL), CMD_OK,
		   "", "");
	snprintf(word, sizeof(word), "%s/%s", dir, pattern);
	cr_assert_eq(glob(word, 0, NULL, &found), 0, "%s", word);
	cr_assert_eq(found.gl_pathc, 1);
	file = open(found.gl_pathv[0], O_RDONLY);
	n = read(file, buf_reserve(&bytes, 1 << 16), 1 << 16);
	cr_assert(n > 0 && n < 1 << 16);
	bytes.len = (size_t)n;
	close(file);
	globfree(&found);
	snprintf(word, sizeof(word), "rm -r %s", dir);
	cr_assert_eq(system(word), 0);
	return bytes;
}

static struct buf samples_of(int fd, const char *host)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "samples/*/host=%s/*", host);
	return file_of(fd, pattern);
}

/* Each host has the same file as without the other. */
static void expect_own_files(const char *boot)
{
	const char *const hosts[] = { "turtle", "box" };
	const int fds[] = { record(hosts[0], boot, 5000000, 30),
			    record(hosts[1], boot, 5005000, 40) };
	const int whole = merge(fds);

	for (int i = 0; i < 2; i++) {
		struct buf want = samples_of(fds[i], hosts[i]), got = samples_of(whole, hosts[i]);

		cr_expect(got.len == want.len && !memcmp(got.data, want.data, got.len), "%s",
			  hosts[i]);
		buf_free(&want);
		buf_free(&got);
		close(fds[i]);
	}
	close(whole);
}

Test(export_parquet, containers_of_one_boot_keep_their_hosts)
{
	expect_own_files("b1");
}

Test(export_parquet, hosts_without_a_boot_are_separate)
{
	expect_own_files(NULL);
}

/* Its loss is in the time range, whatever is selected. */
Test(export_parquet, selection_without_events_is_an_error_and_leaves_nothing)
{
	char dir[] = "/tmp/export-parquet-XXXXXX";

	cr_assert(mkdtemp(dir));
	rmdir(dir);
	run_expect(
		run_cmd(cmd_export, run_app_file(), "export", "parquet", "-", "-o", dir,
			"--comm=nosuch", NULL),
		CMD_USAGE, "",
		"dial9-prof: no events in standard input: none match -p, -t, --comm, --cgroup, -C and --time\n");
	cr_expect_eq(access(dir, F_OK), -1);
}

static int record_process(const char *field, uint32_t number)
{
	struct dial9_schema *schema;
	struct make m;

	make_init(&m, NULL);
	schema = MAKE_SCHEMA("RecorderProcess", { field, DIAL9_U32 });
	dial9_enc_begin(m.enc, schema, 1000);
	dial9_enc_put_u64(m.enc, number);
	make_end(&m);
	dial9_schema_free(schema);
	return make_done(&m);
}

/* How often a number of 4 bytes is in a file: minima and maxima of its columns. */
static int occurrences(int fd, uint32_t number)
{
	struct buf file = file_of(fd, "event.RecorderProcess/*/*/*");
	int cnt = 0;

	for (size_t i = 0; i + sizeof(number) <= file.len; i++)
		cnt += !memcmp(file.data + i, &number, sizeof(number));
	buf_free(&file);
	close(fd);
	return cnt;
}

/* As in script, the number of a process is its pid; and the field has it, too. */
Test(export_parquet, events_of_a_process_without_a_thread_have_its_pid)
{
	const uint32_t number = 0x123456;
	const int other = occurrences(record_process("number", number), number);

	cr_expect_gt(other, 0);
	cr_expect_eq(occurrences(record_process("pid", number), number), 2 * other);
}
