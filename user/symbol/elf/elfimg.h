/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_ELFIMG_H
#define D9_SYMBOL_ELF_ELFIMG_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFIMG_SEGS_MAX 16

/* File bytes that get mapped executable: offsets [off, off + size) become addresses from vaddr. */
struct elfimg_seg {
	uint64_t vaddr;
	uint64_t off;
	uint64_t size;
};

/* Who frees the bytes. */
enum elfimg_mem {
	ELFIMG_BORROWED,
	ELFIMG_MAPPED,
	ELFIMG_HEAP,
};

/* An ELF file's bytes, and what its header says. {0} is a valid closed one: bytes is NULL. */
struct elfimg {
	uint8_t *bytes;
	size_t size;
	enum elfimg_mem mem;
	bool is64;
	uint16_t machine;
	uint64_t entry; /* link-time address; 0 = none */
	unsigned int seg_cnt;
	struct elfimg_seg segs[ELFIMG_SEGS_MAX];
	uint64_t phoff, shoff;
	uint32_t phentsize, shentsize;
	uint32_t phnum, shnum; /* as many as there is room for in the file */
	uint32_t shstrndx;
};

/* A section header as the file has it; only elfimg_data() checks what it says. */
struct elfimg_sec {
	uint32_t name, type, link;
	uint64_t flags, addr, off, size, entsize;
};

/*
 * Maps the regular file behind fd (taken: closed when this returns). Errors: -EINVAL not a regular
 * file, -ENOEXEC not ELF or broken, -EFBIG larger than size_max (0 = no bound), -errno.
 */
int elfimg_open(struct elfimg *img, int fd, uint64_t size_max);

/* The same for bytes in memory; they are taken as mem says, also on failure. */
int elfimg_open_mem(struct elfimg *img, void *bytes, size_t size, enum elfimg_mem mem);

/* A copy of this machine's vDSO, from the image mapped in this process. -ENOENT where there is none. */
int elfimg_open_vdso(struct elfimg *img);

void elfimg_close(struct elfimg *img);

/*
 * Says where the code lay in the executed file, of a debug file, whose own headers do not: it was mapped from
 * off on, size bytes, both of whole pages. False, and nothing is changed, unless the file has one executable
 * segment, without bytes, and that takes just such a mapping.
 */
bool elfimg_place_text(struct elfimg *img, uint64_t off, uint64_t size);

/*
 * From here on offsets are those of a kernel, which count from its symbol _stext and end at _etext, whatever its
 * segments say; without such symbols none is in the file.
 */
void elfimg_place_kernel(struct elfimg *img);

/* File offset to link-time address and back, through the executable segments. */
bool elfimg_addr(const struct elfimg *img, uint64_t off, uint64_t *addr);
bool elfimg_off(const struct elfimg *img, uint64_t addr, uint64_t *off);

/* The header of section idx; false when there is none. */
bool elfimg_section(const struct elfimg *img, uint32_t idx, struct elfimg_sec *out);
/* The first section of that name. */
bool elfimg_find(const struct elfimg *img, const char *name, struct elfimg_sec *out);
/* Whether the section has that name. */
bool elfimg_named(const struct elfimg *img, const struct elfimg_sec *sec, const char *name);

/*
 * A section's bytes as they lie in the file, *size of them; NULL when it has none or reaches out of
 * the file.
 */
const uint8_t *elfimg_data(const struct elfimg *img, const struct elfimg_sec *sec, size_t *size);

/* The build-id: its length, 0 when there is none. Borrowed from the image. */
size_t elfimg_build_id(const struct elfimg *img, const uint8_t **id);

#endif /* D9_SYMBOL_ELF_ELFIMG_H */
