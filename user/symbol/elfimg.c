// SPDX-License-Identifier: BSD-2-Clause
/*
 * One ELF file in memory: its bytes, libelf's handle on them, and the executable segments.
 *
 * Frames in a trace carry file offsets of the executed file, symbol tables and debug information
 * speak link-time addresses; the two are tied by the PT_LOAD headers of the executed file and by
 * nothing else, since a debug file's own headers describe bytes that it no longer has.
 *
 * The file is mapped here, not by libelf, so that files, the vDSO and unpacked .gnu_debugdata all
 * take the same road (elf_memory), and no file descriptor stays open. Files are anyone's: each
 * header value is checked before it is used, the rest is left to libelf, which checks its own.
 */
#include "symbol/elfimg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t guard_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void release_bytes(void *bytes, size_t size, enum elfimg_mem mem)
{
	switch (mem) {
	case ELFIMG_BORROWED:
		break;
	case ELFIMG_MAPPED:
		munmap(bytes, size + guard_size());
		break;
	case ELFIMG_HEAP:
		free(bytes);
		break;
	}
}

/* Segments that wrap around are dropped: no offset can lie in them. */
static int load_segments(struct elfimg *img)
{
	size_t cnt, i;

	if (elf_getphdrnum(img->elf, &cnt))
		return -ENOEXEC;
	for (i = 0; i < cnt && img->seg_cnt < ELFIMG_SEGS_MAX; i++) {
		struct elfimg_seg *seg = &img->segs[img->seg_cnt];
		GElf_Phdr ph;

		if (!gelf_getphdr(img->elf, i, &ph))
			return -ENOEXEC;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || !ph.p_filesz)
			continue;
		if (ph.p_offset + ph.p_filesz < ph.p_offset ||
		    ph.p_vaddr + ph.p_filesz < ph.p_vaddr)
			continue;
		seg->vaddr = ph.p_vaddr;
		seg->off = ph.p_offset;
		seg->size = ph.p_filesz;
		img->seg_cnt++;
	}
	return 0;
}

int elfimg_open_mem(struct elfimg *img, void *bytes, size_t size, enum elfimg_mem mem)
{
	struct elfimg new = { .bytes = bytes, .size = size, .mem = mem };
	GElf_Ehdr ehdr;
	int err = -ENOEXEC;

	if (elf_version(EV_CURRENT) == EV_NONE)
		goto out;
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG))
		goto out;
	new.elf = elf_memory(bytes, size);
	if (!new.elf)
		goto out;
	if (elf_kind(new.elf) != ELF_K_ELF || !gelf_getehdr(new.elf, &ehdr))
		goto out;
	/* code of the other byte order does not run here */
	if (ehdr.e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		goto out;
	new.machine = ehdr.e_machine;
	err = load_segments(&new);
	if (err)
		goto out;
	*img = new;
	return 0;
out:
	elf_end(new.elf);
	release_bytes(bytes, size, mem);
	return err;
}

/*
 * Behind the file lies a page of zeros: whoever writes to the file while it is read can take away
 * the NUL that ended its last string. libelf wants to be able to write: a private mapping keeps
 * such pages to us.
 */
static void *map_file(int fd, size_t size)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_NORESERVE;
	void *bytes = mmap(NULL, size + guard_size(), prot, flags | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (mmap(bytes, size, prot, flags | MAP_FIXED, fd, 0) != MAP_FAILED)
		return bytes;
	munmap(bytes, size + guard_size());
	return NULL;
}

int elfimg_open(struct elfimg *img, int fd)
{
	struct stat st;
	void *bytes;
	int err = 0;

	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (st.st_size < (off_t)sizeof(Elf32_Ehdr))
		err = -ENOEXEC;
	if (err) {
		close(fd);
		return err;
	}
	bytes = map_file(fd, st.st_size);
	if (!bytes)
		err = -errno;
	close(fd);
	return err ? err : elfimg_open_mem(img, bytes, st.st_size, ELFIMG_MAPPED);
}

void elfimg_close(struct elfimg *img)
{
	elf_end(img->elf);
	release_bytes(img->bytes, img->size, img->mem);
	*img = (struct elfimg){ 0 };
}

bool elfimg_addr(const struct elfimg *img, uint64_t off, uint64_t *addr)
{
	unsigned int i;

	for (i = 0; i < img->seg_cnt; i++) {
		const struct elfimg_seg *seg = &img->segs[i];

		if (off >= seg->off && off - seg->off < seg->size) {
			*addr = off - seg->off + seg->vaddr;
			return true;
		}
	}
	return false;
}

bool elfimg_off(const struct elfimg *img, uint64_t addr, uint64_t *off)
{
	unsigned int i;

	for (i = 0; i < img->seg_cnt; i++) {
		const struct elfimg_seg *seg = &img->segs[i];

		if (addr >= seg->vaddr && addr - seg->vaddr < seg->size) {
			*off = addr - seg->vaddr + seg->off;
			return true;
		}
	}
	return false;
}

Elf_Scn *elfimg_section(const struct elfimg *img, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t strndx;

	if (elf_getshdrstrndx(img->elf, &strndx))
		return NULL;
	while ((scn = elf_nextscn(img->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, shdr))
			continue;
		s = elf_strptr(img->elf, strndx, shdr->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

size_t elfimg_build_id(const struct elfimg *img, const uint8_t **id)
{
	const void *p;
	ssize_t n = dwelf_elf_gnu_build_id(img->elf, &p);

	if (n <= 0)
		return 0;
	*id = p;
	return n;
}

/* Bytes that a debug section takes on the heap: none when it can be used as it lies in the file. */
static uint64_t unpacked_size(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name)
{
	GElf_Chdr chdr;
	ssize_t n;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &chdr) ? chdr.ch_size : 0;
	if (strncmp(name, ".zdebug", 7))
		return 0;
	n = dwelf_scn_gnu_compressed_size(scn);
	return n > 0 ? n : 0;
}

bool elfimg_has_debug_info(const struct elfimg *img, size_t mem_max)
{
	uint64_t total = 0;
	Elf_Scn *scn = NULL;
	bool found = false;
	size_t strndx;

	if (elf_getshdrstrndx(img->elf, &strndx))
		return false;
	while ((scn = elf_nextscn(img->elf, scn))) {
		GElf_Shdr shdr;
		const char *s;
		uint64_t n;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(img->elf, strndx, shdr.sh_name);
		if (!s || (strncmp(s, ".debug_", 7) && strncmp(s, ".zdebug_", 8)))
			continue;
		if (!strcmp(s, ".debug_info") || !strcmp(s, ".zdebug_info"))
			found = shdr.sh_size > 0;
		n = unpacked_size(scn, &shdr, s);
		if (n > mem_max - total)
			return false;
		total += n;
	}
	return found;
}
