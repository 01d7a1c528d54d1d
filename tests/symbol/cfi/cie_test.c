// SPDX-License-Identifier: BSD-2-Clause
/* Which headers of CIEs are understood, byte by byte. */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <string.h>

#include "symbol/cfi/cfiarch.h"

/* What follows the version: no letters, alignments of 1 and -8, the return address in 16. */
#define REST "\0\1\x78\x10"
#define PROGRAM "\x0c\7\x20" /* DW_CFA_def_cfa: 7 + 32 */

/* Reads an entry of .debug_frame with these contents. */
static struct cfi_cie read_cie(const char *body, size_t sz)
{
	uint8_t data[64] = { 0 };
	const struct cfi_section s = {
		.arch = &cfi_x86_64, .data = data, .size = 8 + sz, .is_debug = true
	};
	const uint32_t len = 4 + sz, id = UINT32_MAX;
	struct cfi_entry e;
	struct cfi_cie cie;
	size_t pos = 0;

	cr_assert_leq(8 + sz, sizeof(data));
	memcpy(data, &len, 4);
	memcpy(data + 4, &id, 4);
	memcpy(data + 8, body, sz);
	cr_assert(cfi_next(&s, &pos, &e));
	cr_assert_eq(e.kind, CFI_CIE);
	cfi_read_cie(&s, &e, &cie);
	return cie;
}

#define expect_known(body)                                                                         \
	do {                                                                                       \
		const struct cfi_cie cie_ = read_cie(body, sizeof(body) - 1);                      \
		cr_expect(cie_.usable, #body);                                                     \
		cr_expect_eq(cie_.code_align, 1, #body);                                           \
		cr_expect_eq(cie_.data_align, -8, #body);                                          \
		cr_expect_eq(cie_.initial.cfa, CFI_CFA_REG, #body);                                \
		cr_expect_eq(cie_.initial.reg, 7, #body);                                          \
		cr_expect_eq(cie_.initial.off, 32, #body);                                         \
	} while (0)
#define expect_unknown(body) cr_expect_not(read_cie(body, sizeof(body) - 1).usable, #body)

Test(cie, versions_1_3_and_4_are_known)
{
	expect_known("\1" REST PROGRAM);
	expect_known("\3" REST PROGRAM);
	expect_known("\4\0\x08\0\1\x78\x10" PROGRAM);
	expect_unknown("\0" REST PROGRAM);
	expect_unknown("\2" REST PROGRAM);
	expect_unknown("\5\0\x08\0\1\x78\x10" PROGRAM);
	expect_unknown("\5" REST PROGRAM);
}

/* Only version 4 has these fields, which must be 8 and 0. */
Test(cie, addresses_need_8_bytes_and_segments_are_refused)
{
	expect_unknown("\4\0\x04\0\1\x78\x10" PROGRAM);
	expect_unknown("\4\0\x08\1\1\x78\x10" PROGRAM);
	expect_unknown("\4\0\0\x08\1\x78\x10" PROGRAM);
	expect_unknown("\4" REST PROGRAM);
}

/* A byte in version 1, a number of any length later. */
Test(cie, return_address_column_has_two_forms)
{
	expect_known("\3\0\1\x78\x90\0" PROGRAM);
	expect_known("\4\0\x08\0\1\x78\x90\0" PROGRAM);
	expect_unknown("\1\0\1\x78\x90\0" PROGRAM);
	expect_unknown("\3\0\1\x78\x11" PROGRAM);
}
