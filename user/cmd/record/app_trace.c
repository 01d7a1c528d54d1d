// SPDX-License-Identifier: BSD-2-Clause
/*
 * record --app-trace. Owns two processes. The keeper is forked before the recording, with few rights. It waits,
 * then opens files, creates the merged file, and renames it to the recording. Its child, the merger, reads and
 * writes these files without any rights, as the user who started the recording, or as an unprivileged user: an
 * application's files may contain anything.
 *
 * The recording keeps its name until the merged file replaces it, so failures lose nothing.
 */
#include "cmd/record/app_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sudo_user.h"
#include "cmd/common/cmd.h"
#include "kernel/privileges.h"
#include "rewrite/merge/merge.h"

#define WORD "record"
#define NOBODY 65534

/* How the keeper and the merger end. */
enum { MERGED = 0, FAILED = 1, NOTHING = 2 };

struct app_trace {
	pid_t keeper;
	int go; /* a byte: begin; its end: do not */
	char *dir, *output;
};

/* What the keeper works with. */
struct keeper {
	const char *dir, *output;
	struct timespec begun; /* files last written before are skipped */
	struct merge_input *inputs; /* the recording, and what was found */
	size_t cnt, cap;
	struct stat recording;
	char *temp;
	int temp_fd;
};

/* ---- the merger -------------------------------------------------------------------------------- */

static int write_fd(void *ctx, const void *data, size_t sz)
{
	const int *fd = ctx;
	const int err = file_write(*fd, data, sz);

	if (err)
		log_error(WORD ": cannot write the merged trace: %s", strerror(-err));
	return err;
}

/* Nothing is left that its input could misuse. */
static bool give_up_rights(void)
{
	struct sudo_user user;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sudo_user_read(&user))
		return false;
	if (!geteuid()) {
		if (!user.known)
			user = (struct sudo_user){ .known = true, .uid = NOBODY, .gid = NOBODY };
		if (setgroups(0, NULL) || setgid(user.gid) || setuid(user.uid))
			return false;
	}
	return !privileges_drop_all_but(0);
}

static void log_left_out(const struct merge_sum *sum)
{
	struct buf line = { 0 };

	str_counted(&line, sum->inputs - 1, "trace");
	log_warn(WORD ": %s merged, %" PRIu64 " skipped: not from the time of the recording",
		 buf_cstr(&line), sum->left_out);
	buf_free(&line);
}

static int merger(const struct keeper *k)
{
	const struct merge_opts opts = { .word = WORD };
	const struct cut_out out = { .write = write_fd, .ctx = (void *)&k->temp_fd };
	struct merge_sum sum;
	int code;

	if (!give_up_rights()) {
		log_error(WORD ": cannot drop privileges: %s", strerror(errno));
		return FAILED;
	}
	code = merge_found(&opts, k->inputs, k->cnt, &out, &sum);
	if (code == CMD_OK && sum.inputs < 2)
		return NOTHING;
	if (code != CMD_OUTPUT && sum.inputs && sum.left_out)
		log_left_out(&sum);
	/* what an application has not finished writing is torn, and good up to there */
	return code == CMD_OK || (code == CMD_INPUT && sum.bytes && !sum.failed) ? MERGED : FAILED;
}

/* ---- the keeper -------------------------------------------------------------------------------- */

static void add(struct keeper *k, int fd, const char *name)
{
	k->inputs = array_reserve(k->inputs, &k->cap, k->cnt + 1, sizeof(*k->inputs));
	k->inputs[k->cnt++] = (struct merge_input){ .fd = fd, .name = name };
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A regular file, not a link to one, that was written to since the recording began. */
static void open_found(struct keeper *k, int dir, const char *name)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct buf whole = { 0 };
	struct stat st;

	buf_printf(&whole, "%s/%s", k->dir, name);
	if (fd < 0 && errno != ELOOP)
		log_warn(WORD ": cannot open %s: %s", buf_cstr(&whole), strerror(errno));
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    !is_before(&st.st_mtim, &k->begun) &&
	    (st.st_dev != k->recording.st_dev || st.st_ino != k->recording.st_ino))
		add(k, fd, buf_steal(&whole));
	else if (fd >= 0)
		close(fd);
	buf_free(&whole);
}

static bool open_all(struct keeper *k)
{
	int fd = open(k->output, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), dir, n;
	char **all = NULL;

	if (fd < 0 || fstat(fd, &k->recording) || !S_ISREG(k->recording.st_mode)) {
		log_error(WORD ": cannot read %s again: %s", k->output,
			  fd < 0 ? strerror(errno) : "not a regular file");
		return false;
	}
	add(k, fd, k->output);
	dir = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n = dir < 0 ? -errno : file_names(dir, false, &all);
	if (n < 0)
		log_error(WORD ": cannot read %s: %s", k->dir, strerror(-n));
	for (int i = 0; i < n; i++)
		open_found(k, dir, all[i]);
	file_names_free(all, n);
	if (dir >= 0)
		close(dir);
	return n >= 0;
}

/* In the directory of the recording, with the same owner. */
static bool make_temp(struct keeper *k)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s.XXXXXX", k->output);
	k->temp = buf_steal(&name);
	k->temp_fd = mkostemp(k->temp, O_CLOEXEC);
	if (k->temp_fd >= 0 && !fchown(k->temp_fd, k->recording.st_uid, k->recording.st_gid) &&
	    !fchmod(k->temp_fd, k->recording.st_mode & 0777))
		return true;
	log_error(WORD ": cannot create a file next to %s: %s", k->output, strerror(errno));
	if (k->temp_fd >= 0)
		unlink(k->temp);
	return false;
}

static int run_merger(const struct keeper *k)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(merger(k));
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return FAILED;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static int keep(struct keeper *k)
{
	int how;

	if (!open_all(k))
		return FAILED;
	if (k->cnt == 1)
		return NOTHING;
	if (!make_temp(k))
		return FAILED;
	how = run_merger(k);
	if (how == MERGED && rename(k->temp, k->output)) {
		log_error(WORD ": cannot rename %s: %s", k->temp, strerror(errno));
		how = FAILED;
	}
	if (how != MERGED)
		unlink(k->temp);
	return how;
}

/* Signals are for the recorder, which decides the end. */
static void ignore_signals(void)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGQUIT };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		signal(all[i], SIG_IGN);
}

static void more_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static _Noreturn void keeper_main(const struct app_trace *a, int go)
{
	const uint64_t rights = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH |
				1ULL << CAP_CHOWN | 1ULL << CAP_FOWNER | 1ULL << CAP_SETUID |
				1ULL << CAP_SETGID;
	struct keeper k = { .dir = a->dir, .output = a->output, .temp_fd = -1 };
	char byte;

	ignore_signals();
	more_files();
	clock_gettime(CLOCK_REALTIME_COARSE, &k.begun);
	/* the file system's clock may lag by a tick */
	k.begun.tv_sec -= 1;
	if (privileges_drop_all_but(rights) || read(go, &byte, 1) != 1)
		_exit(FAILED);
	_exit(keep(&k));
}

/* ---- the recorder ------------------------------------------------------------------------------ */

static bool is_directory(const char *dir)
{
	struct stat st;

	if (stat(dir, &st)) {
		log_error(WORD ": --app-trace %s: %s", dir, strerror(errno));
		return false;
	}
	if (!S_ISDIR(st.st_mode))
		log_error(WORD ": --app-trace %s: not a directory", dir);
	return S_ISDIR(st.st_mode);
}

int app_trace_begin(const char *dir, const char *output, struct app_trace **out)
{
	struct app_trace *a;
	int go[2];

	if (!is_directory(dir))
		return -ENOTDIR;
	if (pipe2(go, O_CLOEXEC)) {
		log_error(WORD ": --app-trace: %s", strerror(errno));
		return -errno;
	}
	a = xcalloc(1, sizeof(*a));
	a->dir = xstrdup(dir);
	a->output = xstrdup(output);
	fflush(NULL);
	a->keeper = fork();
	if (!a->keeper) {
		close(go[1]);
		keeper_main(a, go[0]);
	}
	close(go[0]);
	a->go = go[1];
	if (a->keeper < 0) {
		log_error(WORD ": --app-trace: %s", strerror(errno));
		app_trace_abandon(a);
		return -EAGAIN;
	}
	*out = a;
	return 0;
}

static int end(struct app_trace *a)
{
	int status = -1;

	close(a->go);
	while (a->keeper > 0 && waitpid(a->keeper, &status, 0) < 0)
		if (errno != EINTR)
			break;
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void forget(struct app_trace *a)
{
	free(a->dir);
	free(a->output);
	free(a);
}

void app_trace_abandon(struct app_trace *a)
{
	if (!a)
		return;
	end(a);
	forget(a);
}

int app_trace_finish(struct app_trace *a, bool quiet)
{
	const bool started = write(a->go, "", 1) == 1;
	const int how = end(a);

	if (how == NOTHING)
		log_warn(WORD ": nothing merged: no trace in %s is from the time of the recording",
			 a->dir);
	else if (how != MERGED || !started)
		log_error(
			WORD
			": cannot merge the traces in %s into %s; the recording is unchanged; try "
			"dial9-prof merge",
			a->dir, a->output);
	else if (!quiet)
		fprintf(stderr, "dial9-prof: merged with the traces in %s\n", a->dir);
	forget(a);
	return how == MERGED || how == NOTHING ? CMD_OK : CMD_INPUT;
}
