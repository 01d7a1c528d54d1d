// SPDX-License-Identifier: BSD-2-Clause
/*
 * Debug files from servers, and the cache of their clients.
 *
 * The client of elfutils does the work, as for other tools, so they share fetched files. It is
 * loaded by name, because it needs a large network stack, which most runs do not use. It runs in a
 * separate process, which can be killed whatever a server does. Both processes are connected by a
 * pipe.
 */
#include "symbol/elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define LIBRARY "libdebuginfod.so.1"
#define SECOND 1000000000ull
#define BYTES_MAX (2ull << 30)
#define TIMES_MAX 5 /* the total time limit is this many times the limit without progress */

enum { STEP_MS = 100, GRACE_S = 3 };

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int debuginfod_cache(struct buf *out)
{
	const char *path = setting("DEBUGINFOD_CACHE_PATH"), *home = setting("HOME");
	const char *cache = setting("XDG_CACHE_HOME");
	struct buf old = { 0 };
	struct stat st;

	if (home)
		buf_printf(&old, "%s/.debuginfod_client_cache", home);
	if (path)
		buf_addstr(out, path);
	else if (home && !stat(buf_cstr(&old), &st))
		buf_addstr(out, buf_cstr(&old));
	else if (cache)
		buf_printf(out, "%s/debuginfod_client", cache);
	else if (home)
		buf_printf(out, "%s/.cache/debuginfod_client", home);
	buf_free(&old);
	return path || cache || home ? 0 : -ENOENT;
}

/* ---- in the process that fetches ----------------------------------------------------------------- */

struct client;

/* Functions of the library, as in its manual page */
struct library {
	struct client *(*begin)(void);
	int (*find[2])(struct client *client, const unsigned char *build_id, int sz, char **path);
	void (*set_progress)(struct client *client,
			     int (*fn)(struct client *client, long done, long all));
};

/* A message: progress, or finally the result */
struct report {
	bool over;
	int error; /* 0 or -errno */
	uint64_t done, all;
};

/* The library passes no context to its callback; this process fetches one file. */
static struct {
	const struct debuginfod *d;
	int pipe, why;
	uint64_t begin_ns;
} fetching;

static void *open_library(int how)
{
#ifdef PROF_STATIC
	return NULL; /* a static program cannot load libraries */
#else
	return dlopen(LIBRARY, how);
#endif
}

static bool load(struct library *lib)
{
	static const char *const finds[] = {
		[DEBUGINFOD_DEBUGINFO] = "debuginfod_find_debuginfo",
		[DEBUGINFOD_EXECUTABLE] = "debuginfod_find_executable",
	};
	void *handle = open_library(RTLD_NOW);
	bool all = handle;

	if (!handle)
		return false;
	/* ISO C cannot convert an object pointer to a function pointer */
	*(void **)&lib->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&lib->set_progress = dlsym(handle, "debuginfod_set_progressfn");
	all = lib->begin && lib->set_progress;
	for (int i = 0; i < 2; i++) {
		*(void **)&lib->find[i] = dlsym(handle, finds[i]);
		all &= lib->find[i] != NULL;
	}
	return all;
}

static void send_report(const struct report *r)
{
	ssize_t n = write(fetching.pipe, r, sizeof(*r));

	/* the reader is gone */
	if (n < 0)
		fetching.why = -EINTR;
}

/* Called some times per second. A nonzero result cancels. */
static int on_progress(struct client *client, long done, long all)
{
	const struct debuginfod *d = fetching.d;
	const uint64_t max = d->bytes_max ? d->bytes_max : BYTES_MAX;
	const struct report r = { .done = done < 0 ? 0 : (uint64_t)done,
				  .all = all < 0 ? 0 : (uint64_t)all };

	send_report(&r);
	if (*d->stop)
		fetching.why = -EINTR;
	else if (r.done > max || r.all > max)
		fetching.why = -EFBIG;
	else if (clock_mono_ns() - fetching.begin_ns > TIMES_MAX * d->timeout_ns)
		fetching.why = -ETIMEDOUT;
	return fetching.why;
}

static void set_number(const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	setenv(name, text, 1);
}

static int fetch(enum debuginfod_file file, const uint8_t *build_id, size_t sz)
{
	const struct debuginfod *d = fetching.d;
	struct library lib = { 0 };
	struct client *client;
	int fd;

	/* the library reads these at its start */
	setenv("DEBUGINFOD_URLS", d->urls, 1);
	set_number("DEBUGINFOD_TIMEOUT", (d->timeout_ns + SECOND - 1) / SECOND);
	set_number("DEBUGINFOD_MAXTIME", TIMES_MAX * (d->timeout_ns + SECOND - 1) / SECOND);
	set_number("DEBUGINFOD_MAXSIZE", d->bytes_max ? d->bytes_max : BYTES_MAX);
	setenv("DEBUGINFOD_RETRY_LIMIT", "0", 1);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
	if (!load(&lib))
		return -ELIBACC;
	client = lib.begin();
	if (!client)
		return -ENOMEM;
	lib.set_progress(client, on_progress);
	fd = lib.find[file](client, build_id, (int)sz, NULL);
	/* the exit frees everything else */
	return fd >= 0 ? 0 : fetching.why ? fetching.why : fd;
}

static void serve(const struct debuginfod *d, int to, enum debuginfod_file file,
		  const uint8_t *build_id, size_t sz)
{
	struct report r = { .over = true };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "d9-fetch");
	signal(SIGPIPE, SIG_IGN);
	fetching.d = d;
	fetching.pipe = to;
	fetching.begin_ns = clock_mono_ns();
	r.error = fetch(file, build_id, sz);
	send_report(&r);
}

/*
 * ---- in the waiting process ---------------------------------------------------------------------
 */

/* Reads messages until the result. Kills a process that sends no message in time. */
static int listen_to(const struct debuginfod *d, int from, pid_t pid)
{
	const uint64_t patience = TIMES_MAX * d->timeout_ns + GRACE_S * SECOND;
	struct pollfd fd = { .fd = from, .events = POLLIN };
	uint64_t begin = clock_mono_ns(), stopped = 0, now;
	struct report r;
	ssize_t n;

	for (;;) {
		now = clock_mono_ns();
		if (*d->stop && !stopped) {
			stopped = now;
			kill(pid, SIGTERM);
		}
		if (now - begin > patience || (stopped && now - stopped > GRACE_S * SECOND))
			return stopped ? -EINTR : -ETIMEDOUT;
		if (poll(&fd, 1, STEP_MS) <= 0)
			continue;
		n = read(from, &r, sizeof(r));
		if (n != sizeof(r))
			return *d->stop ? -EINTR : -EIO;
		if (r.over)
			return r.error;
		if (d->tell)
			d->tell(d->ctx, r.done, r.all);
	}
}

/* The library returns -ETIME after a timeout. */
static int in_our_words(int error)
{
	return error == -ETIME ? -ETIMEDOUT : error;
}

int debuginfod_fetch(const struct debuginfod *d, enum debuginfod_file file, const uint8_t *build_id,
		     size_t sz)
{
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		serve(d, ends[1], file, build_id, sz);
		_exit(0);
	}
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!err) {
		err = listen_to(d, ends[0], pid);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return in_our_words(err);
}

bool debuginfod_available(void)
{
	void *handle = open_library(RTLD_LAZY);

	if (handle)
		dlclose(handle);
	return handle;
}
