/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DEMANGLE_H
#define D9_SYMBOL_DEMANGLE_H

#include <stddef.h>

struct buf;

/* Longer names are cut and not demangled. */
#define DEMANGLE_MAX 16384

/*
 * Appends the source name: C++ with parameters, Rust without its hash; other names unchanged.
 * Removes the compiler's ".llvm.123" suffix.
 */
void demangle_name(struct buf *out, const char *mangled, size_t len);

#endif /* D9_SYMBOL_DEMANGLE_H */
