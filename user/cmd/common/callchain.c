// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as text, folded and as JSON: one walk over functions, inlined ones too, and three printers. */
#include "cmd/common/callchain.h"

#include "base/json.h"
#include "cmd/common/report_text.h"
#include "cmd/common/symbol_fit.h"

/* One function of a stack; name NAMES_NONE: unknown. */
struct callee {
	uint64_t frame;
	uint32_t name;
	bool inlined;
};

struct style {
	const struct names *names;
	enum callchain_part part;
	size_t indent, cols;
	bool root_first;
	size_t begin; /* of the output */
	void (*put)(struct buf *out, const struct style *s, const struct callee *c);
};

static bool is_shown(const struct style *s, uint64_t frame)
{
	const bool kernel = frame & PROF_FRAME_KERNEL;

	return s->part == CALLCHAIN_BOTH || kernel == (s->part == CALLCHAIN_KERNEL);
}

static void put_frame(struct buf *out, const struct style *s, uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(s->names, frame);
	const uint32_t cnt = sym && sym->cnt ? sym->cnt : 1;

	for (uint32_t i = 0; i < cnt; i++) {
		const uint32_t depth = s->root_first ? i : cnt - 1 - i;
		const struct callee c = { .frame = frame,
					  .name = sym && sym->cnt ? sym->frames[depth].name :
								    NAMES_NONE,
					  .inlined = depth > 0 };

		if (!depth || names_symbol_is_printed(sym, depth))
			s->put(out, s, &c);
	}
}

static void walk(struct buf *out, struct style *s, const uint64_t *frames, uint32_t cnt)
{
	s->begin = out->len;
	for (uint32_t i = 0; i < cnt; i++) {
		const uint64_t frame = frames[s->root_first ? cnt - 1 - i : i];

		if (is_shown(s, frame))
			put_frame(out, s, frame);
	}
}

static void put_line(struct buf *out, const struct style *s, const struct callee *c)
{
	struct buf name = { 0 }, behind = { 0 };
	size_t taken;

	value_text_name(&name, s->names, c->name);
	buf_addstr(&behind, c->inlined ? " (inlined)" : " (");
	if (!c->inlined) {
		value_text_module_base(&behind, s->names, names_frame_module(c->frame));
		buf_addch(&behind, ')');
	}
	taken = s->indent + value_text_width(buf_cstr(&behind), behind.len);
	buf_fill(out, ' ', s->indent);
	symbol_fit_name(out, buf_cstr(&name), name.len,
			!s->cols	? 0 :
			s->cols > taken ? s->cols - taken :
					  1);
	buf_add(out, behind.data, behind.len);
	buf_addch(out, '\n');
	buf_free(&behind);
	buf_free(&name);
}

void callchain_lines(struct buf *out, const struct names *n, const uint64_t *frames, uint32_t cnt,
		     enum callchain_part part, size_t indent, size_t cols)
{
	struct style s = {
		.names = n, .part = part, .indent = indent, .cols = cols, .put = put_line
	};

	walk(out, &s, frames, cnt);
}

static void put_folded(struct buf *out, const struct style *s, const struct callee *c)
{
	size_t from;

	if (out->len > s->begin)
		buf_addch(out, ';');
	from = out->len;
	value_text_function(out, s->names, c->name, c->inlined);
	value_text_fold(out, from);
}

void callchain_folded(struct buf *out, const struct names *n, const uint64_t *frames, uint32_t cnt,
		      enum callchain_part part)
{
	struct style s = { .names = n, .part = part, .root_first = true, .put = put_folded };

	walk(out, &s, frames, cnt);
}

static void put_json(struct buf *out, const struct style *s, const struct callee *c)
{
	json_object(out, NULL);
	value_text_json_name(out, "sym", s->names, c->name);
	value_text_json_module(out, "dso", s->names, names_frame_module(c->frame));
	if (c->inlined)
		json_bool(out, "inlined", true);
	json_end(out, "}");
}

void callchain_json(struct buf *out, const char *key, const struct names *n, const uint64_t *frames,
		    uint32_t cnt, enum callchain_part part)
{
	struct style s = { .names = n, .part = part, .put = put_json };

	json_array(out, key);
	walk(out, &s, frames, cnt);
	json_end(out, "]");
}
