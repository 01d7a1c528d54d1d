/* SPDX-License-Identifier: BSD-2-Clause */
/* arm64.h - instructions of arm64 that several files recognise */
#ifndef D9_SYMBOL_ELF_ARM64_H
#define D9_SYMBOL_ELF_ARM64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	ARM64_INSN_SZ = 4,
	ARM64_BTI_C = 0xd503245f,
};

/* The instruction at @pos of @size bytes of code; 0 if it is not completely in them. */
static inline uint32_t arm64_insn(const uint8_t *code, size_t size, uint64_t pos)
{
	uint32_t insn = 0;

	if (pos <= size && size - pos >= sizeof(insn))
		memcpy(&insn, code + pos, sizeof(insn));
	return insn;
}

#endif /* D9_SYMBOL_ELF_ARM64_H */
