/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SYMBOL_FORGE_H
#define D9_TESTS_SYMBOL_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Code of a forged file: offsets are addresses. */
#define FORGE_CODE 0x1000ull
#define FORGE_CODE_SIZE 0x100000ull

#define FORGE_SECTIONS_MAX 16

struct forge_section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, addr, size, entsize;
	struct buf data;
};

/* An ELF file that is built section by section. */
struct forge {
	struct forge_section sections[FORGE_SECTIONS_MAX]; /* 0 is the empty one */
	unsigned int cnt;
	uint16_t machine; /* default EM_X86_64 */
	uint64_t entry; /* where it starts */
	uint64_t code_sz; /* of its one segment */
};

/* Begins a file with code at FORGE_CODE. */
void forge_init(struct forge *f);
/* A section of SHT_PROGBITS to write to. */
struct buf *forge_section(struct forge *f, const char *name);
/* The section that was added last. */
struct forge_section *forge_last(struct forge *f);
/* A symbol table with one function, "innocent", that covers all of the code. */
void forge_innocent(struct forge *f);
/* The file's bytes: free() them. Frees the rest. */
void *forge_finish(struct forge *f, size_t *size);

void forge_num(struct buf *b, uint64_t v, unsigned int sz);
void forge_uleb(struct buf *b, uint64_t v);
void forge_zeros(struct buf *b, size_t n);

/* A DWARF 4 unit header; forge_unit_end() fills in the length. Returns where it is. */
size_t forge_unit(struct buf *info);
void forge_unit_end(struct buf *info, size_t at);
/* An abbreviation: pairs of attribute and form, then 0. */
void forge_abbrev(struct buf *abbrev, unsigned int code, unsigned int tag, int children, ...);

#endif /* D9_TESTS_SYMBOL_FORGE_H */
