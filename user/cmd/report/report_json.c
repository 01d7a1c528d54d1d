// SPDX-License-Identifier: BSD-2-Clause
/*
 * The JSON form of `dial9-prof report`: one object, whose layout is the manual page's. Takes finished
 * numbers; whole names, exact counts, nothing that depends on a terminal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cmd/common/report_text.h"
#include "cmd/report/report.h"
#include "export/unwind_status.h"
#include "profile/sums/tree.h"

/* How a part of the trace was sampled, where it says so. */
static void json_meta(struct buf *out, const struct report *r, uint32_t part, const char *key,
		      const char *meta)
{
	const char *s = names_meta(r->names, part, meta);

	if (s)
		json_str(out, key, s);
}

static void json_module(struct buf *out, const char *key, const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);

	value_text_json_name(out, key, n, m->announced ? m->path : NAMES_NONE);
}

static void json_srcline(struct buf *out, const char *key, const struct names *n,
			 const struct profile_row *row)
{
	if (row->file == NAMES_NONE) {
		json_null(out, key);
		return;
	}
	json_object(out, key);
	value_text_json_name(out, "file", n, row->file);
	json_u64(out, "line", row->line);
	json_end(out, "}");
}

static void json_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		      enum profile_key key)
{
	const char *name = report_key_names[key];

	if (key == PROFILE_SYM)
		value_text_json_name(out, name, r->names, row->sym);
	else if (key == PROFILE_COMM)
		value_text_json_name(out, name, r->names, row->comm);
	else if (key == PROFILE_CGROUP)
		value_text_json_name(out, name, r->names, row->cgroup);
	else if (key == PROFILE_DSO)
		json_module(out, name, r->names, row->module);
	else if (key == PROFILE_SRCLINE)
		json_srcline(out, name, r->names, row);
	else if (key == PROFILE_STATE)
		json_str(out, name, value_text_state(row->state));
	else if (key == PROFILE_PART)
		json_u64(out, name, row->part + 1);
	else
		value_text_json_id(out, name,
				   key == PROFILE_PID ? row->pid :
				   key == PROFILE_TID ? row->tid :
							row->cpu);
	if (key == PROFILE_SYM && row->inlined)
		json_bool(out, "inlined", true);
}

/* "key":NS, null: unknown. */
static void json_ns(struct buf *out, const char *key, bool known, uint64_t ns)
{
	if (known)
		json_u64(out, key, ns);
	else
		json_null(out, key);
}

static void json_numbers(struct buf *out, const struct report *r, const struct report_numbers *n)
{
	json_u64s(out, { "self", n->self }, { "total", n->total });
	if (!r->timed)
		return;
	json_ns(out, "self_ns", report_has_time(r, n, n->self, n->self_weight), n->self_weight);
	json_ns(out, "total_ns", report_has_time(r, n, n->total, n->total_weight), n->total_weight);
}

static void json_rows(struct buf *out, const struct report *r)
{
	struct profile_rows rows = { 0 };
	size_t all, n = report_rows(r, &rows, &all);

	report_text_json_rows(out, all - n);
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &rows.v[i];
		const struct report_numbers numbers = report_row_numbers(r, row);

		json_object(out, NULL);
		json_numbers(out, r, &numbers);
		if (r->exact)
			json_ns(out, "run_ns", report_has_run_time(&numbers), row->run_ns);
		for (size_t k = 0; k < r->key_cnt; k++)
			json_cell(out, r, row, r->key_order[k]);
		json_end(out, "}");
	}
	json_end(out, "]");
	free(rows.v);
}

/* What a node stands for: keys of a task, or a function. */
static void json_place(struct buf *out, const struct report *r, const struct tree *t, uint32_t at)
{
	const struct tree_node *node = &t->nodes[at];

	if (node->group != TREE_NONE) {
		for (size_t k = 0; k < r->key_cnt; k++)
			if (PROFILE_TASK_KEYS & 1u << r->key_order[k])
				json_cell(out, r, &t->groups.rows.v[node->group], r->key_order[k]);
		if (!(r->keys & PROFILE_TASK_KEYS))
			json_cell(out, r, &t->groups.rows.v[node->group], PROFILE_COMM);
		return;
	}
	value_text_json_name(out, "sym", r->names, node->sym);
	json_module(out, "dso", r->names, node->module);
	if (node->inlined)
		json_bool(out, "inlined", true);
}

/* A list in the order of printing, each node with its depth: as deep as it is, it nests nothing. */
static void json_tree(struct buf *out, const struct report *r)
{
	uint64_t left = r->opts->limit ? r->opts->limit : UINT64_MAX;
	struct tree *t = report_tree(r);
	size_t n = 0, all = 0;
	uint32_t depth = 0, at = 0;

	json_array(out, "tree");
	while (left-- && (at = tree_next(t, at, report_tree_min(r), &depth)) != TREE_NONE) {
		const struct tree_node *node = &t->nodes[at];
		const struct report_numbers numbers = { .self = node->self,
							.total = node->total,
							.self_weight = node->self_weight,
							.total_weight = node->total_weight };

		json_object(out, NULL);
		json_u64(out, "depth", depth);
		json_numbers(out, r, &numbers);
		json_place(out, r, t, at);
		json_end(out, "}");
		n++;
	}
	at = depth = 0;
	while ((at = tree_next(t, at, 1, &depth)) != TREE_NONE)
		all++;
	json_end(out, "]");
	json_u64(out, "rows_not_shown", all - n);
	tree_free(t);
}

/* Each with its functions, leaf first; with keys of a task the last one is that. */
static void json_chains(struct buf *out, const struct report *r)
{
	struct tree *t = report_tree(r);
	size_t cnt, all = 0;
	uint32_t *v = report_chains(r, t, &cnt);

	for (uint32_t i = 1; i < t->cnt; i++)
		all += t->nodes[i].self > 0;
	json_array(out, "chains");
	for (size_t i = 0; i < cnt; i++) {
		const struct tree_node *node = &t->nodes[v[i]];

		json_object(out, NULL);
		json_u64(out, "self", node->self);
		if (r->timed)
			json_u64(out, "self_ns", node->self_weight);
		json_array(out, "stack");
		for (uint32_t at = v[i]; at; at = t->nodes[at].parent) {
			json_object(out, NULL);
			json_place(out, r, t, at);
			json_end(out, "}");
		}
		json_end(out, "]}");
	}
	json_end(out, "]");
	json_u64(out, "rows_not_shown", all - cnt);
	free(v);
	tree_free(t);
}

static void json_clock(struct buf *out, const struct report *r, uint32_t part)
{
	json_meta(out, r, part, "sample_event", PROF_META_SAMPLE_EVENT);
	json_meta(out, r, part, "sample_hz", PROF_META_SAMPLE_HZ);
}

static void json_parts(struct buf *out, const struct report *r)
{
	json_array(out, "parts");
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		json_object(out, NULL);
		json_clock(out, r, i);
		json_u64s(out, { "part", i + 1 }, { "clock", names_part(r->names, i)->clock + 1 },
			  { "samples", r->parts[i].samples });
		json_end(out, "}");
	}
	json_end(out, "]");
}

static void json_state_ns(struct buf *out, uint32_t state, uint64_t ns)
{
	json_key_printf(out, "%s_ns", value_text_state(state));
	json_u64(out, NULL, ns);
}

void report_print_json(const struct report *r)
{
	struct buf out = { 0 };

	value_text_json_begin(&out);
	json_str(&out, "file", reader_input(r->reader));
	if (r->names->parts.cnt == 1)
		json_clock(&out, r, 0);
	else
		json_parts(&out, r);
	json_u64s(&out, { "samples", profile_samples(r->profile) },
		  { "lost", loss_accounting_lost(&r->counts.account) });
	report_text_json_account(&out, &r->counts.account);
	for (uint32_t i = 0; r->wall && i < INTERVAL_STATE_CNT; i++)
		json_state_ns(&out, i, r->state_ns[i]);
	if (r->wall)
		json_u64(&out, "unsure_ns", r->unknown.unsure_ns);
	if (r->exact)
		json_u64s(&out, { "run_ns", r->cpu_time.run_ns },
			  { "doubtful_ns", r->cpu_time.uncertain_ns });
	if (r->ends.stacks)
		unwind_status_json(&out, "user_stacks", &r->ends, r->names);
	if (r->graph == REPORT_FLAT)
		json_rows(&out, r);
	else if (r->graph == REPORT_CALLER || r->graph == REPORT_CALLEE)
		json_tree(&out, r);
	else
		json_chains(&out, r);
	json_end(&out, "}\n");
	buf_print(&out, stdout);
}
