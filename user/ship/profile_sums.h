/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_PROFILE_SUMS_H
#define D9_SHIP_PROFILE_SUMS_H

#include "base/buf.h"
#include "base/hash.h"
#include "query/query_value.h"
#include "trace/read/names.h"

/* Counts and times by service, kind of profile and stack. */
struct profile_sum {
	uint32_t service, kind;
	int64_t stack; /* number of `query`; -1: none */
	uint64_t count, ns;
};

/* {0} is empty, but for names. */
struct profile_sums {
	struct names *names; /* of the trace */
	char **services; /* names as the server gets them, by number */
	size_t service_cnt, service_cap;
	struct hmap by_string; /* 1 + number of a control group in the names, or 0 -> service + 1 */
	struct hmap by_name; /* hash of a service's name -> service + 1 */
	struct profile_sum *v;
	size_t cnt, cap;
	struct hmap index; /* hash -> number + 1 */
	/* Appends the name that the server gets for a control group; @v is no text: there is none. */
	void (*put_service)(void *ctx, const struct query_value *v, struct buf *out);
	void *ctx;
};

void profile_sums_fini(struct profile_sums *s);

/* Adds a row of `query`. A time that is not a number counts as 0. */
void profile_sums_add(struct profile_sums *s, uint32_t kind, const struct query_value *cgroup,
		      const struct query_value *stack, const struct query_value *ns);
/* Sorts s->v by the name of the service, kind and stack: equal traces give equal lists. Nothing can be added after it. */
void profile_sums_sort(struct profile_sums *s);

#endif /* D9_SHIP_PROFILE_SUMS_H */
