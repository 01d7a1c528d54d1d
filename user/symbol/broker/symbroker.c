// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the recorder asks of the workers, and takes from them.
 *
 * A module has a side for each worker (symside.c): whether its file is open there, and the offsets
 * asked. Files are closed, and modules forgotten, when they have not been asked about for the
 * longest time. Answers stay the bytes that came, until they are taken.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "symbol/broker/symbroker_impl.h"

#define OPEN_MAX_DEFAULT 512
#define STEP_NS 20000000ull
#define ANSWERS_MAX (4u << 20) /* bytes; beyond that workers wait */
#define PACKETS_MAX 128 /* of each worker in a step */

/* ---- steps -------------------------------------------------------------------------------------- */

/* Whether a worker has something to do that does not depend on somebody else. */
static bool owes(const struct role *role)
{
	return (role->queue.sent || role->opens_sent) && !role->wants;
}

void symbroker_step(struct symbroker *b)
{
	uint64_t now = clock_mono_ns();
	bool owing[SYMWORKER_ROLE_CNT];
	bool room = b->answers.len < ANSWERS_MAX && symtables_have_room(b);
	size_t max = room ? PACKETS_MAX : 0;
	int r;

	if (b->closed)
		return;
	openers_step(b->openers, now);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		owing[r] = owes(&b->roles[r]);
	workers_step(b->workers, now, max, owing);
	b->asked = false;
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		symside_send(b, r);
	openers_step(b->openers, now);
}

void symbroker_send(struct symbroker *b)
{
	if (b->asked)
		symbroker_step(b);
}

/* ---- what the recorder calls --------------------------------------------------------------------- */

static void real_worker(const void *ctx, int sock, uint32_t arg)
{
	symworker_serve(sock, arg, ctx);
}

int symbroker_new(const struct symbroker_cfg *cfg, struct symbroker **out)
{
	const struct symworker_cfg worker_cfg = { .dwarf_mem_max = cfg->dwarf_mem_max };
	struct symbroker *b = xcalloc(1, sizeof(*b));
	struct openers_cfg openers_cfg = {
		.child = cfg->opener,
		.ctx = cfg->opener ? cfg->ctx : cfg->dirs,
		.patience_ns = cfg->open_ns,
		.done = symside_on_opened,
		.done_ctx = b,
	};
	struct workers_cfg workers_cfg = {
		.child = cfg->worker ? cfg->worker : real_worker,
		.child_ctx = cfg->worker ? cfg->ctx : &worker_cfg,
		.silent_cpu_ns = cfg->silent_cpu_ns ? cfg->silent_cpu_ns : WORKERS_SILENT_CPU_NS,
		.silent_sleep_ns =
			cfg->silent_sleep_ns ? cfg->silent_sleep_ns : WORKERS_SILENT_SLEEP_NS,
		.mem_max = cfg->worker_mem_max ? cfg->worker_mem_max : WORKERS_MEM_MAX,
		.heard = symside_on_message,
		.lost = symside_on_lost,
		.ctx = b,
	};
	enum symworker_role r;
	int err;

	b->cfg = *cfg;
	b->cfg.open_max = cfg->open_max ? cfg->open_max : OPEN_MAX_DEFAULT;
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		b->roles[r].queue.role = r;
	symtables_init(b);
	hmap_init(&b->modules);
	hmap_init(&b->openings);
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = b->epoll_fd < 0 ? -errno : 0;
	openers_cfg.epoll_fd = workers_cfg.epoll_fd = b->epoll_fd;
	if (!err)
		err = workers_start(&workers_cfg, &b->workers);
	if (!err)
		err = openers_start(&openers_cfg, &b->openers);
	if (err)
		symbroker_free(b);
	else
		*out = b;
	return err;
}

size_t symbroker_pids(const struct symbroker *b, uint32_t pids[SYMBROKER_PIDS_MAX])
{
	const size_t cnt = workers_pids(b->workers, pids);

	return cnt + openers_pids(b->openers, pids + cnt);
}

void symbroker_free(struct symbroker *b)
{
	enum symworker_role r;
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (!b)
		return;
	openers_stop(b->openers);
	workers_stop(b->workers);
	while (hmap_next(&b->modules, &pos, &key, &value))
		symmodule_free(value);
	pos = 0;
	while (hmap_next(&b->openings, &pos, &key, &value))
		free(value);
	hmap_fini(&b->modules);
	hmap_fini(&b->openings);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		symmodule_queue_fini(&b->roles[r].queue);
	buf_free(&b->answers);
	buf_free(&b->packet);
	free(b->changed);
	symtables_fini(b);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	free(b);
}

int symbroker_add_module(struct symbroker *b, uint32_t module_id,
			 const struct symbroker_module *module)
{
	const char *path = module->path ? module->path : "";
	struct symmodule *m;

	if (module->build_id_sz > SYMBOLIZER_BUILD_ID_MAX || strlen(path) > SYMPROTO_PATH_MAX)
		return -EINVAL;
	if (hmap_get(&b->modules, module_id))
		return -EEXIST;
	m = symmodule_new(module_id, module);
	hmap_set(&b->modules, module_id, m);
	if (m->kind == SYMBROKER_IDENTIFY) {
		b->identifying++;
		if (workers_over(b->workers, SYMWORKER_NAMES))
			symside_end_identify(b, m, -EIO);
		else
			symside_ask(b, m, SYMWORKER_NAMES, 0);
	}
	return 0;
}

bool symbroker_ask(struct symbroker *b, uint32_t module_id, uint64_t offset)
{
	struct symmodule *m = hmap_get(&b->modules, module_id);

	if (m && m->kind != SYMBROKER_IDENTIFY)
		symside_ask(b, m, SYMWORKER_NAMES, offset);
	return m != NULL;
}

bool symbroker_ask_table(struct symbroker *b, uint32_t module_id)
{
	struct symmodule *m = hmap_get(&b->modules, module_id);
	const struct symmodule_side *s;

	if (!m || m->kind == SYMBROKER_IDENTIFY || b->closed)
		return false;
	s = &m->sides[SYMWORKER_TABLES];
	if (m->kind == SYMBROKER_PERFMAP)
		symtables_fail(b, module_id, -ENODATA);
	else if (s->state == SYMMODULE_FAILED)
		symtables_fail(b, module_id, s->error);
	else if (m->broken || workers_over(b->workers, SYMWORKER_TABLES))
		symtables_fail(b, module_id, -EIO);
	else if (!s->cnt)
		symside_ask(b, m, SYMWORKER_TABLES, 0);
	return true;
}

size_t symbroker_tables(const struct symbroker *b)
{
	return b->roles[SYMWORKER_TABLES].queue.questions + b->tables.cnt;
}

bool symbroker_has_table(const struct symbroker *b)
{
	return b->tables.cnt != 0;
}

static void forget(struct symbroker *b, struct symmodule *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		symside_close(b, m, r);
	hmap_del(&b->modules, m->id);
	symmodule_free(m);
}

size_t symbroker_forget(struct symbroker *b, size_t each)
{
	struct symmodule **idle;
	size_t cnt = symmodule_find_idle(&b->modules, &idle), bytes = 0, i;

	for (i = 0; i < cnt; i++) {
		bytes += each + strlen(idle[i]->path);
		forget(b, idle[i]);
	}
	free(idle);
	return bytes;
}

bool symbroker_drop(struct symbroker *b, uint32_t module_id, symbroker_take_fn fn, void *ctx)
{
	struct symmodule *m = hmap_get(&b->modules, module_id);
	struct symbroker_answer last;

	if (!m || !symmodule_is_quiet(m))
		return false;
	last = symmodule_status_answer(m);
	fn(ctx, &last);
	forget(b, m);
	return true;
}

bool symbroker_get(const struct symbroker *b, uint32_t module_id, struct symbroker_answer *out)
{
	const struct symmodule *m = hmap_get(&b->modules, module_id);

	if (m)
		*out = symmodule_status_answer(m);
	return m != NULL;
}

bool symbroker_asking(const struct symbroker *b, uint32_t module_id)
{
	const struct symmodule *m = hmap_get(&b->modules, module_id);

	return m && m->sides[SYMWORKER_NAMES].cnt;
}

int symbroker_fd(const struct symbroker *b)
{
	return b->epoll_fd;
}

/* The next answer that came as a message; strings point into it. */
static bool next_message(struct symbroker *b, struct symbroker_answer *a)
{
	struct symproto_msg msg;

	if (b->taken == b->answers.len || symproto_get(b->answers.data, b->answers.len, &b->taken,
						       SYMPROTO_FROM_WORKER, &msg) != 1) {
		buf_clear(&b->answers);
		b->taken = 0;
		return false;
	}
	*a = symmodule_message_answer(&msg);
	return true;
}

static bool next_status(struct symbroker *b, struct symbroker_answer *a)
{
	while (b->changed_taken < b->changed_cnt) {
		struct symmodule *m = hmap_get(&b->modules, b->changed[b->changed_taken++]);

		if (!m)
			continue;
		m->untold = false;
		*a = symmodule_status_answer(m);
		return true;
	}
	b->changed_cnt = b->changed_taken = 0;
	return false;
}

ssize_t symbroker_take(struct symbroker *b, symbroker_take_fn fn, void *ctx, size_t max)
{
	struct symbroker_answer a;
	size_t cnt = 0;
	int ret;

	while (cnt < max) {
		if (!symtables_next(b, &a) && !next_message(b, &a) && !next_status(b, &a))
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

void symbroker_each(const struct symbroker *b, symbroker_take_fn fn, void *ctx)
{
	struct symbroker_answer a;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&b->modules, &pos, &key, &value)) {
		a = symmodule_status_answer(value);
		if (((struct symmodule *)value)->kind != SYMBROKER_IDENTIFY)
			fn(ctx, &a);
	}
}

static bool has_answers(const struct symbroker *b)
{
	return b->taken < b->answers.len || b->changed_taken < b->changed_cnt || b->tables.cnt;
}

size_t symbroker_questions(const struct symbroker *b)
{
	return b->roles[SYMWORKER_NAMES].queue.questions +
	       b->roles[SYMWORKER_LINES].queue.questions;
}

bool symbroker_idle(const struct symbroker *b)
{
	return !symbroker_questions(b) && !has_answers(b);
}

size_t symbroker_identifying(const struct symbroker *b)
{
	return b->identifying;
}

void symbroker_wait(struct symbroker *b, uint64_t deadline_ns)
{
	struct pollfd fd = { .fd = b->epoll_fd, .events = POLLIN };
	uint64_t now, left;

	for (;;) {
		symbroker_step(b);
		now = clock_mono_ns();
		if (has_answers(b) || (symbroker_idle(b) && !symbroker_tables(b)) ||
		    now >= deadline_ns)
			return;
		left = deadline_ns - now < STEP_NS ? deadline_ns - now : STEP_NS;
		ppoll(&fd, 1, &(struct timespec){ .tv_nsec = left }, NULL);
	}
}

uint64_t symbroker_answered(const struct symbroker *b)
{
	return b->answered;
}

void symbroker_hurry(struct symbroker *b)
{
	workers_hurry(b->workers);
}

void symbroker_close_questions(struct symbroker *b)
{
	size_t pos = 0;
	uint64_t key;
	void *value;
	int r;

	b->closed = true;
	while (hmap_next(&b->modules, &pos, &key, &value)) {
		struct symmodule *m = value;

		if (m->kind == SYMBROKER_IDENTIFY)
			continue;
		if (m->sides[SYMWORKER_NAMES].cnt)
			symside_set_status(b, m, SYMBROKER_PENDING, "");
		else if (m->sides[SYMWORKER_LINES].cnt)
			symside_set_status(b, m, SYMBROKER_PENDING, "debug information");
		for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
			symmodule_drop_questions(&b->roles[r].queue, m);
	}
}

unsigned int symbroker_restarts(const struct symbroker *b)
{
	return workers_restarts(b->workers);
}
