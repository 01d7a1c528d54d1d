// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests per module: an array whose first part is at the worker, and a queue of modules with open
 * requests. A module is in a queue at most once, and goes to the end of its owner's modules after
 * each turn. Owners are served round-robin, and so are the modules of an owner, so an owner with
 * thousands of modules delays only itself. Files to identify come first: other requests follow from
 * their build-ids.
 */
#include "symbol/broker/module_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "kernel/proc.h"

struct module_queue *module_queue_new(uint32_t id, const struct sym_client_module *module)
{
	struct module_queue *m = xcalloc(1, sizeof(*m));

	m->id = id;
	m->kind = module->kind;
	m->pid = module->pid;
	m->owner = module->owner ? module->owner : proc_owner(m->pid);
	m->path = xstrdup(module->path ? module->path : "");
	m->map_start = module->map_start;
	m->map_end = module->map_end;
	m->dev = module->dev;
	m->inode = module->inode;
	m->version = module->version;
	m->text_off = module->text_off;
	m->text_size = module->text_size;
	m->build_id_sz = module->build_id_sz;
	if (m->build_id_sz)
		memcpy(m->build_id, module->build_id, m->build_id_sz);
	return m;
}

void module_queue_free(struct module_queue *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		free(m->sides[r].offsets);
	free(m->path);
	free(m);
}

enum symproto_what module_queue_what(const struct module_queue *m)
{
	static const enum symproto_what whats[] = {
		[SYM_CLIENT_ELF] = SYMPROTO_ELF,	 [SYM_CLIENT_KERNEL] = SYMPROTO_KERNEL,
		[SYM_CLIENT_VDSO] = SYMPROTO_VDSO,	 [SYM_CLIENT_IDENTIFY] = SYMPROTO_IDENTIFY,
		[SYM_CLIENT_PERFMAP] = SYMPROTO_PERFMAP,
	};

	return whats[m->kind];
}

enum symproto_what module_queue_file(const struct module_queue *m)
{
	return m->kind == SYM_CLIENT_PERFMAP ? SYMPROTO_PERFMAP : SYMPROTO_ELF;
}

bool module_queue_has_places(const struct module_queue *m)
{
	return m->kind == SYM_CLIENT_ELF || m->kind == SYM_CLIENT_KERNEL ||
	       m->kind == SYM_CLIENT_IDENTIFY;
}

struct module_queue *module_queue_find_closable(const struct hmap *modules,
						enum symworker_role role)
{
	struct module_queue *oldest = NULL;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(modules, &pos, &key, &value)) {
		struct module_queue *m = value;

		if (module_queue_may_close(m, role) && (!oldest || m->used < oldest->used))
			oldest = m;
	}
	return oldest;
}

bool module_queue_is_quiet(const struct module_queue *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++) {
		const struct module_queue_side *s = &m->sides[r];

		if (s->cnt || s->queued || s->state == MODULE_QUEUE_OPENING ||
		    s->state == MODULE_QUEUE_SENT)
			return false;
	}
	return true;
}

static bool is_idle(const struct module_queue *m)
{
	return module_queue_is_quiet(m) && m->kind == SYM_CLIENT_ELF && !m->status_pending &&
	       !m->broken && m->status != SYM_CLIENT_GAVE_UP;
}

static int compare_used(const void *pa, const void *pb)
{
	const struct module_queue *const *a = pa, *const *b = pb;

	return (*a)->used < (*b)->used ? -1 : (*a)->used > (*b)->used;
}

size_t module_queue_find_idle(const struct hmap *modules, struct module_queue ***out)
{
	struct module_queue **idle = xcalloc(modules->cnt + 1, sizeof(*idle));
	size_t cnt = 0, pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(modules, &pos, &key, &value))
		if (is_idle(value))
			idle[cnt++] = value;
	qsort(idle, cnt, sizeof(*idle), compare_used);
	*out = idle;
	return (cnt + 1) / 2;
}

enum sym_client_status module_queue_open_failure(int error)
{
	switch (-error) {
	case ESTALE:
		return SYM_CLIENT_REPLACED;
	case EACCES:
	case EPERM:
		return SYM_CLIENT_DENIED;
	case ENOEXEC:
	case EINVAL:
		return SYM_CLIENT_NOT_ELF;
	case ECHILD:
		return SYM_CLIENT_NO_WORKER;
	case ETIMEDOUT:
	case EBUSY:
		return SYM_CLIENT_NO_ANSWER;
	default:
		return SYM_CLIENT_GONE;
	}
}

struct sym_client_answer module_queue_status_answer(const struct module_queue *m)
{
	return (struct sym_client_answer){
		.kind = SYM_CLIENT_STATUS,
		.module_id = m->id,
		.status = m->status,
		.detail = m->detail,
		.path = m->path,
	};
}

struct sym_client_answer module_queue_message_answer(const struct symproto_msg *msg)
{
	return (struct sym_client_answer){
		.kind = msg->kind == SYMPROTO_NAME  ? SYM_CLIENT_NAME :
			msg->kind == SYMPROTO_FRAME ? SYM_CLIENT_FRAME :
						      SYM_CLIENT_MODULE,
		.module_id = msg->id,
		.offset = msg->offset,
		.depth = msg->depth,
		.line = msg->line,
		.name = msg->text,
		.name_len = msg->text_len,
		.file = msg->more,
		.file_len = msg->more_len,
		.start = msg->start,
		.size = msg->size,
		.error = msg->error,
		.build_id = msg->build_id,
		.build_id_sz = msg->build_id_sz,
		.version = msg->kind == SYMPROTO_OPENED ? msg->start : 0,
	};
}

bool module_queue_may_close(const struct module_queue *m, enum symworker_role role)
{
	const struct module_queue_side *s = &m->sides[role];

	return s->state == MODULE_QUEUE_OPEN && !s->cnt && m->build_id_sz &&
	       m->kind == SYM_CLIENT_ELF;
}

static void append_owner(struct module_queue_queue *q, struct module_queue_owner *o)
{
	o->next = NULL;
	if (q->last)
		q->last->next = o;
	else
		q->first = o;
	q->last = o;
}

static struct module_queue_owner *owner_of(struct module_queue_queue *q, uint64_t owner)
{
	struct module_queue_owner *o = hmap_get(&q->owners, owner);

	if (o)
		return o;
	o = xcalloc(1, sizeof(*o));
	o->owner = owner;
	hmap_set(&q->owners, owner, o);
	append_owner(q, o);
	return o;
}

/* @before NULL: as the first one */
static void insert_after(const struct module_queue_queue *q, struct module_queue_owner *o,
			 struct module_queue *before, struct module_queue *m)
{
	struct module_queue **at = before ? &before->sides[q->role].next : &o->first;

	m->sides[q->role].next = *at;
	*at = m;
	if (o->last == before || !o->last)
		o->last = m;
}

void module_queue_enqueue(struct module_queue_queue *q, struct module_queue *m)
{
	struct module_queue_side *s = &m->sides[q->role];
	struct module_queue_owner *o;
	bool more = s->cnt > s->sent_cnt && s->sent_cnt < MODULE_QUEUE_SENT_MAX;

	if (s->queued || !s->cnt ||
	    !(s->state == MODULE_QUEUE_CLOSED || (s->state == MODULE_QUEUE_OPEN && more)))
		return;
	s->queued = true;
	q->queued++;
	o = owner_of(q, m->owner);
	insert_after(q, o, m->kind == SYM_CLIENT_IDENTIFY ? o->last_file : o->last, m);
	if (m->kind == SYM_CLIENT_IDENTIFY)
		o->last_file = m;
}

static struct module_queue *remove_first(struct module_queue_queue *q, struct module_queue_owner *o)
{
	struct module_queue *m = o->first;

	o->first = m->sides[q->role].next;
	if (!o->first)
		o->last = NULL;
	if (o->last_file == m)
		o->last_file = NULL;
	m->sides[q->role].queued = false;
	q->queued--;
	return m;
}

struct module_queue *
module_queue_dequeue(struct module_queue_queue *q,
		     bool (*may)(const void *ctx, const struct module_queue *m), const void *ctx)
{
	struct module_queue_owner **at = &q->first, *before = NULL, *o;
	struct module_queue *m;

	while (*at && may && !may(ctx, (*at)->first)) {
		before = *at;
		at = &before->next;
	}
	o = *at;
	if (!o)
		return NULL;
	*at = o->next;
	if (q->last == o)
		q->last = before;
	m = remove_first(q, o);
	if (o->first) {
		append_owner(q, o);
	} else {
		hmap_del(&q->owners, o->owner);
		free(o);
	}
	return m;
}

void module_queue_queue_fini(struct module_queue_queue *q)
{
	struct module_queue_owner *o;

	while ((o = q->first)) {
		q->first = o->next;
		free(o);
	}
	hmap_fini(&q->owners);
}

void module_queue_add_question(struct module_queue_queue *q, struct module_queue *m,
			       uint64_t offset)
{
	struct module_queue_side *s = &m->sides[q->role];

	if (s->state == MODULE_QUEUE_FAILED || m->broken)
		return;
	s->offsets = array_reserve(s->offsets, &s->cap, s->cnt + 1, sizeof(*s->offsets));
	s->offsets[s->cnt++] = offset;
	q->questions++;
	module_queue_enqueue(q, m);
}

static void free_offsets(struct module_queue_side *s)
{
	free(s->offsets);
	s->offsets = NULL;
	s->cnt = s->cap = s->sent_cnt = 0;
}

void module_queue_drop_questions(struct module_queue_queue *q, struct module_queue *m)
{
	struct module_queue_side *s = &m->sides[q->role];

	q->questions -= s->cnt;
	q->sent -= s->sent_cnt;
	free_offsets(s);
}

void module_queue_drop_unsent(struct module_queue_queue *q, struct module_queue *m)
{
	struct module_queue_side *s = &m->sides[q->role];

	q->questions -= s->cnt - s->sent_cnt;
	s->cnt = s->sent_cnt;
}

void module_queue_note_sent(struct module_queue_queue *q, struct module_queue *m)
{
	struct module_queue_side *s = &m->sides[q->role];

	if (s->sent_cnt == s->cnt)
		return;
	s->sent_cnt++;
	q->sent++;
}

bool module_queue_find_sent(const struct module_queue_side *s, uint64_t offset, size_t *at)
{
	for (*at = 0; *at < s->sent_cnt; ++*at)
		if (s->offsets[*at] == offset)
			return true;
	return false;
}

void module_queue_remove_sent(struct module_queue_queue *q, struct module_queue *m, size_t at)
{
	struct module_queue_side *s = &m->sides[q->role];

	s->offsets[at] = s->offsets[--s->sent_cnt];
	s->offsets[s->sent_cnt] = s->offsets[--s->cnt];
	q->questions--;
	q->sent--;
	if (!s->cnt)
		free_offsets(s);
}
