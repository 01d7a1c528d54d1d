// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables that arrive from the worker.
 *
 * A table arrives in parts, one table at a time. It is accepted only if it is complete and passes
 * unwind_table_check(); otherwise the worker is killed. The size of tables that were not taken is
 * bounded: above the bound workers wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/broker/sym_client_impl.h"

#define OWNER_MAX 4 /* modules per owner under way at the same time */
#define WORDS_MAX (2u * PROF_UNWIND_TABLE_WORDS_MAX) /* of tables that were not taken */

static void free_answer(struct symtables_answer *a)
{
	if (a)
		unwind_table_free(&a->table);
	free(a);
}

/* Takes ownership of the table. */
static void add_answer(struct sym_client *b, uint32_t module_id, int error,
		       const struct unwind_table *table)
{
	struct symtables *s = &b->tables;
	struct symtables_answer *a = xcalloc(1, sizeof(*a));

	a->module_id = module_id;
	a->error = error;
	a->table = *table;
	*s->last = a;
	s->last = &a->next;
	s->cnt++;
	s->words += a->table.cnt;
}

void cfi_inbox_init(struct sym_client *b)
{
	b->tables.last = &b->tables.first;
}

void cfi_inbox_fini(struct sym_client *b)
{
	struct symtables_answer *a;

	while ((a = b->tables.first)) {
		b->tables.first = a->next;
		free_answer(a);
	}
	free_answer(b->tables.borrowed);
	unwind_table_free(&b->tables.coming);
}

void cfi_inbox_fail(struct sym_client *b, uint32_t module_id, int error)
{
	add_answer(b, module_id, error, &(struct unwind_table){ 0 });
}

void cfi_inbox_forget(struct sym_client *b)
{
	unwind_table_free(&b->tables.coming);
	b->tables.coming_id = 0;
	b->tables.begun = false;
}

bool cfi_inbox_may_begin(const void *broker, const struct module_queue *m)
{
	const struct symtables *s = &((const struct sym_client *)broker)->tables;
	size_t same = 0, i;

	if (m->kind == SYM_CLIENT_IDENTIFY)
		return true;
	for (i = 0; i < s->busy_cnt; i++)
		same += s->busy[i] == m->owner;
	return s->busy_cnt < SYMTABLES_BUSY_MAX && same < OWNER_MAX;
}

void cfi_inbox_begin(struct sym_client *b, struct module_queue *m)
{
	struct symtables *s = &b->tables;

	if (m->building || m->kind == SYM_CLIENT_IDENTIFY)
		return;
	s->busy[s->busy_cnt++] = m->owner;
	m->building = true;
}

void cfi_inbox_end(struct sym_client *b, struct module_queue *m)
{
	struct symtables *s = &b->tables;
	size_t i = 0;

	if (!m->building)
		return;
	m->building = false;
	while (s->busy[i] != m->owner)
		i++;
	s->busy[i] = s->busy[--s->busy_cnt];
}

static bool begin_table(struct symtables *s, const struct symproto_msg *msg)
{
	if (s->begun || !msg->error == !msg->size)
		return false;
	s->begun = true;
	s->coming_id = msg->id;
	s->error = msg->error;
	s->got = 0;
	s->coming = (struct unwind_table){
		.words = xcalloc(msg->size, sizeof(uint32_t)),
		.cnt = msg->size,
		.first_page = msg->start,
		.page_cnt = msg->line,
		.big_cnt = msg->offset,
	};
	return true;
}

static bool go_on(struct symtables *s, const struct symproto_msg *msg)
{
	if (!s->begun || s->coming_id != msg->id || msg->word_cnt > s->coming.cnt - s->got)
		return false;
	memcpy(s->coming.words + s->got, msg->words, msg->word_cnt * sizeof(uint32_t));
	s->got += msg->word_cnt;
	return true;
}

static bool finish(struct sym_client *b, const struct symproto_msg *msg)
{
	struct symtables *s = &b->tables;

	if (!s->begun || s->coming_id != msg->id || s->got != s->coming.cnt ||
	    (!s->error && !unwind_table_check(&s->coming)))
		return false;
	add_answer(b, msg->id, s->error, &s->coming);
	s->coming = (struct unwind_table){ 0 };
	cfi_inbox_forget(b);
	return true;
}

bool cfi_inbox_on_message(struct sym_client *b, const struct symproto_msg *msg)
{
	if (msg->kind == SYMPROTO_TABLE)
		return begin_table(&b->tables, msg);
	if (msg->kind == SYMPROTO_WORDS)
		return go_on(&b->tables, msg);
	return msg->kind == SYMPROTO_DONE && finish(b, msg);
}

bool cfi_inbox_have_room(const struct sym_client *b)
{
	return b->tables.words < WORDS_MAX;
}

bool cfi_inbox_next(struct sym_client *b, struct sym_client_answer *out)
{
	struct symtables *s = &b->tables;
	struct symtables_answer *a = s->first;

	free_answer(s->borrowed);
	s->borrowed = a;
	if (!a)
		return false;
	s->first = a->next;
	if (!s->first)
		s->last = &s->first;
	s->cnt--;
	s->words -= a->table.cnt;
	*out = (struct sym_client_answer){
		.kind = SYM_CLIENT_TABLE,
		.module_id = a->module_id,
		.error = a->error,
		.table = a->error ? NULL : &a->table,
	};
	return true;
}
