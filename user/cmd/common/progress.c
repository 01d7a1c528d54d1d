// SPDX-License-Identifier: BSD-2-Clause
/*
 * Progress of reading, on a terminal. Owns a thread that only reads the file's offset now and then, so reading has
 * no cost for it, in any number of passes.
 */
#include "cmd/common/progress.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cmd/common/report_text.h"

#define FIRST_MS 1000
#define STEP_MS 250

struct progress {
	int fd; /* shares the offset with the descriptor being read */
	char *name;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	bool shown; /* the thread's, and after it has ended ours */
};

static void show(struct progress *p)
{
	off_t at = lseek(p->fd, 0, SEEK_CUR);
	struct buf line = { 0 };
	struct stat st;

	if (at < 0 || fstat(p->fd, &st) || !st.st_size)
		return;
	buf_addstr(&line, "reading ");
	value_text_clean(&line, p->name, strlen(p->name));
	/* what is printed next begins where this line does */
	buf_printf(&line, ": %.0f%%\033[K\r", 100.0 * (double)at / (double)st.st_size);
	p->shown = write(STDERR_FILENO, buf_cstr(&line), line.len) > 0;
	buf_free(&line);
}

static void add_ms(struct timespec *t, long ms)
{
	t->tv_nsec += ms % 1000 * 1000000;
	t->tv_sec += ms / 1000 + t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

static void *run(void *arg)
{
	struct progress *p = arg;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	add_ms(&at, FIRST_MS);
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (!pthread_cond_timedwait(&p->wake, &p->lock, &at))
			continue;
		show(p);
		add_ms(&at, STEP_MS);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void release(struct progress *p)
{
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	close(p->fd);
	free(p->name);
	free(p);
}

static struct progress *start_progress(const struct source *src)
{
	int fd = -1;
	pthread_condattr_t attr;
	struct progress *p;

	if (source_is_regular(src) && isatty(STDERR_FILENO))
		fd = fcntl(source_fd(src), F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->fd = fd;
	p->name = xstrdup(source_name(src));
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (!pthread_create(&p->thread, NULL, run, p))
		return p;
	release(p);
	return NULL;
}

void progress_end(struct progress *p)
{
	static const char clear[] = "\033[K";

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	if (p->shown)
		(void)!write(STDERR_FILENO, clear, sizeof(clear) - 1);
	release(p);
}

int progress_read(struct source *src, enum reader_mode mode, struct reader **out,
		  struct progress **progress)
{
	int err;

	*progress = NULL;
	if (mode != READER_FOLLOW)
		*progress = start_progress(src);
	err = reader_new(src, mode, out);
	if (err) {
		progress_end(*progress);
		*progress = NULL;
	}
	return err;
}

int progress_open(const char *path, enum reader_mode mode, struct reader **out,
		  struct progress **progress)
{
	struct source *src;
	int err = source_open(path, &src);

	*progress = NULL;
	return err ? err : progress_read(src, mode, out, progress);
}
