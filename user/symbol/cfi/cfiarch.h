/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIARCH_H
#define D9_SYMBOL_CFI_CFIARCH_H

#include "symbol/cfi/cfi.h"

extern const struct cfi_arch cfi_x86_64, cfi_arm64;

/* NULL if there are no unwind tables for files of this architecture (EM_*). */
const struct cfi_arch *cfiarch_find(uint16_t machine);

#endif /* D9_SYMBOL_CFI_CFIARCH_H */
