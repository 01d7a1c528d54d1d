// SPDX-License-Identifier: BSD-2-Clause
/* A disk that fills up while a recording goes on: a small file system of the test's own. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/output/output.h"
#include "tests/bpf/support.h"

static char disk[128];

static void unmount(void)
{
	if (*disk)
		umount2(disk, MNT_DETACH);
	live_cleanup();
}

TestSuite(full, .fini = unmount);

#define MS_NS 1000000L

enum { MIB = 1 << 20, WAITS_MAX = 64 * MIB, STEADY_LOOKS = 300 };

/* Private to the test, and removed with it. */
static void make_disk(const char *options)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	snprintf(disk, sizeof(disk), "%s", live_path("disk"));
	cr_assert_eq(mkdir(disk, 0700), 0);
	cr_assert_eq(mount("none", disk, "tmpfs", 0, options), 0);
}

static const char *on_disk(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%.100s/%.20s", disk, name);
	return path;
}

static void fill_disk(off_t sz)
{
	int fd = open(on_disk("ballast"), O_CREAT | O_WRONLY, 0600);

	cr_assert_eq(posix_fallocate(fd, 0, sz), 0);
	close(fd);
}

static void nap(struct live_rec *rec)
{
	const struct timespec step = { .tv_nsec = MS_NS };

	cr_assert_eq(waitpid(rec->proc.pid, NULL, WNOHANG), 0, "the recorder ended");
	nanosleep(&step, NULL);
}

static void wait_for_message(struct live_rec *rec, const char *text)
{
	bool output = false;

	while (!output) {
		struct buf errors = live_errors(&rec->proc);

		output = errors.len && strstr(errors.data, text);
		buf_free(&errors);
		if (!output)
			nap(rec);
	}
}

/* A fast stimulus, whose events fill the disk. */
static void start_recording(struct live_proc *numbers, struct live_rec *rec, const char *file,
			    const char *a, const char *b)
{
	live_stimulus(numbers, "numbers", "2000", NULL);
	live_record(rec, "-o", on_disk(file), "-m", "1M", "--no-samples", "--switch-stacks", "none",
		    "--event-stacks", "both", "-e", "syscalls:sys_enter_close", "-p",
		    live_number(numbers->pid), a, b, NULL);
	snprintf(rec->path, sizeof(rec->path), "%s", on_disk(file));
}

static const char *verify(const char *path)
{
	const char *const args[] = { "info", "--verify", path, NULL };
	static struct buf output;
	struct live_proc p;

	live_run(&p, args, NULL);
	buf_clear(&output);
	buf_addstr(&output, buf_cstr(&p.output));
	live_proc_fini(&p);
	return buf_cstr(&output);
}

static void expect_good(const char *name)
{
	const char *output = verify(on_disk(name));

	cr_expect(strstr(output, ": good: "), "%s: %s", name, output);
}

static void expect_stopped(const char *option)
{
	struct live_proc numbers;
	struct live_rec rec;
	struct buf errors;

	start_recording(&numbers, &rec, "t.bin", option, NULL);
	live_recording(&rec);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	cr_expect_eq(live_wait(&rec.proc), 3);
	errors = live_errors(&rec.proc);
	cr_expect(strstr(errors.data, "t.bin: No space left on device; the file is readable up "
				      "to its last flush\n"),
		  "%s", errors.data);
	buf_free(&errors);
	live_proc_fini(&rec.proc);
	live_kill(&numbers);
	expect_good("t.bin");
	unlink(on_disk("t.bin"));
}

Test(full, recording_ends_on_a_full_disk_and_its_file_is_whole)
{
	make_disk("size=256k");
	expect_stopped(NULL);
	expect_stopped("-z1");
	expect_stopped("--compress=zstd");
}

static size_t rss(const struct live_rec *rec)
{
	unsigned long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)rec->proc.pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* It has taken what it may keep in memory, and takes no more: what comes is lost in the rings. */
static void wait_for_loss(struct live_rec *rec)
{
	const size_t base = rss(rec);
	size_t last = 0;

	for (int steady = 0; steady < STEADY_LOOKS;) {
		const size_t now = rss(rec);

		steady = now == last && now > base + WAITS_MAX / 2 ? steady + 1 : 0;
		last = now;
		nap(rec);
	}
}

Test(full, recording_waits_for_disk_space_and_counts_its_losses)
{
	struct live_proc numbers;
	struct live_trace lt;
	struct live_rec rec;

	make_disk("size=300m");
	fill_disk(299 * MIB);
	start_recording(&numbers, &rec, "t.bin", "--on-full=pause", NULL);
	live_recording(&rec);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	wait_for_message(&rec, "No space left on device: the trace stays in memory ");
	wait_for_loss(&rec);
	cr_assert_eq(unlink(on_disk("ballast")), 0);
	wait_for_message(&rec, "there is room again for ");
	live_kill(&numbers);
	cr_expect_eq(live_finish(&rec), 0);
	live_open(&lt, rec.path, false);
	cr_expect_gt(lt.lost, 0);
	cr_expect_gt(lt.ring_full, 0, "the gap has its time");
	cr_expect_eq(lt.produced, lt.written + lt.lost);
	live_close(&lt);
	expect_good("t.bin");
}

Test(full, recording_stopped_before_disk_space_returns_ends_with_an_error)
{
	struct live_proc numbers;
	struct live_rec rec;

	make_disk("size=256k");
	start_recording(&numbers, &rec, "t.bin", "--on-full=pause", "-z1");
	live_recording(&rec);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	wait_for_message(&rec, "until there is room");
	live_kill(&numbers);
	cr_expect_eq(live_finish(&rec), 3);
	expect_good("t.bin");
}

/* The highest and the lowest number of a finished file; how many there are. */
static size_t find(unsigned long *lowest, unsigned long *highest)
{
	DIR *dir = opendir(disk);
	struct dirent *ent;
	unsigned long number;
	size_t cnt = 0;
	int end;

	*lowest = -1UL;
	*highest = 0;
	while ((ent = readdir(dir))) {
		end = 0;
		if (sscanf(ent->d_name, "t.%lu.bin%n", &number, &end) != 1 || ent->d_name[end])
			continue;
		*lowest = number < *lowest ? number : *lowest;
		*highest = number > *highest ? number : *highest;
		cnt++;
	}
	closedir(dir);
	return cnt;
}

static bool active(const struct live_rec *rec)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s.0.bin.active", (int)(strlen(rec->path) - 4), rec->path);
	return !stat(path, &st) && st.st_size;
}

Test(full, oldest_files_are_deleted_to_free_space)
{
	unsigned long lowest = 0, highest, number;
	struct live_proc numbers;
	struct live_trace lt;
	struct live_rec rec;
	char name[64];

	make_disk("size=6m");
	start_recording(&numbers, &rec, "t.bin", "--switch-output=1M", "--on-full=drop-oldest");
	while (!active(&rec))
		nap(&rec);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	while (!find(&lowest, &highest) || lowest < 3)
		nap(&rec);
	live_kill(&numbers);
	cr_expect_eq(live_finish(&rec), 0);
	cr_assert_geq(find(&lowest, &highest), 3);
	for (number = lowest; number <= highest; number++) {
		snprintf(name, sizeof(name), "t.%lu.bin", number);
		expect_good(name);
	}
	live_open(&lt, on_disk(name), false);
	cr_expect_eq(lt.produced, lt.written + lt.lost);
	live_close(&lt);
}

/* Each file gets @sz bytes, and waits for symbols. */
static void fill_waiting(struct segment_ops *out, void **files, size_t cnt, size_t sz)
{
	char *data = calloc(1, sz);

	for (size_t i = 0; i < cnt; i++) {
		cr_assert_eq(out->begin(out->ctx, &files[i]), 0);
		/* files without the header of a trace are never deleted */
		memcpy(data, "TRC\0\1", 5);
		cr_assert_eq(out->write(files[i], data, sz), 0);
	}
	free(data);
}

/* No file is finished when the disk is full, as on a busy machine. */
Test(full, files_waiting_for_symbols_are_deleted_if_no_other_is_left)
{
	enum { CNT = 6, FIT = 3 };
	struct output_cfg cfg = { .set = true, .on_full = OUTPUT_DROP_OLDEST };
	unsigned long lowest, highest;
	void *files[CNT];
	struct segment_ops out;
	char *name;

	make_disk("size=3500k");
	cfg.path = on_disk("t.bin");
	cr_assert_eq(output_open(&cfg, (uid_t)-1, (gid_t)-1, &out, &name), 0);
	fill_waiting(&out, files, CNT, MIB);
	for (int i = 0; i < CNT; i++)
		cr_expect_eq(out.end(files[i]), 0);
	cr_expect_eq(out.close(out.ctx), 0);
	cr_expect_eq(find(&lowest, &highest), FIT);
	cr_expect_eq(lowest, CNT - FIT);
	cr_expect_eq(highest, CNT - 1);
	free(name);
}

/* What stands in the way of the symbols is the file that they are for. */
Test(full, symbols_that_do_not_fit_end_their_file_without_a_message)
{
	struct output_cfg cfg = { .set = true, .on_full = OUTPUT_DROP_OLDEST };
	FILE *output = tmpfile();
	void *files[2];
	struct segment_ops out;
	char text[1024];
	struct stat st;
	char *name;

	make_disk("size=3m");
	cfg.path = on_disk("t.bin");
	cr_assert_eq(output_open(&cfg, (uid_t)-1, (gid_t)-1, &out, &name), 0);
	fill_waiting(&out, files, 2, MIB + MIB / 2);
	dup2(fileno(output), STDERR_FILENO);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(out.write(files[0], "symbols", 7), 0);
	cr_expect_eq(out.end(files[0]), 0);
	cr_expect_eq(out.end(files[1]), 0);
	cr_expect_eq(out.close(out.ctx), 0);
	rewind(output);
	text[fread(text, 1, sizeof(text) - 1, output)] = 0;
	cr_expect_null(strstr(text, "cannot"), "%s", text);
	cr_assert_eq(stat(on_disk("t.0.bin"), &st), 0);
	cr_expect_eq(st.st_size, MIB + MIB / 2, "as it was before them");
	cr_assert_eq(stat(on_disk("t.1.bin"), &st), 0);
	cr_expect_eq(st.st_size, MIB + MIB / 2);
	fclose(output);
	free(name);
}
