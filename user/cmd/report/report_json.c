// SPDX-License-Identifier: BSD-2-Clause
/*
 * The JSON form of `dial9-prof report`: one object, whose layout is the manual page's. Takes finished
 * numbers; whole names, exact counts, nothing that depends on a terminal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/report/report.h"
#include "export/unwind_status.h"
#include "profile/sums/tree.h"

static void json_text(struct buf *out, const char *key, const char *s)
{
	if (!s)
		return;
	str_json(out, key, strlen(key));
	buf_addch(out, ':');
	str_json(out, s, strlen(s));
	buf_addch(out, ',');
}

static void json_module(struct buf *out, const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);

	name_text_json_name(out, n, m->announced ? m->path : NAMES_NONE);
}

static void json_srcline(struct buf *out, const struct names *n, const struct profile_row *row)
{
	if (row->file == NAMES_NONE) {
		buf_addstr(out, "null");
		return;
	}
	buf_addstr(out, "{\"file\":");
	name_text_json_name(out, n, row->file);
	buf_printf(out, ",\"line\":%u}", row->line);
}

static void json_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		      enum profile_key key)
{
	buf_printf(out, ",\"%s\":", report_key_names[key]);
	if (key == PROFILE_SYM)
		name_text_json_name(out, r->names, row->sym);
	else if (key == PROFILE_COMM)
		name_text_json_name(out, r->names, row->comm);
	else if (key == PROFILE_CGROUP)
		name_text_json_name(out, r->names, row->cgroup);
	else if (key == PROFILE_DSO)
		json_module(out, r->names, row->module);
	else if (key == PROFILE_SRCLINE)
		json_srcline(out, r->names, row);
	else if (key == PROFILE_STATE)
		buf_printf(out, "\"%s\"", name_text_state(row->state));
	else if (key == PROFILE_PART)
		buf_printf(out, "%u", row->part + 1);
	else
		name_text_json_id(out, "",
				  key == PROFILE_PID ? row->pid :
				  key == PROFILE_TID ? row->tid :
						       row->cpu);
	if (key == PROFILE_SYM && row->inlined)
		buf_addstr(out, ",\"inlined\":true");
}

/* "key":NS, null: nobody knows. */
static void json_ns(struct buf *out, const char *key, bool known, uint64_t ns)
{
	buf_printf(out, ",\"%s\":", key);
	if (known)
		buf_addu(out, ns);
	else
		buf_addstr(out, "null");
}

static void json_numbers(struct buf *out, const struct report *r, const struct report_numbers *n)
{
	buf_printf(out, "\"self\":%" PRIu64 ",\"total\":%" PRIu64, n->self, n->total);
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

		buf_addstr(out, i ? ",{" : "{");
		json_numbers(out, r, &numbers);
		if (r->exact)
			json_ns(out, "run_ns", report_has_run_time(&numbers), row->run_ns);
		for (size_t k = 0; k < r->key_cnt; k++)
			json_cell(out, r, row, r->key_order[k]);
		buf_addch(out, '}');
	}
	buf_addch(out, ']');
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
	buf_addstr(out, ",\"sym\":");
	name_text_json_name(out, r->names, node->sym);
	buf_addstr(out, ",\"dso\":");
	json_module(out, r->names, node->module);
	if (node->inlined)
		buf_addstr(out, ",\"inlined\":true");
}

/* A list in the order of printing, each node with its depth: as deep as it is, it nests nothing. */
static void json_tree(struct buf *out, const struct report *r)
{
	uint64_t left = r->opts->limit ? r->opts->limit : UINT64_MAX;
	struct tree *t = report_tree(r);
	size_t n = 0, all = 0;
	uint32_t depth = 0, at = 0;

	buf_addstr(out, ",\"tree\":[");
	while (left-- && (at = tree_next(t, at, report_tree_min(r), &depth)) != TREE_NONE) {
		const struct tree_node *node = &t->nodes[at];
		const struct report_numbers numbers = { .self = node->self,
							.total = node->total,
							.self_weight = node->self_weight,
							.total_weight = node->total_weight };

		buf_printf(out, "%s{\"depth\":%u,", n++ ? "," : "", depth);
		json_numbers(out, r, &numbers);
		json_place(out, r, t, at);
		buf_addch(out, '}');
	}
	at = depth = 0;
	while ((at = tree_next(t, at, 1, &depth)) != TREE_NONE)
		all++;
	buf_printf(out, "],\"rows_left_out\":%zu", all - n);
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
	buf_addstr(out, ",\"chains\":[");
	for (size_t i = 0; i < cnt; i++) {
		const struct tree_node *node = &t->nodes[v[i]];

		buf_printf(out, "%s{\"self\":%" PRIu64, i ? "," : "", node->self);
		if (r->timed)
			buf_printf(out, ",\"self_ns\":%" PRIu64, node->self_weight);
		buf_addstr(out, ",\"stack\":[");
		for (uint32_t at = v[i]; at; at = t->nodes[at].parent) {
			size_t from;

			buf_addstr(out, at == v[i] ? "" : ",");
			from = out->len;
			json_place(out, r, t, at);
			out->data[from] = '{';
			buf_addch(out, '}');
		}
		buf_addstr(out, "]}");
	}
	buf_printf(out, "],\"rows_left_out\":%zu", all - cnt);
	free(v);
	tree_free(t);
}

static void json_clock(struct buf *out, const struct report *r, uint32_t part)
{
	json_text(out, "sample_event", names_meta(r->names, part, PROF_META_SAMPLE_EVENT));
	json_text(out, "sample_hz", names_meta(r->names, part, PROF_META_SAMPLE_HZ));
}

static void json_parts(struct buf *out, const struct report *r)
{
	buf_addstr(out, "\"parts\":[");
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		buf_addstr(out, i ? ",{" : "{");
		json_clock(out, r, i);
		buf_printf(out, "\"part\":%u,\"clock\":%u,\"samples\":%" PRIu64 "}", i + 1,
			   names_part(r->names, i)->clock + 1, r->parts[i].samples);
	}
	buf_addstr(out, "],");
}

void report_print_json(const struct report *r)
{
	struct buf out = { 0 };

	name_text_json_begin(&out);
	buf_addch(&out, ',');
	json_text(&out, "file", reader_input(r->reader));
	if (r->names->parts.cnt == 1)
		json_clock(&out, r, 0);
	else
		json_parts(&out, r);
	buf_printf(&out, "\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",",
		   profile_samples(r->profile), loss_accounting_lost(&r->counts.account));
	report_text_json_account(&out, &r->counts.account);
	for (uint32_t i = 0; r->wall && i < INTERVAL_STATE_CNT; i++)
		buf_printf(&out, ",\"%s_ns\":%" PRIu64, name_text_state(i), r->state_ns[i]);
	if (r->wall)
		buf_printf(&out, ",\"unsure_ns\":%" PRIu64, r->untold.unsure_ns);
	if (r->exact)
		buf_printf(&out, ",\"run_ns\":%" PRIu64 ",\"doubtful_ns\":%" PRIu64,
			   r->cpu_time.run_ns, r->cpu_time.uncertain_ns);
	if (r->ends.stacks) {
		buf_addstr(&out, ",\"user_stacks\":");
		unwind_status_json(&out, &r->ends, r->names);
	}
	if (r->graph == REPORT_FLAT)
		json_rows(&out, r);
	else if (r->graph == REPORT_CALLER || r->graph == REPORT_CALLEE)
		json_tree(&out, r);
	else
		json_chains(&out, r);
	buf_addstr(&out, "}\n");
	fwrite(buf_cstr(&out), 1, out.len, stdout);
	buf_free(&out);
}
