/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWINFO_H
#define D9_SYMBOL_DWINFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct buf;
struct elfimg;

/* Deeper chains are cut: no compiler writes them. */
#define DWINFO_DEPTH_MAX 128

/* Debug information of one file, indexed as far as it was needed. */
struct dwinfo;

/* Strings are in the text buffer given, NUL-terminated. */
struct dwinfo_frame {
	size_t name_off, name_len;
	bool plain; /* the name has neither scope nor parameters, though the language may know them */
	size_t file_off; /* SIZE_MAX = unknown */
	uint32_t line;
	uint64_t lo, hi; /* the out-of-line function's range of addresses that was hit */
};

/*
 * debug has the debug sections (alt: what dwz moved out of them, or NULL), exec the addresses that
 * count. They and the budget are borrowed until dwinfo_free(). Returns 0, -ENODATA when there is
 * nothing usable in it, -EFBIG when just listing the units would take more than the budget's memory,
 * -EDQUOT when the budget is used up.
 */
int dwinfo_new(const struct elfimg *debug, const struct elfimg *alt, const struct elfimg *exec,
	       struct budget *budget, struct dwinfo **out);
void dwinfo_free(struct dwinfo *dw);

/*
 * Frames at addr, outermost first; strings are appended to text. Returns their number, 0 when there
 * is no function, -E2BIG when the unit around addr did not fit in what is left of the budget: free
 * this dwinfo and try with a new one.
 */
int dwinfo_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		  size_t max);

/*
 * The line at addr, for code that no function claims (assembly): fills file_off and line of *out
 * and appends to text as above.
 */
bool dwinfo_line(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out);

/* Bytes held, estimated. */
size_t dwinfo_mem(const struct dwinfo *dw);

/* Whether any unit is indexed in it. */
bool dwinfo_used(const struct dwinfo *dw);

#endif /* D9_SYMBOL_DWINFO_H */
