// SPDX-License-Identifier: BSD-2-Clause
/*
 * worker_cost.c - CPU time of the workers, by the process whose files they read
 *
 * A worker's clock is read after its messages of a step, and the time is divided among the modules of these messages.
 * A module that takes long has a message for each slice of time. Which processes use a module is not known here: its
 * cost belongs to the process that was given when it was added.
 */
#include "symbol/broker/sym_client_impl.h"

static enum sym_client_work work_of(enum symworker_role r)
{
	return r == SYMWORKER_TABLES ? SYM_CLIENT_TABLES : SYM_CLIENT_SYMBOLS;
}

void worker_cost_settle(struct sym_client *b, enum symworker_role r)
{
	const struct sym_client_limiter *l = &b->limiter;
	struct worker_cost *c = &b->roles[r].cost;
	uint64_t now, ns;

	if (!c->sum)
		return;
	now = worker_pool_cpu_ns(b->workers, r);
	ns = now > c->cpu_ns ? now - c->cpu_ns : 0;
	c->cpu_ns = now > c->cpu_ns ? now : c->cpu_ns;
	for (size_t i = 0; i < c->cnt && l->spent; i++)
		l->spent(l->ctx, c->shares[i].pid, work_of(r), ns / c->sum * c->shares[i].messages);
	c->cnt = c->sum = 0;
}

void worker_cost_note(struct sym_client *b, enum symworker_role r, pid_t pid)
{
	struct worker_cost *c = &b->roles[r].cost;
	size_t i = 0;

	while (i < c->cnt && c->shares[i].pid != pid)
		i++;
	if (i == WORKER_COST_SHARES) {
		worker_cost_settle(b, r);
		i = 0;
	}
	if (i == c->cnt)
		c->shares[c->cnt++] = (struct worker_cost_share){ .pid = pid };
	c->shares[i].messages++;
	c->sum++;
}

/* Build-ids are cheap, and everything else waits for them. */
bool worker_cost_may(const struct sym_client *b, const struct module_queue *m,
		     enum symworker_role r)
{
	return b->hurries || !b->limiter.may || m->kind == SYM_CLIENT_IDENTIFY ||
	       b->limiter.may(b->limiter.ctx, m->pid, work_of(r));
}

void sym_client_limit(struct sym_client *b, const struct sym_client_limiter *limiter)
{
	b->limiter = *limiter;
}
