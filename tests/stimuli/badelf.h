/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds small malformed ELF files. A file is one executable page (no-ops and a jump back to its start, so that
 * a thread in it is sampled at many addresses and never leaves it), and the sections that are given. Offsets
 * and addresses are equal. Sizes and errors: everything exits on failure.
 */
#ifndef D9_STIMULI_BADELF_H
#define D9_STIMULI_BADELF_H

#include <elf.h>
#include <errno.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BADELF_PAGE = 4096, BADELF_TEXT = 4096, BADELF_SECTIONS = 16 };

struct badelf {
	uint8_t *bytes;
	size_t sz, cap;
	Elf64_Shdr sections[BADELF_SECTIONS];
	uint16_t cnt;
	char names[512];
	size_t names_sz;
};

static inline void badelf_bytes(struct badelf *e, const void *data, size_t sz)
{
	if (e->sz + sz > e->cap) {
		e->cap = 2 * (e->sz + sz);
		e->bytes = realloc(e->bytes, e->cap);
		if (!e->bytes)
			err(2, "realloc");
	}
	if (data)
		memcpy(e->bytes + e->sz, data, sz);
	else
		memset(e->bytes + e->sz, 0, sz);
	e->sz += sz;
}

static inline void badelf_u8(struct badelf *e, uint8_t v)
{
	badelf_bytes(e, &v, 1);
}

static inline void badelf_u32(struct badelf *e, uint32_t v)
{
	badelf_bytes(e, &v, 4);
}

static inline void badelf_u64(struct badelf *e, uint64_t v)
{
	badelf_bytes(e, &v, 8);
}

/* Begins a section at the end of the bytes; bytes added up to badelf_end() are its content. */
static inline Elf64_Shdr *badelf_begin(struct badelf *e, const char *name, uint32_t type,
				       uint64_t flags)
{
	Elf64_Shdr *sh = &e->sections[e->cnt++];

	if (e->cnt > BADELF_SECTIONS || e->names_sz + strlen(name) + 1 > sizeof(e->names))
		errx(2, "too many sections");
	badelf_bytes(e, NULL, -e->sz & 15);
	*sh = (Elf64_Shdr){ .sh_name = e->names_sz,
			    .sh_type = type,
			    .sh_flags = flags,
			    .sh_offset = e->sz,
			    .sh_addralign = 1 };
	strcpy(e->names + e->names_sz, name);
	e->names_sz += strlen(name) + 1;
	return sh;
}

static inline void badelf_end(struct badelf *e, Elf64_Shdr *sh)
{
	sh->sh_size = e->sz - sh->sh_offset;
}

static inline void badelf_section(struct badelf *e, const char *name, const void *data, size_t sz)
{
	Elf64_Shdr *sh = badelf_begin(e, name, SHT_PROGBITS, 0);

	badelf_bytes(e, data, sz);
	badelf_end(e, sh);
}

static inline void badelf_slide(struct badelf *e)
{
#if defined(__x86_64__)
	int32_t back = -BADELF_PAGE;

	for (int i = 0; i < BADELF_PAGE - 5; i++)
		badelf_u8(e, 0x90); /* nop */
	badelf_u8(e, 0xe9); /* jmp rel32 */
	badelf_bytes(e, &back, 4);
#elif defined(__aarch64__)
	for (int i = 0; i < BADELF_PAGE / 4 - 1; i++)
		badelf_u32(e, 0xd503201f); /* nop */
	badelf_u32(e, 0x14000000 | (-(BADELF_PAGE / 4 - 1) & 0x3ffffff)); /* b */
#else
#error "no code for this machine"
#endif
}

/* The headers' room, the page of code, and section 1, .text. */
static inline void badelf_init(struct badelf *e)
{
	Elf64_Shdr *text;

	*e = (struct badelf){ .cnt = 1, .names_sz = 1 };
	badelf_bytes(e, NULL, BADELF_TEXT);
	text = badelf_begin(e, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
	text->sh_addr = BADELF_TEXT;
	badelf_slide(e);
	badelf_end(e, text);
}

/* Adds the headers and writes the file; e is empty afterwards. */
static inline void badelf_write(struct badelf *e, const char *path)
{
	Elf64_Shdr *names = badelf_begin(e, ".shstrtab", SHT_STRTAB, 0);
	Elf64_Phdr load = { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_filesz = 2 * BADELF_PAGE,
			    .p_memsz = 2 * BADELF_PAGE,
			    .p_align = BADELF_PAGE };
	Elf64_Ehdr head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr) };
	size_t done = 0;
	ssize_t n;
	int fd;

#if defined(__x86_64__)
	head.e_machine = EM_X86_64;
#else
	head.e_machine = EM_AARCH64;
#endif
	badelf_bytes(e, e->names, e->names_sz);
	badelf_end(e, names);
	badelf_bytes(e, NULL, -e->sz & 15);
	head.e_shoff = e->sz;
	head.e_shnum = e->cnt;
	head.e_shstrndx = e->cnt - 1;
	badelf_bytes(e, e->sections, e->cnt * sizeof(*e->sections));
	memcpy(e->bytes, &head, sizeof(head));
	memcpy(e->bytes + sizeof(head), &load, sizeof(load));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0)
		err(2, "%s", path);
	for (; done < e->sz; done += n) {
		n = write(fd, e->bytes + done, e->sz - done);
		if (n <= 0)
			err(2, "%s", path);
	}
	close(fd);
	free(e->bytes);
	*e = (struct badelf){ 0 };
}

/* Maps the file's page of code at an address, or anywhere for NULL. */
static inline void *badelf_map(const char *path, void *at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page;

	if (fd < 0)
		err(2, "%s", path);
	page = mmap(at, BADELF_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd,
		    BADELF_TEXT);
	if (page == MAP_FAILED)
		err(2, "mmap %s", path);
	close(fd);
	return page;
}

/* Runs in the page and never returns. */
static inline void badelf_run(void *page)
{
	void (*code)(void);

	memcpy(&code, &page, sizeof(code));
	code();
}

#endif
