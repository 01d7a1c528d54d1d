/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_ELFIMG_H
#define D9_SYMBOL_ELF_ELFIMG_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFIMG_SEGS_MAX 16

/* File bytes that are mapped executable: offsets [off, off + size) become addresses from vaddr. */
struct elfimg_seg {
	uint64_t vaddr;
	uint64_t off;
	uint64_t size;
};

/* Owner of the bytes */
enum elfimg_mem {
	ELFIMG_BORROWED,
	ELFIMG_MAPPED,
	ELFIMG_HEAP,
};

/* An ELF file's bytes, and values of its header. {0} is a valid closed one: bytes is NULL. */
struct elfimg {
	uint8_t *bytes;
	size_t size;
	enum elfimg_mem mem;
	bool is64;
	uint16_t machine;
	uint64_t entry; /* link-time address; 0: none */
	unsigned int seg_cnt;
	struct elfimg_seg segs[ELFIMG_SEGS_MAX];
	uint64_t phoff, shoff;
	uint32_t phentsize, shentsize;
	uint32_t phnum, shnum; /* limited to the headers that fit in the file */
	uint32_t shstrndx;
};

/* A section header, copied unchanged; only elfimg_data() checks it. */
struct elfimg_sec {
	uint32_t name, type, link;
	uint64_t flags, addr, off, size, entsize;
};

/*
 * Maps the regular file of fd, and closes fd in any case. 0; -EINVAL: not a regular file; -ENOEXEC:
 * not ELF, or damaged; -EFBIG: larger than size_max (0: no limit); -errno.
 */
int elfimg_open(struct elfimg *img, int fd, uint64_t size_max);

/* The same for bytes in memory, which are owned as `mem` says, also on failure. */
int elfimg_open_mem(struct elfimg *img, void *bytes, size_t size, enum elfimg_mem mem);

/* Copies the vDSO that is mapped in this process. -ENOENT if there is none. */
int elfimg_open_vdso(struct elfimg *img);

void elfimg_close(struct elfimg *img);

/* Unmaps the pages of the file that were read; reading maps them again. */
void elfimg_release_pages(const struct elfimg *img);

/*
 * Sets the location of the code in the executed file, which a debug file's own headers lack: it was
 * mapped from off on, size bytes, both in whole pages. Returns false without any change unless the
 * file has exactly one executable segment, without bytes, that fits this mapping.
 */
bool elfimg_place_text(struct elfimg *img, uint64_t off, uint64_t size);

/*
 * From here on offsets are kernel offsets: relative to its symbol _stext, up to _etext,
 * independent of its segments. Without such symbols no offset is valid.
 */
void elfimg_place_kernel(struct elfimg *img);

/* File offset to link-time address and back, through the executable segments */
bool elfimg_addr(const struct elfimg *img, uint64_t off, uint64_t *addr);
bool elfimg_off(const struct elfimg *img, uint64_t addr, uint64_t *off);

/* The header of section idx; false if there is none. */
bool elfimg_section(const struct elfimg *img, uint32_t idx, struct elfimg_sec *out);
/* The first section with that name */
bool elfimg_find(const struct elfimg *img, const char *name, struct elfimg_sec *out);
/* Whether the section has that name. */
bool elfimg_named(const struct elfimg *img, const struct elfimg_sec *sec, const char *name);

/* A section's bytes in the file, *size of them; NULL if it has none or exceeds the file. */
const uint8_t *elfimg_data(const struct elfimg *img, const struct elfimg_sec *sec, size_t *size);

/* The length of the build-id, 0 if there is none. *id is borrowed from the image. */
size_t elfimg_build_id(const struct elfimg *img, const uint8_t **id);

#endif /* D9_SYMBOL_ELF_ELFIMG_H */
