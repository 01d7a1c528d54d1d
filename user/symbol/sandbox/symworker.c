// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process that reads symbol tables, debug information and call frame information.
 *
 * Files are untrusted and may crash or block it. So it owns only the descriptors that it receives,
 * and reports which module it works on before it reads the file; the recorder can kill it and start
 * another. Modules with open requests get slices of time round-robin, so a slow file delays only
 * itself. Modules that wait for a debug file are skipped.
 *
 * If what was read of all modules exceeds the memory limit, the least recently used module's is
 * dropped, and read again when it is needed. From then on one module is finished before the next
 * one: otherwise each would drop what the other needs. Between requests, no page of a file stays
 * mapped: a page that only this process maps counts as its memory.
 */
#include "symbol/sandbox/symworker.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "symbol/cfi/cfi_job.h"
#include "symbol/dwarf/symbolizer.h"
#include "symbol/elf/perfmap.h"
#include "symbol/sandbox/sandbox.h"
#include "symbol/sandbox/sigbus_guard.h"
#include "symbol/sandbox/symproto.h"
#include "unwind/table.h"

#define MEM_DEFAULT (256ull << 20)
#define NAMES_SLICE_NS 10000000ull
#define LINES_SLICE_NS 50000000ull
#define SECOND_NS 1000000000ull
#define SLICE_MIN_NS 100000ull
#define REST_MAX_NS 1000000000ull /* between two slices; a silent worker is killed after more */
#define TABLES_SLICE_NS 10000000ull
#define FLUSH_SZ 16384
/* Larger blocks go back to the kernel when they are freed. */
#define MMAP_MIN (128 << 10)
/* Mapped files of split debug information; a process may have some 65,000 mappings. */
#define SPLIT_FILES_MAX 4096
#define WANT_CNT 5
#define MAPS_PART 2 /* of the worker's memory, for all perf maps together */

/* A debug file that the symbolizer requested */
struct want {
	enum { WANT_NONE, WANT_ASKED, WANT_HERE, WANT_FAILED } state;
	int fd; /* WANT_HERE */
	int error; /* WANT_FAILED */
};

struct module {
	struct worker *w;
	uint32_t id;
	struct symbolizer *sym; /* NULL: could not be opened, or without symbolizer: */
	struct cfi_job *table;
	struct perfmap *map;
	int map_fd;
	struct want wants[WANT_CNT];
	unsigned int waiting; /* number of wanted files not received yet */
	uint64_t *pending; /* offsets; the last one first */
	size_t pending_cnt, pending_cap;
	bool unsorted, reported;
	const char *gave_up; /* as reported */
	bool lacks_split; /* as reported */
	bool is_over; /* its perf map exceeded the limit and was dropped: it gets no more symbols */
	uint64_t used; /* number of its last slice */
};

struct worker {
	int sock;
	enum symworker_role role;
	size_t mem_max;
	char *packet; /* received packet */
	struct buf out;
	struct hmap modules; /* id -> struct module */
	struct module **order;
	size_t cnt, cap, cursor;
	struct module *alone; /* gets all slices until it has no request; NULL: none */
	uint64_t ns_per_s; /* limit of CPU time; 0: none */
	uint64_t rests_until; /* CLOCK_MONOTONIC */
	bool freed; /* much memory since the heap was trimmed */
	uint64_t turn;
};

/* ---- answers ------------------------------------------------------------------------------------ */

static void flush(struct worker *w)
{
	if (w->out.len && symproto_send(w->sock, &w->out, -1, 0))
		_exit(0);
	buf_clear(&w->out);
}

static void put(struct worker *w, const struct symproto_msg *msg)
{
	symproto_put(&w->out, msg);
	if (w->out.len >= FLUSH_SZ)
		flush(w);
}

/* Reports the module before working on it, so a crash can be attributed. */
static void announce(struct worker *w, uint32_t id)
{
	put(w, &(struct symproto_msg){ .kind = SYMPROTO_WORKING, .id = id });
	flush(w);
}

static void put_done(struct worker *w, const struct module *m, uint64_t offset)
{
	put(w, &(struct symproto_msg){ .kind = SYMPROTO_DONE, .id = m->id, .offset = offset });
}

static void put_frame(struct module *m, enum symproto_kind kind, uint64_t offset, uint32_t depth,
		      const struct symbolizer_frame *f)
{
	put(m->w, &(struct symproto_msg){
			  .kind = kind,
			  .id = m->id,
			  .offset = offset,
			  .start = f->start,
			  .size = f->size,
			  .depth = depth,
			  .line = f->line,
			  .text = f->name,
			  .text_len = f->name_len,
			  .more = f->file,
			  .more_len = f->file ? strlen(f->file) : 0,
		  });
}

/* Reports the state once it is known, and again if more is skipped. */
static void put_state(struct module *m)
{
	bool names = m->w->role == SYMWORKER_NAMES;
	const char *gave_up = m->is_over ? m->gave_up :
			      m->map	 ? perfmap_gave_up(m->map) :
					   symbolizer_gave_up(m->sym);
	bool lacks = m->sym && symbolizer_missing(m->sym);
	int has;

	if (m->reported && gave_up == m->gave_up && lacks == m->lacks_split)
		return;
	has = m->map ? 1 : names ? symbolizer_has_symtab(m->sym) : symbolizer_has_dwarf(m->sym);
	if (has == -EAGAIN)
		return;
	m->reported = true;
	m->gave_up = gave_up;
	m->lacks_split = lacks;
	put(m->w, &(struct symproto_msg){
			  .kind = SYMPROTO_STATE,
			  .id = m->id,
			  .flags = (!has  ? 0 :
				    names ? SYMPROTO_HAS_SYMTAB :
					    SYMPROTO_HAS_DWARF) |
				   (lacks ? SYMPROTO_LACKS_SPLIT : 0),
			  .text = gave_up,
			  .text_len = gave_up ? strlen(gave_up) : 0,
		  });
}

/* ---- modules ------------------------------------------------------------------------------------ */

/* A symbolizer_open_fn. */
static int open_debug(void *ctx, const struct symbolizer_want *want)
{
	static const enum symproto_what whats[WANT_CNT] = {
		[SYMBOLIZER_WANT_BUILD_ID] = SYMPROTO_WANT_BUILD_ID,
		[SYMBOLIZER_WANT_DEBUGLINK] = SYMPROTO_WANT_DEBUGLINK,
		[SYMBOLIZER_WANT_ALTLINK] = SYMPROTO_WANT_ALTLINK,
		[SYMBOLIZER_WANT_DWP] = SYMPROTO_WANT_DWP,
		[SYMBOLIZER_WANT_DWO] = SYMPROTO_WANT_DWO,
	};
	struct module *m = ctx;
	struct want *slot = &m->wants[want->kind];
	int fd;

	if (want->build_id_sz > SYMPROTO_BUILD_ID_MAX)
		return -ENOENT;
	if (slot->state == WANT_NONE) {
		put(m->w, &(struct symproto_msg){
				  .kind = SYMPROTO_WANT,
				  .what = whats[want->kind],
				  .id = m->id,
				  .depth = want->skip,
				  .text = want->name,
				  .text_len = want->name ? strlen(want->name) : 0,
				  .build_id = want->build_id,
				  .build_id_sz = want->build_id_sz,
			  });
		slot->state = WANT_ASKED;
		m->waiting++;
	}
	if (slot->state == WANT_ASKED)
		return -EAGAIN;
	fd = slot->state == WANT_HERE ? slot->fd : slot->error;
	slot->state = WANT_NONE;
	return fd;
}

static void free_module(struct module *m)
{
	size_t i;

	symbolizer_free(m->sym);
	cfi_job_free(m->table);
	if (m->map)
		close(m->map_fd);
	perfmap_free(m->map);
	for (i = 0; i < WANT_CNT; i++)
		if (m->wants[i].state == WANT_HERE)
			close(m->wants[i].fd);
	free(m->pending);
	free(m);
}

static void close_module(struct worker *w, uint32_t id)
{
	struct module *m = hmap_del(&w->modules, id);
	size_t i;

	for (i = 0; i < w->cnt; i++)
		if (w->order[i] == m)
			w->order[i] = w->order[--w->cnt];
	if (w->alone == m)
		w->alone = NULL;
	w->freed |= m != NULL;
	if (m)
		free_module(m);
}

static struct module *add_module(struct worker *w, uint32_t id)
{
	struct module *m;

	close_module(w, id);
	m = xcalloc(1, sizeof(*m));
	m->w = w;
	m->id = id;
	hmap_set(&w->modules, id, m);
	w->order = array_reserve(w->order, &w->cap, w->cnt + 1, sizeof(struct module *));
	w->order[w->cnt++] = m;
	return m;
}

static int open_symbolizer(struct worker *w, struct module *m, const struct symproto_msg *msg,
			   int fd)
{
	const struct symbolizer_cfg cfg = {
		.dwarf_mem_max = w->mem_max,
		.symtab_mem_max = w->mem_max,
		.no_dwarf = w->role == SYMWORKER_NAMES,
		.open_debug = open_debug,
		.open_ctx = m,
		.text_off = msg->offset,
		.text_size = msg->size,
		.kernel = msg->what == SYMPROTO_KERNEL,
	};

	if (msg->what == SYMPROTO_VDSO)
		return symbolizer_open_vdso(&cfg, &m->sym);
	return symbolizer_open(fd, msg->build_id, msg->build_id_sz, &cfg, &m->sym);
}

static int open_table(struct module *m, const struct symproto_msg *msg, int fd)
{
	int err;

	if (msg->what == SYMPROTO_VDSO)
		err = cfi_job_open_vdso(&m->table);
	else
		err = cfi_job_open(fd, msg->build_id, msg->build_id_sz, &m->table);
	if (!err)
		cfi_job_limit_mem(m->table, m->w->mem_max);
	return err;
}

static void start_map(struct module *m)
{
	m->map = perfmap_new(0);
	perfmap_limit_mem(m->map, m->w->mem_max / MAPS_PART);
}

static void open_map(struct worker *w, uint32_t id, int fd)
{
	struct module *m = add_module(w, id);

	start_map(m);
	m->map_fd = fd;
}

static void add_question(struct module *m, uint64_t offset)
{
	m->pending =
		array_reserve(m->pending, &m->pending_cap, m->pending_cnt + 1, sizeof(*m->pending));
	m->pending[m->pending_cnt++] = offset;
	m->unsorted = true;
}

/* fd is -1 for the vDSO; otherwise takes it over. */
static void do_module(struct worker *w, const struct symproto_msg *msg, int fd)
{
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	struct symproto_msg opened = {
		.kind = SYMPROTO_OPENED,
		.id = msg->id,
		.build_id = build_id,
	};
	struct module *m;

	announce(w, msg->id);
	if (msg->what != SYMPROTO_VDSO && fd < 0)
		opened.error = -EBADF;
	else if (msg->what != SYMPROTO_VDSO && msg->what != SYMPROTO_PERFMAP)
		opened.error = symbolizer_build_id(fd, build_id, &opened.build_id_sz);
	if (msg->what == SYMPROTO_PERFMAP && !opened.error) {
		open_map(w, msg->id, fd);
	} else if (msg->what == SYMPROTO_IDENTIFY || opened.error) {
		if (fd >= 0)
			close(fd);
	} else if (w->role == SYMWORKER_TABLES) {
		m = add_module(w, msg->id);
		opened.error = open_table(m, msg, fd);
		if (!opened.error)
			add_question(m, 0);
	} else {
		opened.error = open_symbolizer(w, add_module(w, msg->id), msg, fd);
	}
	if (opened.error)
		opened.build_id_sz = 0;
	put(w, &opened);
}

static void do_ask(struct worker *w, const struct symproto_msg *msg)
{
	struct module *m = hmap_get(&w->modules, msg->id);

	if (m && (m->sym || m->map || m->table))
		add_question(m, msg->offset);
}

static void do_file(struct worker *w, const struct symproto_msg *msg, int fd)
{
	struct module *m = hmap_get(&w->modules, msg->id);
	struct want *slot = m && msg->what >= SYMPROTO_WANT_BUILD_ID ?
				    &m->wants[msg->what - SYMPROTO_WANT_BUILD_ID] :
				    NULL;

	if (!slot || slot->state != WANT_ASKED) {
		if (fd >= 0)
			close(fd);
		return;
	}
	slot->state = fd < 0 ? WANT_FAILED : WANT_HERE;
	slot->fd = fd;
	slot->error = msg->error ? msg->error : -ENOENT;
	m->waiting--;
}

static void set_pace(struct worker *w, uint64_t ns_per_s)
{
	w->ns_per_s = ns_per_s;
	w->rests_until = 0;
}

static void do_message(struct worker *w, const struct symproto_msg *msg, int fd)
{
	if (msg->kind == SYMPROTO_MODULE)
		do_module(w, msg, fd);
	else if (msg->kind == SYMPROTO_FILE)
		do_file(w, msg, fd);
	else if (msg->kind == SYMPROTO_CLOSE)
		close_module(w, msg->id);
	else if (msg->kind == SYMPROTO_PACE)
		set_pace(w, msg->size);
	else
		do_ask(w, msg);
}

/* A packet with a descriptor has one message. */
static void receive(struct worker *w)
{
	struct symproto_msg msg;
	size_t pos = 0;
	ssize_t n;
	int fd, ret;

	n = symproto_receive(w->sock, w->packet, &fd, 0);
	if (n <= 0)
		_exit(0);
	while ((ret = symproto_get(w->packet, n, &pos, SYMPROTO_TO_WORKER, &msg)) == 1) {
		do_message(w, &msg, fd);
		fd = -1;
	}
	if (ret)
		_exit(1);
}

/*
 * ---- slices -------------------------------------------------------------------------------------
 */

static int compare_down(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a > *b ? -1 : *a < *b;
}

static size_t memory_of(const struct module *m)
{
	return m->sym	? symbolizer_mem(m->sym) :
	       m->map	? perfmap_mem(m->map) :
	       m->table ? cfi_job_mem(m->table) :
			  0;
}

static size_t files_of(const struct module *m)
{
	return m->sym ? symbolizer_files(m->sym) : 0;
}

/* A map that was cut would be cut again; the work on a table would be lost. */
static bool may_drop(const struct module *m)
{
	if (m->map)
		return memory_of(m) && !perfmap_gave_up(m->map);
	return !m->table && (memory_of(m) || files_of(m));
}

static void drop_module(struct module *m)
{
	if (m->sym) {
		symbolizer_drop_all(m->sym);
	} else {
		m->is_over |= perfmap_gave_up(m->map) != NULL;
		perfmap_free(m->map);
		start_map(m);
	}
}

/* Modules without requests first, then the least recently used one. */
static bool goes_before(const struct module *a, const struct module *b)
{
	return !a->pending_cnt == !b->pending_cnt ? a->used < b->used : !a->pending_cnt;
}

/* Any process may write a large map. Maps displace each other, and not the files of other processes. */
static void trim_maps(struct worker *w, const struct module *keep)
{
	struct module *oldest;
	size_t total, i;

	do {
		oldest = NULL;
		total = 0;
		for (i = 0; i < w->cnt; i++) {
			struct module *m = w->order[i];

			if (!m->map || !memory_of(m))
				continue;
			total += memory_of(m);
			if (m != keep && (!oldest || goes_before(m, oldest)))
				oldest = m;
		}
		if (total <= w->mem_max / MAPS_PART || !oldest)
			return;
		drop_module(oldest);
		w->freed = true;
	} while (true);
}

/* Drops what was read, and files, of modules except `keep`, until the limits hold. */
static void trim_memory(struct worker *w, struct module *keep)
{
	for (;;) {
		struct module *oldest = NULL;
		size_t total = 0, files = 0, i;

		for (i = 0; i < w->cnt; i++) {
			struct module *m = w->order[i];

			total += memory_of(m);
			files += files_of(m);
			if (m != keep && may_drop(m) && (!oldest || goes_before(m, oldest)))
				oldest = m;
		}
		if (total <= w->mem_max && files <= SPLIT_FILES_MAX)
			return;
		if (!oldest || oldest->pending_cnt)
			w->alone = keep;
		if (!oldest)
			return;
		drop_module(oldest);
		w->freed = true;
	}
}

/* The heap keeps freed memory; other C libraries have no such calls. */
static void set_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, MMAP_MIN);
#endif
}

static void trim_heap(struct worker *w)
{
#ifdef __GLIBC__
	if (w->freed)
		malloc_trim(0);
#endif
	w->freed = false;
}

static void release_pages(const struct module *m)
{
	if (m->sym)
		symbolizer_release_pages(m->sym);
	else if (m->table)
		cfi_job_release_pages(m->table);
}

/* Answers one request: 0, or -EAGAIN if it must be repeated. */
static int answer(struct module *m, uint64_t offset)
{
	struct symbolizer_frame frames[SYMPROTO_DEPTH_MAX];
	bool names = m->w->role == SYMWORKER_NAMES;
	int cnt, i;

	if (names)
		cnt = symbolizer_name(m->sym, offset, frames);
	else
		cnt = symbolizer_frames(m->sym, offset, frames, SYMPROTO_DEPTH_MAX);
	if (cnt == -EAGAIN)
		return cnt;
	for (i = 0; i < cnt; i++)
		put_frame(m, names ? SYMPROTO_NAME : SYMPROTO_FRAME, offset, i, &frames[i]);
	put_state(m);
	put_done(m->w, m, offset);
	return 0;
}

/* Reads appended lines first. An address without a line gets no name; the recorder may ask again. */
static void answer_from_map(struct module *m)
{
	struct perfmap_entry e;

	perfmap_slice(m->map, NAMES_SLICE_NS);
	if (!m->is_over && perfmap_read(m->map, m->map_fd) == -EAGAIN)
		return;
	for (; m->pending_cnt; m->pending_cnt--) {
		uint64_t addr = m->pending[m->pending_cnt - 1];
		const struct symbolizer_frame *f;

		if (perfmap_find(m->map, addr, &e)) {
			f = &(struct symbolizer_frame){
				.name = e.name,
				.name_len = e.name_len,
				.start = e.start,
				.size = e.size,
			};
			put_frame(m, SYMPROTO_NAME, addr, 0, f);
		}
		put_done(m->w, m, addr);
	}
	put_state(m);
}

static void put_table(struct module *m, int error, const struct unwind_table *t)
{
	size_t done, cnt;

	put(m->w, &(struct symproto_msg){
			  .kind = SYMPROTO_TABLE,
			  .id = m->id,
			  .error = error,
			  .start = t->first_page,
			  .line = t->page_cnt,
			  .offset = t->big_cnt,
			  .size = t->cnt,
		  });
	for (done = 0; done < t->cnt; done += cnt) {
		flush(m->w); /* no room remains for other data in this packet */
		cnt = t->cnt - done < SYMPROTO_WORDS_MAX ? t->cnt - done : SYMPROTO_WORDS_MAX;
		put(m->w, &(struct symproto_msg){
				  .kind = SYMPROTO_WORDS,
				  .id = m->id,
				  .words = t->words + done,
				  .word_cnt = cnt,
			  });
	}
}

/* With a limit, at most what it allows in a second. */
static uint64_t slice_ns(const struct worker *w, uint64_t ns)
{
	if (!w->ns_per_s || w->ns_per_s >= ns)
		return ns;
	return w->ns_per_s > SLICE_MIN_NS ? w->ns_per_s : SLICE_MIN_NS;
}

static void answer_with_table(struct module *m)
{
	struct unwind_table t = { 0 };
	int err = cfi_job_build(m->table, slice_ns(m->w, TABLES_SLICE_NS), &t);

	if (err == -EAGAIN)
		return;
	put_table(m, err, &t);
	unwind_table_free(&t);
	put_done(m->w, m, m->pending[--m->pending_cnt]);
	m->w->freed = true;
}

/* Works in descending order of addresses, because neighbours share data. */
static void answer_from_file(struct module *m)
{
	const uint64_t ns = m->w->role == SYMWORKER_NAMES ? NAMES_SLICE_NS : LINES_SLICE_NS;

	symbolizer_slice(m->sym, slice_ns(m->w, ns));
	if (m->unsorted)
		qsort(m->pending, m->pending_cnt, sizeof(*m->pending), compare_down);
	m->unsorted = false;
	while (m->pending_cnt && !answer(m, m->pending[m->pending_cnt - 1]))
		m->pending_cnt--;
}

static void serve_module(struct worker *w, struct module *m)
{
	announce(w, m->id);
	m->used = ++w->turn;
	if (m->map)
		answer_from_map(m);
	else if (m->table)
		answer_with_table(m);
	else
		answer_from_file(m);
	if (!m->pending_cnt)
		release_pages(m);
	flush(w);
	if (m->map)
		trim_maps(w, m);
	trim_memory(w, m);
}

static bool is_ready(const struct module *m)
{
	return m->pending_cnt && !m->waiting;
}

/* The next module, round-robin, that can continue; NULL if there is none. */
static struct module *next_ready(struct worker *w)
{
	size_t i;

	if (w->alone && is_ready(w->alone))
		return w->alone;
	w->alone = NULL;
	for (i = 0; i < w->cnt; i++) {
		struct module *m = w->order[(w->cursor + i) % w->cnt];

		if (!is_ready(m))
			continue;
		w->cursor = (w->cursor + i + 1) % w->cnt;
		return m;
	}
	return NULL;
}

/*
 * One file may take seconds, which no budget of requests limits. After a step that is longer than its slice, all files
 * would wait for minutes without REST_MAX_NS.
 */
static void rest(struct worker *w, uint64_t cpu_ns)
{
	double ns;

	if (!w->ns_per_s)
		return;
	ns = (double)cpu_ns * SECOND_NS / w->ns_per_s;
	w->rests_until = clock_mono_ns() + (ns < REST_MAX_NS ? (uint64_t)ns : REST_MAX_NS);
}

/* For poll(): -1 without work, 0 if the worker may go on. */
static int wait_ms(const struct worker *w, const struct module *m)
{
	const uint64_t now = m && w->rests_until ? clock_mono_ns() : 0;

	if (!m)
		return -1;
	return now < w->rests_until ? (int)((w->rests_until - now + 999999) / 1000000) : 0;
}

static void serve_and_rest(struct worker *w, struct module *m)
{
	const uint64_t began = clock_thread_cpu_ns();

	serve_module(w, m);
	rest(w, clock_thread_cpu_ns() - began);
}

void symworker_serve(int sock, enum symworker_role role, const struct symworker_cfg *cfg)
{
	static const char *const names[SYMWORKER_ROLE_CNT] = {
		[SYMWORKER_NAMES] = "d9-names",
		[SYMWORKER_LINES] = "d9-lines",
		[SYMWORKER_TABLES] = "d9-tables",
	};
	struct worker w = {
		.sock = sock,
		.role = role,
		.mem_max = cfg->mem_max[role] ? cfg->mem_max[role] : MEM_DEFAULT,
		.packet = xmalloc(SYMPROTO_PACKET_MAX),
		.ns_per_s = role == SYMWORKER_LINES ? cfg->lines_ns_per_s : 0,
	};
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	struct module *m;

	/* otherwise elfutils libraries query servers */
	unsetenv("DEBUGINFOD_URLS");
	prctl(PR_SET_NAME, names[role]);
	set_heap();
	sigbus_guard_enter();
	if (sandbox_filter())
		return;
	for (;;) {
		m = next_ready(&w);
		flush(&w);
		if (!m)
			trim_heap(&w);
		if (poll(&fd, 1, wait_ms(&w, m)) > 0)
			receive(&w);
		else if (m)
			serve_and_rest(&w, m);
	}
}
