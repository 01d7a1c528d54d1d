/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts flags and symbols of print fmt to the rows that format.h describes.
 *
 * libtraceevent has parsed the arguments into trees. This file recognises the forms that kernel code
 * uses, and ignores everything else:
 *
 *	__print_flags(EXPR, ...)  __print_symbolic(EXPR, ...)
 *	EXPR ? "yes" : "no"       EXPR ? __print_...(EXPR, ...) : "none"
 *
 * EXPR is one field, shifted and masked by constants. The format string is walked together with the
 * arguments, because it has the hexadecimal conversions, and the text between two pieces of a field.
 */
#include "kernel/tracefs/format_symbols.h"

#include <errno.h>
#include <traceevent/event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/tracefs/format.h"

/* (field >> shift) & mask, or 1 << field */
struct term {
	const char *field;
	unsigned int shift;
	uint64_t mask;
	bool one_shifted;
	bool inverted; /* as a condition: true if the term is 0 */
};

/* One conversion of the format string */
struct conversion {
	char letter; /* 0 at the end */
	char kind; /* of a %p: the letter after it */
	bool alternate; /* has a # */
	int stars; /* number of * arguments before the value */
	const char *text; /* text before the conversion */
	size_t text_len;
	const char *suffix; /* text after the conversion */
};

struct row {
	size_t field_idx;
	struct format_symbol sym;
};

struct collector {
	struct format_event *ev;
	struct row *rows;
	size_t cnt, cap;
	const struct format_field *last; /* field of the conversion before */
};

static const struct tep_print_arg *strip_casts(const struct tep_print_arg *arg)
{
	while (arg && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return arg;
}

static bool parse_atom(const char *atom, uint64_t *out)
{
	char *end;

	if (!atom || !*atom)
		return false;
	errno = 0;
	*out = strtoull(atom, &end, 0);
	return !errno && end != atom && !end[strspn(end, "uUlL")];
}

static bool apply_op(const char *op, uint64_t a, uint64_t b, uint64_t *out)
{
	if (!strcmp(op, "+"))
		*out = a + b;
	else if (!strcmp(op, "-"))
		*out = a - b;
	else if (!strcmp(op, "*"))
		*out = a * b;
	else if (!strcmp(op, "|"))
		*out = a | b;
	else if (!strcmp(op, "&"))
		*out = a & b;
	else if (!strcmp(op, "^"))
		*out = a ^ b;
	else if (!strcmp(op, "<<") && b < 64)
		*out = a << b;
	else if (!strcmp(op, ">>") && b < 64)
		*out = a >> b;
	else if (!strcmp(op, "~"))
		*out = ~b;
	else
		return false;
	return true;
}

/* Computes a constant expression. Recursion is safe: the kernel's trees are not deep. */
static bool eval(const struct tep_print_arg *arg, uint64_t *out)
{
	uint64_t a = 0, b;

	arg = strip_casts(arg);
	if (!arg)
		return false;
	if (arg->type == TEP_PRINT_ATOM)
		return parse_atom(arg->atom.atom, out);
	if (arg->type != TEP_PRINT_OP)
		return false;
	/* Unary operators have an empty left side. */
	if (arg->op.left && arg->op.left->type != TEP_PRINT_NULL && !eval(arg->op.left, &a))
		return false;
	return eval(arg->op.right, &b) && apply_op(arg->op.op, a, b, out);
}

static bool parse_term(const struct tep_print_arg *arg, struct term *t);

/* Parses an operator with one constant operand. */
static bool parse_term_op(const struct tep_print_arg *arg, struct term *t)
{
	const struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	const char *op = arg->op.op;
	uint64_t c;

	if (!strcmp(op, "!") && parse_term(right, t)) {
		t->inverted = !t->inverted;
		return true;
	}
	if (!strcmp(op, "<<") && eval(left, &c) && c == 1 && parse_term(right, t)) {
		t->one_shifted = true;
		return t->shift == 0 && t->mask == UINT64_MAX;
	}
	if (!strcmp(op, "&") && eval(left, &c) && parse_term(right, t)) {
		t->mask &= c;
		return !t->one_shifted;
	}
	if (!eval(right, &c) || !parse_term(left, t) || t->one_shifted)
		return false;
	if (!strcmp(op, "&")) {
		t->mask &= c;
	} else if (!strcmp(op, "|") && t->mask != UINT64_MAX) {
		/* libtraceevent loses parentheses: F & (A | B) arrives as (F & A) | B. */
		t->mask |= c;
	} else if (!strcmp(op, ">>") && t->shift + c < 64) {
		t->shift += c;
		t->mask = t->mask == UINT64_MAX ? t->mask : t->mask >> c;
	} else if (!strcmp(op, "==") && c == 0) {
		t->inverted = !t->inverted;
	} else if (strcmp(op, "!=") || c != 0) {
		return false;
	}
	return true;
}

static bool parse_term(const struct tep_print_arg *arg, struct term *t)
{
	arg = strip_casts(arg);
	if (arg && arg->type == TEP_PRINT_FIELD) {
		*t = (struct term){ .field = arg->field.name, .mask = UINT64_MAX };
		return true;
	}
	return arg && arg->type == TEP_PRINT_OP && parse_term_op(arg, t);
}

static const struct format_field *integer_field(const struct collector *c, const char *name)
{
	const struct format_field *f = format_find(c->ev, name);

	if (!f || (f->kind != FORMAT_UINT && f->kind != FORMAT_SINT && f->kind != FORMAT_BOOL))
		return NULL;
	return f;
}

static bool has_rows(const struct collector *c, const struct format_field *f)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (c->rows[i].field_idx == (size_t)(f - c->ev->fields))
			return true;
	}
	return false;
}

static void add_row(struct collector *c, const struct format_field *f, enum format_symbol_kind kind,
		    uint64_t value, const char *name, size_t name_len)
{
	c->rows = array_reserve(c->rows, &c->cap, c->cnt + 1, sizeof(*c->rows));
	c->rows[c->cnt++] = (struct row){
		.field_idx = f - c->ev->fields,
		.sym = { .field = f->name,
			 .kind = kind,
			 .value = value,
			 .name = xstrndup(name, name_len) },
	};
}

static void add_text_row(struct collector *c, const struct format_field *f,
			 enum format_symbol_kind kind, uint64_t value, const char *name)
{
	add_row(c, f, kind, value, name, strlen(name));
}

/* Starts a piece. The first row of later pieces has the text between the pieces. */
static void begin_piece(struct collector *c, const struct format_field *f, const struct term *t,
			const struct conversion *conv)
{
	if (has_rows(c, f))
		add_row(c, f, FORMAT_SYM_MASK, t->mask, c->last == f ? conv->text : " ",
			c->last == f ? conv->text_len : 1);
	else if (t->mask != UINT64_MAX || t->shift)
		add_text_row(c, f, FORMAT_SYM_MASK, t->mask, "");
	if (t->shift)
		add_text_row(c, f, FORMAT_SYM_SHIFT, t->shift, "");
}

/* __print_flags(1 << field, ...): at most one flag is set, so the rows are symbols. */
static bool add_shifted_flags(struct collector *c, const struct format_field *f,
			      const struct tep_print_flag_sym *flag)
{
	const struct tep_print_flag_sym *each;
	uint64_t v;

	for (each = flag; each; each = each->next) {
		if (!parse_atom(each->value, &v) || !v || (v & (v - 1)))
			return false;
	}
	for (each = flag; each; each = each->next) {
		parse_atom(each->value, &v);
		add_text_row(c, f, FORMAT_SYM_SYMBOL, __builtin_ctzll(v), each->str);
	}
	return true;
}

/*
 * libtraceevent replaces unknown constant names by 0, so `1 << NAME` is 1 in each row. A list with
 * equal values is useless.
 */
static bool values_are_alike(const struct tep_print_flag_sym *sym)
{
	const char *first = sym->value;
	size_t cnt = 0;

	for (; sym; sym = sym->next, cnt++) {
		if (!sym->value || !first || strcmp(sym->value, first))
			return false;
	}
	return cnt > 1;
}

static void add_values(struct collector *c, const struct format_field *f,
		       enum format_symbol_kind kind, const struct tep_print_flag_sym *sym)
{
	uint64_t v;

	for (; sym; sym = sym->next) {
		if (!sym->str || !parse_atom(sym->value, &v))
			continue;
		/* { 0, "none" } among flags is never printed together with others. */
		if (v || kind != FORMAT_SYM_FLAG)
			add_text_row(c, f, kind, v, sym->str);
	}
}

static void drop_rows(struct collector *c, size_t from)
{
	while (c->cnt > from)
		free(c->rows[--c->cnt].sym.name);
}

static const struct tep_print_arg *printed_value(const struct tep_print_arg *arg)
{
	if (arg->type == TEP_PRINT_FLAGS)
		return arg->flags.field;
	return arg->type == TEP_PRINT_SYMBOL ? arg->symbol.field : NULL;
}

/*
 * Adds the rows of __print_flags or __print_symbolic. NULL for anything else, and if the rows are
 * ambiguous.
 */
static const struct format_field *add_print(struct collector *c, const struct tep_print_arg *arg,
					    const struct conversion *conv, const char *zero)
{
	bool flags = arg->type == TEP_PRINT_FLAGS;
	const struct tep_print_flag_sym *syms;
	const struct format_field *f;
	size_t start = c->cnt, heads;
	struct term t;

	if (!printed_value(arg) || !parse_term(printed_value(arg), &t))
		return NULL;
	f = integer_field(c, t.field);
	syms = flags ? arg->flags.flags : arg->symbol.symbols;
	if (!f || !syms || values_are_alike(syms))
		return NULL;
	if (t.one_shifted)
		return flags && !has_rows(c, f) && add_shifted_flags(c, f, syms) ? f : NULL;
	begin_piece(c, f, &t, conv);
	if (flags && arg->flags.delim && strcmp(arg->flags.delim, "|"))
		add_text_row(c, f, FORMAT_SYM_DELIM, 0, arg->flags.delim);
	if (zero)
		add_text_row(c, f, FORMAT_SYM_ZERO, 0, zero);
	heads = c->cnt;
	add_values(c, f, flags ? FORMAT_SYM_FLAG : FORMAT_SYM_SYMBOL, syms);
	if (c->cnt == heads) {
		drop_rows(c, start);
		return NULL;
	}
	return f;
}

/* The text of a string or character constant, or NULL */
static const char *text_of(const struct tep_print_arg *arg)
{
	return arg && arg->type == TEP_PRINT_ATOM ? arg->atom.atom : NULL;
}

static bool same_bits(const struct term *cond, const struct term *t)
{
	return !strcmp(cond->field, t->field) && cond->mask == t->mask && cond->shift == t->shift;
}

/* cond ? "yes" : "no" */
static const struct format_field *add_choice(struct collector *c, const struct term *cond,
					     const char *yes, const char *no,
					     const struct conversion *conv)
{
	const struct format_field *f = integer_field(c, cond->field);

	if (!f || cond->one_shifted)
		return NULL;
	begin_piece(c, f, cond, conv);
	if (*no)
		add_text_row(c, f, FORMAT_SYM_ZERO, 0, no);
	if (*yes)
		add_text_row(c, f, FORMAT_SYM_NONZERO, 0, yes);
	return f;
}

/*
 * x ? __print_...(x) : "none". Other conditions are refused: they may forbid a name that the rows
 * would print.
 */
static const struct format_field *
add_conditional_print(struct collector *c, const struct term *cond, const struct tep_print_arg *yes,
		      const struct tep_print_arg *no, const struct conversion *conv)
{
	struct term t;

	if (!printed_value(yes) || !text_of(no))
		return NULL;
	if (!parse_term(printed_value(yes), &t) || !same_bits(cond, &t))
		return NULL;
	return add_print(c, yes, conv, text_of(no));
}

static const struct format_field *
add_conditional(struct collector *c, const struct tep_print_arg *arg, const struct conversion *conv)
{
	const struct tep_print_arg *branches = arg->op.right, *yes, *no, *swap;
	struct term cond;

	if (!branches || branches->type != TEP_PRINT_OP || strcmp(branches->op.op, ":") ||
	    !parse_term(arg->op.left, &cond))
		return NULL;
	yes = strip_casts(branches->op.left);
	no = strip_casts(branches->op.right);
	if (!yes || !no)
		return NULL;
	if (cond.inverted) {
		swap = yes;
		yes = no;
		no = swap;
	}
	if (text_of(yes) && text_of(no))
		return add_choice(c, &cond, text_of(yes), text_of(no), conv);
	return add_conditional_print(c, &cond, yes, no, conv);
}

/* Finds the next conversion and returns the position after it; %% is text. */
static const char *next_conversion(const char *p, struct conversion *conv)
{
	*conv = (struct conversion){ .text = p };
	while (*p && (p[0] != '%' || p[1] == '%'))
		p += p[0] == '%' ? 2 : 1;
	conv->text_len = p - conv->text;
	if (!*p)
		return p;
	for (p++; *p && strchr("#0- +'.*123456789hlLqjzt", *p); p++) {
		conv->alternate |= *p == '#';
		conv->stars += *p == '*';
	}
	conv->letter = *p;
	conv->kind = *p == 'p' ? p[1] : 0;
	conv->suffix = *p ? p + 1 : p;
	return conv->suffix;
}

/* Keeps the text after a number. If a field is printed several times, the first one counts. */
static void keep_suffix(struct format_field *f, const struct conversion *conv)
{
	size_t n = strcspn(conv->suffix, "%");

	if (*f->suffix)
		return;
	if (n >= sizeof(f->suffix))
		n = sizeof(f->suffix) - 1;
	memcpy(f->suffix, conv->suffix, n);
	f->suffix[n] = '\0';
}

static void visit(struct collector *c, const struct tep_print_arg *arg,
		  const struct conversion *conv)
{
	const struct tep_print_arg *bare = strip_casts(arg);
	const struct format_field *f = NULL;

	if (!bare)
		return;
	if (bare->type == TEP_PRINT_OP && !strcmp(bare->op.op, "?")) {
		if (conv->letter == 's' || conv->letter == 'c')
			f = add_conditional(c, bare, conv);
	} else if (bare->type == TEP_PRINT_FIELD) {
		f = integer_field(c, bare->field.name);
		if (f && strchr("diuxX", conv->letter))
			keep_suffix(&c->ev->fields[f - c->ev->fields], conv);
		if (f && conv->kind && f->size == 8 && strchr("sS", conv->kind))
			c->ev->fields[f - c->ev->fields].code = true;
		else if (f && (strchr("xXp", conv->letter) || conv->alternate))
			c->ev->fields[f - c->ev->fields].hex = true;
	} else {
		f = add_print(c, bare, conv, NULL);
	}
	c->last = f;
}

/* Moves the rows to the event, grouped by field in the order of fields. */
static void hand_over(struct collector *c)
{
	struct format_event *ev = c->ev;
	struct format_symbol *to;

	ev->symbols = xcalloc(c->cnt + ev->cnt, sizeof(*ev->symbols));
	to = ev->symbols;
	for (size_t i = 0; i < ev->cnt; i++) {
		const struct format_field *f = &ev->fields[i];
		const struct format_symbol *first = to;

		for (size_t r = 0; r < c->cnt; r++) {
			if (c->rows[r].field_idx == i)
				*to++ = c->rows[r].sym;
		}
		/* the recorder writes names of these addresses to the trace */
		if (to == first && f->code)
			*to++ = (struct format_symbol){
				.field = f->name,
				.kind = FORMAT_SYM_SYMBOL,
				.name = xstrdup("0x0"),
			};
		else if (to == first && f->hex)
			*to++ = (struct format_symbol){
				.field = f->name,
				.kind = FORMAT_SYM_HEX,
				.name = xstrdup(""),
			};
	}
	ev->symbol_cnt = to - ev->symbols;
	free(c->rows);
}

void format_symbols_collect(struct format_event *ev, const struct tep_event *tep)
{
	const struct tep_print_arg *arg = tep->print_fmt.args;
	const char *p = tep->print_fmt.format;
	struct collector c = { .ev = ev };
	struct conversion conv;

	if (!p)
		return;
	while (arg) {
		p = next_conversion(p, &conv);
		if (!conv.letter)
			break;
		for (int i = 0; i < conv.stars && arg; i++)
			arg = arg->next;
		if (!arg)
			break;
		visit(&c, arg, &conv);
		arg = arg->next;
	}
	hand_over(&c);
}
