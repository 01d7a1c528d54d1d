/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFITABLE_H
#define D9_SYMBOL_CFI_CFITABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/cfi/cfi.h"
#include "symbol/cfi/cfi_patterns.h"
#include "symbol/cfi/cfipages.h"
#include "symbol/cfi/go_rows.h"
#include "symbol/cfi/gopclntab.h"
#include "symbol/elf/elfimg.h"
#include "symbol/resumable_sort.h"

struct budget;
struct unpack;
struct unwind_table;

/* Code of an FDE, in file offsets */
struct cfitable_range {
	uint64_t start, end;
	uint32_t cie; /* index; CFITABLE_GO: a function of Go, and program is its index */
	uint32_t program, program_sz;
};

#define CFITABLE_GO UINT32_MAX

/* State of building a file's unwind table from .eh_frame or .debug_frame */
struct cfitable {
	const struct elfimg *img;
	uint16_t machine; /* EM_*: other files get no tables */
	const struct cfi_arch *arch; /* of the file */
	struct budget *budget;
	enum { CFITABLE_FIND, CFITABLE_READ, CFITABLE_SORT, CFITABLE_RUN, CFITABLE_DONE } stage;
	struct elfimg_seg segs[ELFIMG_SEGS_MAX]; /* the part that is in the file */
	unsigned int seg_cnt;
	uint64_t text_start, text_end;
	struct cfi_section section;
	struct unpack *unpack; /* while the section is decompressed */
	uint8_t *heap; /* the decompressed section */
	size_t pos;
	struct cfi_cie *cies;
	size_t cie_cnt, cie_cap;
	struct cfitable_range *ranges;
	size_t range_cnt, range_cap, next;
	bool sorted;
	bool bare; /* known code only */
	struct gopclntab go;
	struct go_runtime go_runtime;
	uint64_t go_next; /* function to read */
	struct resumable_sort sort;
	struct cfi_patterns known[CFI_PATTERNS_MAX];
	size_t known_cnt;
	uint64_t done; /* rows exist up to this file offset */
	uint64_t extra; /* bytes of programs that ran more than once, and of code, since the last account */
	struct cfipages pages;
};

/*
 * img and budget are borrowed until cfitable_fini(). For files of this architecture; tests choose
 * another.
 */
void cfitable_init(struct cfitable *c, const struct elfimg *img, struct budget *budget);

/*
 * Continues the build. 0: *out is set, and the caller frees it with unwind_table_free(); -EAGAIN:
 * the slice of the budget is used up, call again; -EDQUOT: the budget or a table limit was reached;
 * -ENODATA: the file has no usable unwind information.
 */
int cfitable_build(struct cfitable *c, struct unwind_table *out);

void cfitable_fini(struct cfitable *c);

#endif /* D9_SYMBOL_CFI_CFITABLE_H */
