/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELFIMG_H
#define D9_SYMBOL_ELFIMG_H

#include <elfutils/libdwelf.h>
#include <gelf.h>
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

/* An ELF file's bytes and libelf's view of them. {0} is a valid closed one. */
struct elfimg {
	Elf *elf;
	void *bytes;
	size_t size;
	enum elfimg_mem mem;
	uint16_t machine;
	unsigned int seg_cnt;
	struct elfimg_seg segs[ELFIMG_SEGS_MAX];
};

/*
 * Maps the regular file behind fd (taken: closed when this returns). Errors: -EINVAL not a regular
 * file, -ENOEXEC not ELF or broken, -errno.
 */
int elfimg_open(struct elfimg *img, int fd);

/* The same for bytes in memory; they are taken as mem says, also on failure. */
int elfimg_open_mem(struct elfimg *img, void *bytes, size_t size, enum elfimg_mem mem);

void elfimg_close(struct elfimg *img);

/* File offset to link-time address and back, through the executable segments. */
bool elfimg_addr(const struct elfimg *img, uint64_t off, uint64_t *addr);
bool elfimg_off(const struct elfimg *img, uint64_t addr, uint64_t *off);

/* The first section of that name, or NULL; shdr is filled when found. */
Elf_Scn *elfimg_section(const struct elfimg *img, const char *name, GElf_Shdr *shdr);

/* The build-id: its length, 0 when there is none. Borrowed from the image. */
size_t elfimg_build_id(const struct elfimg *img, const uint8_t **id);

/*
 * Whether there is .debug_info with contents, which takes no more than mem_max bytes once
 * decompressed (all debug sections together).
 */
bool elfimg_has_debug_info(const struct elfimg *img, size_t mem_max);

#endif /* D9_SYMBOL_ELFIMG_H */
