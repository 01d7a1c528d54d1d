// SPDX-License-Identifier: BSD-2-Clause
/* Which CPUs a recording covers, from its metadata. Owns the set. */
#include "profile/sched/cpu_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "trace/read/trace.h"

enum { CPUS_MAX = 65536, WORD_BITS = 64 };

void cpu_filter_learn(struct cpu_filter *r, const struct names *n, uint32_t part)
{
	const char *list = names_meta(n, part, PROF_META_RECORDED_CPUS);
	const char *cut = names_meta(n, part, PROF_META_CUT);
	uint32_t *cpus = NULL;
	size_t cnt = 0;

	r->is_cut |= cut && strstr(cut, PROF_CUT_CPUS);
	if (!list || r->bits || str_parse_ranges_u32(list, &cpus, &cnt))
		return;
	r->bits = xcalloc(CPUS_MAX / WORD_BITS, sizeof(*r->bits));
	for (size_t i = 0; i < cnt; i++)
		r->bits[cpus[i] / WORD_BITS] |= 1ULL << cpus[i] % WORD_BITS;
	free(cpus);
}

bool cpu_filter_is_some(const struct cpu_filter *r)
{
	return r->bits || r->is_cut;
}

bool cpu_filter_has(const struct cpu_filter *r, uint64_t cpu)
{
	return !r->bits || (cpu < CPUS_MAX && r->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1);
}

void cpu_filter_fini(struct cpu_filter *r)
{
	free(r->bits);
	*r = (struct cpu_filter){ 0 };
}
