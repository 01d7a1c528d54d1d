// SPDX-License-Identifier: BSD-2-Clause
/* info_cost.c - what a recording cost, and what made it late */
#include <inttypes.h>

#include "base/str.h"
#include "cmd/inspect/info.h"
#include "prof_events.h"
#include "trace/read/names.h"

/* Less is not worth a word. */
#define TOLD_NS 10000000

enum { WAITED_PART = 20 }; /* of the time */

/* What made it late, where records were lost or might have been. */
static void put_waits(struct info *in, const struct event_counts_stats *s)
{
	if (s->v.waited_ns >= s->v.elapsed_ns / WAITED_PART)
		buf_printf(&in->out, "; run-queue latency %.1f s", (double)s->v.waited_ns / 1e9);
	if (s->v.output_full_ns)
		buf_printf(&in->out, "; the output was too slow for %.1f s",
			   (double)s->v.output_full_ns / 1e9);
}

/* What the helper processes cost, in traces that have it. */
static void put_helpers(struct info *in, const struct own_stats *v)
{
	char bytes[32];

	if (!v->helpers)
		return;
	str_bytes(bytes, v->helper_bytes);
	buf_printf(&in->out, "; %" PRIu64 " helper processes: %.2f%% of one CPU, memory %s",
		   v->helpers, 100.0 * (double)v->helper_cpu_ns / (double)v->elapsed_ns, bytes);
}

void info_cost(struct info *in, uint32_t part)
{
	const struct event_counts_stats *s = &event_counts_part(&in->counts, part)->stats;
	const char *size = names_meta(in->names, part, PROF_META_RING_BYTES);
	char rss[32], ring[32];
	uint64_t sz;

	if (!s->figures.known || !s->v.elapsed_ns)
		return;
	buf_printf(&in->out, "%-15s BPF %.2f%% + recorder %.2f%% of one CPU over %.1f s",
		   "overhead", 100.0 * (double)s->v.bpf_ns / (double)s->v.elapsed_ns,
		   100.0 * (double)s->v.cpu_ns / (double)s->v.elapsed_ns,
		   (double)s->v.elapsed_ns / 1e9);
	if (s->v.realtime_ns)
		buf_printf(&in->out, " (%.2f%% at real-time priority)",
			   100.0 * (double)s->v.realtime_ns / (double)s->v.elapsed_ns);
	if (s->v.end_cpu_ns >= TOLD_NS)
		buf_printf(&in->out, ", then %.2f s of CPU time after the end",
			   (double)s->v.end_cpu_ns / 1e9);
	put_waits(in, s);
	if (s->v.bpf_runs)
		buf_printf(&in->out, "; %.0f ns per BPF run",
			   (double)s->v.bpf_ns / (double)s->v.bpf_runs);
	str_bytes(rss, s->v.rss_bytes);
	str_bytes(ring, s->v.ring_fill_max_bytes);
	buf_printf(&in->out, "; memory %s, fullest ring buffer %s", rss, ring);
	if (size && !str_parse_u64(size, UINT64_MAX, &sz)) {
		str_bytes(ring, sz);
		buf_printf(&in->out, " of %s", ring);
	}
	put_helpers(in, &s->v);
	buf_addch(&in->out, '\n');
	info_processes_put(in, part);
	info_stacks(in, s);
}
