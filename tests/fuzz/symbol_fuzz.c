// SPDX-License-Identifier: BSD-2-Clause
/*
 * An untrusted ELF file: symbols and frames all over it, twice, with little memory, so that debug information
 * is released and read again; and the same in slices, which the input selects. It is also used as its own debug
 * file and package.
 *
 * Asserted are the promises of symbolizer.h that hold for any input: strings end where their length says, an
 * answer has a name, memory stays within its bound, and slices change no answer. The sanitizers check the rest.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/dwarf/symbolizer.h"

#define MEM_MAX (8u << 20)
#define SAMPLES 48
#define FRAMES_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same file read in one go and in slices. */
struct pair {
	struct symbolizer *whole, *sliced;
	uint64_t slice_ns;
};

/* A symbolizer_open_fn. */
static int open_itself(void *ctx, const struct symbolizer_want *want)
{
	const int *fd = ctx;

	if ((want->kind != SYMBOLIZER_WANT_DWO && want->kind != SYMBOLIZER_WANT_DWP) || want->skip)
		return -ENOENT;
	return dup(*fd);
}

static void check_frame(const struct symbolizer_frame *f)
{
	assert(f->name && strlen(f->name) <= f->name_len);
	assert(!f->file || strlen(f->file) < 1 << 20);
}

static void check_same(const struct symbolizer_frame *a, const struct symbolizer_frame *b)
{
	assert(a->name_len == b->name_len && !memcmp(a->name, b->name, a->name_len));
	assert(!a->file == !b->file && (!a->file || !strcmp(a->file, b->file)));
	assert(a->line == b->line && a->start == b->start && a->size == b->size);
}

static void find_name(struct pair *p, uint64_t off)
{
	struct symbolizer_frame a, b;
	int ret = symbolizer_name(p->whole, off, &a), again;

	do {
		symbolizer_slice(p->sliced, p->slice_ns);
		again = symbolizer_name(p->sliced, off, &b);
	} while (again == -EAGAIN);
	assert(ret == again && ret >= 0);
	if (!ret)
		return;
	check_frame(&a);
	check_same(&a, &b);
}

static void find_frames(struct pair *p, uint64_t off)
{
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX];
	int cnt = symbolizer_frames(p->whole, off, a, FRAMES_MAX), again, i;

	do {
		symbolizer_slice(p->sliced, p->slice_ns);
		again = symbolizer_frames(p->sliced, off, b, FRAMES_MAX);
	} while (again == -EAGAIN);
	assert(cnt == again && cnt >= 0 && cnt <= FRAMES_MAX);
	for (i = 0; i < cnt; i++) {
		check_frame(&a[i]);
		check_same(&a[i], &b[i]);
	}
}

static void look_up_everywhere(struct pair *p, size_t size)
{
	size_t step = size / SAMPLES + 1, off;

	for (off = 0; off < size; off += step) {
		find_name(p, off);
		find_frames(p, off);
		assert(symbolizer_dwarf_mem(p->whole) <= MEM_MAX);
		assert(symbolizer_dwarf_mem(p->sliced) <= MEM_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	/* no time limit: where it ends would depend on the machine */
	const struct symbolizer_cfg cfg = {
		.open_debug = open_itself,
		.open_ctx = &fd,
		.dwarf_mem_max = MEM_MAX,
		.cpu_max_ns = UINT64_MAX,
		.entries_max = 200000,
	};
	struct pair p = { 0 };
	uint8_t *copy;

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* exactly as large as the file, so that a sanitizer detects a read one byte too far */
	copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	if (!symbolizer_open_mem(copy, size, &cfg, &p.whole)) {
		assert(!symbolizer_open_mem(copy, size, &cfg, &p.sliced));
		/* 0: as often as possible */
		p.slice_ns = data[size - 1] % 2 ? 0 : data[size - 1] * 100u;
		look_up_everywhere(&p, size);
		symbolizer_drop_dwarf(p.whole);
		symbolizer_drop_dwarf(p.sliced);
		assert(!symbolizer_dwarf_mem(p.whole));
		look_up_everywhere(&p, size);
		assert(symbolizer_gave_up(p.whole) == symbolizer_gave_up(p.sliced));
	}
	symbolizer_free(p.whole);
	symbolizer_free(p.sliced);
	free(copy);
	close(fd);
	return 0;
}
