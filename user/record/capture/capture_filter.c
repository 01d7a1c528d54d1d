// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_filter.c - writes the filters of a recording's events to the maps of the programs
 *
 * One map holds the patterns of all filters in sequence. Each filter's pattern indexes are adjusted to it.
 */
#include "record/capture/capture_filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "kernel/tracefs/filter.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/tracepoint/eventset.h"

void capture_filter_size(struct prof *s, const struct eventset *set)
{
	s->rodata->cfg_filters = set->filter_cnt;
	bpf_map__set_max_entries(s->maps.filters, set->filter_cnt ? set->filter_cnt : 1);
	bpf_map__set_max_entries(s->maps.filter_patterns, set->pattern_cnt ? set->pattern_cnt : 1);
}

static int put_filter(struct prof *s, const struct filter *f, uint32_t idx, uint32_t base)
{
	struct prof_filter prog = f->prog;
	uint32_t i, at;

	for (i = 0; i < PROF_FILTER_TERMS; i++)
		if (prog.terms[i].op >= PROF_FILTER_CHARS)
			prog.terms[i].value += base;
	for (i = 0; i < f->pattern_cnt; i++) {
		at = base + i;
		if (bpf_map_update_elem(bpf_map__fd(s->maps.filter_patterns), &at, &f->patterns[i],
					BPF_ANY))
			return -errno;
	}
	return bpf_map_update_elem(bpf_map__fd(s->maps.filters), &idx, &prog, BPF_ANY) ? -errno : 0;
}

int capture_filter_fill(struct prof *s, const struct eventset *set)
{
	uint32_t base = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < set->cnt && !err; i++) {
		const struct event_def *def = set->defs[i];

		if (!def->filter)
			continue;
		err = put_filter(s, def->filter, def->cfg.filter - 1, base);
		base += def->filter->pattern_cnt;
	}
	return err;
}
