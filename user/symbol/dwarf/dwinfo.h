/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWINFO_H
#define D9_SYMBOL_DWARF_DWINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct buf;
struct dwofiles;
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
 * debug has the debug sections (alt: what dwz moved out of them, or NULL), split what the compiler moved
 * out of them (NULL = nothing), exec the addresses that count. They and the budget are borrowed until
 * dwinfo_free(). Reads nothing yet.
 */
struct dwinfo *dwinfo_new(const struct elfimg *debug, const struct elfimg *alt,
			  struct dwofiles *split, const struct elfimg *exec, struct budget *budget);
void dwinfo_free(struct dwinfo *dw);

/*
 * Frames at addr, outermost first; strings are appended to text. Returns their number, 0 when there
 * is no function, -EAGAIN (call again, with what was appended taken away), or -EDQUOT when the
 * budget is used up, of memory as well: then this has to be freed. A unit that alone needs more
 * memory than there is, is left out from then on.
 */
int dwinfo_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		  size_t max);

/*
 * The line at addr, for code that no function claims (assembly), after dwinfo_frames() found none:
 * fills file_off and line of *out and appends to text as above.
 */
bool dwinfo_line(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out);

/* Whether a unit was left out because of its size. */
bool dwinfo_left_out(const struct dwinfo *dw);

#endif /* D9_SYMBOL_DWARF_DWINFO_H */
