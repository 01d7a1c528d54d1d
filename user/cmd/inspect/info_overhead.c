// SPDX-License-Identifier: BSD-2-Clause
/* info_overhead.c - what a recording cost, and what made it late */
#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/inspect/info.h"
#include "export/value_text.h"
#include "prof_events.h"
#include "trace/read/names.h"

/* Smaller values are not printed. */
#define PRINT_NS 10000000
#define SHOWN_NS 50000

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

/* Name and number of a process, and what its stacks and symbols cost */
static void put_process(struct info *in, const struct recorder_costs_row *row)
{
	static const char *const kinds[] = {
		[RECORDER_COSTS_COPIES] = "stack copies",
		[RECORDER_COSTS_LISTS] = "mapping lists",
		[RECORDER_COSTS_TABLES] = "unwind tables",
		[RECORDER_COSTS_SYMBOLS] = "symbols",
	};
	const char *sep = ": ";

	value_text_name(&in->out, in->names, recorder_costs_name(in->names, row));
	buf_printf(&in->out, " (PID %" PRIu32 ") %.1f ms", row->pid, (double)row->sum_ns / 1e6);
	for (size_t i = 0; i < RECORDER_COSTS_KINDS; i++) {
		if (row->ns[i] < SHOWN_NS)
			continue;
		buf_printf(&in->out, "%s%s %.1f ms", sep, kinds[i], (double)row->ns[i] / 1e6);
		sep = ", ";
	}
	buf_addch(&in->out, '\n');
}

static void put_processes(struct info *in, const struct recorder_costs *c)
{
	for (size_t i = 0; i < recorder_costs_cnt(c); i++) {
		buf_printf(&in->out, "%-15s ", i ? "" : "most expensive");
		put_process(in, &c->rows[i]);
	}
}

void info_costs_json(struct info *in, const struct recorder_costs *c)
{
	static const char *const keys[] = {
		[RECORDER_COSTS_COPIES] = "copies_ns",
		[RECORDER_COSTS_LISTS] = "lists_ns",
		[RECORDER_COSTS_TABLES] = "tables_ns",
		[RECORDER_COSTS_SYMBOLS] = "symbols_ns",
	};

	if (!c->cnt)
		return;
	json_array(&in->out, "most_expensive");
	for (size_t i = 0; i < recorder_costs_cnt(c); i++) {
		json_object(&in->out, NULL);
		json_u64(&in->out, "pid", c->rows[i].pid);
		value_text_json_name(&in->out, "comm", in->names,
				     recorder_costs_name(in->names, &c->rows[i]));
		for (size_t k = 0; k < RECORDER_COSTS_KINDS; k++)
			json_u64(&in->out, keys[k], c->rows[i].ns[k]);
		json_end(&in->out, "}");
	}
	json_end(&in->out, "]");
}

/* --max-overhead, and the average cost in its unit. */
static void put_limit(struct info *in, uint32_t part, const struct own_stats *v)
{
	const uint64_t cpus = names_meta_u64(in->names, part, PROF_META_CPUS);
	const double limit =
		(double)names_meta_u64(in->names, part, PROF_META_MAX_OVERHEAD_PPM) / 1e4;
	double cost;

	if (limit == 0)
		return;
	buf_printf(&in->out, "%-15s %.4g%% of all CPUs (--max-overhead)", "overhead limit", limit);
	if (v->elapsed_ns && cpus) {
		cost = 100.0 * (double)(v->bpf_ns + v->cpu_ns + v->helper_cpu_ns) /
		       (double)v->elapsed_ns / (double)cpus;
		buf_printf(&in->out,
			   "; on average BPF + recorder%s used %.2f%% of %" PRIu64 " %s%s",
			   v->helpers ? " + helpers" : "", cost, cpus, cpus == 1 ? "CPU" : "CPUs",
			   cost > limit ? ": limit exceeded" : "");
	}
	buf_addch(&in->out, '\n');
}

void info_cost(struct info *in, uint32_t part)
{
	const struct event_counts_stats *s = &event_counts_part(&in->counts, part)->stats;
	const char *size = names_meta(in->names, part, PROF_META_RING_BYTES);
	char rss[32], ring[32];
	uint64_t sz;

	if (!s->figures.known || !s->v.elapsed_ns) {
		put_limit(in, part, &(struct own_stats){ 0 });
		return;
	}
	buf_printf(&in->out, "%-15s BPF %.2f%% + recorder %.2f%% of one CPU over %.1f s",
		   "overhead", 100.0 * (double)s->v.bpf_ns / (double)s->v.elapsed_ns,
		   100.0 * (double)s->v.cpu_ns / (double)s->v.elapsed_ns,
		   (double)s->v.elapsed_ns / 1e9);
	if (s->v.realtime_ns)
		buf_printf(&in->out, " (%.2f%% at real-time priority)",
			   100.0 * (double)s->v.realtime_ns / (double)s->v.elapsed_ns);
	if (s->v.end_cpu_ns >= PRINT_NS)
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
	put_limit(in, part, &s->v);
	info_processes_put(in, part);
	info_stacks(in, s);
	put_processes(in, &event_counts_part(&in->counts, part)->costs);
}
