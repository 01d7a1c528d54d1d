// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unwind tables of files that anyone may have written, and tables that anyone may have built. The first
 * byte chooses: a whole ELF file, its .eh_frame or .debug_frame alone (the next two bytes are where it is
 * loaded), the words of a table, or an .eh_frame of arm64.
 *
 * Asserted are the promises of cfitable.h and table.h: what is built passes the check and covers the
 * text, slices change nothing, memory is given back; and of what passes the check, however it came
 * about, each place has a row of the table.
 */
#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "unwind/table.h"

#define TEXT_OFF 0x1000
#define TEXT_SZ 0x8000
#define FRAMES_OFF (TEXT_OFF + TEXT_SZ)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum mode { WHOLE_FILE, EH_FRAME, DEBUG_FRAME, WORDS, ARM64_EH_FRAME, MODE_CNT };

/* A row for each place of each page. */
static void look_everywhere(const struct unwind_table *t)
{
	uint64_t start = (uint64_t)t->first_page << PROF_UNWIND_PAGE_SHIFT;
	uint64_t end = start + ((uint64_t)t->page_cnt << PROF_UNWIND_PAGE_SHIFT), off;
	uint64_t step = (end - start) / 5000 + 1;
	uint32_t row;

	for (off = start; off < end; off += step) {
		assert(unwind_table_find(t, off, &row));
		assert(row >> PROF_UNWIND_ROW_PC_SHIFT <= (off & 1023));
		assert(unwind_row_kind(row) <= PROF_UNWIND_A64_FP);
	}
	assert(!unwind_table_find(t, end, &row));
	assert(!start || !unwind_table_find(t, start - 1, &row));
}

static int build(const struct elfimg *img, bool sliced, struct unwind_table *t)
{
	const struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 32 << 20, .entries = 1 << 20 };
	struct budget budget;
	struct cfitable c;
	int err;

	budget_init(&budget, &max);
	cfitable_init(&c, img, &budget);
	c.machine = img->machine;
	do {
		budget_slice(&budget, sliced ? 0 : UINT64_MAX);
		budget_enter(&budget);
		err = cfitable_build(&c, t);
		budget_leave(&budget);
		assert(sliced || err != -EAGAIN);
	} while (err == -EAGAIN);
	cfitable_fini(&c);
	assert(!budget.mem);
	return err;
}

static void check_file(void *bytes, size_t size)
{
	struct unwind_table whole = { 0 }, sliced = { 0 };
	struct elfimg img;
	int err, again;

	if (elfimg_open_mem(&img, bytes, size, ELFIMG_HEAP))
		return;
	err = build(&img, false, &whole);
	again = build(&img, true, &sliced);
	assert(err == again && (!err || err == -ENODATA || err == -EDQUOT));
	if (!err) {
		assert(unwind_table_check(&whole));
		assert(whole.cnt == sliced.cnt && whole.first_page == sliced.first_page);
		assert(whole.page_cnt == sliced.page_cnt && whole.big_cnt == sliced.big_cnt);
		assert(!memcmp(whole.words, sliced.words, 4 * whole.cnt));
		look_everywhere(&whole);
	}
	unwind_table_free(&whole);
	unwind_table_free(&sliced);
	elfimg_close(&img);
}

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
	check_file(file, shoff + sizeof(sh));
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
		look_everywhere(&t);
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
		check_file(copy, size);
	}
	return 0;
}
