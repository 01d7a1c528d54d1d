// SPDX-License-Identifier: BSD-2-Clause
/* The functions of stacks, and their text. Independent of SQL. */
#include "query/stack_names.h"

#include "base/alloc.h"
#include "base/str.h"

static void set_function(const struct stack_names *s, uint64_t frame, uint32_t depth,
			 struct stack_names_function *out)
{
	const struct names_symbol *sym = names_symbol(s->names, frame);
	const struct names_frame *line;

	*out = (struct stack_names_function){
		.frame = frame, .name = NAMES_NONE, .file = NAMES_NONE, .inlined = depth > 0
	};
	if (!sym || depth >= sym->cnt)
		return;
	line = names_symbol_line(sym, depth);
	out->name = sym->frames[depth].name;
	out->file = line->file;
	out->line = line->line;
}

bool stack_names_next(struct stack_names *s, struct stack_names_function *out)
{
	const struct names_symbol *sym;

	for (;;) {
		if (!s->left) {
			if (s->at == s->cnt)
				return false;
			sym = names_symbol(s->names, s->frames[s->at++]);
			s->left = sym && sym->cnt ? sym->cnt : 1;
		}
		s->left--;
		sym = names_symbol(s->names, s->frames[s->at - 1]);
		if (s->left && !names_symbol_is_printed(sym, s->left))
			continue;
		set_function(s, s->frames[s->at - 1], s->left, out);
		return true;
	}
}

void stack_names_put(struct buf *out, const struct names *n, const struct stack_names_function *f)
{
	const char *s;
	size_t len;

	if (f->name == NAMES_NONE) {
		buf_addstr(out, "[unknown]");
	} else {
		s = names_str(n, f->name, &len);
		str_printable(out, s, len);
	}
	if (f->inlined)
		buf_addstr(out, " (inlined)");
}

static void put_part(struct buf *out, const struct names *n, const struct stack_names_function *f)
{
	const size_t from = out->len;

	stack_names_put(out, n, f);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
}

void stack_names_put_folded(struct buf *out, const struct names *n, const uint64_t *frames,
			    uint32_t cnt)
{
	for (uint32_t i = cnt; i > 0; i--) {
		const uint64_t frame = frames[i - 1];
		const struct names_symbol *sym = names_symbol(n, frame);
		const struct stack_names s = { .names = n };
		const uint32_t depths = sym && sym->cnt ? sym->cnt : 1;

		for (uint32_t depth = 0; depth < depths; depth++) {
			struct stack_names_function f;

			if (depth && !names_symbol_is_printed(sym, depth))
				continue;
			set_function(&s, frame, depth, &f);
			if (out->len)
				buf_addch(out, ';');
			put_part(out, n, &f);
		}
	}
}
