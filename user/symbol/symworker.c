// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread beside the drain that finds names.
 *
 * Two sides share one lock: the recorder fills an inbox (modules, questions) and empties an outbox
 * (answers); the thread swaps the inbox for an empty one, works without the lock, and appends to
 * the outbox. What crosses are flat records without pointers, so that a socket pair to a process
 * without privileges can take the lock's place; only opening files would stay behind.
 *
 * Names from symbol tables cost microseconds, a first look into debug information up to seconds:
 * so questions are answered by name as they come, then put aside by module, and frames are found in
 * short batches, in address order, whenever the inbox is empty. When debug information takes more
 * memory than allowed, that of the module used longest ago is dropped. Files go likewise, lest a
 * recording of weeks hold every program that ever ran: one that is asked again is opened again.
 */
#include "symbol/symworker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "symbol/busguard.h"
#include "symbol/symopen.h"

#define DWARF_MEM_DEFAULT (256ull << 20)
#define OPEN_MAX_DEFAULT 512
#define BATCH_NS 50000000ull
#define JOIN_NS 2000000000ull
#define FRAMES_MAX 128
#define NO_FILE UINT32_MAX

/* Owned by the thread once it has left the inbox. */
struct module {
	uint32_t id;
	enum symworker_kind kind;
	struct symopen_where where;
	char *path;
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	size_t build_id_sz;
	struct symbolizer *sym; /* NULL: could not be opened */
	bool reported;
	bool put_away; /* it was open once */
	uint64_t asked; /* when, counted in questions of all modules */
	uint64_t used; /* turn in which its debug information was last asked */
	uint64_t *pending; /* offsets whose frames are still to be found; the last ones first */
	size_t pending_cnt, pending_cap;
	bool unsorted;
};

struct question {
	uint32_t module_id;
	uint64_t offset;
};

struct inbox {
	struct module **modules;
	size_t module_cnt, module_cap;
	struct question *questions;
	size_t question_cnt, question_cap;
};

/* In the outbox: this, the name and its NUL, the file and its NUL when there is one. */
struct record {
	enum symworker_answer_kind kind;
	uint32_t module_id;
	uint64_t offset, start, size;
	uint32_t depth, line;
	uint32_t name_len, file_len; /* file_len may be NO_FILE */
	int error;
	bool has_symtab, has_dwarf;
};

struct symworker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* the inbox has something, or stop */
	pthread_cond_t rest; /* the thread has nothing left to do, or is gone */

	/* under the lock */
	struct inbox inbox;
	struct buf outbox;
	bool stop, resting, gone;

	/* the recorder's */
	struct buf taking;
	size_t taking_pos;

	/* the thread's */
	struct symbolizer_cfg sym_cfg;
	char *debug_root;
	size_t dwarf_mem_max, open_max;
	size_t open_cnt;
	uint64_t questions;
	struct hmap modules; /* id -> struct module */
	size_t pending_total;
	uint64_t turn;
	struct buf answers; /* becomes part of the outbox */
};

static void free_module(struct module *m)
{
	if (!m)
		return;
	symbolizer_free(m->sym);
	free(m->pending);
	free(m->path);
	free(m);
}

static void put_record(struct symworker *w, const struct record *r, const char *name,
		       const char *file)
{
	buf_add(&w->answers, r, sizeof(*r));
	if (name)
		buf_add(&w->answers, name, r->name_len + 1);
	if (r->file_len != NO_FILE)
		buf_add(&w->answers, file, r->file_len + 1);
}

static void answer_module(struct symworker *w, struct module *m, int error)
{
	struct record r = {
		.kind = SYMWORKER_MODULE,
		.module_id = m->id,
		.error = error,
		.file_len = NO_FILE,
	};

	if (m->reported)
		return;
	m->reported = true;
	if (m->sym) {
		r.has_symtab = symbolizer_has_symtab(m->sym);
		r.has_dwarf = symbolizer_has_dwarf(m->sym);
	}
	put_record(w, &r, NULL, NULL);
}

static void answer_frame(struct symworker *w, const struct module *m, uint64_t offset,
			 enum symworker_answer_kind kind, uint32_t depth,
			 const struct symbolizer_frame *f)
{
	struct record r = {
		.kind = kind,
		.module_id = m->id,
		.offset = offset,
		.start = f->start,
		.size = f->size,
		.depth = depth,
		.line = f->line,
		.name_len = f->name_len,
		.file_len = f->file ? strlen(f->file) : NO_FILE,
	};

	put_record(w, &r, f->name, f->file);
}

/* A file of another build says more about what went wrong than one that is not there. */
static int open_file(struct symworker *w, struct module *m)
{
	struct symbolizer_cfg cfg = w->sym_cfg;
	int place, err = -ENOENT;

	cfg.open_debug = symopen_debug;
	cfg.open_ctx = &m->where;
	for (place = 0; place < SYMOPEN_PLACE_CNT; place++) {
		int fd = symopen_file(&m->where, place);
		int e = fd;

		if (fd >= 0)
			e = symbolizer_open(fd, m->build_id, m->build_id_sz, &cfg, &m->sym);
		if (!e)
			return 0;
		if (err != -ESTALE && e != -ENOENT && e != -ESRCH)
			err = e;
	}
	return err;
}

/* Without a build-id another file could take its place unseen. */
static bool may_put_away(const struct module *m)
{
	return m->sym && !m->pending_cnt && m->build_id_sz && m->kind == SYMWORKER_ELF;
}

static void put_oldest_away(struct symworker *w)
{
	struct module *oldest = NULL;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&w->modules, &pos, &key, &value)) {
		struct module *m = value;

		if (may_put_away(m) && (!oldest || m->asked < oldest->asked))
			oldest = m;
	}
	if (!oldest)
		return;
	symbolizer_free(oldest->sym);
	oldest->sym = NULL;
	oldest->put_away = true;
	w->open_cnt--;
}

static int open_module(struct symworker *w, struct module *m)
{
	int err;

	if (w->open_cnt >= w->open_max)
		put_oldest_away(w);
	m->put_away = false;
	m->asked = w->questions;
	err = m->kind == SYMWORKER_VDSO ? symbolizer_open_vdso(&w->sym_cfg, &m->sym) :
					  open_file(w, m);
	w->open_cnt += !err;
	return err;
}

static void adopt_module(struct symworker *w, struct module *m)
{
	struct module *old = hmap_get(&w->modules, m->id);
	int err;

	if (old) {
		w->pending_total -= old->pending_cnt;
		w->open_cnt -= old->sym != NULL;
	}
	free_module(old);
	hmap_set(&w->modules, m->id, m);
	err = open_module(w, m);
	if (err)
		answer_module(w, m, err);
}

static void answer_name(struct symworker *w, const struct question *q)
{
	struct module *m = hmap_get(&w->modules, q->module_id);
	struct symbolizer_frame f;

	if (m && m->put_away)
		open_module(w, m);
	if (!m || !m->sym)
		return;
	m->asked = ++w->questions;
	answer_module(w, m, 0);
	if (symbolizer_name(m->sym, q->offset, &f) == 1)
		answer_frame(w, m, q->offset, SYMWORKER_NAME, 0, &f);
	if (w->sym_cfg.no_dwarf)
		return;
	m->pending =
		array_reserve(m->pending, &m->pending_cap, m->pending_cnt + 1, sizeof(*m->pending));
	m->pending[m->pending_cnt++] = q->offset;
	m->unsorted = true;
	w->pending_total++;
}

static void work_inbox(struct symworker *w, struct inbox *in)
{
	size_t i;

	for (i = 0; i < in->module_cnt; i++)
		adopt_module(w, in->modules[i]);
	for (i = 0; i < in->question_cnt; i++)
		answer_name(w, &in->questions[i]);
	in->module_cnt = in->question_cnt = 0;
}

static int compare_down(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a > *b ? -1 : *a < *b;
}

/* The module that debug information is loaded for already, else the one with most to do. */
static struct module *next_pending(const struct symworker *w)
{
	struct module *best = NULL;
	bool best_loaded = false;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&w->modules, &pos, &key, &value)) {
		struct module *m = value;
		bool loaded;

		if (!m->pending_cnt)
			continue;
		loaded = symbolizer_dwarf_mem(m->sym) > 0;
		if (best && (best_loaded > loaded ||
			     (best_loaded == loaded && best->pending_cnt >= m->pending_cnt)))
			continue;
		best = m;
		best_loaded = loaded;
	}
	return best;
}

/* Drops debug information, used longest ago first, until the rest fits; never that of `keep`. */
static void trim_memory(struct symworker *w, const struct module *keep)
{
	for (;;) {
		struct module *oldest = NULL;
		size_t pos = 0, total = 0;
		uint64_t key;
		void *value;

		while (hmap_next(&w->modules, &pos, &key, &value)) {
			struct module *m = value;
			size_t mem = m->sym ? symbolizer_dwarf_mem(m->sym) : 0;

			total += mem;
			if (mem && m != keep && (!oldest || m->used < oldest->used))
				oldest = m;
		}
		if (total <= w->dwarf_mem_max || !oldest)
			return;
		symbolizer_drop_dwarf(oldest->sym);
	}
}

static void work_frames(struct symworker *w)
{
	struct module *m = next_pending(w);
	uint64_t until = clock_mono_ns() + BATCH_NS;
	struct symbolizer_frame frames[FRAMES_MAX];

	if (m->unsorted)
		qsort(m->pending, m->pending_cnt, sizeof(*m->pending), compare_down);
	m->unsorted = false;
	m->used = ++w->turn;
	do {
		uint64_t offset = m->pending[--m->pending_cnt];
		int cnt = symbolizer_frames(m->sym, offset, frames, FRAMES_MAX), i;

		w->pending_total--;
		for (i = 0; i < cnt; i++)
			answer_frame(w, m, offset, SYMWORKER_FRAME, i, &frames[i]);
	} while (m->pending_cnt && clock_mono_ns() < until);
	trim_memory(w, m);
}

static void publish(struct symworker *w)
{
	if (w->answers.len)
		buf_add(&w->outbox, w->answers.data, w->answers.len);
	buf_clear(&w->answers);
}

static void *thread_main(void *arg)
{
	struct symworker *w = arg;
	struct inbox in = { 0 };

	busguard_enter();
	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		if (w->inbox.module_cnt || w->inbox.question_cnt) {
			struct inbox full = w->inbox;

			w->inbox = in;
			in = full;
		} else if (!w->pending_total) {
			w->resting = true;
			pthread_cond_broadcast(&w->rest);
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		if (in.module_cnt || in.question_cnt)
			work_inbox(w, &in);
		else
			work_frames(w);
		pthread_mutex_lock(&w->lock);
		publish(w);
	}
	free(in.modules);
	free(in.questions);
	w->gone = true;
	pthread_cond_broadcast(&w->rest);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are for the threads that wait for them. */
static int start_thread(struct symworker *w)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, thread_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(w->thread, "d9-symbols");
	return -err;
}

static void free_all(struct symworker *w)
{
	size_t pos = 0, i;
	uint64_t key;
	void *value;

	while (hmap_next(&w->modules, &pos, &key, &value))
		free_module(value);
	hmap_fini(&w->modules);
	for (i = 0; i < w->inbox.module_cnt; i++)
		free_module(w->inbox.modules[i]);
	free(w->inbox.modules);
	free(w->inbox.questions);
	buf_free(&w->outbox);
	buf_free(&w->taking);
	buf_free(&w->answers);
	free(w->debug_root);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->rest);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int symworker_new(const struct symworker_cfg *cfg, struct symworker **out)
{
	struct symworker *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int err;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->rest, &attr);
	pthread_condattr_destroy(&attr);
	w->dwarf_mem_max = cfg->dwarf_mem_max ? cfg->dwarf_mem_max : DWARF_MEM_DEFAULT;
	w->open_max = cfg->open_max ? cfg->open_max : OPEN_MAX_DEFAULT;
	w->sym_cfg.dwarf_mem_max = w->dwarf_mem_max;
	w->sym_cfg.no_dwarf = cfg->no_dwarf;
	if (cfg->debug_root)
		w->debug_root = xstrdup(cfg->debug_root);
	/* the elfutils libraries ask servers when this is set */
	unsetenv("DEBUGINFOD_URLS");
	hmap_init(&w->modules);
	err = start_thread(w);
	if (err) {
		free_all(w);
		return err;
	}
	*out = w;
	return 0;
}

/* Waits until *flag is set or CLOCK_MONOTONIC deadline_ns has passed. Under the lock. */
static bool wait_for(struct symworker *w, const bool *flag, uint64_t deadline_ns)
{
	struct timespec ts = {
		.tv_sec = deadline_ns / 1000000000,
		.tv_nsec = deadline_ns % 1000000000,
	};
	int err = 0;

	while (!*flag && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&w->rest, &w->lock, &ts);
	return *flag;
}

void symworker_free(struct symworker *w)
{
	bool gone;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	gone = wait_for(w, &w->gone, clock_mono_ns() + JOIN_NS);
	pthread_mutex_unlock(&w->lock);
	if (!gone) {
		pthread_detach(w->thread);
		return;
	}
	pthread_join(w->thread, NULL);
	free_all(w);
}

static void wake(struct symworker *w)
{
	w->resting = false;
	pthread_cond_signal(&w->wake);
}

int symworker_add_module(struct symworker *w, uint32_t module_id,
			 const struct symworker_module *module)
{
	struct inbox *in = &w->inbox;
	struct module *m;

	if (module->build_id_sz > SYMBOLIZER_BUILD_ID_MAX)
		return -EINVAL;
	m = xcalloc(1, sizeof(*m));
	m->id = module_id;
	m->kind = module->kind;
	m->path = module->path ? xstrdup(module->path) : NULL;
	m->where = (struct symopen_where){
		.pid = module->pid,
		.path = m->path,
		.map_start = module->map_start,
		.map_end = module->map_end,
		.debug_root = w->debug_root,
	};
	if (module->build_id_sz)
		memcpy(m->build_id, module->build_id, module->build_id_sz);
	m->build_id_sz = module->build_id_sz;
	pthread_mutex_lock(&w->lock);
	in->modules = array_reserve(in->modules, &in->module_cap, in->module_cnt + 1,
				    sizeof(struct module *));
	in->modules[in->module_cnt++] = m;
	wake(w);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

void symworker_ask(struct symworker *w, uint32_t module_id, uint64_t offset)
{
	struct inbox *in = &w->inbox;

	pthread_mutex_lock(&w->lock);
	in->questions = array_reserve(in->questions, &in->question_cap, in->question_cnt + 1,
				      sizeof(*in->questions));
	in->questions[in->question_cnt++] = (struct question){
		.module_id = module_id,
		.offset = offset,
	};
	wake(w);
	pthread_mutex_unlock(&w->lock);
}

/* The next record of what is being taken; strings point into it. */
static void read_record(struct symworker *w, struct symworker_answer *a)
{
	const char *p = w->taking.data + w->taking_pos;
	struct record r;

	memcpy(&r, p, sizeof(r));
	p += sizeof(r);
	*a = (struct symworker_answer){
		.kind = r.kind,
		.module_id = r.module_id,
		.offset = r.offset,
		.depth = r.depth,
		.line = r.line,
		.start = r.start,
		.size = r.size,
		.error = r.error,
		.has_symtab = r.has_symtab,
		.has_dwarf = r.has_dwarf,
	};
	if (r.kind != SYMWORKER_MODULE) {
		a->name = p;
		a->name_len = r.name_len;
		p += r.name_len + 1;
	}
	if (r.file_len != NO_FILE) {
		a->file = p;
		a->file_len = r.file_len;
		p += r.file_len + 1;
	}
	w->taking_pos = p - w->taking.data;
}

/* Whether there is a record to read, after fetching what the thread has left. */
static bool refill(struct symworker *w)
{
	struct buf empty;

	if (w->taking_pos < w->taking.len)
		return true;
	buf_clear(&w->taking);
	w->taking_pos = 0;
	empty = w->taking;
	pthread_mutex_lock(&w->lock);
	w->taking = w->outbox;
	w->outbox = empty;
	pthread_mutex_unlock(&w->lock);
	return w->taking.len > 0;
}

ssize_t symworker_take(struct symworker *w, symworker_take_fn fn, void *ctx, size_t max)
{
	size_t cnt;

	for (cnt = 0; cnt < max && refill(w);) {
		struct symworker_answer a;
		int ret;

		read_record(w, &a);
		cnt++;
		ret = fn(ctx, &a);
		if (ret < 0)
			return ret;
		if (ret)
			break;
	}
	return cnt;
}

bool symworker_idle(struct symworker *w)
{
	bool idle;

	pthread_mutex_lock(&w->lock);
	idle = w->resting && !w->outbox.len;
	pthread_mutex_unlock(&w->lock);
	return idle && w->taking_pos == w->taking.len;
}

int symworker_finish(struct symworker *w, uint64_t deadline_ns)
{
	bool done;

	pthread_mutex_lock(&w->lock);
	done = wait_for(w, &w->resting, deadline_ns);
	pthread_mutex_unlock(&w->lock);
	return done ? 0 : -ETIMEDOUT;
}
