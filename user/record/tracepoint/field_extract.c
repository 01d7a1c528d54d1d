// SPDX-License-Identifier: BSD-2-Clause
/*
 * field_extract.c - compiles rules for an event's fields for this kernel
 *
 * Offsets and sizes come from the kernel's BTF and from the event's format file, at load. Rules contain only names.
 * Arguments have the names of __traceiter_EVENT, which calls the programs. If the kernel differs from the
 * rules, there is no extract.
 */
#include "record/tracepoint/field_extract.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/tracepoint/field_extract_rules.h"

enum {
	NAME_MAX_LEN = 127,
	TYPE_DEPTH = 32, /* of typedefs and the like, and of anonymous structures */
	KIND_TYPE_TAG = 18, /* newer than some headers */
	KIND_ENUM64 = 19,
};

/* The walked part of an expression. */
struct walk {
	const struct btf *btf;
	const struct btf_type *type; /* current type */
	bool in_memory; /* after a pointer, at `off` from it */
	uint32_t off;
	struct prof_extract_step *step;
};

struct word {
	const char *s;
	size_t len;
};

static bool word_is(struct word w, const char *name)
{
	return name && strlen(name) == w.len && !memcmp(w.s, name, w.len);
}

/* Without typedefs and qualifiers; NULL: no type. */
static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int depth;

	for (depth = 0; t && depth < TYPE_DEPTH; depth++) {
		switch (btf_kind(t)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG:
			t = btf__type_by_id(btf, t->type);
			break;
		default:
			return t;
		}
	}
	return NULL;
}

static const struct btf_type *find_proto(const struct btf *btf, const char *event)
{
	char name[NAME_MAX_LEN + 1];
	const struct btf_type *t;
	int id;

	if (snprintf(name, sizeof(name), "__traceiter_%s", event) >= (int)sizeof(name))
		return NULL;
	id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	if (id <= 0)
		return NULL;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type);
	if (!t || !btf_is_func_proto(t) || !btf_vlen(t) || btf_vlen(t) > PROF_EXTRACT_ARGS + 1)
		return NULL;
	return t;
}

/* The first parameter belongs to the program. */
static int walk_to_arg(struct walk *w, const struct btf_type *proto, struct word name)
{
	const struct btf_param *params = btf_params(proto);
	int i;

	for (i = 1; i < btf_vlen(proto); i++) {
		if (!word_is(name, btf__name_by_offset(w->btf, params[i].name_off)))
			continue;
		w->step->arg = (uint8_t)(i - 1);
		w->type = plain(w->btf, params[i].type);
		return w->type ? 0 : -ENOTSUP;
	}
	return -ENOTSUP;
}

static int put_hop(struct walk *w)
{
	if (w->step->hop_cnt == PROF_EXTRACT_HOPS || w->off > UINT16_MAX)
		return -ENOTSUP;
	w->step->hops[w->step->hop_cnt++] = (uint16_t)w->off;
	return 0;
}

/* Follows the current pointer. */
static int walk_on(struct walk *w)
{
	int err = w->in_memory ? put_hop(w) : 0;

	w->in_memory = true;
	w->off = 0;
	w->type = plain(w->btf, w->type->type);
	return err ? err : w->type ? 0 : -ENOTSUP;
}

/* Also searches anonymous structures within it. */
static const struct btf_type *find_member(const struct btf *btf, const struct btf_type *in,
					  struct word name, uint32_t *off, int depth)
{
	const struct btf_member *m = btf_members(in);
	int i;

	for (i = 0; i < btf_vlen(in); i++, m++) {
		const char *its = btf__name_by_offset(btf, m->name_off);
		const struct btf_type *t = plain(btf, m->type);
		uint32_t bit = btf_member_bit_offset(in, (uint32_t)i), below = 0;

		if (word_is(name, its) && !btf_member_bitfield_size(in, (uint32_t)i) &&
		    !(bit % 8)) {
			*off += bit / 8;
			return t;
		}
		if (!t || (its && *its) || !btf_is_composite(t) || !depth)
			continue;
		t = find_member(btf, t, name, &below, depth - 1);
		if (t) {
			*off += bit / 8 + below;
			return t;
		}
	}
	return NULL;
}

static int walk_to_member(struct walk *w, struct word name)
{
	int err = 0;

	if (btf_is_ptr(w->type))
		err = walk_on(w);
	else if (btf_is_array(w->type))
		w->type = plain(w->btf, btf_array(w->type)->type);
	if (err || !w->type || !btf_is_composite(w->type) || !w->in_memory)
		return -ENOTSUP;
	w->type = find_member(w->btf, w->type, name, &w->off, TYPE_DEPTH);
	return w->type ? 0 : -ENOTSUP;
}

static int walk_expression(struct walk *w, const struct btf_type *proto, struct word expr)
{
	bool star = expr.len && *expr.s == '*';
	const char *end = expr.s + expr.len, *at = expr.s + star;
	struct word name = { at, 0 };
	int err;

	while (at < end && *at != '.')
		at++;
	name.len = (size_t)(at - name.s);
	err = walk_to_arg(w, proto, name);
	while (!err && at < end) {
		name.s = ++at;
		while (at < end && *at != '.')
			at++;
		name.len = (size_t)(at - name.s);
		err = walk_to_member(w, name);
	}
	if (err || !star)
		return err;
	return btf_is_ptr(w->type) ? walk_on(w) : -ENOTSUP;
}

static bool is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = plain(btf, id);

	return t && btf_is_int(t) && t->size == 1;
}

static bool is_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int end_number(struct walk *w, const struct format_field *f)
{
	struct prof_extract_step *s = w->step;
	const struct btf_type *t = w->type;

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		s->from = sizeof(uint64_t);
		break;
	case BTF_KIND_INT:
		s->is_signed = !!(btf_int_encoding(t) & BTF_INT_SIGNED);
		s->from = (uint8_t)t->size;
		break;
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		s->is_signed = btf_kflag(t);
		s->from = (uint8_t)t->size;
		break;
	default:
		return -ENOTSUP;
	}
	s->kind = f->kind == FORMAT_BOOL ? PROF_EXTRACT_BOOL : PROF_EXTRACT_NUMBER;
	return is_size(s->from) && is_size(s->size) ? 0 : -ENOTSUP;
}

static int end_text(struct walk *w)
{
	const struct btf_type *t = w->type;

	w->step->kind = btf_is_ptr(t) ? PROF_EXTRACT_TEXT_AT : PROF_EXTRACT_TEXT;
	if (btf_is_ptr(t))
		return is_char(w->btf, t->type) ? 0 : -ENOTSUP;
	return btf_is_array(t) && w->in_memory && is_char(w->btf, btf_array(t)->type) ? 0 :
											-ENOTSUP;
}

static int end_chars(struct walk *w, const struct format_field *f)
{
	const struct btf_type *t = w->type;

	w->step->kind = PROF_EXTRACT_CHARS;
	if (!btf_is_array(t) || !w->in_memory || !is_char(w->btf, btf_array(t)->type) ||
	    btf_array(t)->nelems != f->size)
		return -ENOTSUP;
	return 0;
}

static int end_walk(struct walk *w, const struct format_field *f)
{
	int err = -ENOTSUP;

	switch (f->kind) {
	case FORMAT_UINT:
	case FORMAT_SINT:
	case FORMAT_BOOL:
		err = end_number(w, f);
		break;
	case FORMAT_CHARS:
		err = end_chars(w, f);
		break;
	case FORMAT_STRING:
		err = end_text(w);
		break;
	case FORMAT_REL_STRING:
	case FORMAT_ARRAY:
	case FORMAT_DYN_ARRAY:
	case FORMAT_REL_ARRAY:
		break;
	}
	return err || !w->in_memory ? err : put_hop(w);
}

/* The expression of a field in the rules; false: none. */
static bool find_rule(const char *rules, const char *field, struct word *out)
{
	size_t len;

	for (; *rules; rules += len + (rules[len] == ' ')) {
		struct word name = { rules, strcspn(rules, "= ") };

		len = strcspn(rules, " ");
		if (!word_is(name, field))
			continue;
		*out = name;
		if (name.len < len)
			*out = (struct word){ rules + name.len + 1, len - name.len - 1 };
		return true;
	}
	return false;
}

static int compile_field(const struct btf *btf, const struct btf_type *proto,
			 const struct format_field *f, struct word expr,
			 struct prof_extract_step *step)
{
	struct walk w = { .btf = btf, .step = step };
	int err;

	*step = (struct prof_extract_step){ .at = f->off, .size = (uint8_t)f->size };
	if (f->off + f->size > PROF_EXTRACT_FIXED_MAX)
		return -ENOTSUP;
	if (word_is(expr, "jiffies")) {
		step->kind = PROF_EXTRACT_JIFFIES;
		return f->kind == FORMAT_UINT && f->size == sizeof(uint64_t) ? 0 : -ENOTSUP;
	}
	err = walk_expression(&w, proto, expr);
	return err ? err : end_walk(&w, f);
}

int field_extract_compile_rules(const struct btf *btf, const struct format_event *ev,
				const char *rules, struct prof_extract *out)
{
	const struct btf_type *proto = find_proto(btf, ev->name);
	struct word expr;
	size_t i;
	int err;

	*out = (struct prof_extract){ 0 };
	if (!proto || ev->cnt > PROF_EXTRACT_STEPS || ev->size > PROF_EXTRACT_FIXED_MAX)
		return -ENOTSUP;
	for (i = 0; i < ev->cnt; i++) {
		if (!find_rule(rules, ev->fields[i].name, &expr))
			return -ENOTSUP;
		err = compile_field(btf, proto, &ev->fields[i], expr, &out->steps[i]);
		if (err)
			return err;
	}
	out->cnt = (uint16_t)ev->cnt;
	out->arg_cnt = (uint16_t)(btf_vlen(proto) - 1);
	return 0;
}

bool field_extract_is_known(const struct format_event *ev)
{
	return field_extract_rules(ev->system, ev->name);
}

bool field_extract_is_of_interrupts(const struct format_event *ev)
{
	return !strcmp(ev->system, "irq") || !strcmp(ev->system, "irq_vectors") ||
	       (!strcmp(ev->system, "timer") && strstr(ev->name, "timer_expire_"));
}

int field_extract_compile(const struct btf *btf, const struct format_event *ev,
			  struct prof_extract *out)
{
	const char *rules = field_extract_rules(ev->system, ev->name);

	return rules ? field_extract_compile_rules(btf, ev, rules, out) : -ENOTSUP;
}
