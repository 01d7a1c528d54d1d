/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_GOPCLNTAB_H
#define D9_SYMBOL_CFI_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

/* Longer names are not read: none of the runtime's is. */
#define GOPCLNTAB_NAME_MAX 64

/* Go's table of functions, which stripped files keep. {0}: the file has none. */
struct gopclntab {
	const uint8_t *data;
	size_t size;
	uint64_t func_cnt;
	uint64_t text; /* link-time address that the table's positions are relative to */
	uint64_t names, pcs, funcs; /* offsets of its parts */
	uint32_t quantum; /* of code positions, in bytes */
	bool narrow; /* positions are 32-bit and relative (Go 1.18 and later) */
	uint8_t flags_at; /* offset of a function's flags */
};

enum gopclntab_flags {
	GOPCLNTAB_OUTERMOST = 1,
	GOPCLNTAB_WRITES_SP = 2, /* in ways that the table does not show */
};

struct gopclntab_func {
	uint64_t start, end; /* link-time addresses */
	const char *name; /* borrowed from the file; "" if it is long */
	uint8_t flags; /* enum gopclntab_flags */
	uint32_t depths; /* for gopclntab_depths() */
};

/* The sizes of a function's frame, one code range after the other */
struct gopclntab_depths {
	const struct gopclntab *table;
	uint64_t pos;
	uint64_t start, end; /* link-time addresses of this range */
	uint64_t func_end;
	int64_t depth; /* bytes between the stack pointer and the return address */
	bool started;
};

/* Finds the table of Go 1.16 or later. False, and {0}, if there is none that is usable. */
bool gopclntab_open(struct gopclntab *t, const struct elfimg *img);

/* Function i of func_cnt; they are sorted in sound files. False if it is damaged. */
bool gopclntab_func(const struct gopclntab *t, uint64_t i, struct gopclntab_func *out);

void gopclntab_depths(struct gopclntab_depths *d, const struct gopclntab *t,
		      const struct gopclntab_func *f);
/* Finds the next range; false at the end, and at invalid data. */
bool gopclntab_next(struct gopclntab_depths *d);

#endif /* D9_SYMBOL_CFI_GOPCLNTAB_H */
