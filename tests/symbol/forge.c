// SPDX-License-Identifier: BSD-2-Clause
/* ELF files that no linker would write, built in memory. */
#include "tests/symbol/forge.h"

#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void forge_num(struct buf *b, uint64_t v, unsigned int sz)
{
	buf_add(b, &v, sz);
}

void forge_uleb(struct buf *b, uint64_t v)
{
	do {
		buf_addch(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
}

void forge_zeros(struct buf *b, size_t n)
{
	memset(buf_reserve(b, n), 0, n);
	b->len += n;
}

void forge_init(struct forge *f)
{
	*f = (struct forge){ .cnt = 1, .code_sz = FORGE_CODE_SIZE };
	forge_section(f, ".text");
	forge_last(f)->flags = SHF_ALLOC | SHF_EXECINSTR;
	forge_last(f)->type = SHT_NOBITS;
	forge_last(f)->addr = FORGE_CODE;
	forge_last(f)->size = FORGE_CODE_SIZE;
}

struct forge_section *forge_last(struct forge *f)
{
	return &f->sections[f->cnt - 1];
}

struct buf *forge_section(struct forge *f, const char *name)
{
	struct forge_section *s = &f->sections[f->cnt++];

	*s = (struct forge_section){ .name = name, .type = SHT_PROGBITS };
	return &s->data;
}

void forge_innocent(struct forge *f)
{
	const Elf64_Sym sym = {
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = FORGE_CODE,
		.st_size = FORGE_CODE_SIZE,
	};
	struct buf *strings = forge_section(f, ".strtab");
	struct buf *syms;

	buf_add(strings, "\0innocent", sizeof("\0innocent"));
	syms = forge_section(f, ".symtab");
	forge_last(f)->type = SHT_SYMTAB;
	forge_last(f)->link = f->cnt - 2;
	forge_last(f)->entsize = sizeof(sym);
	forge_zeros(syms, sizeof(sym));
	buf_add(syms, &sym, sizeof(sym));
}

static void put_headers(struct buf *out, const struct forge *f, const uint64_t *offs,
			const uint32_t *names, uint64_t shoff)
{
	const Elf64_Phdr ph = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = FORGE_CODE,
		.p_vaddr = FORGE_CODE,
		.p_filesz = f->code_sz,
		.p_memsz = f->code_sz,
	};
	Elf64_Ehdr eh = {
		.e_type = ET_DYN,
		.e_machine = f->machine ? f->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = f->entry,
		.e_phoff = sizeof(eh),
		.e_shoff = shoff,
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(ph),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = f->cnt,
		.e_shstrndx = f->cnt - 1,
	};
	unsigned int i;

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(out->data, &eh, sizeof(eh));
	memcpy(out->data + sizeof(eh), &ph, sizeof(ph));
	for (i = 0; i < f->cnt; i++) {
		const struct forge_section *s = &f->sections[i];
		const Elf64_Shdr sh = {
			.sh_name = names[i],
			.sh_type = s->type,
			.sh_flags = s->flags,
			.sh_addr = s->addr,
			.sh_offset = offs[i],
			.sh_size = s->size ? s->size : s->data.len,
			.sh_link = s->link,
			.sh_entsize = s->entsize,
		};

		memcpy(out->data + shoff + i * sizeof(sh), &sh, sizeof(sh));
	}
}

void *forge_finish(struct forge *f, size_t *size)
{
	uint32_t names[FORGE_SECTIONS_MAX] = { 0 };
	uint64_t offs[FORGE_SECTIONS_MAX] = { 0 }, shoff;
	struct buf out = { 0 }, *strings;
	unsigned int i;

	strings = forge_section(f, ".shstrtab");
	buf_addch(strings, '\0');
	for (i = 1; i < f->cnt; i++) {
		names[i] = strings->len;
		buf_add(strings, f->sections[i].name, strlen(f->sections[i].name) + 1);
	}
	forge_zeros(&out, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
	for (i = 1; i < f->cnt; i++) {
		struct buf *data = &f->sections[i].data;

		offs[i] = out.len;
		if (data->len)
			buf_add(&out, data->data, data->len);
		buf_free(data);
		f->sections[i].size = f->sections[i].size ? f->sections[i].size : out.len - offs[i];
	}
	forge_zeros(&out, -out.len & 7);
	shoff = out.len;
	forge_zeros(&out, f->cnt * sizeof(Elf64_Shdr));
	put_headers(&out, f, offs, names, shoff);
	*size = out.len;
	return buf_steal(&out);
}

size_t forge_unit(struct buf *info)
{
	size_t at = info->len;

	forge_num(info, 0, 4);
	forge_num(info, 4, 2);
	forge_num(info, 0, 4);
	forge_num(info, 8, 1);
	return at;
}

void forge_unit_end(struct buf *info, size_t at)
{
	uint32_t len = info->len - at - 4;

	memcpy(info->data + at, &len, sizeof(len));
}

void forge_abbrev(struct buf *abbrev, unsigned int code, unsigned int tag, int children, ...)
{
	va_list ap;
	int v;

	forge_uleb(abbrev, code);
	forge_uleb(abbrev, tag);
	buf_addch(abbrev, children);
	va_start(ap, children);
	while ((v = va_arg(ap, int))) {
		forge_uleb(abbrev, v);
		forge_uleb(abbrev, va_arg(ap, int));
	}
	va_end(ap);
	forge_num(abbrev, 0, 2);
}
