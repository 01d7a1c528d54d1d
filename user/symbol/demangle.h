/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DEMANGLE_H
#define D9_SYMBOL_DEMANGLE_H

#include <stddef.h>

struct buf;

/* Longer names, mangled or not, are neither demangled nor given whole. */
#define DEMANGLE_MAX 16384

/*
 * Appends the name as people write it: C++ with parameters, Rust without its hash; any other name
 * unchanged. The compiler's ".llvm.123" mark goes.
 */
void demangle_name(struct buf *out, const char *mangled, size_t len);

#endif /* D9_SYMBOL_DEMANGLE_H */
