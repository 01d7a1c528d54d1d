/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_GO_ROWS_H
#define D9_SYMBOL_CFI_GO_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/cfi/gopclntab.h"

struct elfimg;

/* What functions of Go's runtime show about its data */
struct go_runtime {
	uint32_t goroutine; /* packed offsets: PROF_UNWIND_GO in prof_unwind.h; 0: unknown */
};

/* Called with each row, its big word (0: none), and the first address where it applies. */
typedef void (*go_row_fn)(void *ctx, uint64_t addr, uint32_t row, uint32_t big);

/* Notes what a function shows; call for all functions before go_rows_put(). */
void go_rows_learn(struct go_runtime *r, const struct elfimg *img, const struct gopclntab_func *f);

/* The rows of an x86-64 function, from its first address on */
void go_rows_put(const struct go_runtime *r, const struct elfimg *img, const struct gopclntab *t,
		 const struct gopclntab_func *f, go_row_fn put, void *ctx);

#endif /* D9_SYMBOL_CFI_GO_ROWS_H */
