// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* filter.bpf.c - prof_filter.h's evaluation, for records of either length */
#define PROF_FILTER_HERE
#include "filter.bpf.h"

struct filter_map filters SEC(".maps");
struct filter_pattern_map filter_patterns SEC(".maps");

__attribute__((noinline)) int filter_text_long(const struct filter_long *at, __u32 off, __u32 n,
					       __u32 pattern)
{
	const struct prof_filter_pattern *p = bpf_map_lookup_elem(&filter_patterns, &pattern);

	return p && at ? prof_filter_match(p, at->bytes, FILTER_LONG - 1, off, n) : 0;
}

__attribute__((noinline)) int filter_text_short(const struct filter_short *at, __u32 off, __u32 n,
						__u32 pattern)
{
	const struct prof_filter_pattern *p = bpf_map_lookup_elem(&filter_patterns, &pattern);

	return p && at ? prof_filter_match(p, at->bytes, FILTER_SHORT - 1, off, n) : 0;
}

static __always_inline int prof_filter_text(const __u8 *bytes, __u32 mask, __u32 off, __u32 n,
					    __u32 pattern)
{
	if (mask == FILTER_LONG - 1)
		return filter_text_long((const void *)bytes, off, n, pattern);
	return filter_text_short((const void *)bytes, off, n, pattern);
}

__attribute__((noinline)) int filter_run_long(struct filter_long *at, __u32 len, __u32 filter)
{
	const struct prof_filter *f = bpf_map_lookup_elem(&filters, &filter);

	return f && at ? prof_filter_run(f, at->bytes, FILTER_LONG - 1, len) : 0;
}

__attribute__((noinline)) int filter_run_short(struct filter_short *at, __u32 len, __u32 filter)
{
	const struct prof_filter *f = bpf_map_lookup_elem(&filters, &filter);

	return f && at ? prof_filter_run(f, at->bytes, FILTER_SHORT - 1, len) : 0;
}
