// SPDX-License-Identifier: BSD-2-Clause
/*
 * Go's table of functions, and the code that it describes. The first byte selects whether the table has a
 * section of its own or must be searched, the next two bytes are the size of the code, which comes first.
 *
 * Asserted are the promises of gopclntab.h: functions are not empty, their names end within the file, and the
 * ranges of their frame sizes follow each other within the function; and the promises of cfitable.h for the
 * unwind table.
 */
#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unwind_check.h"

enum { TEXT_OFF = 0x1000, FUNCS_MAX = 1000, RANGES_MAX = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_function(const struct gopclntab *t, const struct gopclntab_func *f)
{
	struct gopclntab_depths d;
	uint64_t end = f->start;
	unsigned int i;

	assert(f->start < f->end);
	assert(strlen(f->name) < GOPCLNTAB_NAME_MAX);
	gopclntab_depths(&d, t, f);
	for (i = 0; i < RANGES_MAX && gopclntab_next(&d); i++) {
		assert(d.start == end && d.end > d.start && d.end <= f->end);
		end = d.end;
	}
}

static void check_table(const struct elfimg *img)
{
	struct gopclntab_func f;
	struct gopclntab t;
	uint64_t i;

	if (!gopclntab_open(&t, img)) {
		assert(!t.data && !t.func_cnt);
		return;
	}
	assert(t.func_cnt && t.size);
	for (i = 0; i < t.func_cnt && i < FUNCS_MAX; i++)
		if (gopclntab_func(&t, i, &f))
			check_function(&t, &f);
	assert(!gopclntab_func(&t, t.func_cnt, &f));
}

/* A file with this code, and a section with this table. Caller frees it. */
static uint8_t *make_file(const uint8_t *code, size_t code_sz, const uint8_t *table,
			  size_t table_sz, bool named, size_t *size)
{
	static const char names[] = "\0.gopclntab\0.note.go.buildid";
	const uint64_t table_off = TEXT_OFF + (code_sz + 7) / 8 * 8;
	const uint64_t names_off = table_off + (table_sz + 7) / 8 * 8;
	const uint64_t shoff = names_off + (sizeof(names) + 7) / 8 * 8;
	const Elf64_Phdr ph = { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_offset = TEXT_OFF,
				.p_vaddr = TEXT_OFF,
				.p_filesz = code_sz,
				.p_memsz = code_sz };
	const Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				.e_machine = EM_X86_64,
				.e_phoff = sizeof(eh),
				.e_phnum = 1,
				.e_shoff = shoff,
				.e_shnum = 3,
				.e_shstrndx = 2 };
	const Elf64_Shdr sh[3] = {
		[1] = { .sh_name = named ? 1 : 12,
			.sh_type = SHT_PROGBITS,
			.sh_addr = table_off,
			.sh_offset = table_off,
			.sh_size = table_sz },
		[2] = { .sh_type = SHT_STRTAB, .sh_offset = names_off, .sh_size = sizeof(names) },
	};
	uint8_t *file;

	*size = shoff + sizeof(sh);
	file = calloc(1, *size);
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + sizeof(eh), &ph, sizeof(ph));
	memcpy(file + TEXT_OFF, code, code_sz);
	memcpy(file + table_off, table, table_sz);
	memcpy(file + names_off, names, sizeof(names));
	memcpy(file + shoff, sh, sizeof(sh));
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t code_sz, file_sz;
	struct elfimg img;
	uint8_t *file;

	if (size < 3)
		return 0;
	code_sz = data[1] | data[2] << 8;
	if (code_sz > size - 3)
		code_sz = size - 3;
	file = make_file(data + 3, code_sz, data + 3 + code_sz, size - 3 - code_sz, data[0] & 1,
			 &file_sz);
	if (elfimg_open_mem(&img, file, file_sz, ELFIMG_BORROWED)) {
		free(file);
		return 0;
	}
	check_table(&img);
	elfimg_close(&img);
	unwind_check_file(file, file_sz);
	return 0;
}
