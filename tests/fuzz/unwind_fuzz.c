// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables of untrusted files, and untrusted tables. The first byte selects: a whole ELF file, its
 * .eh_frame or .debug_frame alone (the next two bytes are where it is loaded), the words of a table, or an
 * .eh_frame of arm64.
 *
 * Asserted are the promises of cfitable.h and table.h: a built table passes the check and covers the text,
 * slices change nothing, memory is released; and in any table that passes the check each place has a row.
 */
#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unwind_check.h"

#define TEXT_OFF 0x1000
#define TEXT_SZ 0x8000
#define FRAMES_OFF (TEXT_OFF + TEXT_SZ)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum mode { WHOLE_FILE, EH_FRAME, DEBUG_FRAME, WORDS, ARM64_EH_FRAME, MODE_CNT };

/* A file with that section and nothing else. */
static void check_frames(const uint8_t *data, size_t size, bool debug, uint16_t machine)
{
	static const char names[] = "\0.eh_frame\0.debug_frame";
	const uint64_t shoff = FRAMES_OFF + size + sizeof(names);
	const Elf64_Phdr ph = { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_offset = TEXT_OFF,
				.p_vaddr = TEXT_OFF,
				.p_filesz = TEXT_SZ };
	const Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				.e_machine = machine,
				.e_entry = TEXT_OFF + 0x100,
				.e_phoff = sizeof(eh),
				.e_phnum = 1,
				.e_shoff = shoff,
				.e_shnum = 3,
				.e_shstrndx = 2 };
	Elf64_Shdr sh[3] = {
		[1] = { .sh_name = debug ? 11 : 1,
			.sh_type = SHT_PROGBITS,
			.sh_offset = FRAMES_OFF,
			.sh_size = size - 2 },
		[2] = { .sh_type = SHT_STRTAB,
			.sh_offset = FRAMES_OFF + size,
			.sh_size = sizeof(names) },
	};
	uint8_t *file = calloc(1, shoff + sizeof(sh));

	sh[1].sh_addr = data[0] | data[1] << 8;
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), &ph, sizeof(ph));
	memcpy(file + FRAMES_OFF, data + 2, size - 2);
	memcpy(file + FRAMES_OFF + size, names, sizeof(names));
	memcpy(file + shoff, sh, sizeof(sh));
	unwind_check_file(file, shoff + sizeof(sh));
}

/* Three numbers, then words. */
static void check_words(const uint8_t *data, size_t size)
{
	struct unwind_table t = { .cnt = (size - 3) / 4,
				  .first_page = data[0],
				  .page_cnt = data[1],
				  .big_cnt = data[2] };

	t.words = malloc(4 * t.cnt + 1);
	memcpy(t.words, data + 3, 4 * t.cnt);
	if (unwind_table_check(&t))
		unwind_check_rows(&t);
	unwind_table_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum mode mode;
	uint8_t *copy;

	if (size < 4)
		return 0;
	mode = data[0] % MODE_CNT;
	data++;
	size--;
	if (mode == WORDS) {
		check_words(data, size);
	} else if (mode != WHOLE_FILE) {
		check_frames(data, size, mode == DEBUG_FRAME,
			     mode == ARM64_EH_FRAME ? EM_AARCH64 : EM_X86_64);
	} else {
		copy = malloc(size);
		memcpy(copy, data, size);
		unwind_check_file(copy, size);
	}
	return 0;
}
