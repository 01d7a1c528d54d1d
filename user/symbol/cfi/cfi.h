/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_H
#define D9_SYMBOL_CFI_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer programs make no sense: the longest seen has 24 KB. */
#define CFI_PROGRAM_MAX (1u << 20)

struct cfi_state;
struct cfi_patterns;
struct elfimg;

/* What call frame information of a machine has of its own: cfiarch.h. */
struct cfi_arch {
	uint16_t machine; /* EM_* */
	uint8_t fp, sp, ra; /* registers by DWARF's numbers */
	bool signs_ra; /* return addresses may be signed, which programs and augmentations mention */
	/* cfirow_of() and cfi_patterns_find() of that machine */
	uint32_t (*row)(const struct cfi_state *state, uint32_t *big);
	size_t (*known)(const struct elfimg *img, struct cfi_patterns *out);
	/* Whether what `known` finds is all that there is to say of the file, which has no section. */
	bool (*is_bare)(const struct elfimg *img);
};

/* The bytes of .eh_frame or .debug_frame, borrowed. */
struct cfi_section {
	const struct cfi_arch *arch;
	const uint8_t *data;
	size_t size; /* at most UINT32_MAX */
	uint64_t addr; /* where it is loaded */
	bool is_debug; /* .debug_frame */
};

/* Where the caller has a register of his. */
enum cfi_where {
	CFI_UNSAID,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_AT, /* in memory at CFA + off */
	CFI_IS, /* it is CFA + off */
	CFI_IN, /* in the register of number off */
	CFI_AT_FP, /* in memory where the frame pointer points */
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

/* What is known at one place of a function; of the registers only those that a walk needs. */
struct cfi_state {
	enum cfi_cfa cfa;
	bool signal; /* in the frame of a signal handler's caller */
	uint64_t reg;
	int64_t off;
	uint64_t add;
	struct cfi_rule fp, sp, ra;
};

/* What several functions have in common. */
struct cfi_cie {
	uint32_t off; /* in the section */
	bool usable; /* of a form that is known */
	bool has_data; /* its FDEs have an augmentation */
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial;
};

/* A function: its rules are a program at [program, program + program_sz) of the section. */
struct cfi_fde {
	uint64_t start, size; /* link-time address */
	uint32_t program, program_sz;
};

enum cfi_kind {
	CFI_NOTHING, /* the end of a part; others may follow */
	CFI_CIE,
	CFI_FDE,
};

/* An entry of the section; body and end are where its contents lie. */
struct cfi_entry {
	enum cfi_kind kind;
	uint32_t off, body, end;
	uint64_t cie_off; /* of an FDE */
};

/* Finds the entry at *pos and moves on. False at the end, also that of what makes sense. */
bool cfi_next(const struct cfi_section *s, size_t *pos, struct cfi_entry *out);

/* Reads a CIE; one that cannot be used is one too. */
void cfi_read_cie(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *out);

/* Reads an FDE of a usable CIE; false when it makes no sense. Both take time as the entry's size. */
bool cfi_read_fde(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		  struct cfi_fde *out);

/* Gets each state with the address from which on it holds; these rise. */
typedef void (*cfi_state_fn)(void *ctx, uint64_t addr, const struct cfi_state *state);

/* Runs a function's program. What cannot be understood makes the rest of it CFI_CFA_OTHER. */
void cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	     cfi_state_fn fn, void *ctx);

#endif /* D9_SYMBOL_CFI_CFI_H */
