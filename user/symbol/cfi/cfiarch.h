/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFIARCH_H
#define D9_SYMBOL_CFI_CFIARCH_H

#include "symbol/cfi/cfi.h"

extern const struct cfi_arch cfi_x86_64, cfi_arm64;

/* NULL for a machine (EM_*) whose files get no unwind tables. */
const struct cfi_arch *cfiarch_find(uint16_t machine);

#endif /* D9_SYMBOL_CFI_CFIARCH_H */
