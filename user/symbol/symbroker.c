// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who has been asked what, and what of the answers is believed.
 *
 * A module has a side for each worker: whether its file is open there, and the offsets asked. What
 * was sent stays noted until the worker says that it is done with it, so that all of it can be asked
 * again of the next worker; and an answer to anything else is a lie.
 * Files are opened when they are first needed, and closed when they have not been asked about for the
 * longest time. Answers stay the bytes that came, until they are taken.
 */
#include "symbol/symbroker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "symbol/openers.h"
#include "symbol/symmodule.h"
#include "symbol/symopen.h"
#include "symbol/workers.h"

#define OPEN_MAX_DEFAULT 512
#define STEP_NS 20000000ull
#define STATES_MAX 16 /* times that it may say what it has */
#define TURNS_MAX 10000 /* of a worker without a word in them */
#define ANSWERS_MAX (4u << 20) /* bytes; beyond that workers wait */
#define PACKETS_MAX 128 /* of each worker in a step */

/* What an opener has been asked for. */
struct opening {
	enum symworker_role role;
	uint32_t module_id;
	enum symproto_what what;
};

struct role {
	struct symmodule_queue queue;
	size_t opens_sent; /* MODULE messages without an answer */
	size_t wants; /* debug files that the worker waits for */
	size_t open_cnt;
	unsigned int turns; /* since it said anything else */
};

struct symbroker {
	struct symbroker_cfg cfg;
	int epoll_fd;
	struct openers *openers;
	struct workers *workers;
	struct hmap modules, openings;
	uint32_t last_token;
	struct role roles[SYMWORKER_ROLE_CNT];
	struct buf answers; /* messages as they came */
	size_t taken; /* bytes of answers */
	uint32_t *changed; /* modules whose status is to be told */
	size_t changed_cnt, changed_cap, changed_taken;
	size_t identifying;
	uint64_t turn, answered;
	bool closed; /* nothing is asked or heard any more */
	struct buf packet;
};

/* ---- status ------------------------------------------------------------------------------------- */

static void set_status(struct symbroker *b, struct symmodule *m, enum symbroker_status status,
		       const char *detail)
{
	if (m->status == status && !strncmp(m->detail, detail, sizeof(m->detail) - 1))
		return;
	m->status = status;
	snprintf(m->detail, sizeof(m->detail), "%s", detail);
	if (m->kind == SYMBROKER_IDENTIFY)
		return;
	b->changed =
		array_reserve(b->changed, &b->changed_cap, b->changed_cnt + 1, sizeof(*b->changed));
	b->changed[b->changed_cnt++] = m->id;
	m->untold = true;
}

/* Why the file could not be had, of all the places that were tried. */
static void set_open_error(struct symbroker *b, struct symmodule *m, int error)
{
	set_status(b, m, symmodule_open_failure(error),
		   error == -ENOENT || error == -ESRCH ? "" : strerror(-error));
}

/* What its workers have found so far; failures of the process are not taken back. */
static void settle(struct symbroker *b, struct symmodule *m)
{
	if (m->status == SYMBROKER_CRASHED || m->status == SYMBROKER_HUNG ||
	    m->status == SYMBROKER_GAVE_UP)
		return;
	if (m->has_symtab || m->has_dwarf)
		set_status(b, m, SYMBROKER_NAMED, "");
	else if (m->symtab_known && (m->dwarf_known || b->cfg.no_dwarf))
		set_status(b, m, SYMBROKER_STRIPPED, "");
}

static void add_question(struct symbroker *b, struct symmodule *m, enum symworker_role r,
			 uint64_t offset)
{
	m->used = ++b->turn;
	if (!workers_over(b->workers, r) && !b->closed)
		symmodule_add_question(&b->roles[r].queue, m, offset);
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The one answer to SYMBROKER_IDENTIFY. */
static void end_identify(struct symbroker *b, struct symmodule *m, int error)
{
	symproto_put(&b->answers, &(struct symproto_msg){
					  .kind = SYMPROTO_OPENED,
					  .id = m->id,
					  .error = error,
					  .build_id = m->build_id,
					  .build_id_sz = m->build_id_sz,
				  });
	symmodule_drop_questions(&b->roles[SYMWORKER_NAMES].queue, m);
	b->identifying--;
	hmap_del(&b->modules, m->id);
	symmodule_free(m);
}

/* m may be gone behind this. */
static void fail_side(struct symbroker *b, struct symmodule *m, enum symworker_role r, int error)
{
	/* a program may begin to write its map at any time */
	m->sides[r].state = m->kind == SYMBROKER_PERFMAP && error == -ENOENT ? SYMMODULE_CLOSED :
									       SYMMODULE_FAILED;
	symmodule_drop_questions(&b->roles[r].queue, m);
	if (r == SYMWORKER_LINES) {
		m->dwarf_known = true;
		settle(b, m);
	}
	if (m->kind == SYMBROKER_IDENTIFY)
		end_identify(b, m, error);
}

/* There is no worker for it any more. */
static void abandon_side(struct symbroker *b, struct symmodule *m, enum symworker_role r)
{
	if (r == SYMWORKER_NAMES)
		set_status(b, m, SYMBROKER_CRASHED, "too many workers died");
	fail_side(b, m, r, -EIO);
}

static void ask_opener(struct symbroker *b, struct symmodule *m, enum symworker_role r,
		       const struct symproto_msg *want)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	bool is_module = !symproto_is_debug_file(want->what);

	o->role = r;
	o->module_id = m->id;
	o->what = want->what;
	hmap_set(&b->openings, ++b->last_token, o);
	openers_ask(b->openers,
		    &(struct symproto_msg){
			    .kind = SYMPROTO_OPEN,
			    .what = want->what,
			    .id = b->last_token,
			    .pid = m->pid,
			    .depth = is_module ? m->sides[r].place : 0,
			    .offset = m->map_start,
			    .size = m->map_end - m->map_start,
			    .line = m->dev,
			    .start = m->inode,
			    .text = m->path,
			    .text_len = strlen(m->path),
			    .more = want->text,
			    .more_len = want->text_len,
			    .build_id = is_module ? m->build_id : want->build_id,
			    .build_id_sz = is_module ? m->build_id_sz : want->build_id_sz,
		    },
		    m->owner);
}

static void send_module(struct symbroker *b, struct symmodule *m, enum symworker_role r, int fd)
{
	m->sides[r].state = SYMMODULE_SENT;
	b->roles[r].opens_sent++;
	workers_post(b->workers, r,
		     &(struct symproto_msg){
			     .kind = SYMPROTO_MODULE,
			     .what = symmodule_what(m),
			     .id = m->id,
			     .build_id = m->build_id,
			     .build_id_sz = m->build_id_sz,
		     },
		     fd);
}

static void close_side(struct symbroker *b, struct symmodule *m, enum symworker_role r)
{
	if (!m || m->sides[r].state != SYMMODULE_OPEN)
		return;
	workers_post(b->workers, r, &(struct symproto_msg){ .kind = SYMPROTO_CLOSE, .id = m->id },
		     -1);
	m->sides[r].state = SYMMODULE_CLOSED;
	b->roles[r].open_cnt--;
}

static void open_side(struct symbroker *b, struct symmodule *m, enum symworker_role r)
{
	struct symmodule_side *s = &m->sides[r];

	s->place = 0;
	s->error = -ENOENT;
	s->wants = s->frames = s->states = 0;
	if (b->roles[r].open_cnt >= b->cfg.open_max)
		close_side(b, symmodule_find_closable(&b->modules, r), r);
	if (m->kind == SYMBROKER_VDSO) {
		send_module(b, m, r, -1);
		return;
	}
	s->state = SYMMODULE_OPENING;
	ask_opener(b, m, r, &(struct symproto_msg){ .what = symmodule_file(m) });
}

/* No file at this place or not the right one; that of another build says more than none at all. */
static void try_next_place(struct symbroker *b, struct symmodule *m, enum symworker_role r,
			   int error)
{
	struct symmodule_side *s = &m->sides[r];

	if (s->error != -ESTALE && error != -ENOENT && error != -ESRCH)
		s->error = error;
	if (symmodule_has_places(m) && ++s->place < SYMOPEN_PLACE_CNT && error != -ETIMEDOUT &&
	    error != -EBUSY) {
		s->state = SYMMODULE_OPENING;
		ask_opener(b, m, r, &(struct symproto_msg){ .what = symmodule_file(m) });
		return;
	}
	if (r == SYMWORKER_NAMES)
		set_open_error(b, m, s->error);
	fail_side(b, m, r, s->error);
}

static void on_module_file(struct symbroker *b, struct symmodule *m, enum symworker_role r,
			   const struct openers_result *result)
{
	struct symmodule_side *s = &m->sides[r];

	if (result->fd < 0) {
		/* the opener has tried the places behind as well */
		s->place = SYMOPEN_PLACE_CNT;
		try_next_place(b, m, r, result->error);
	} else if (workers_over(b->workers, r)) {
		close(result->fd);
		abandon_side(b, m, r);
	} else if (!workers_live(b->workers, r)) {
		close(result->fd);
		s->state = SYMMODULE_CLOSED;
		symmodule_enqueue(&b->roles[r].queue, m);
	} else {
		s->place = result->place;
		send_module(b, m, r, result->fd);
	}
}

/* An openers_done_fn. */
static void on_opened(void *ctx, const struct openers_result *result)
{
	struct symbroker *b = ctx;
	struct opening *o = hmap_del(&b->openings, result->token);
	struct symmodule *m = o ? hmap_get(&b->modules, o->module_id) : NULL;
	bool wanted =
		m && m->sides[o->role].state == SYMMODULE_OPEN && symproto_is_debug_file(o->what);

	if (o && symproto_is_debug_file(o->what) && b->roles[o->role].wants)
		b->roles[o->role].wants--;
	if (wanted) {
		workers_post(b->workers, o->role,
			     &(struct symproto_msg){
				     .kind = SYMPROTO_FILE,
				     .what = o->what,
				     .id = m->id,
				     .error = result->error,
			     },
			     result->fd);
	} else if (m && !symproto_is_debug_file(o->what) &&
		   m->sides[o->role].state == SYMMODULE_OPENING) {
		on_module_file(b, m, o->role, result);
	} else if (result->fd >= 0) {
		close(result->fd);
	}
	free(o);
}

/* ---- what workers say --------------------------------------------------------------------------- */

static bool on_module_opened(struct symbroker *b, struct symmodule *m, enum symworker_role r,
			     const struct symproto_msg *msg)
{
	struct symmodule_side *s = &m->sides[r];

	if (s->state != SYMMODULE_SENT)
		return false;
	b->roles[r].opens_sent--;
	if (msg->error) {
		try_next_place(b, m, r, msg->error);
		return true;
	}
	if (!m->build_id_sz && msg->build_id_sz) {
		m->build_id_sz = msg->build_id_sz;
		memcpy(m->build_id, msg->build_id, msg->build_id_sz);
	}
	s->state = SYMMODULE_OPEN;
	if (m->kind == SYMBROKER_IDENTIFY) {
		end_identify(b, m, 0);
		return true;
	}
	b->roles[r].open_cnt++;
	symmodule_enqueue(&b->roles[r].queue, m);
	return true;
}

static bool on_done(struct symbroker *b, struct symmodule *m, enum symworker_role r,
		    uint64_t offset)
{
	struct symmodule_side *s = &m->sides[r];
	size_t at;

	if (s->state != SYMMODULE_OPEN || !symmodule_find_sent(s, offset, &at))
		return false;
	symmodule_remove_sent(&b->roles[r].queue, m, at);
	s->frames = 0;
	b->answered++;
	if (r == SYMWORKER_NAMES && !b->cfg.no_dwarf && m->kind != SYMBROKER_PERFMAP)
		add_question(b, m, SYMWORKER_LINES, offset);
	symmodule_enqueue(&b->roles[r].queue, m);
	return true;
}

static bool on_name(struct symbroker *b, struct symmodule *m, enum symworker_role r,
		    const struct symproto_msg *msg)
{
	struct symmodule_side *s = &m->sides[r];
	bool right_kind = (msg->kind == SYMPROTO_NAME) == (r == SYMWORKER_NAMES);
	size_t at;

	if (!right_kind || s->state != SYMMODULE_OPEN ||
	    !symmodule_find_sent(s, msg->offset, &at) || s->frames++ >= SYMPROTO_DEPTH_MAX ||
	    (msg->kind == SYMPROTO_NAME && msg->depth))
		return false;
	symproto_put(&b->answers, msg);
	return true;
}

static bool on_state(struct symbroker *b, struct symmodule *m, enum symworker_role r,
		     const struct symproto_msg *msg)
{
	if (m->sides[r].states++ >= STATES_MAX)
		return false;
	if (r == SYMWORKER_NAMES) {
		m->symtab_known = true;
		m->has_symtab = msg->flags & SYMPROTO_HAS_SYMTAB;
	} else {
		m->dwarf_known = true;
		m->has_dwarf = msg->flags & SYMPROTO_HAS_DWARF;
	}
	if (msg->text && m->status != SYMBROKER_CRASHED && m->status != SYMBROKER_HUNG)
		set_status(b, m, SYMBROKER_GAVE_UP, msg->text);
	else
		settle(b, m);
	return true;
}

static bool on_want(struct symbroker *b, struct symmodule *m, enum symworker_role r,
		    const struct symproto_msg *msg)
{
	struct symmodule_side *s = &m->sides[r];

	if (s->state != SYMMODULE_OPEN || msg->what < SYMPROTO_WANT_BUILD_ID ||
	    s->wants++ >= SYMMODULE_WANTS_MAX)
		return false;
	b->roles[r].wants++;
	ask_opener(b, m, r, msg);
	return true;
}

static bool on_message(void *ctx, enum symworker_role r, const struct symproto_msg *msg)
{
	struct symbroker *b = ctx;
	struct symmodule *m = hmap_get(&b->modules, msg->id);
	enum symmodule_state state = m ? m->sides[r].state : SYMMODULE_CLOSED;

	if (state != SYMMODULE_SENT && state != SYMMODULE_OPEN)
		return false;
	if (msg->kind == SYMPROTO_WORKING)
		return b->roles[r].turns++ < TURNS_MAX;
	b->roles[r].turns = 0;
	if (msg->kind == SYMPROTO_OPENED)
		return on_module_opened(b, m, r, msg);
	if (msg->kind == SYMPROTO_DONE)
		return on_done(b, m, r, msg->offset);
	if (msg->kind == SYMPROTO_STATE)
		return on_state(b, m, r, msg);
	if (msg->kind == SYMPROTO_WANT)
		return on_want(b, m, r, msg);
	return on_name(b, m, r, msg);
}

/* ---- a worker is lost ---------------------------------------------------------------------------- */

/* The next worker has none of its files, and gets its questions. */
static void forget_worker(struct symbroker *b, enum symworker_role r, uint32_t but_id)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	b->roles[r] = (struct role){ .queue = b->roles[r].queue };
	b->roles[r].queue.sent = 0;
	while (hmap_next(&b->modules, &pos, &key, &value)) {
		struct symmodule *m = value;
		struct symmodule_side *s = &m->sides[r];

		s->sent_cnt = 0;
		if (s->state == SYMMODULE_SENT || s->state == SYMMODULE_OPEN)
			s->state = SYMMODULE_CLOSED;
		if (m->id != but_id)
			symmodule_enqueue(&b->roles[r].queue, m);
	}
}

/* No more workers of this kind: what was asked stays open no longer. */
static void end_role(struct symbroker *b, enum symworker_role r)
{
	struct symmodule *m;

	while ((m = symmodule_dequeue(&b->roles[r].queue)))
		abandon_side(b, m, r);
}

static void on_lost(void *ctx, enum symworker_role r, enum workers_loss loss, uint32_t module_id,
		    const char *detail)
{
	struct symbroker *b = ctx;
	struct symmodule *m = hmap_get(&b->modules, module_id);
	enum symmodule_state state = m ? m->sides[r].state : SYMMODULE_CLOSED;

	forget_worker(b, r, module_id);
	if (m && (state == SYMMODULE_SENT || (state == SYMMODULE_OPEN && m->sides[r].cnt))) {
		set_status(b, m,
			   loss == WORKERS_HUNG ? SYMBROKER_HUNG :
			   loss == WORKERS_GREW ? SYMBROKER_GAVE_UP :
						  SYMBROKER_CRASHED,
			   detail);
		/* what breaks one would break the other */
		m->broken = true;
		symmodule_drop_unsent(&b->roles[SYMWORKER_LINES].queue, m);
		fail_side(b, m, r, -EIO);
	} else if (m) {
		symmodule_enqueue(&b->roles[r].queue, m);
	}
	if (workers_over(b->workers, r))
		end_role(b, r);
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* Some questions of one module: false when the worker takes no more now. */
static bool send_questions(struct symbroker *b, struct symmodule *m, enum symworker_role r)
{
	struct symmodule_side *s = &m->sides[r];
	size_t cnt = SYMMODULE_SENT_MAX - s->sent_cnt, i;

	if (cnt > s->cnt - s->sent_cnt)
		cnt = s->cnt - s->sent_cnt;
	buf_clear(&b->packet);
	for (i = 0; i < cnt; i++)
		symproto_put(&b->packet, &(struct symproto_msg){
						 .kind = SYMPROTO_ASK,
						 .id = m->id,
						 .offset = s->offsets[s->sent_cnt + i],
					 });
	if (workers_send(b->workers, r, &b->packet))
		return false;
	s->sent_cnt += cnt;
	b->roles[r].queue.sent += cnt;
	m->used = ++b->turn;
	return true;
}

static void send_all(struct symbroker *b, enum symworker_role r)
{
	struct symmodule *m, *last = b->roles[r].queue.last;

	while (workers_live(b->workers, r) && (m = symmodule_dequeue(&b->roles[r].queue))) {
		if (!m->sides[r].cnt)
			continue;
		if (m->sides[r].state == SYMMODULE_CLOSED)
			open_side(b, m, r);
		else if (m->sides[r].state == SYMMODULE_OPEN && !send_questions(b, m, r))
			last = m;
		symmodule_enqueue(&b->roles[r].queue, m);
		if (m == last)
			return;
	}
}

/* Whether a worker has something to do that does not depend on somebody else. */
static bool owes(const struct role *role)
{
	return (role->queue.sent || role->opens_sent) && !role->wants;
}

void symbroker_step(struct symbroker *b)
{
	uint64_t now = clock_mono_ns();
	bool owing[SYMWORKER_ROLE_CNT];
	size_t max = b->answers.len < ANSWERS_MAX ? PACKETS_MAX : 0;
	int r;

	if (b->closed)
		return;
	openers_step(b->openers, now);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		owing[r] = owes(&b->roles[r]);
	workers_step(b->workers, now, max, owing);
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		send_all(b, r);
	openers_step(b->openers, now);
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
		.ctx = cfg->ctx,
		.patience_ns = cfg->open_ns,
		.done = on_opened,
		.done_ctx = b,
	};
	struct workers_cfg workers_cfg = {
		.child = cfg->worker ? cfg->worker : real_worker,
		.child_ctx = cfg->worker ? cfg->ctx : &worker_cfg,
		.silent_cpu_ns = cfg->silent_cpu_ns ? cfg->silent_cpu_ns : WORKERS_SILENT_CPU_NS,
		.silent_sleep_ns =
			cfg->silent_sleep_ns ? cfg->silent_sleep_ns : WORKERS_SILENT_SLEEP_NS,
		.heard = on_message,
		.lost = on_lost,
		.ctx = b,
	};
	int err;

	b->cfg = *cfg;
	b->cfg.open_max = cfg->open_max ? cfg->open_max : OPEN_MAX_DEFAULT;
	b->roles[SYMWORKER_LINES].queue.role = SYMWORKER_LINES;
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

void symbroker_free(struct symbroker *b)
{
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
	buf_free(&b->answers);
	buf_free(&b->packet);
	free(b->changed);
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
			end_identify(b, m, -EIO);
		else
			add_question(b, m, SYMWORKER_NAMES, 0);
	}
	return 0;
}

bool symbroker_ask(struct symbroker *b, uint32_t module_id, uint64_t offset)
{
	struct symmodule *m = hmap_get(&b->modules, module_id);

	if (m && m->kind != SYMBROKER_IDENTIFY)
		add_question(b, m, SYMWORKER_NAMES, offset);
	return m != NULL;
}

size_t symbroker_forget(struct symbroker *b, size_t each)
{
	struct symmodule **idle;
	size_t cnt = symmodule_find_idle(&b->modules, &idle), bytes = 0, i;

	for (i = 0; i < cnt; i++) {
		bytes += each + strlen(idle[i]->path);
		close_side(b, idle[i], SYMWORKER_NAMES);
		close_side(b, idle[i], SYMWORKER_LINES);
		hmap_del(&b->modules, idle[i]->id);
		symmodule_free(idle[i]);
	}
	free(idle);
	return bytes;
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

	while (cnt < max && (next_message(b, &a) || next_status(b, &a))) {
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
	return b->taken < b->answers.len || b->changed_taken < b->changed_cnt;
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
		if (has_answers(b) || symbroker_idle(b) || now >= deadline_ns)
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
			set_status(b, m, SYMBROKER_PENDING, "");
		else if (m->sides[SYMWORKER_LINES].cnt)
			set_status(b, m, SYMBROKER_PENDING, "debug information");
		for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
			symmodule_drop_questions(&b->roles[r].queue, m);
	}
}

unsigned int symbroker_restarts(const struct symbroker *b)
{
	return workers_restarts(b->workers);
}
