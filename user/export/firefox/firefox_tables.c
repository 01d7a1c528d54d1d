// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of a thread in a Firefox profile. Owns the numbers of the stacks and functions that the
 * thread uses.
 */
#include "export/firefox/firefox_tables.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "export/value_text.h"

void firefox_tables_begin(struct firefox_tables *t)
{
	t->stack_ids = xcalloc(t->stacks.node_cnt, sizeof(*t->stack_ids));
	t->stack_order = xcalloc(t->stacks.node_cnt, sizeof(*t->stack_order));
	t->func_ids = xcalloc(t->stacks.func_cnt, sizeof(*t->func_ids));
	t->func_order = xcalloc(t->stacks.func_cnt, sizeof(*t->func_order));
}

void firefox_tables_thread(struct firefox_tables *t)
{
	for (uint32_t i = 0; i < t->stack_cnt; i++)
		t->stack_ids[t->stack_order[i]] = 0;
	for (uint32_t i = 0; i < t->func_cnt; i++)
		t->func_ids[t->func_order[i]] = 0;
	strtab_fini(&t->strings);
	strtab_fini(&t->resources);
	t->strings = t->resources = (struct strtab){ 0 };
	t->stack_cnt = t->func_cnt = 0;
}

void firefox_tables_fini(struct firefox_tables *t)
{
	stack_tree_fini(&t->stacks);
	strtab_fini(&t->strings);
	strtab_fini(&t->resources);
	free(t->stack_ids);
	free(t->stack_order);
	free(t->func_ids);
	free(t->func_order);
	buf_free(&t->text);
}

uint32_t firefox_tables_string(struct firefox_tables *t, const char *s, size_t len)
{
	return strtab_add(&t->strings, s, len);
}

static void use_func(struct firefox_tables *f, uint32_t func)
{
	if (f->func_ids[func])
		return;
	f->func_order[f->func_cnt++] = func;
	f->func_ids[func] = f->func_cnt;
}

/* Numbers a stack and its ancestors, outermost first. */
void firefox_tables_use(struct firefox_tables *f, uint32_t leaf)
{
	uint32_t depth = 0, end;

	for (uint32_t at = leaf; at != STACK_TREE_NONE && !f->stack_ids[at];
	     at = f->stacks.nodes[at].parent)
		f->stack_order[f->stack_cnt + depth++] = at;
	end = f->stack_cnt + depth;
	for (uint32_t i = 0; i < depth / 2; i++) {
		uint32_t swap = f->stack_order[f->stack_cnt + i];

		f->stack_order[f->stack_cnt + i] = f->stack_order[end - 1 - i];
		f->stack_order[end - 1 - i] = swap;
	}
	while (f->stack_cnt < end) {
		uint32_t node = f->stack_order[f->stack_cnt];

		f->stack_ids[node] = ++f->stack_cnt;
		use_func(f, f->stacks.nodes[node].func);
	}
}

static enum firefox_category category_of(const struct export *x, const struct stack_tree_func *func)
{
	const struct names_module *m = names_module(x->names, func->module);

	if (func->kernel)
		return FIREFOX_KERNEL;
	if (!m->announced)
		return FIREFOX_OTHER;
	return m->kind == PROF_MODULE_ANON ? FIREFOX_JIT : FIREFOX_USER;
}

/* ---- columns ----------------------------------------------------------------------------------- */

void firefox_tables_column(struct export *x, struct firefox_tables *t, const char *name)
{
	json_array(&x->out, name);
	t->sep = "";
}

void firefox_tables_next(struct export *x, struct firefox_tables *t)
{
	export_flush(x);
	buf_addstr(&x->out, t->sep);
	t->sep = ",";
}

void firefox_tables_end_column(struct export *x)
{
	buf_addch(&x->out, ']');
}

static void put_same(struct export *x, struct firefox_tables *t, const char *name,
		     const char *value, uint64_t cnt)
{
	firefox_tables_column(x, t, name);
	while (cnt--) {
		firefox_tables_next(x, t);
		buf_addstr(&x->out, value);
	}
	firefox_tables_end_column(x);
}

void firefox_tables_put_stack(struct firefox_tables *t, struct buf *out, uint32_t stack)
{
	if (stack == STACK_TREE_NONE)
		buf_addstr(out, "null");
	else
		buf_addu(out, t->stack_ids[stack] - 1);
}

static void put_stacks(struct export *x, struct firefox_tables *f)
{
	const struct stack_tree_node *nodes = f->stacks.nodes;

	json_object(&x->out, "stackTable");
	json_u64(&x->out, "length", f->stack_cnt);
	firefox_tables_column(x, f, "prefix");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		firefox_tables_next(x, f);
		firefox_tables_put_stack(f, &x->out, nodes[f->stack_order[i]].parent);
	}
	firefox_tables_end_column(x);
	firefox_tables_column(x, f, "frame");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		firefox_tables_next(x, f);
		buf_addu(&x->out, f->func_ids[nodes[f->stack_order[i]].func] - 1);
	}
	firefox_tables_end_column(x);
	firefox_tables_column(x, f, "category");
	for (uint32_t i = 0; i < f->stack_cnt; i++) {
		firefox_tables_next(x, f);
		buf_addu(&x->out, category_of(x, &f->stacks.funcs[nodes[f->stack_order[i]].func]));
	}
	firefox_tables_end_column(x);
	put_same(x, f, "subcategory", "0", f->stack_cnt);
	json_end(&x->out, "}");
}

/* A frame for each function. */
static void put_frames(struct export *x, struct firefox_tables *f)
{
	static const char *const none[] = { "nativeSymbol", "innerWindowID", "implementation",
					    "line",	    "column",	     "optimizations" };

	json_object(&x->out, "frameTable");
	json_u64(&x->out, "length", f->func_cnt);
	firefox_tables_column(x, f, "func");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		firefox_tables_next(x, f);
		buf_addu(&x->out, i);
	}
	firefox_tables_end_column(x);
	firefox_tables_column(x, f, "category");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		firefox_tables_next(x, f);
		buf_addu(&x->out, category_of(x, &f->stacks.funcs[f->func_order[i]]));
	}
	firefox_tables_end_column(x);
	put_same(x, f, "subcategory", "0", f->func_cnt);
	put_same(x, f, "address", "-1", f->func_cnt);
	put_same(x, f, "inlineDepth", "0", f->func_cnt);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		put_same(x, f, none[i], "null", f->func_cnt);
	json_end(&x->out, "}");
}

static void put_funcs(struct export *x, struct firefox_tables *f)
{
	json_object(&x->out, "funcTable");
	json_u64(&x->out, "length", f->func_cnt);
	firefox_tables_column(x, f, "name");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		const struct stack_tree_func *func = &f->stacks.funcs[f->func_order[i]];

		firefox_tables_next(x, f);
		buf_clear(&f->text);
		value_text_function(&f->text, x->names, func->sym, func->inlined);
		buf_addu(&x->out, firefox_tables_string(f, buf_cstr(&f->text), f->text.len));
	}
	firefox_tables_end_column(x);
	firefox_tables_column(x, f, "resource");
	for (uint32_t i = 0; i < f->func_cnt; i++) {
		firefox_tables_next(x, f);
		buf_clear(&f->text);
		value_text_module(&f->text, x->names, f->stacks.funcs[f->func_order[i]].module);
		buf_addu(&x->out, strtab_add(&f->resources, buf_cstr(&f->text), f->text.len));
	}
	firefox_tables_end_column(x);
	put_same(x, f, "isJS", "false", f->func_cnt);
	put_same(x, f, "relevantForJS", "false", f->func_cnt);
	put_same(x, f, "fileName", "null", f->func_cnt);
	put_same(x, f, "lineNumber", "null", f->func_cnt);
	put_same(x, f, "columnNumber", "null", f->func_cnt);
	json_end(&x->out, "}");
}

static void put_resources(struct export *x, struct firefox_tables *f)
{
	const uint32_t cnt = f->resources.cnt;
	const char *name;
	size_t len;

	json_object(&x->out, "resourceTable");
	json_u64(&x->out, "length", cnt);
	firefox_tables_column(x, f, "name");
	for (uint32_t i = 0; i < cnt; i++) {
		firefox_tables_next(x, f);
		name = strtab_get(&f->resources, i, &len);
		buf_addu(&x->out, firefox_tables_string(f, name, len));
	}
	firefox_tables_end_column(x);
	put_same(x, f, "lib", "null", cnt);
	put_same(x, f, "host", "null", cnt);
	put_same(x, f, "type", "1", cnt); /* a library */
	buf_addstr(&x->out, "},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
			    "\"name\":[],\"functionSize\":[]}");
}

static void put_strings(struct export *x, struct firefox_tables *f)
{
	const char *s;
	size_t len;

	firefox_tables_column(x, f, "stringArray");
	for (uint32_t i = 0; i < f->strings.cnt; i++) {
		firefox_tables_next(x, f);
		s = strtab_get(&f->strings, i, &len);
		str_json(&x->out, s, len);
	}
	firefox_tables_end_column(x);
}

void firefox_tables_put(struct export *x, struct firefox_tables *t)
{
	put_stacks(x, t);
	put_frames(x, t);
	put_funcs(x, t);
	put_resources(x, t);
	put_strings(x, t);
}
