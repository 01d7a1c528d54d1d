// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums for profiles. Owns services: control groups whose names are the same at the server are one service. Does not know what
 * a profile looks like.
 */
#include "ship/profile_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void profile_sums_fini(struct profile_sums *s)
{
	for (size_t i = 0; i < s->service_cnt; i++)
		free(s->services[i]);
	free(s->services);
	free(s->v);
	hmap_fini(&s->by_string);
	hmap_fini(&s->by_name);
	hmap_fini(&s->index);
}

/* ---- services --------------------------------------------------------------------------------- */

static uint32_t add_service(struct profile_sums *s, const struct query_value *cgroup)
{
	struct buf name = { 0 };
	uint64_t hash;
	uintptr_t at;

	s->put_service(s->ctx, cgroup, &name);
	hash = hash_bytes(buf_cstr(&name), name.len);
	for (; (at = (uintptr_t)hmap_get(&s->by_name, hash)); hash++) {
		if (strcmp(s->services[at - 1], buf_cstr(&name)) != 0)
			continue;
		buf_free(&name);
		return (uint32_t)(at - 1);
	}
	s->services = array_reserve(s->services, &s->service_cap, s->service_cnt + 1,
				    sizeof(*s->services));
	s->services[s->service_cnt++] = buf_steal(&name);
	hmap_set(&s->by_name, hash, (void *)(uintptr_t)s->service_cnt);
	return (uint32_t)(s->service_cnt - 1);
}

static uint32_t service_of(struct profile_sums *s, const struct query_value *cgroup)
{
	uint64_t string = 0;
	uintptr_t at;

	if (cgroup->type == QUERY_TEXT)
		string = cgroup->string ?:
					  (uint64_t)names_add(s->names, cgroup->data, cgroup->sz) + 1;
	at = (uintptr_t)hmap_get(&s->by_string, string);
	if (!at) {
		at = (uintptr_t)add_service(s, cgroup) + 1;
		hmap_set(&s->by_string, string, (void *)at);
	}
	return (uint32_t)(at - 1);
}

/* ---- sums ------------------------------------------------------------------------------------- */

static struct profile_sum *find(struct profile_sums *s, uint32_t service, uint32_t kind,
				int64_t stack)
{
	const uint64_t key[] = { (uint64_t)service << 32 | kind, (uint64_t)stack };
	uint64_t hash = hash_bytes(key, sizeof(key));
	uintptr_t at;

	for (; (at = (uintptr_t)hmap_get(&s->index, hash)); hash++) {
		struct profile_sum *sum = &s->v[at - 1];

		if (sum->service == service && sum->kind == kind && sum->stack == stack)
			return sum;
	}
	s->v = array_reserve(s->v, &s->cap, s->cnt + 1, sizeof(*s->v));
	s->v[s->cnt++] = (struct profile_sum){ .service = service, .kind = kind, .stack = stack };
	hmap_set(&s->index, hash, (void *)(uintptr_t)s->cnt);
	return &s->v[s->cnt - 1];
}

void profile_sums_add(struct profile_sums *s, uint32_t kind, const struct query_value *cgroup,
		      const struct query_value *stack, const struct query_value *ns)
{
	struct profile_sum *sum = find(s, service_of(s, cgroup), kind,
				       stack->type == QUERY_INTEGER ? stack->integer : -1);

	sum->count++;
	if (ns->type == QUERY_INTEGER)
		sum->ns += (uint64_t)ns->integer;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct profile_sum *x = a, *y = b;
	const struct profile_sums *s = ctx;
	const int order = strcmp(s->services[x->service], s->services[y->service]);

	if (order)
		return order;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

void profile_sums_sort(struct profile_sums *s)
{
	if (s->cnt)
		qsort_r(s->v, s->cnt, sizeof(*s->v), compare, s);
}
