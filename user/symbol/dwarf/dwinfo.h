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

/* Longer chains are cut: compilers do not write them. */
#define DWINFO_DEPTH_MAX 128

/* Debug information of one file, indexed on demand */
struct dwinfo;

/* Strings are in the given text buffer, NUL-terminated. */
struct dwinfo_frame {
	size_t name_off, name_len;
	/* the name has neither scope nor parameters, although the language may have them */
	bool plain;
	size_t file_off; /* SIZE_MAX: unknown */
	uint32_t line;
	uint64_t lo, hi; /* range of the out-of-line function that contains the address */
};

/*
 * debug has the debug sections, alt the parts that dwz moved (or NULL), split the parts that the
 * compiler moved (or NULL). Only addresses of exec are used. All of them and the budget are
 * borrowed until dwinfo_free(). Reads nothing yet.
 */
struct dwinfo *dwinfo_new(const struct elfimg *debug, const struct elfimg *alt,
			  struct dwofiles *split, const struct elfimg *exec, struct budget *budget);
void dwinfo_free(struct dwinfo *dw);

/*
 * Appends the frames at addr to out, outermost first, and their strings to text. Returns their
 * number; 0 if there is no function; -EAGAIN: remove the appended strings and call again; -EDQUOT
 * if the budget, also of memory, is used up: the caller must free dw. A unit that exceeds the
 * memory alone is skipped from then on.
 */
int dwinfo_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		  size_t max);

/*
 * The line at addr, for code without a function (assembly), after dwinfo_frames() found none. Sets
 * file_off and line of *out and appends to text as above.
 */
bool dwinfo_line(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out);

/* Whether a unit was skipped because of its size. */
bool dwinfo_left_out(const struct dwinfo *dw);

#endif /* D9_SYMBOL_DWARF_DWINFO_H */
