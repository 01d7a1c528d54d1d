// SPDX-License-Identifier: BSD-2-Clause
/*
 * A module's questions: an array whose first part is with the worker, and a queue of modules that
 * have something for it. A module is in a queue once at most, and behind its owner's others when it comes
 * back. Owners take turns, and so do the modules of each: who has thousands delays himself.
 */
#include "symbol/broker/symmodule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "kernel/proc.h"

struct symmodule *symmodule_new(uint32_t id, const struct symbroker_module *module)
{
	struct symmodule *m = xcalloc(1, sizeof(*m));

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

void symmodule_free(struct symmodule *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++)
		free(m->sides[r].offsets);
	free(m->path);
	free(m);
}

enum symproto_what symmodule_what(const struct symmodule *m)
{
	static const enum symproto_what whats[] = {
		[SYMBROKER_ELF] = SYMPROTO_ELF,		[SYMBROKER_KERNEL] = SYMPROTO_KERNEL,
		[SYMBROKER_VDSO] = SYMPROTO_VDSO,	[SYMBROKER_IDENTIFY] = SYMPROTO_IDENTIFY,
		[SYMBROKER_PERFMAP] = SYMPROTO_PERFMAP,
	};

	return whats[m->kind];
}

enum symproto_what symmodule_file(const struct symmodule *m)
{
	return m->kind == SYMBROKER_PERFMAP ? SYMPROTO_PERFMAP : SYMPROTO_ELF;
}

bool symmodule_has_places(const struct symmodule *m)
{
	return m->kind == SYMBROKER_ELF || m->kind == SYMBROKER_KERNEL ||
	       m->kind == SYMBROKER_IDENTIFY;
}

struct symmodule *symmodule_find_closable(const struct hmap *modules, enum symworker_role role)
{
	struct symmodule *oldest = NULL;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(modules, &pos, &key, &value)) {
		struct symmodule *m = value;

		if (symmodule_may_close(m, role) && (!oldest || m->used < oldest->used))
			oldest = m;
	}
	return oldest;
}

bool symmodule_is_quiet(const struct symmodule *m)
{
	enum symworker_role r;

	for (r = 0; r < SYMWORKER_ROLE_CNT; r++) {
		const struct symmodule_side *s = &m->sides[r];

		if (s->cnt || s->queued || s->state == SYMMODULE_OPENING ||
		    s->state == SYMMODULE_SENT)
			return false;
	}
	return true;
}

static bool is_idle(const struct symmodule *m)
{
	return symmodule_is_quiet(m) && m->kind == SYMBROKER_ELF && !m->untold && !m->broken &&
	       m->status != SYMBROKER_GAVE_UP;
}

static int compare_used(const void *pa, const void *pb)
{
	const struct symmodule *const *a = pa, *const *b = pb;

	return (*a)->used < (*b)->used ? -1 : (*a)->used > (*b)->used;
}

size_t symmodule_find_idle(const struct hmap *modules, struct symmodule ***out)
{
	struct symmodule **idle = xcalloc(modules->cnt + 1, sizeof(*idle));
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

enum symbroker_status symmodule_open_failure(int error)
{
	switch (-error) {
	case ESTALE:
		return SYMBROKER_REPLACED;
	case EACCES:
	case EPERM:
		return SYMBROKER_DENIED;
	case ENOEXEC:
	case EINVAL:
		return SYMBROKER_NOT_ELF;
	case ECHILD:
		return SYMBROKER_NO_WORKER;
	case ETIMEDOUT:
	case EBUSY:
		return SYMBROKER_NO_ANSWER;
	default:
		return SYMBROKER_GONE;
	}
}

struct symbroker_answer symmodule_status_answer(const struct symmodule *m)
{
	return (struct symbroker_answer){
		.kind = SYMBROKER_STATUS,
		.module_id = m->id,
		.status = m->status,
		.detail = m->detail,
		.path = m->path,
	};
}

struct symbroker_answer symmodule_message_answer(const struct symproto_msg *msg)
{
	return (struct symbroker_answer){
		.kind = msg->kind == SYMPROTO_NAME  ? SYMBROKER_NAME :
			msg->kind == SYMPROTO_FRAME ? SYMBROKER_FRAME :
						      SYMBROKER_MODULE,
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

bool symmodule_may_close(const struct symmodule *m, enum symworker_role role)
{
	const struct symmodule_side *s = &m->sides[role];

	return s->state == SYMMODULE_OPEN && !s->cnt && m->build_id_sz && m->kind == SYMBROKER_ELF;
}

static void append_owner(struct symmodule_queue *q, struct symmodule_owner *o)
{
	o->next = NULL;
	if (q->last)
		q->last->next = o;
	else
		q->first = o;
	q->last = o;
}

static struct symmodule_owner *owner_of(struct symmodule_queue *q, uint64_t owner)
{
	struct symmodule_owner *o = hmap_get(&q->owners, owner);

	if (o)
		return o;
	o = xcalloc(1, sizeof(*o));
	o->owner = owner;
	hmap_set(&q->owners, owner, o);
	append_owner(q, o);
	return o;
}

void symmodule_enqueue(struct symmodule_queue *q, struct symmodule *m)
{
	struct symmodule_side *s = &m->sides[q->role];
	struct symmodule_owner *o;
	bool more = s->cnt > s->sent_cnt && s->sent_cnt < SYMMODULE_SENT_MAX;

	if (s->queued || !s->cnt ||
	    !(s->state == SYMMODULE_CLOSED || (s->state == SYMMODULE_OPEN && more)))
		return;
	s->queued = true;
	s->next = NULL;
	q->queued++;
	o = owner_of(q, m->owner);
	if (o->last)
		o->last->sides[q->role].next = m;
	else
		o->first = m;
	o->last = m;
}

static struct symmodule *take_first(struct symmodule_queue *q, struct symmodule_owner *o)
{
	struct symmodule *m = o->first;

	o->first = m->sides[q->role].next;
	if (!o->first)
		o->last = NULL;
	m->sides[q->role].queued = false;
	q->queued--;
	return m;
}

struct symmodule *symmodule_dequeue(struct symmodule_queue *q,
				    bool (*may)(const void *ctx, uint64_t owner), const void *ctx)
{
	struct symmodule_owner **at = &q->first, *before = NULL, *o;
	struct symmodule *m;

	while (*at && may && !may(ctx, (*at)->owner)) {
		before = *at;
		at = &before->next;
	}
	o = *at;
	if (!o)
		return NULL;
	*at = o->next;
	if (q->last == o)
		q->last = before;
	m = take_first(q, o);
	if (o->first) {
		append_owner(q, o);
	} else {
		hmap_del(&q->owners, o->owner);
		free(o);
	}
	return m;
}

void symmodule_queue_fini(struct symmodule_queue *q)
{
	struct symmodule_owner *o;

	while ((o = q->first)) {
		q->first = o->next;
		free(o);
	}
	hmap_fini(&q->owners);
}

void symmodule_add_question(struct symmodule_queue *q, struct symmodule *m, uint64_t offset)
{
	struct symmodule_side *s = &m->sides[q->role];

	if (s->state == SYMMODULE_FAILED || m->broken)
		return;
	s->offsets = array_reserve(s->offsets, &s->cap, s->cnt + 1, sizeof(*s->offsets));
	s->offsets[s->cnt++] = offset;
	q->questions++;
	symmodule_enqueue(q, m);
}

static void free_offsets(struct symmodule_side *s)
{
	free(s->offsets);
	s->offsets = NULL;
	s->cnt = s->cap = s->sent_cnt = 0;
}

void symmodule_drop_questions(struct symmodule_queue *q, struct symmodule *m)
{
	struct symmodule_side *s = &m->sides[q->role];

	q->questions -= s->cnt;
	q->sent -= s->sent_cnt;
	free_offsets(s);
}

void symmodule_drop_unsent(struct symmodule_queue *q, struct symmodule *m)
{
	struct symmodule_side *s = &m->sides[q->role];

	q->questions -= s->cnt - s->sent_cnt;
	s->cnt = s->sent_cnt;
}

void symmodule_note_sent(struct symmodule_queue *q, struct symmodule *m)
{
	struct symmodule_side *s = &m->sides[q->role];

	if (s->sent_cnt == s->cnt)
		return;
	s->sent_cnt++;
	q->sent++;
}

bool symmodule_find_sent(const struct symmodule_side *s, uint64_t offset, size_t *at)
{
	for (*at = 0; *at < s->sent_cnt; ++*at)
		if (s->offsets[*at] == offset)
			return true;
	return false;
}

void symmodule_remove_sent(struct symmodule_queue *q, struct symmodule *m, size_t at)
{
	struct symmodule_side *s = &m->sides[q->role];

	s->offsets[at] = s->offsets[--s->sent_cnt];
	s->offsets[s->sent_cnt] = s->offsets[--s->cnt];
	q->questions--;
	q->sent--;
	if (!s->cnt)
		free_offsets(s);
}
