// SPDX-License-Identifier: BSD-2-Clause
/*
 * --filter: an expression, up to the first NUL, and a record after it. A compiled program jumps forward only,
 * ends, has patterns for all its texts, and never reads outside its buffer.
 */
#define PROF_FILTER_HERE
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/filter.h"

enum { PLACE = 256, FIELD_CNT = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static const struct filter *running;

static int prof_filter_text(const __u8 *bytes, __u32 mask, __u32 off, __u32 n, __u32 pattern)
{
	assert(pattern < running->pattern_cnt);
	assert(off + n <= mask + 1);
	return prof_filter_match(&running->patterns[pattern], bytes, mask, off, n);
}

static int goes_forward(const struct filter *f)
{
	for (unsigned int i = 0; i < PROF_FILTER_TERMS; i++) {
		const struct prof_filter_term *t = &f->prog.terms[i];

		if (!t->size)
			continue;
		if (t->on_true <= i || t->on_false <= i)
			return 0;
		if ((t->on_true >= PROF_FILTER_TERMS && t->on_true < PROF_FILTER_TRUE) ||
		    (t->on_false >= PROF_FILTER_TERMS && t->on_false < PROF_FILTER_TRUE))
			return 0;
	}
	return 1;
}

static void run(const struct filter *f, const uint8_t *record, size_t len)
{
	uint8_t *bytes = calloc(1, PLACE + 8); /* from the heap, with checked ends */

	if (len > PLACE - sizeof(struct prof_filter_context))
		len = PLACE - sizeof(struct prof_filter_context);
	memcpy(bytes, record, len);
	running = f;
	assert(prof_filter_run(&f->prog, bytes, PLACE - 1, (uint32_t)len) >> 1 == 0);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static char names[FIELD_CNT][2] = { "n", "u", "t", "d", "r" };
	static struct format_field fields[FIELD_CNT] = {
		{ .name = names[0], .off = 8, .size = 8, .kind = FORMAT_SINT },
		{ .name = names[1], .off = 16, .size = 2, .kind = FORMAT_UINT },
		{ .name = names[2], .off = 18, .size = 6, .kind = FORMAT_CHARS },
		{ .name = names[3], .off = 24, .size = 4, .kind = FORMAT_STRING },
		{ .name = names[4], .off = 28, .size = 4, .kind = FORMAT_REL_STRING },
	};
	struct format_event format = {
		.system = names[0], .name = names[1], .fields = fields, .cnt = FIELD_CNT
	};
	char *expr = strndup((const char *)data, sz), *why = NULL;
	size_t len = strlen(expr);
	struct filter *f;

	if (filter_compile(expr, &format, NULL, 0, &f, &why)) {
		assert(why && *why);
		free(why);
	} else {
		assert(goes_forward(f));
		run(f, data + len, sz - len);
		filter_free(f);
	}
	free(expr);
	return 0;
}
