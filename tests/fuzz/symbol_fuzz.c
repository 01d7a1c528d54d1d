// SPDX-License-Identifier: BSD-2-Clause
/*
 * An ELF file that anyone may have written: names and frames all over it, twice, with little
 * memory, so that giving debug information back and reading it again are part of it.
 *
 * Asserted are the promises of symbolizer.h that hold for any input: strings end where their length
 * says, an answer has a name, and memory stays near its bound. The rest is the sanitizers' work.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbolizer.h"

#define MEM_MAX (8u << 20)
#define SAMPLES 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const struct symbolizer_frame *f)
{
	assert(f->name && strlen(f->name) <= f->name_len);
	assert(!f->file || strlen(f->file) < 1 << 20);
}

static void ask_everywhere(struct symbolizer *sym, size_t size)
{
	size_t step = size / SAMPLES + 1, off, i, cnt;
	struct symbolizer_frame f[32];

	for (off = 0; off < size; off += step) {
		if (symbolizer_name(sym, off, f) == 1)
			check_frame(f);
		cnt = symbolizer_frames(sym, off, f, 32);
		assert(cnt <= 32);
		for (i = 0; i < cnt; i++)
			check_frame(&f[i]);
		assert(symbolizer_dwarf_mem(sym) <= 4 * MEM_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbolizer_cfg cfg = { .dwarf_mem_max = MEM_MAX };
	struct symbolizer *sym;
	uint8_t *copy;

	/* libelf may write into the image */
	copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	if (!symbolizer_open_mem(copy, size, &cfg, &sym)) {
		ask_everywhere(sym, size);
		symbolizer_drop_dwarf(sym);
		ask_everywhere(sym, size);
		symbolizer_free(sym);
	}
	free(copy);
	return 0;
}
