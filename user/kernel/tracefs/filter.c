// SPDX-License-Identifier: BSD-2-Clause
/*
 * filter.c - compiles an expression over an event's fields to a program of terms
 *
 * The parser is recursive descent and keeps a tree in arrays of fixed size, with terms in the order
 * of the text. Each subtree gets a target for true and a target for false; for example, the left
 * side of `&&` continues with the first term of the right side if it is true. So all jumps go
 * forward.
 *
 * Values are checked here against the type of their field, because errors cannot be reported later.
 */
#include "kernel/tracefs/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

enum {
	DEPTH_MAX = 32,
	NODES_MAX = 2 * PROF_FILTER_TERMS, /* terms, and nodes that join two of them */
	SHOWN_MAX = 24, /* maximum length of the expression in an error */
};

enum oper {
	OPER_EQ,
	OPER_NE,
	OPER_LE,
	OPER_LT,
	OPER_GE,
	OPER_GT,
	OPER_GLOB,
	OPER_NOT_GLOB,
	OPER_AND
};

/* If one operator is a prefix of another, the longer one is first. */
static const struct {
	const char *text;
	enum oper oper;
} opers[] = {
	{ "==", OPER_EQ },	 { "!=", OPER_NE },  { "<=", OPER_LE },
	{ ">=", OPER_GE },	 { "<", OPER_LT },   { ">", OPER_GT },
	{ "!~", OPER_NOT_GLOB }, { "~", OPER_GLOB }, { "&", OPER_AND },
};

enum node_kind { NODE_TERM, NODE_BOTH, NODE_EITHER };

struct node {
	enum node_kind kind;
	bool inverted;
	int left, right; /* node indices; for a term, left is its index */
	int first; /* its leftmost term */
};

struct parser {
	const char *at;
	const struct format_event *format;
	const struct format_field *more;
	size_t more_cnt;
	struct filter *out;
	struct node nodes[NODES_MAX];
	int node_cnt, term_cnt, depth;
	struct buf why;
};

/* What a field name refers to */
struct operand {
	const struct format_field *field;
	bool in_context;
};

static const struct format_field common_pid = {
	.name = "common_pid", .off = 4, .size = 4, .kind = FORMAT_SINT
};
static const struct format_field context_cpu = {
	.name = "CPU",
	.off = offsetof(struct prof_filter_context, cpu),
	.size = 4,
	.kind = FORMAT_UINT,
};
static const struct format_field context_comm = {
	.name = "COMM",
	.off = offsetof(struct prof_filter_context, comm),
	.size = sizeof(((struct prof_filter_context *)NULL)->comm),
	.kind = FORMAT_CHARS,
};

__attribute__((format(printf, 2, 3))) static int fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (!p->why.len && vasprintf(&text, fmt, ap) >= 0) {
		buf_addstr(&p->why, text);
		free(text);
	}
	va_end(ap);
	return -EINVAL;
}

static int fail_here(struct parser *p, const char *wanted)
{
	if (!*p->at)
		return fail(p, "%s is missing at the end", wanted);
	return fail(p, "%s is missing before '%.*s'", wanted, SHOWN_MAX, p->at);
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool accept_word(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (strncmp(p->at, word, strlen(word)))
		return false;
	p->at += strlen(word);
	return true;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static bool is_word(const char *name, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(name, word, len);
}

static bool is_text(const struct format_field *f)
{
	return f->kind == FORMAT_CHARS || f->kind == FORMAT_STRING || f->kind == FORMAT_REL_STRING;
}

static bool is_number(const struct format_field *f)
{
	return (f->kind == FORMAT_UINT || f->kind == FORMAT_SINT || f->kind == FORMAT_BOOL) &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static int unknown_field(struct parser *p, const char *name, size_t len)
{
	const char *comma = "";
	size_t i;

	if (is_word(name, len, "common_flags") || is_word(name, len, "common_preempt_count"))
		return fail(p, "the kernel does not show '%.*s' to programs", (int)len, name);
	buf_printf(&p->why, "%s:%s has no field '%.*s'; it has ", p->format->system,
		   p->format->name, (int)len, name);
	for (i = 0; i < p->format->cnt + p->more_cnt; i++) {
		const struct format_field *f =
			i < p->format->cnt ? &p->format->fields[i] : &p->more[i - p->format->cnt];

		if (!is_text(f) && !is_number(f))
			continue;
		buf_printf(&p->why, "%s%s", comma, f->name);
		comma = ", ";
	}
	buf_printf(&p->why, "%scommon_pid, CPU and COMM", comma);
	return -EINVAL;
}

static int find_field(struct parser *p, const char *name, size_t len, struct operand *out)
{
	size_t i;

	*out = (struct operand){ 0 };
	for (i = 0; i < p->format->cnt && !out->field; i++)
		if (is_word(name, len, p->format->fields[i].name))
			out->field = &p->format->fields[i];
	for (i = 0; i < p->more_cnt && !out->field; i++)
		if (is_word(name, len, p->more[i].name))
			out->field = &p->more[i];
	if (out->field)
		return 0;
	if (is_word(name, len, "common_pid")) {
		out->field = &common_pid;
		return 0;
	}
	out->in_context = true;
	if (is_word(name, len, "CPU") || is_word(name, len, "cpu"))
		out->field = &context_cpu;
	else if (is_word(name, len, "COMM") || is_word(name, len, "comm"))
		out->field = &context_comm;
	return out->field ? 0 : unknown_field(p, name, len);
}

static int parse_field(struct parser *p, struct operand *out)
{
	const char *name;

	skip_blanks(p);
	name = p->at;
	while (isalnum((unsigned char)*p->at) || *p->at == '_')
		p->at++;
	if (p->at == name || isdigit((unsigned char)*name)) {
		p->at = name;
		return fail_here(p, "the name of a field");
	}
	return find_field(p, name, p->at - name, out);
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Parses the value after an operator, without its quotes. Does not copy it. */
static int parse_value(struct parser *p, const char **value, size_t *len)
{
	const char *end;
	char quote;

	skip_blanks(p);
	quote = *p->at;
	if (quote == '"' || quote == '\'') {
		end = strchr(p->at + 1, quote);
		if (!end)
			return fail(p, "a quote is not closed: %.*s", SHOWN_MAX, p->at);
		*value = p->at + 1;
		*len = end - *value;
		p->at = end + 1;
		return 0;
	}
	*value = p->at;
	*len = strcspn(p->at, " \t\n\v\f\r()&|'\"");
	if (!*len)
		return fail_here(p, "a value");
	p->at += *len;
	return 0;
}

static int bad_number(struct parser *p, const struct format_field *f, const char *value, size_t len)
{
	return fail(p, "'%s' is a number of %u byte%s, %s: '%.*s' is none", f->name, f->size,
		    f->size == 1 ? "" : "s", f->kind == FORMAT_SINT ? "signed" : "unsigned",
		    (int)(len < SHOWN_MAX ? len : SHOWN_MAX), value);
}

/*
 * Parses a number as the kernel does: a signed field accepts all values of its width, with or
 * without a sign.
 */
static int parse_number(struct parser *p, const struct format_field *f, const char *value,
			size_t len, uint64_t *out)
{
	bool negative = len && *value == '-', is_signed = f->kind == FORMAT_SINT;
	uint64_t most = f->size == 8 ? UINT64_MAX : (1ULL << 8 * f->size) - 1, v;
	char text[32], *end;
	int shift;

	if (len - negative >= sizeof(text) || len == negative ||
	    !isdigit((unsigned char)value[negative]))
		return bad_number(p, f, value, len);
	memcpy(text, value + negative, len - negative);
	text[len - negative] = '\0';
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || *end || v > most || (negative && !is_signed) || (negative && v > most / 2 + 1))
		return bad_number(p, f, value, len);
	shift = 64 - 8 * f->size;
	v = negative ? -v : v;
	*out = is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
	return 0;
}

/* ---- text -------------------------------------------------------------------------------------- */

/*
 * Finds the end of a class such as [a-z] or [!a-z]. Returns the position after it; NULL if there is
 * none, so the bracket is an ordinary character.
 */
static const char *class_end(const char *at, const char *end)
{
	at += at < end && *at == '!';
	at += at < end && *at == ']';
	while (at < end && *at != ']')
		at++;
	return at < end ? at + 1 : NULL;
}

static void put_class(struct prof_filter_pattern *pat, uint64_t bit, const char *at,
		      const char *end)
{
	bool inverted = *at == '!', in[256] = { false };
	int c, to;

	at += inverted;
	for (end--; at < end; at++) {
		c = to = (unsigned char)*at;
		if (end - at > 2 && at[1] == '-') {
			to = (unsigned char)at[2];
			at += 2;
		}
		for (; c <= to; c++)
			in[c] = true;
	}
	for (c = 1; c < 256; c++)
		if (in[c] != inverted)
			pat->match[c] |= bit;
}

/* Adds the pattern element at *at. @glob: wildcards are special. */
static void put_element(struct prof_filter_pattern *pat, uint64_t bit, const char **at,
			const char *end, bool glob)
{
	const char *after;
	int c;

	if (glob && **at == '?') {
		for (c = 1; c < 256; c++)
			pat->match[c] |= bit;
		++*at;
		return;
	}
	after = glob && **at == '[' ? class_end(*at + 1, end) : NULL;
	if (after) {
		put_class(pat, bit, *at + 1, after);
		*at = after;
		return;
	}
	if (glob && **at == '\\' && *at + 1 < end)
		++*at;
	pat->match[(unsigned char)*(*at)++] |= bit;
}

static int add_pattern(struct parser *p, const char *text, size_t len, bool glob)
{
	struct filter *f = p->out;
	struct prof_filter_pattern *pat;
	const char *end = text + len;
	unsigned int cnt = 0;

	f->patterns = xreallocarray(f->patterns, f->pattern_cnt + 1, sizeof(*f->patterns));
	pat = &f->patterns[f->pattern_cnt];
	memset(pat, 0, sizeof(*pat));
	f->pattern_cnt++;
	while (text < end) {
		if (glob && *text == '*') {
			pat->stars |= 1ULL << cnt;
			text++;
			continue;
		}
		if (cnt == PROF_FILTER_ELEMENTS)
			return fail(p, "'%.*s...' is longer than %d characters", SHOWN_MAX,
				    end - len, PROF_FILTER_ELEMENTS);
		put_element(pat, 1ULL << cnt++, &text, end, glob);
	}
	pat->end = 1ULL << cnt;
	return 0;
}

/* ---- terms ------------------------------------------------------------------------------------- */

static int number_term(struct parser *p, const struct format_field *f, enum oper oper,
		       struct prof_filter_term *t, bool *inverted)
{
	const char *value;
	uint64_t number = 0;
	size_t len;
	int err;

	if (oper == OPER_GLOB || oper == OPER_NOT_GLOB)
		return fail(p, "'%s' is a number: ~ compares text", f->name);
	err = parse_value(p, &value, &len);
	if (err)
		return err;
	if (f->kind == FORMAT_SINT)
		t->flags |= PROF_FILTER_SIGNED;
	t->op = oper == OPER_EQ || oper == OPER_NE ? PROF_FILTER_EQ :
		oper == OPER_LT || oper == OPER_GE ? PROF_FILTER_LT :
		oper == OPER_LE || oper == OPER_GT ? PROF_FILTER_LE :
						     PROF_FILTER_AND;
	*inverted = oper == OPER_NE || oper == OPER_GE || oper == OPER_GT;
	err = parse_number(p, f, value, len, &number);
	if (!err)
		t->value = number;
	return err;
}

static int text_term(struct parser *p, const struct format_field *f, enum oper oper,
		     struct prof_filter_term *t, bool *inverted)
{
	bool glob = oper == OPER_GLOB || oper == OPER_NOT_GLOB;
	const char *value;
	size_t len;
	int err;

	if (!glob && oper != OPER_EQ && oper != OPER_NE)
		return fail(p, "'%s' is text: use ==, !=, ~ or !~", f->name);
	err = parse_value(p, &value, &len);
	if (err)
		return err;
	*inverted = oper == OPER_NE || oper == OPER_NOT_GLOB;
	if (glob && len && *value == '!') {
		*inverted = !*inverted;
		value++;
		len--;
	}
	t->op = f->kind == FORMAT_CHARS	 ? PROF_FILTER_CHARS :
		f->kind == FORMAT_STRING ? PROF_FILTER_LOC :
					   PROF_FILTER_REL_LOC;
	t->value = p->out->pattern_cnt;
	return add_pattern(p, value, len, glob);
}

static int parse_oper(struct parser *p, enum oper *out)
{
	size_t i;

	skip_blanks(p);
	for (i = 0; i < sizeof(opers) / sizeof(opers[0]); i++)
		if (strncmp(p->at, "&&", 2) && accept_word(p, opers[i].text)) {
			*out = opers[i].oper;
			return 0;
		}
	return fail_here(p, "an operator (== != < <= > >= & ~)");
}

static int add_node(struct parser *p, struct node node)
{
	p->nodes[p->node_cnt] = node;
	return p->node_cnt++;
}

static int parse_term(struct parser *p, int *node)
{
	struct prof_filter_term *t;
	struct operand what;
	enum oper oper = OPER_EQ;
	bool inverted = false;
	int err;

	err = parse_field(p, &what);
	if (err)
		return err;
	if (p->term_cnt == PROF_FILTER_TERMS)
		return fail(p, "more than %d comparisons", PROF_FILTER_TERMS);
	if (!is_text(what.field) && !is_number(what.field))
		return fail(p, "'%s' is neither a number nor text", what.field->name);
	t = &p->out->prog.terms[p->term_cnt];
	*t = (struct prof_filter_term){
		.off = what.field->off,
		.size = what.field->size,
		.flags = what.in_context ? PROF_FILTER_CONTEXT : 0,
	};
	err = parse_oper(p, &oper);
	if (!err)
		err = is_text(what.field) ? text_term(p, what.field, oper, t, &inverted) :
					    number_term(p, what.field, oper, t, &inverted);
	if (err)
		return err;
	*node = add_node(p, (struct node){ .kind = NODE_TERM,
					   .inverted = inverted,
					   .left = p->term_cnt,
					   .first = p->term_cnt });
	p->term_cnt++;
	return 0;
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static int parse_either(struct parser *p, int *node);

static int parse_one(struct parser *p, int *node)
{
	int err;

	if (p->depth == DEPTH_MAX)
		return fail(p, "parentheses and ! are more than %d deep", DEPTH_MAX);
	p->depth++;
	if (accept_word(p, "!")) {
		err = parse_one(p, node);
		if (!err)
			p->nodes[*node].inverted = !p->nodes[*node].inverted;
	} else if (accept_word(p, "(")) {
		err = parse_either(p, node);
		if (!err && !accept_word(p, ")"))
			err = fail_here(p, "&&, || or a closing parenthesis");
	} else {
		err = parse_term(p, node);
	}
	p->depth--;
	return err;
}

static int parse_joined(struct parser *p, int *node, enum node_kind kind)
{
	const char *word = kind == NODE_BOTH ? "&&" : "||";
	int left, right, err;

	err = kind == NODE_BOTH ? parse_one(p, &left) : parse_joined(p, &left, NODE_BOTH);
	while (!err && accept_word(p, word)) {
		err = kind == NODE_BOTH ? parse_one(p, &right) : parse_joined(p, &right, NODE_BOTH);
		if (!err)
			left = add_node(p, (struct node){ .kind = kind,
							  .left = left,
							  .right = right,
							  .first = p->nodes[left].first });
	}
	*node = left;
	return err;
}

static int parse_either(struct parser *p, int *node)
{
	return parse_joined(p, node, NODE_EITHER);
}

/* Sets the targets of all terms in a subtree. The depth is at most the number of terms. */
static void branch(struct parser *p, int node, uint8_t on_true, uint8_t on_false)
{
	const struct node *n = &p->nodes[node];
	struct prof_filter_term *t;
	uint8_t swap;

	if (n->inverted) {
		swap = on_true;
		on_true = on_false;
		on_false = swap;
	}
	if (n->kind == NODE_TERM) {
		t = &p->out->prog.terms[n->left];
		t->on_true = on_true;
		t->on_false = on_false;
		return;
	}
	if (n->kind == NODE_BOTH)
		branch(p, n->left, p->nodes[n->right].first, on_false);
	else
		branch(p, n->left, on_true, p->nodes[n->right].first);
	branch(p, n->right, on_true, on_false);
}

int filter_compile(const char *expr, const struct format_event *format,
		   const struct format_field *more, size_t more_cnt, struct filter **out,
		   char **why)
{
	struct parser p = {
		.at = expr,
		.format = format,
		.more = more,
		.more_cnt = more_cnt,
		.out = xcalloc(1, sizeof(*p.out)),
	};
	int root, err;

	err = parse_either(&p, &root);
	skip_blanks(&p);
	if (!err && *p.at)
		err = fail_here(&p, "&& or ||");
	if (err) {
		*why = buf_steal(&p.why);
		filter_free(p.out);
		return err;
	}
	branch(&p, root, PROF_FILTER_TRUE, PROF_FILTER_FALSE);
	buf_free(&p.why);
	*out = p.out;
	return 0;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	free(f->patterns);
	free(f);
}
