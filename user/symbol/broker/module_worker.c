// SPDX-License-Identifier: BSD-2-Clause
/*
 * One module at one worker: opens its file, sends requests, receives answers.
 *
 * A request is kept until the worker reports it as done, so it can be sent to the next worker. An
 * answer to any other request is an error of the worker. Files are opened when they are first
 * needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbol/broker/sym_client_impl.h"
#include "symbol/sandbox/symopen.h"

#define STATES_MAX 16 /* state messages per opened file */
/* Detail of a module that has symbols. */
#define LACKS_SPLIT ".dwo files are missing (searched: build directory, own directory, PROGRAM.dwp)"
#define TURNS_MAX 10000 /* slices of a worker without another message */

/* A request to an opener */
struct opening {
	enum symworker_role role;
	uint32_t module_id;
	uint32_t life; /* number of the role's worker at the time of the request */
	enum symproto_what what;
};

/* ---- status ------------------------------------------------------------------------------------- */

void module_worker_set_status(struct sym_client *b, struct module_queue *m,
			      enum sym_client_status status, const char *detail)
{
	if (m->status == status && !strncmp(m->detail, detail, sizeof(m->detail) - 1))
		return;
	m->status = status;
	snprintf(m->detail, sizeof(m->detail), "%s", detail);
	if (m->kind == SYM_CLIENT_IDENTIFY)
		return;
	b->changed =
		array_reserve(b->changed, &b->changed_cap, b->changed_cnt + 1, sizeof(*b->changed));
	b->changed[b->changed_cnt++] = m->id;
	m->status_pending = true;
}

/* Combines the errors of all locations that were tried. */
static void set_open_error(struct sym_client *b, struct module_queue *m, int error)
{
	enum sym_client_status status = module_queue_open_failure(error);
	bool no_process = error == -ESRCH && m->kind == SYM_CLIENT_PERFMAP;
	bool plain = error == -ENOENT || (error == -ESRCH && !no_process) ||
		     status == SYM_CLIENT_NO_WORKER;

	if (no_process && m->status == SYM_CLIENT_GONE)
		return; /* it had no map while it lived */
	module_worker_set_status(b, m, status, plain ? "" : strerror(-error));
}

/* Sets the status from the results of the workers. Failures of a process are final. */
static void settle(struct sym_client *b, struct module_queue *m)
{
	if (m->status == SYM_CLIENT_CRASHED || m->status == SYM_CLIENT_HUNG ||
	    m->status == SYM_CLIENT_GAVE_UP)
		return;
	if (m->has_symtab || m->has_dwarf)
		module_worker_set_status(b, m, SYM_CLIENT_NAMED, m->lacks_split ? LACKS_SPLIT : "");
	else if (m->symtab_known && (m->dwarf_known || b->cfg.no_dwarf))
		module_worker_set_status(b, m, SYM_CLIENT_STRIPPED, "");
}

void module_worker_ask(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		       uint64_t offset)
{
	m->used = ++b->turn;
	if (b->closed)
		return;
	b->asked = true;
	if (!worker_pool_over(b->workers, r))
		module_queue_add_question(&b->roles[r].queue, m, offset);
	else if (r == SYMWORKER_NAMES)
		module_worker_set_status(b, m, SYM_CLIENT_NO_WORKER, "");
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The only answer to SYM_CLIENT_IDENTIFY */
void module_worker_end_identify(struct sym_client *b, struct module_queue *m, int error)
{
	enum symworker_role r;

	symproto_put(&b->answers, &(struct symproto_msg){
					  .kind = SYMPROTO_OPENED,
					  .id = m->id,
					  .error = error,
					  .build_id = m->build_id,
					  .build_id_sz = m->build_id_sz,
					  .start = m->version,
				  });
	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		module_queue_drop_questions(&b->roles[r].queue, m);
	b->identifying--;
	hmap_del(&b->modules, m->id);
	module_queue_free(m);
}

/* May free m. */
static void fail_side(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		      int error)
{
	/* a program may start its map at any time */
	m->sides[r].state = m->kind == SYM_CLIENT_PERFMAP && error == -ENOENT ?
				    MODULE_QUEUE_CLOSED :
				    MODULE_QUEUE_FAILED;
	m->sides[r].error = error;
	if (r == SYMWORKER_TABLES)
		cfi_inbox_end(b, m);
	if (r == SYMWORKER_TABLES && m->sides[r].cnt && m->kind != SYM_CLIENT_IDENTIFY)
		cfi_inbox_fail(b, m->id, error);
	module_queue_drop_questions(&b->roles[r].queue, m);
	if (r == SYMWORKER_LINES) {
		m->dwarf_known = true;
		settle(b, m);
	}
	if (m->kind == SYM_CLIENT_IDENTIFY)
		module_worker_end_identify(b, m, error);
}

/* There is no worker for it any more. */
static void abandon_side(struct sym_client *b, struct module_queue *m, enum symworker_role r)
{
	if (r == SYMWORKER_NAMES)
		module_worker_set_status(b, m, SYM_CLIENT_NO_WORKER, "");
	fail_side(b, m, r, -EIO);
}

static void ask_opener(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		       const struct symproto_msg *want)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	bool is_module = !symproto_is_debug_file(want->what);
	/* next to a host file, only files of our own mount namespace count */
	bool ours = !is_module && m->sides[r].place == SYMOPEN_OURS;

	o->role = r;
	o->module_id = m->id;
	o->life = b->roles[r].life;
	o->what = want->what;
	hmap_set(&b->openings, ++b->last_token, o);
	file_openers_ask(b->openers,
			 &(struct symproto_msg){
				 .kind = SYMPROTO_OPEN,
				 .what = want->what,
				 .id = b->last_token,
				 .pid = ours ? 0 : m->pid,
				 .depth = is_module ? m->sides[r].place : want->depth,
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

static void send_module(struct sym_client *b, struct module_queue *m, enum symworker_role r, int fd)
{
	m->sides[r].state = MODULE_QUEUE_SENT;
	b->roles[r].opens_sent++;
	worker_pool_post(b->workers, r,
			 &(struct symproto_msg){
				 .kind = SYMPROTO_MODULE,
				 .what = module_queue_what(m),
				 .id = m->id,
				 .build_id = m->build_id,
				 .build_id_sz = m->build_id_sz,
				 .offset = m->text_off,
				 .size = m->text_size,
			 },
			 fd);
}

void module_worker_close(struct sym_client *b, struct module_queue *m, enum symworker_role r)
{
	if (!m || m->sides[r].state != MODULE_QUEUE_OPEN)
		return;
	worker_pool_post(b->workers, r,
			 &(struct symproto_msg){ .kind = SYMPROTO_CLOSE, .id = m->id }, -1);
	m->sides[r].state = MODULE_QUEUE_CLOSED;
	b->roles[r].open_cnt--;
}

static void open_side(struct sym_client *b, struct module_queue *m, enum symworker_role r)
{
	struct module_queue_side *s = &m->sides[r];

	s->place = 0;
	s->error = -ENOENT;
	s->wants = s->frames = s->states = 0;
	if (b->roles[r].open_cnt >= b->cfg.open_max)
		module_worker_close(b, module_queue_find_closable(&b->modules, r), r);
	if (m->kind == SYM_CLIENT_VDSO) {
		send_module(b, m, r, -1);
		return;
	}
	s->state = MODULE_QUEUE_OPENING;
	ask_opener(b, m, r, &(struct symproto_msg){ .what = module_queue_file(m) });
}

/*
 * No file, or the wrong file, at this location. A wrong build-id is a more useful error than a
 * missing file.
 */
static void try_next_place(struct sym_client *b, struct module_queue *m, enum symworker_role r,
			   int error)
{
	struct module_queue_side *s = &m->sides[r];

	/* a different file at our own path is no useful error */
	if (s->place != SYMOPEN_OURS && s->error != -ESTALE && error != -ENOENT &&
	    (error != -ESRCH || m->kind == SYM_CLIENT_PERFMAP))
		s->error = error;
	if (module_queue_has_places(m) && ++s->place < SYMOPEN_PLACE_CNT && error != -ETIMEDOUT &&
	    error != -EBUSY) {
		s->state = MODULE_QUEUE_OPENING;
		ask_opener(b, m, r, &(struct symproto_msg){ .what = module_queue_file(m) });
		return;
	}
	if (r == SYMWORKER_NAMES)
		set_open_error(b, m, s->error);
	fail_side(b, m, r, s->error);
}

static void on_module_file(struct sym_client *b, struct module_queue *m, enum symworker_role r,
			   const struct file_openers_result *result)
{
	struct module_queue_side *s = &m->sides[r];

	if (result->fd < 0) {
		/* the opener has also tried the locations after it */
		s->place = SYMOPEN_PLACE_CNT;
		try_next_place(b, m, r, result->error);
	} else if (worker_pool_over(b->workers, r)) {
		close(result->fd);
		abandon_side(b, m, r);
	} else if (!worker_pool_live(b->workers, r)) {
		close(result->fd);
		s->state = MODULE_QUEUE_CLOSED;
		if (r == SYMWORKER_TABLES)
			cfi_inbox_end(b, m);
		module_queue_enqueue(&b->roles[r].queue, m);
	} else if (m->kind == SYM_CLIENT_ELF && m->version && m->version != result->version) {
		close(result->fd);
		s->place = result->place;
		try_next_place(b, m, r, -ESTALE);
	} else {
		s->place = result->place;
		if (m->kind == SYM_CLIENT_IDENTIFY)
			m->version = result->version;
		send_module(b, m, r, result->fd);
	}
}

/* A file_openers_done_fn */
void module_worker_on_opened(void *ctx, const struct file_openers_result *result)
{
	struct sym_client *b = ctx;
	struct opening *o = hmap_del(&b->openings, result->token);
	struct module_queue *m = o ? hmap_get(&b->modules, o->module_id) : NULL;
	/* a debug file is for the worker that requested it, not for its successor */
	bool debug = o && symproto_is_debug_file(o->what) && o->life == b->roles[o->role].life;

	if (debug)
		b->roles[o->role].wants--;
	if (m && debug && m->sides[o->role].state == MODULE_QUEUE_OPEN) {
		worker_pool_post(b->workers, o->role,
				 &(struct symproto_msg){
					 .kind = SYMPROTO_FILE,
					 .what = o->what,
					 .id = m->id,
					 .error = result->error,
				 },
				 result->fd);
	} else if (m && !symproto_is_debug_file(o->what) &&
		   m->sides[o->role].state == MODULE_QUEUE_OPENING) {
		on_module_file(b, m, o->role, result);
	} else if (result->fd >= 0) {
		close(result->fd);
	}
	free(o);
}

/*
 * ---- messages of workers ------------------------------------------------------------------------
 */

static bool on_module_opened(struct sym_client *b, struct module_queue *m, enum symworker_role r,
			     const struct symproto_msg *msg)
{
	struct module_queue_side *s = &m->sides[r];

	if (s->state != MODULE_QUEUE_SENT)
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
	s->state = MODULE_QUEUE_OPEN;
	if (m->kind == SYM_CLIENT_IDENTIFY) {
		module_worker_end_identify(b, m, 0);
		return true;
	}
	b->roles[r].open_cnt++;
	if (r == SYMWORKER_TABLES)
		module_queue_note_sent(&b->roles[r].queue, m);
	module_queue_enqueue(&b->roles[r].queue, m);
	return true;
}

static bool on_done(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		    uint64_t offset)
{
	struct module_queue_side *s = &m->sides[r];
	size_t at;

	if (s->state != MODULE_QUEUE_OPEN || !module_queue_find_sent(s, offset, &at))
		return false;
	module_queue_remove_sent(&b->roles[r].queue, m, at);
	s->frames = 0;
	b->answered++;
	if (r == SYMWORKER_NAMES && !b->cfg.no_dwarf && m->kind != SYM_CLIENT_PERFMAP)
		module_worker_ask(b, m, SYMWORKER_LINES, offset);
	module_queue_enqueue(&b->roles[r].queue, m);
	return true;
}

static bool on_name(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		    const struct symproto_msg *msg)
{
	struct module_queue_side *s = &m->sides[r];
	bool right_kind = msg->kind == (r == SYMWORKER_NAMES ? SYMPROTO_NAME : SYMPROTO_FRAME);
	size_t at;

	if (!right_kind || s->state != MODULE_QUEUE_OPEN ||
	    !module_queue_find_sent(s, msg->offset, &at) || s->frames++ >= SYMPROTO_DEPTH_MAX ||
	    (msg->kind == SYMPROTO_NAME && msg->depth))
		return false;
	symproto_put(&b->answers, msg);
	return true;
}

static bool on_state(struct sym_client *b, struct module_queue *m, enum symworker_role r,
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
		m->lacks_split = msg->flags & SYMPROTO_LACKS_SPLIT;
	}
	if (msg->text && m->status != SYM_CLIENT_CRASHED && m->status != SYM_CLIENT_HUNG)
		module_worker_set_status(b, m, SYM_CLIENT_GAVE_UP, msg->text);
	else
		settle(b, m);
	return true;
}

static bool on_want(struct sym_client *b, struct module_queue *m, enum symworker_role r,
		    const struct symproto_msg *msg)
{
	struct module_queue_side *s = &m->sides[r];

	if (s->state != MODULE_QUEUE_OPEN || msg->what < SYMPROTO_WANT_BUILD_ID ||
	    s->wants++ >= MODULE_QUEUE_WANTS_MAX)
		return false;
	b->roles[r].wants++;
	ask_opener(b, m, r, msg);
	return true;
}

/* A finished table belongs to the recorder. */
static bool on_table(struct sym_client *b, struct module_queue *m, const struct symproto_msg *msg)
{
	const struct module_queue_side *s = &m->sides[SYMWORKER_TABLES];

	if (s->state != MODULE_QUEUE_OPEN || !s->sent_cnt || !cfi_inbox_on_message(b, msg))
		return false;
	if (msg->kind != SYMPROTO_DONE)
		return true;
	cfi_inbox_end(b, m);
	if (!on_done(b, m, SYMWORKER_TABLES, msg->offset))
		return false;
	if (module_queue_may_close(m, SYMWORKER_TABLES))
		module_worker_close(b, m, SYMWORKER_TABLES);
	return true;
}

bool module_worker_on_message(void *ctx, enum symworker_role r, const struct symproto_msg *msg)
{
	struct sym_client *b = ctx;
	struct module_queue *m = hmap_get(&b->modules, msg->id);
	enum module_queue_state state = m ? m->sides[r].state : MODULE_QUEUE_CLOSED;

	if (state != MODULE_QUEUE_SENT && state != MODULE_QUEUE_OPEN)
		return false;
	if (msg->kind == SYMPROTO_WORKING || msg->kind == SYMPROTO_DONE ||
	    msg->kind == SYMPROTO_OPENED)
		worker_cost_note(b, r, m->pid);
	if (msg->kind == SYMPROTO_WORKING)
		return b->roles[r].turns++ < TURNS_MAX;
	b->roles[r].turns = 0;
	if (msg->kind == SYMPROTO_OPENED)
		return on_module_opened(b, m, r, msg);
	if (r == SYMWORKER_TABLES)
		return on_table(b, m, msg);
	if (msg->kind == SYMPROTO_DONE)
		return on_done(b, m, r, msg->offset);
	if (msg->kind == SYMPROTO_STATE)
		return on_state(b, m, r, msg);
	if (msg->kind == SYMPROTO_WANT)
		return on_want(b, m, r, msg);
	return on_name(b, m, r, msg);
}

/*
 * ---- loss of a worker
 * ----------------------------------------------------------------------------
 */

/* The next worker has no files yet; all requests are sent again. */
static void forget_worker(struct sym_client *b, enum symworker_role r, uint32_t but_id)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	if (r == SYMWORKER_TABLES)
		cfi_inbox_forget(b);
	b->roles[r] = (struct role){ .queue = b->roles[r].queue, .life = b->roles[r].life + 1 };
	b->roles[r].queue.sent = 0;
	while (hmap_next(&b->modules, &pos, &key, &value)) {
		struct module_queue *m = value;
		struct module_queue_side *s = &m->sides[r];

		s->sent_cnt = 0;
		if (r == SYMWORKER_TABLES && s->state != MODULE_QUEUE_OPENING)
			cfi_inbox_end(b, m);
		if (s->state == MODULE_QUEUE_SENT || s->state == MODULE_QUEUE_OPEN)
			s->state = MODULE_QUEUE_CLOSED;
		if (m->id != but_id)
			module_queue_enqueue(&b->roles[r].queue, m);
	}
}

/* There will be no worker of this role: drops its requests. */
static void end_role(struct sym_client *b, enum symworker_role r)
{
	struct module_queue *m;

	while ((m = module_queue_dequeue(&b->roles[r].queue, NULL, NULL)))
		abandon_side(b, m, r);
}

/* A file that breaks the reader of symbols would also break the other one. */
static void mark_broken(struct sym_client *b, struct module_queue *m, enum worker_pool_loss loss,
			const char *detail)
{
	module_worker_set_status(b, m,
				 loss == WORKER_POOL_HUNG ? SYM_CLIENT_HUNG :
				 loss == WORKER_POOL_GREW ? SYM_CLIENT_GAVE_UP :
							    SYM_CLIENT_CRASHED,
				 detail);
	m->broken = true;
	module_queue_drop_unsent(&b->roles[SYMWORKER_LINES].queue, m);
}

/*
 * Without a table stacks end early, and the worker may have been killed for another reason, so
 * retry once.
 */
static bool may_retry(struct module_queue *m, enum symworker_role r)
{
	bool first = r == SYMWORKER_TABLES && !m->retried;

	m->retried |= first;
	return first;
}

void module_worker_on_lost(void *ctx, enum symworker_role r, enum worker_pool_loss loss,
			   uint32_t module_id, const char *detail)
{
	struct sym_client *b = ctx;
	struct module_queue *m = hmap_get(&b->modules, module_id);
	enum module_queue_state state = m ? m->sides[r].state : MODULE_QUEUE_CLOSED;

	if (m)
		worker_cost_note(b, r, m->pid);
	worker_cost_settle(b, r);
	forget_worker(b, r, module_id);
	if (m && (state == MODULE_QUEUE_SENT || (state == MODULE_QUEUE_OPEN && m->sides[r].cnt)) &&
	    !may_retry(m, r)) {
		if (r != SYMWORKER_TABLES)
			mark_broken(b, m, loss, detail);
		fail_side(b, m, r, -EIO);
	} else if (m) {
		module_queue_enqueue(&b->roles[r].queue, m);
	}
	if (worker_pool_over(b->workers, r))
		end_role(b, r);
}

/*
 * ---- sending requests ---------------------------------------------------------------------------
 */

/* Sends some requests of one module; false if the worker accepts no more now. */
static bool send_questions(struct sym_client *b, struct module_queue *m, enum symworker_role r)
{
	struct module_queue_side *s = &m->sides[r];
	size_t cnt = MODULE_QUEUE_SENT_MAX - s->sent_cnt, i;

	if (cnt > s->cnt - s->sent_cnt)
		cnt = s->cnt - s->sent_cnt;
	buf_clear(&b->packet);
	for (i = 0; i < cnt; i++)
		symproto_put(&b->packet, &(struct symproto_msg){
						 .kind = SYMPROTO_ASK,
						 .id = m->id,
						 .offset = s->offsets[s->sent_cnt + i],
					 });
	if (worker_pool_send(b->workers, r, &b->packet))
		return false;
	s->sent_cnt += cnt;
	b->roles[r].queue.sent += cnt;
	m->used = ++b->turn;
	return true;
}

static bool may_name(const void *broker, const struct module_queue *m)
{
	return worker_cost_may(broker, m, SYMWORKER_NAMES);
}

static bool may_find_lines(const void *broker, const struct module_queue *m)
{
	return worker_cost_may(broker, m, SYMWORKER_LINES);
}

static bool may_build(const void *broker, const struct module_queue *m)
{
	return cfi_inbox_may_begin(broker, m) && worker_cost_may(broker, m, SYMWORKER_TABLES);
}

void module_worker_send(struct sym_client *b, enum symworker_role r)
{
	static bool (*const may_begin[])(const void *broker, const struct module_queue *m) = {
		[SYMWORKER_NAMES] = may_name,
		[SYMWORKER_LINES] = may_find_lines,
		[SYMWORKER_TABLES] = may_build,
	};
	struct module_queue_queue *q = &b->roles[r].queue;
	bool tables = r == SYMWORKER_TABLES, more = true;
	size_t left = q->queued;
	struct module_queue *m;

	for (; more && left && worker_pool_live(b->workers, r); left--) {
		m = module_queue_dequeue(q, may_begin[r], b);
		if (!m)
			break;
		if (!m->sides[r].cnt)
			continue;
		if (tables)
			cfi_inbox_begin(b, m);
		if (m->sides[r].state == MODULE_QUEUE_CLOSED)
			open_side(b, m, r);
		else if (m->sides[r].state == MODULE_QUEUE_OPEN && !send_questions(b, m, r))
			more = false;
		module_queue_enqueue(q, m);
	}
}
