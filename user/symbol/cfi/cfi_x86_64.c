// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: cfirow.c has its rows, cfi_patterns.c its known code. */
#include <elf.h>

#include "symbol/cfi/cfi_patterns.h"
#include "symbol/cfi/cfiarch.h"
#include "symbol/cfi/cfirow.h"

const struct cfi_arch cfi_x86_64 = {
	.machine = EM_X86_64,
	.fp = 6,
	.sp = 7,
	.ra = 16,
	.base = 3,
	.row = cfirow_of,
	.known = cfi_patterns_find,
};
