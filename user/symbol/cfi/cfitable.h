/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFITABLE_H
#define D9_SYMBOL_CFI_CFITABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/cfi/cfi.h"
#include "symbol/cfi/cfi_patterns.h"
#include "symbol/cfi/cfipages.h"
#include "symbol/elf/elfimg.h"
#include "symbol/resumable_sort.h"

struct budget;
struct unpack;
struct unwind_table;

/* An FDE's code, in file offsets. */
struct cfitable_range {
	uint64_t start, end;
	uint32_t cie; /* index */
	uint32_t program, program_sz;
};

/* The building of a file's unwind table, from its .eh_frame or .debug_frame. */
struct cfitable {
	const struct elfimg *img;
	uint16_t machine; /* EM_*: only its files get tables */
	const struct cfi_arch *arch; /* its own */
	struct budget *budget;
	enum { CFITABLE_FIND, CFITABLE_READ, CFITABLE_SORT, CFITABLE_RUN, CFITABLE_DONE } stage;
	struct elfimg_seg segs[ELFIMG_SEGS_MAX]; /* as far as they are in the file */
	unsigned int seg_cnt;
	uint64_t text_start, text_end;
	struct cfi_section section;
	struct unpack *unpack; /* while the section is decompressed */
	uint8_t *heap; /* the section, when it was */
	size_t pos;
	struct cfi_cie *cies;
	size_t cie_cnt, cie_cap;
	struct cfitable_range *ranges;
	size_t range_cnt, range_cap, next;
	bool sorted;
	bool bare; /* known code is all there is */
	struct resumable_sort sort;
	struct cfi_patterns known[CFI_PATTERNS_MAX];
	size_t known_cnt;
	uint64_t done; /* file offset up to which there are rows */
	struct cfipages pages;
};

/* Image and budget are borrowed until cfitable_fini(). Of this machine's files; tests choose another. */
void cfitable_init(struct cfitable *c, const struct elfimg *img, struct budget *budget);

/*
 * Builds on. 0: *out is filled, and the caller's to free with unwind_table_free(); -EAGAIN: the
 * budget's slice is used up, call again; -EDQUOT: the budget, or a bound on tables, is; -ENODATA:
 * the file has no unwind information that can be used.
 */
int cfitable_build(struct cfitable *c, struct unwind_table *out);

void cfitable_fini(struct cfitable *c);

#endif /* D9_SYMBOL_CFI_CFITABLE_H */
