/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_PLT_H
#define D9_SYMBOL_PLT_H

struct elfimg;
struct symtab;

/*
 * Adds a symbol for each stub in the procedure linkage tables that jumps to a named function of
 * another module. x86-64 only; elsewhere it adds none.
 */
void plt_add_symbols(struct symtab *t, const struct elfimg *img);

#endif /* D9_SYMBOL_PLT_H */
