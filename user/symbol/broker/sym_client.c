// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends requests of the recorder to the workers, and returns their answers.
 *
 * A module has a state per worker (module_worker.c): whether its file is open there, and the
 * requested offsets. The least recently used files are closed, and modules forgotten. Answers are
 * kept as received bytes until they are taken.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "symbol/broker/sym_client_impl.h"
#include "symbol/sandbox/readiness.h"

#define OPEN_MAX_DEFAULT 512
#define STEP_NS 20000000ull
#define ANSWERS_MAX (4u << 20) /* bytes; above this workers wait */
#define PACKETS_MAX 128 /* per worker and step */
/* What a worker may have in addition to its part of mem_max: half of it, and its own buffers */
#define WORKER_OWN_MEM (16ull << 20)

/* Parts of mem_max; an unwind table of a browser takes 40 MB */
static const size_t mem_parts[SYMWORKER_ROLE_CNT] = {
	[SYMWORKER_NAMES] = 2,
	[SYMWORKER_LINES] = 3,
	[SYMWORKER_TABLES] = 2,
};
enum { MEM_PARTS = 7 };

/* ---- steps -------------------------------------------------------------------------------------- */

/* Whether a worker has work that it can do without waiting. */
static bool owes(const struct role *role)
{
	return (role->queue.sent || role->opens_sent) && !role->wants;
}

void sym_client_step(struct sym_client *b)
{
	uint64_t now = clock_mono_ns();
	bool owing[SYMWORKER_ROLE_CNT];
	bool room = b->answers.len < ANSWERS_MAX && cfi_inbox_have_room(b);
	size_t max = room ? PACKETS_MAX : 0;
	int r;

	if (b->closed)
		return;
	readiness_update(b->epoll_fd);
	file_openers_step(b->openers, now);
	if (b->identifying || b->roles[SYMWORKER_TABLES].queue.questions)
		worker_pool_press(b->workers, now);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		owing[r] = owes(&b->roles[r]);
	worker_pool_step(b->workers, now, max, owing);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		worker_cost_settle(b, r);
	b->asked = false;
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		module_worker_send(b, r);
	file_openers_step(b->openers, now);
}

void sym_client_send(struct sym_client *b)
{
	if (b->asked)
		sym_client_step(b);
}

/* ---- what the recorder calls --------------------------------------------------------------------- */

static void real_worker(const void *ctx, int sock, uint32_t arg)
{
	symworker_serve(sock, arg, ctx);
}

/* Limits for what workers read, and for their processes. */
static void share_memory(const struct sym_client_cfg *cfg, struct symworker_cfg *worker,
			 uint64_t mem_max[SYMWORKER_ROLE_CNT])
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++) {
		const size_t part = cfg->mem_max / MEM_PARTS * mem_parts[r];

		worker->mem_max[r] = part;
		mem_max[r] = cfg->worker_mem_max ? cfg->worker_mem_max :
			     part		 ? part + part / 2 + WORKER_OWN_MEM :
						   WORKER_POOL_MEM_MAX;
	}
}

int sym_client_new(const struct sym_client_cfg *cfg, struct sym_client **out)
{
	struct symworker_cfg worker_cfg = { .lines_ns_per_s = cfg->lines_ns_per_s };
	struct sym_client *b = xcalloc(1, sizeof(*b));
	struct file_openers_cfg openers_cfg = {
		.child = cfg->opener,
		.ctx = cfg->opener ? cfg->ctx : cfg->dirs,
		.patience_ns = cfg->open_ns,
		.nice = cfg->nice,
		.done = module_worker_on_opened,
		.done_ctx = b,
	};
	struct worker_pool_cfg workers_cfg = {
		.child = cfg->worker ? cfg->worker : real_worker,
		.child_ctx = cfg->worker ? cfg->ctx : &worker_cfg,
		.urgent_nice = cfg->nice,
		.silent_cpu_ns =
			cfg->silent_cpu_ns ? cfg->silent_cpu_ns : WORKER_POOL_SILENT_CPU_NS,
		.silent_sleep_ns =
			cfg->silent_sleep_ns ? cfg->silent_sleep_ns : WORKER_POOL_SILENT_SLEEP_NS,
		.on_message = module_worker_on_message,
		.lost = module_worker_on_lost,
		.ctx = b,
	};
	enum symworker_role r;
	int err;

	share_memory(cfg, &worker_cfg, workers_cfg.mem_max);
	b->cfg = *cfg;
	b->cfg.open_max = cfg->open_max ? cfg->open_max : OPEN_MAX_DEFAULT;
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		b->roles[r].queue.role = r;
	cfi_inbox_init(b);
	hmap_init(&b->modules);
	hmap_init(&b->openings);
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = b->epoll_fd < 0 ? -errno : 0;
	openers_cfg.epoll_fd = workers_cfg.epoll_fd = b->epoll_fd;
	if (!err)
		err = worker_pool_start(&workers_cfg, &b->workers);
	if (!err)
		err = file_openers_start(&openers_cfg, &b->openers);
	if (err)
		sym_client_free(b);
	else
		*out = b;
	return err;
}

size_t sym_client_pids(const struct sym_client *b, uint32_t pids[SYM_CLIENT_PIDS_MAX])
{
	const size_t cnt = worker_pool_pids(b->workers, pids);

	return cnt + file_openers_pids(b->openers, pids + cnt);
}

void sym_client_free(struct sym_client *b)
{
	enum symworker_role r;
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (!b)
		return;
	file_openers_stop(b->openers);
	worker_pool_stop(b->workers);
	while (hmap_next(&b->modules, &pos, &key, &value))
		module_queue_free(value);
	pos = 0;
	while (hmap_next(&b->openings, &pos, &key, &value))
		free(value);
	hmap_fini(&b->modules);
	hmap_fini(&b->openings);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		module_queue_queue_fini(&b->roles[r].queue);
	buf_free(&b->answers);
	buf_free(&b->packet);
	free(b->changed);
	cfi_inbox_fini(b);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	free(b);
}

/* Unwind tables wait for build-ids, so the same worker reads them. */
static enum symworker_role identifier(const struct sym_client *b)
{
	return worker_pool_over(b->workers, SYMWORKER_TABLES) ? SYMWORKER_NAMES : SYMWORKER_TABLES;
}

int sym_client_add_module(struct sym_client *b, uint32_t module_id,
			  const struct sym_client_module *module)
{
	const char *path = module->path ? module->path : "";
	struct module_queue *m;

	if (module->build_id_sz > SYMBOLIZER_BUILD_ID_MAX || strlen(path) > SYMPROTO_PATH_MAX)
		return -EINVAL;
	if (hmap_get(&b->modules, module_id))
		return -EEXIST;
	m = module_queue_new(module_id, module);
	hmap_set(&b->modules, module_id, m);
	if (m->kind == SYM_CLIENT_IDENTIFY) {
		b->identifying++;
		if (worker_pool_over(b->workers, identifier(b)))
			module_worker_end_identify(b, m, -EIO);
		else
			module_worker_ask(b, m, identifier(b), 0);
	}
	return 0;
}

bool sym_client_ask(struct sym_client *b, uint32_t module_id, uint64_t offset)
{
	struct module_queue *m = hmap_get(&b->modules, module_id);

	if (m && m->kind != SYM_CLIENT_IDENTIFY)
		module_worker_ask(b, m, SYMWORKER_NAMES, offset);
	return m != NULL;
}

bool sym_client_ask_table(struct sym_client *b, uint32_t module_id)
{
	struct module_queue *m = hmap_get(&b->modules, module_id);
	const struct module_queue_side *s;

	if (!m || m->kind == SYM_CLIENT_IDENTIFY || b->closed)
		return false;
	s = &m->sides[SYMWORKER_TABLES];
	if (m->kind == SYM_CLIENT_PERFMAP)
		cfi_inbox_fail(b, module_id, -ENODATA);
	else if (s->state == MODULE_QUEUE_FAILED)
		cfi_inbox_fail(b, module_id, s->error);
	else if (m->broken || worker_pool_over(b->workers, SYMWORKER_TABLES))
		cfi_inbox_fail(b, module_id, -EIO);
	else if (!s->cnt)
		module_worker_ask(b, m, SYMWORKER_TABLES, 0);
	return true;
}

size_t sym_client_tables(const struct sym_client *b)
{
	const size_t questions = b->roles[SYMWORKER_TABLES].queue.questions;

	/* the same worker identifies files, if it lives */
	return (questions > b->identifying ? questions - b->identifying : 0) + b->tables.cnt;
}

bool sym_client_has_table(const struct sym_client *b)
{
	return b->tables.cnt != 0;
}

static void forget(struct sym_client *b, struct module_queue *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		module_worker_close(b, m, r);
	hmap_del(&b->modules, m->id);
	module_queue_free(m);
}

size_t sym_client_forget(struct sym_client *b, size_t each)
{
	struct module_queue **idle;
	size_t cnt = module_queue_find_idle(&b->modules, &idle), bytes = 0, i;

	for (i = 0; i < cnt; i++) {
		bytes += each + strlen(idle[i]->path);
		forget(b, idle[i]);
	}
	free(idle);
	return bytes;
}

bool sym_client_drop(struct sym_client *b, uint32_t module_id, sym_client_take_fn fn, void *ctx)
{
	struct module_queue *m = hmap_get(&b->modules, module_id);
	struct sym_client_answer last;

	if (!m || !module_queue_is_quiet(m))
		return false;
	last = module_queue_status_answer(m);
	fn(ctx, &last);
	forget(b, m);
	return true;
}

bool sym_client_get(const struct sym_client *b, uint32_t module_id, struct sym_client_answer *out)
{
	const struct module_queue *m = hmap_get(&b->modules, module_id);

	if (m)
		*out = module_queue_status_answer(m);
	return m != NULL;
}

bool sym_client_asking(const struct sym_client *b, uint32_t module_id)
{
	const struct module_queue *m = hmap_get(&b->modules, module_id);

	return m && m->sides[SYMWORKER_NAMES].cnt;
}

int sym_client_fd(const struct sym_client *b)
{
	return b->epoll_fd;
}

/* The next answer in a message; strings point into it. */
static bool next_message(struct sym_client *b, struct sym_client_answer *a)
{
	struct symproto_msg msg;

	if (b->taken == b->answers.len || symproto_get(b->answers.data, b->answers.len, &b->taken,
						       SYMPROTO_FROM_WORKER, &msg) != 1) {
		buf_clear(&b->answers);
		b->taken = 0;
		return false;
	}
	*a = module_queue_message_answer(&msg);
	return true;
}

static bool next_status(struct sym_client *b, struct sym_client_answer *a)
{
	while (b->changed_taken < b->changed_cnt) {
		struct module_queue *m = hmap_get(&b->modules, b->changed[b->changed_taken++]);

		if (!m)
			continue;
		m->status_pending = false;
		*a = module_queue_status_answer(m);
		return true;
	}
	b->changed_cnt = b->changed_taken = 0;
	return false;
}

ssize_t sym_client_receive(struct sym_client *b, sym_client_take_fn fn, void *ctx, size_t max)
{
	struct sym_client_answer a;
	size_t cnt = 0;
	int ret;

	while (cnt < max) {
		if (!cfi_inbox_next(b, &a) && !next_message(b, &a) && !next_status(b, &a))
			break;
		cnt++;
		ret = fn(ctx, &a);
		if (ret < 0)
			return ret;
		if (ret)
			break;
	}
	return cnt;
}

void sym_client_each(const struct sym_client *b, sym_client_take_fn fn, void *ctx)
{
	struct sym_client_answer a;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&b->modules, &pos, &key, &value)) {
		a = module_queue_status_answer(value);
		if (((struct module_queue *)value)->kind != SYM_CLIENT_IDENTIFY)
			fn(ctx, &a);
	}
}

static bool has_answers(const struct sym_client *b)
{
	return b->taken < b->answers.len || b->changed_taken < b->changed_cnt || b->tables.cnt;
}

size_t sym_client_questions(const struct sym_client *b)
{
	return b->roles[SYMWORKER_NAMES].queue.questions +
	       b->roles[SYMWORKER_LINES].queue.questions;
}

bool sym_client_idle(const struct sym_client *b)
{
	return !sym_client_questions(b) && !b->identifying && !has_answers(b);
}

size_t sym_client_identifying(const struct sym_client *b)
{
	return b->identifying;
}

void sym_client_wait(struct sym_client *b, uint64_t deadline_ns)
{
	struct pollfd fd = { .fd = b->epoll_fd, .events = POLLIN };
	uint64_t now, left;

	for (;;) {
		sym_client_step(b);
		now = clock_mono_ns();
		if (has_answers(b) || (sym_client_idle(b) && !sym_client_tables(b)) ||
		    now >= deadline_ns)
			return;
		left = deadline_ns - now < STEP_NS ? deadline_ns - now : STEP_NS;
		ppoll(&fd, 1, &(struct timespec){ .tv_nsec = left }, NULL);
	}
}

uint64_t sym_client_answered(const struct sym_client *b)
{
	return b->answered;
}

void sym_client_limit_reading(struct sym_client *b, uint64_t ns_per_s)
{
	if (!b->hurries)
		worker_pool_limit(b->workers, ns_per_s);
}

void sym_client_hurry(struct sym_client *b)
{
	b->hurries = true;
	worker_pool_hurry(b->workers);
}

void sym_client_close_questions(struct sym_client *b)
{
	size_t pos = 0;
	uint64_t key;
	void *value;
	int r;

	b->closed = true;
	while (hmap_next(&b->modules, &pos, &key, &value)) {
		struct module_queue *m = value;

		if (m->kind == SYM_CLIENT_IDENTIFY)
			continue;
		if (m->sides[SYMWORKER_NAMES].cnt)
			module_worker_set_status(b, m, SYM_CLIENT_PENDING, "");
		else if (m->sides[SYMWORKER_LINES].cnt)
			module_worker_set_status(b, m, SYM_CLIENT_PENDING, "debug information");
		for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
			module_queue_drop_questions(&b->roles[r].queue, m);
	}
}

unsigned int sym_client_restarts(const struct sym_client *b)
{
	return worker_pool_restarts(b->workers);
}
