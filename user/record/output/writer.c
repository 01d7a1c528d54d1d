// SPDX-License-Identifier: BSD-2-Clause
/*
 * writer.c - a thread that writes, with a buffer before it
 *
 * The drain queues bytes and continues, because compression takes time, and a disk or a reader may block. Owns two
 * buffers that are swapped: one is filled while the other is written. Above the limit the drain leaves records in
 * the rings, where losses are counted. Data that it has already read is still queued here.
 *
 * The lock is held for a copy or for the swap. The thread inherits the drain's priority while it holds the lock.
 */
#include "record/output/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel/privileges.h"
#include "kernel/realtime.h"
#include "kernel/task_limit.h"

#define MS_NS 1000000ULL

enum { IDLE_MS = 100, LOOK_MS = 50, KEEP_BYTES = 4 << 20 };

enum op { OP_WRITE, OP_END };

struct writer;

/* The recorder's handle of a segment. */
struct part {
	struct writer *writer;
	void *inner; /* handle of the inner output */
};

/* Precedes the bytes of each request. */
struct request {
	struct part *part;
	size_t sz;
	enum op op;
};

struct writer {
	struct writer_cfg cfg;
	struct segment_ops inner;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news, done; /* there is work; all work is done */
	struct buf filled, worked;
	size_t waiting; /* unwritten bytes of both */
	uint64_t moved; /* finished requests */
	bool over; /* no more requests */
	bool ended; /* the thread has ended */
	int err; /* the first error */
	unsigned int quarters; /* last reported queue length; used by the thread */
};

/* ---- the thread ------------------------------------------------------------------------------------ */

static int carry_out(struct writer *w, const struct request *req, const void *data)
{
	int err = 0;

	if (w->inner.waits)
		w->inner.waits(w->inner.ctx, w->quarters);
	if (req->op == OP_WRITE)
		return w->inner.write(req->part->inner, data, req->sz);
	err = w->inner.end(req->part->inner);
	free(req->part);
	return err;
}

static void note(struct writer *w, int err, size_t sz)
{
	pthread_mutex_lock(&w->lock);
	if (!w->err)
		w->err = err;
	w->waiting -= sz;
	w->moved++;
	w->quarters = (unsigned int)(4 * w->waiting / w->cfg.max);
	pthread_mutex_unlock(&w->lock);
}

/* Untouched memory is not allocated by the kernel. */
static void make_room(struct buf *b, size_t sz)
{
	*b = (struct buf){ .data = xmalloc(sz), .cap = sz };
}

/* After an error nothing is written any more, but segments are ended. */
static void write_requests(struct writer *w)
{
	bool failed = w->err;
	size_t pos = 0;

	while (pos < w->worked.len) {
		struct request req;
		int err = 0;

		memcpy(&req, w->worked.data + pos, sizeof(req));
		pos += sizeof(req);
		if (!failed || req.op == OP_END)
			err = carry_out(w, &req, w->worked.data + pos);
		failed |= err != 0;
		pos += req.sz;
		note(w, err, req.sz);
	}
	if (w->worked.len < KEEP_BYTES) {
		buf_clear(&w->worked);
		return;
	}
	/* frees a large buffer after a backlog */
	buf_free(&w->worked);
	make_room(&w->worked, w->cfg.max + KEEP_BYTES);
}

/* Waits some time for work. False: there will be no more. */
static bool swap_buffers(struct writer *w)
{
	struct timespec until;
	struct buf filled;
	bool go_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += IDLE_MS * (long)MS_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	while (!w->filled.len && !w->over)
		if (pthread_cond_timedwait(&w->news, &w->lock, &until) == ETIMEDOUT)
			break;
	go_on = w->filled.len || !w->over;
	filled = w->filled;
	w->filled = w->worked;
	w->worked = filled;
	w->quarters = (unsigned int)(4 * w->waiting / w->cfg.max);
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void end_thread(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_signal(&w->done);
	pthread_mutex_unlock(&w->lock);
}

static void *run(void *ctx)
{
	uint64_t idle_ns = clock_mono_ns();
	struct writer *w = ctx;
	bool first = true;

	if (setpriority(PRIO_PROCESS, (id_t)gettid(), w->cfg.nice))
		log_info("record: no nice value of %d for the writer thread: %s", w->cfg.nice,
			 strerror(errno));
	realtime_join(w->cfg.realtime);
	privileges_drop_all_but(w->cfg.caps_start);
	while (swap_buffers(w)) {
		bool any = w->worked.len;

		write_requests(w);
		if (any && first && w->cfg.caps_keep != w->cfg.caps_start)
			privileges_drop_all_but(w->cfg.caps_keep);
		first &= !any;
		if (w->inner.idle && clock_mono_ns() - idle_ns >= IDLE_MS * MS_NS) {
			note(w, w->inner.idle(w->inner.ctx), 0);
			idle_ns = clock_mono_ns();
		}
	}
	end_thread(w);
	return NULL;
}

/* ---- the outlet ------------------------------------------------------------------------------------- */

static int ask(struct part *part, enum op op, const void *data, size_t sz)
{
	const struct request req = { .part = part, .sz = sz, .op = op };
	struct writer *w = part->writer;
	bool first = false;
	int err;

	pthread_mutex_lock(&w->lock);
	err = w->err;
	if (!err || op == OP_END) {
		first = !w->filled.len;
		buf_add(&w->filled, &req, sizeof(req));
		buf_add(&w->filled, data, sz);
		w->waiting += sz;
	}
	pthread_mutex_unlock(&w->lock);
	if (first)
		pthread_cond_signal(&w->news); /* after the lock, or the thread waits for it */
	return err;
}

static int writer_begin(void *ctx, void **segment)
{
	struct writer *w = ctx;
	struct part *part = xcalloc(1, sizeof(*part));
	int err = w->inner.begin(w->inner.ctx, &part->inner);

	if (err) {
		free(part);
		return err;
	}
	part->writer = w;
	*segment = part;
	return 0;
}

static int writer_write(void *segment, const void *data, size_t sz)
{
	return ask(segment, OP_WRITE, data, sz);
}

static int writer_end(void *segment)
{
	ask(segment, OP_END, NULL, 0);
	return 0;
}

static enum segment_request writer_request(void *ctx, uint64_t now_ns, uint64_t bytes)
{
	struct writer *w = ctx;

	return w->inner.request(w->inner.ctx, now_ns, bytes);
}

static uint64_t writer_left(void *ctx, uint64_t bytes)
{
	struct writer *w = ctx;

	return w->inner.left(w->inner.ctx, bytes);
}

static bool writer_has_room(void *ctx)
{
	struct writer *w = ctx;
	bool yes;

	pthread_mutex_lock(&w->lock);
	yes = w->waiting < w->cfg.max;
	pthread_mutex_unlock(&w->lock);
	return yes && (!w->inner.has_room || w->inner.has_room(w->inner.ctx));
}

/* Until all is written, or the reader's time limit is over. */
static void wait_for_thread(struct writer *w)
{
	uint64_t moved = w->moved, since = clock_mono_ns();

	while (!w->ended) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_MS * (long)MS_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&w->done, &w->lock, &until);
		if (moved != w->moved)
			since = clock_mono_ns();
		moved = w->moved;
		if (w->cfg.give_up &&
		    ((w->cfg.stop && *w->cfg.stop > 1) ||
		     (w->cfg.patience_ns && clock_mono_ns() - since > w->cfg.patience_ns)))
			*w->cfg.give_up = true;
	}
}

static void destroy(struct writer *w)
{
	pthread_cond_destroy(&w->news);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	buf_free(&w->filled);
	buf_free(&w->worked);
	free(w);
}

static int writer_close(void *ctx)
{
	struct writer *w = ctx;
	int err, closed = 0;

	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->news);
	wait_for_thread(w);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	err = w->err;
	if (w->inner.close)
		closed = w->inner.close(w->inner.ctx);
	destroy(w);
	return err ? err : closed;
}

static void prepare(struct writer *w)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setprotocol(&mutex, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&w->lock, &mutex);
	pthread_mutexattr_destroy(&mutex);
	pthread_condattr_init(&cond);
	pthread_condattr_setclock(&cond, CLOCK_MONOTONIC);
	pthread_cond_init(&w->news, &cond);
	pthread_cond_init(&w->done, &cond);
	pthread_condattr_destroy(&cond);
	make_room(&w->filled, w->cfg.max + KEEP_BYTES);
	make_room(&w->worked, w->cfg.max + KEEP_BYTES);
}

int writer_new(const struct writer_cfg *cfg, const struct segment_ops *inner,
	       struct segment_ops *out)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	sigset_t all, before;
	int err;

	w->cfg = *cfg;
	w->inner = *inner;
	prepare(w);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		task_limit_error("record: cannot start a thread", -err);
		destroy(w);
		return -err;
	}
	*out = (struct segment_ops){
		.ctx = w,
		.many = inner->many,
		.ends = inner->ends,
		.begin = writer_begin,
		.write = writer_write,
		.end = writer_end,
		.request = inner->request ? writer_request : NULL,
		.left = inner->left ? writer_left : NULL,
		.has_room = writer_has_room,
		.close = writer_close,
	};
	return 0;
}
