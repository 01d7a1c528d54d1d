// SPDX-License-Identifier: BSD-2-Clause
/* The supported architectures */
#include "symbol/cfi/cfiarch.h"

const struct cfi_arch *cfiarch_find(uint16_t machine)
{
	static const struct cfi_arch *const all[] = { &cfi_x86_64, &cfi_arm64 };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}
