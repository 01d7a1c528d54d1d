/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_H
#define D9_SYMBOL_CFI_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer programs are refused: the longest known one has 24 KB. */
#define CFI_PROGRAM_MAX (1u << 20)

struct cfi_state;
struct cfi_patterns;
struct elfimg;

/* Architecture-specific parts of call frame information: cfiarch.h */
struct cfi_arch {
	uint16_t machine; /* EM_* */
	uint8_t fp, sp, ra; /* DWARF numbers of registers */
	uint8_t base; /* a register that functions can preserve, and use instead of fp; 0: none */
	bool signs_ra; /* return addresses may be signed; programs and augmentations use this */
	/* cfirow_of() and cfi_patterns_find() of the architecture */
	uint32_t (*row)(const struct cfi_state *state, uint32_t *big);
	size_t (*known)(const struct elfimg *img, struct cfi_patterns *out);
	/* Whether the file has no section, and `known` finds all that is known about it. */
	bool (*is_bare)(const struct elfimg *img);
};

/* The contents of .eh_frame or .debug_frame, borrowed */
struct cfi_section {
	const struct cfi_arch *arch;
	const uint8_t *data;
	size_t size; /* at most UINT32_MAX */
	uint64_t addr; /* load address */
	bool is_debug; /* .debug_frame */
};

/* Location of the caller's value of a register */
enum cfi_where {
	CFI_UNSAID,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT, /* in memory at CFA + off */
	CFI_IS, /* the value is CFA + off */
	CFI_IN, /* in the register with number off */
	CFI_AT_FP, /* in memory at the frame pointer */
	CFI_OTHER,
};

struct cfi_rule {
	enum cfi_where where;
	int64_t off;
};

enum cfi_cfa {
	CFI_CFA_UNSAID,
	CFI_CFA_REG, /* reg + off */
	CFI_CFA_DEREF, /* *(reg + off) + add */
	CFI_CFA_PLT, /* sp + 8 + 8 * ((ip & 15) >= off) */
	CFI_CFA_OTHER,
};

/* Rules at one place of a function, only for registers that a walk needs */
struct cfi_state {
	enum cfi_cfa cfa;
	bool signal; /* in a signal frame */
	uint64_t reg;
	int64_t off;
	uint64_t add;
	struct cfi_rule fp, sp, ra, base;
};

/* The common part of several functions */
struct cfi_cie {
	uint32_t off; /* in the section */
	bool usable; /* of a known form */
	bool has_data; /* its FDEs have an augmentation */
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial;
};

/* A function; its program is at [program, program + program_sz) of the section */
struct cfi_fde {
	uint64_t start, size; /* link-time address */
	uint32_t program, program_sz;
};

enum cfi_kind {
	CFI_NOTHING, /* end of a part; others may follow */
	CFI_CIE,
	CFI_FDE,
};

/* An entry of the section; body and end are the bounds of its contents */
struct cfi_entry {
	enum cfi_kind kind;
	uint32_t off, body, end;
	uint64_t cie_off; /* of an FDE */
};

/* Finds the entry at *pos and advances *pos. False at the end, and at invalid data. */
bool cfi_next(const struct cfi_section *s, size_t *pos, struct cfi_entry *out);

/* Reads a CIE. Sets usable to false if it cannot be used. */
void cfi_read_cie(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *out);

/*
 * Reads an FDE of a usable CIE; false if it is invalid. Both take time in proportion to the entry's
 * size.
 */
bool cfi_read_fde(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		  struct cfi_fde *out);

/* Called with each state and the first address where it applies, in ascending order. */
typedef void (*cfi_state_fn)(void *ctx, uint64_t addr, const struct cfi_state *state);

/* Runs the program of a function. After an unknown instruction, the rest is CFI_CFA_OTHER. */
void cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	     cfi_state_fn fn, void *ctx);

#endif /* D9_SYMBOL_CFI_CFI_H */
