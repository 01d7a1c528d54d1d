// SPDX-License-Identifier: BSD-2-Clause
/*
 * One ELF file in memory: its bytes, its executable segments, and its sections by name.
 *
 * Stack frames in a trace have file offsets of the executed file; symbol tables and debug
 * information have link-time addresses. Only the PT_LOAD headers of the executed file connect both:
 * the headers of a debug file describe bytes that it does not have.
 *
 * Files are untrusted. Headers are copied before they are checked, so alignment does not matter,
 * and no value changes after its check. No library reads them: a library for valid files allocates
 * memory for each section in a header.
 */
#include "symbol/elf/elfimg.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* The kernel loads only files whose headers fit in 64 KiB. */
#define SEGMENTS_MAX 4096
#define SECTIONS_MAX 65536
#define NOTES_MAX 65536 /* bytes of one note segment that are searched */
#define NOTE_AREAS_MAX 64
#define BUILD_ID_MAX 64
#define SYMBOLS_MAX (8u << 20) /* symbols that are searched by name */

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

/* Copies sz bytes at off out of the file; false if the file is too short. */
static bool copy_out(const struct elfimg *img, uint64_t off, void *to, size_t sz)
{
	if (off > img->size || sz > img->size - off)
		return false;
	memcpy(to, img->bytes + off, sz);
	return true;
}

/* The number of headers, out of cnt, that are in the file. */
static uint32_t headers_in_file(const struct elfimg *img, uint64_t off, uint32_t entsize,
				uint64_t cnt, uint32_t max)
{
	uint64_t room = off < img->size && entsize ? (img->size - off) / entsize : 0;

	if (cnt > room)
		cnt = room;
	return cnt < max ? cnt : max;
}

static bool read_phdr(const struct elfimg *img, uint32_t idx, Elf64_Phdr *out)
{
	uint64_t off = img->phoff + (uint64_t)idx * img->phentsize;
	Elf32_Phdr ph;

	if (img->is64)
		return copy_out(img, off, out, sizeof(*out));
	if (!copy_out(img, off, &ph, sizeof(ph)))
		return false;
	*out = (Elf64_Phdr){
		.p_type = ph.p_type,
		.p_flags = ph.p_flags,
		.p_offset = ph.p_offset,
		.p_vaddr = ph.p_vaddr,
		.p_filesz = ph.p_filesz,
		.p_memsz = ph.p_memsz,
		.p_align = ph.p_align,
	};
	return true;
}

static bool read_shdr(const struct elfimg *img, uint32_t idx, Elf64_Shdr *out)
{
	uint64_t off = img->shoff + (uint64_t)idx * img->shentsize;
	Elf32_Shdr sh;

	if (img->is64)
		return copy_out(img, off, out, sizeof(*out));
	if (!copy_out(img, off, &sh, sizeof(sh)))
		return false;
	*out = (Elf64_Shdr){
		.sh_name = sh.sh_name,
		.sh_type = sh.sh_type,
		.sh_flags = sh.sh_flags,
		.sh_addr = sh.sh_addr,
		.sh_offset = sh.sh_offset,
		.sh_size = sh.sh_size,
		.sh_link = sh.sh_link,
		.sh_info = sh.sh_info,
		.sh_entsize = sh.sh_entsize,
	};
	return true;
}

/* Skips segments that wrap around: no offset can be in them. */
static void load_segments(struct elfimg *img)
{
	uint32_t i;

	for (i = 0; i < img->phnum && img->seg_cnt < ELFIMG_SEGS_MAX; i++) {
		struct elfimg_seg *seg = &img->segs[img->seg_cnt];
		Elf64_Phdr ph;

		if (!read_phdr(img, i, &ph))
			return;
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
}

/* Section 0 has numbers that are too large for the header's fields. */
static void load_tables(struct elfimg *img, const Elf64_Ehdr *eh)
{
	uint64_t shnum = eh->e_shnum, phnum = eh->e_phnum;
	Elf64_Shdr first;

	img->phoff = eh->e_phoff;
	img->shoff = eh->e_shoff;
	img->phentsize = img->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	img->shentsize = img->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	img->shstrndx = eh->e_shstrndx;
	if (img->shoff && read_shdr(img, 0, &first)) {
		if (!shnum)
			shnum = first.sh_size;
		if (img->shstrndx == SHN_XINDEX)
			img->shstrndx = first.sh_link;
		if (phnum == PN_XNUM)
			phnum = first.sh_info;
	} else {
		shnum = 0;
	}
	img->shnum = headers_in_file(img, img->shoff, img->shentsize, shnum, SECTIONS_MAX);
	img->phnum = headers_in_file(img, img->phoff, img->phentsize, phnum, SEGMENTS_MAX);
}

static bool read_ehdr(struct elfimg *img, Elf64_Ehdr *out)
{
	Elf32_Ehdr eh;

	img->is64 = img->bytes[EI_CLASS] == ELFCLASS64;
	if (img->is64)
		return copy_out(img, 0, out, sizeof(*out));
	if (img->bytes[EI_CLASS] != ELFCLASS32 || !copy_out(img, 0, &eh, sizeof(eh)))
		return false;
	*out = (Elf64_Ehdr){
		.e_machine = eh.e_machine,
		.e_entry = eh.e_entry,
		.e_phoff = eh.e_phoff,
		.e_shoff = eh.e_shoff,
		.e_phnum = eh.e_phnum,
		.e_shnum = eh.e_shnum,
		.e_shstrndx = eh.e_shstrndx,
	};
	return true;
}

int elfimg_open_mem(struct elfimg *img, void *bytes, size_t size, enum elfimg_mem mem)
{
	/* code with another byte order does not run here */
	const uint8_t order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	struct elfimg new = { .bytes = bytes, .size = size, .mem = mem };
	Elf64_Ehdr ehdr;

	if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) || new.bytes[EI_DATA] != order ||
	    new.bytes[EI_VERSION] != EV_CURRENT || !read_ehdr(&new, &ehdr)) {
		release_bytes(bytes, size, mem);
		return -ENOEXEC;
	}
	new.machine = ehdr.e_machine;
	new.entry = ehdr.e_entry;
	load_tables(&new, &ehdr);
	load_segments(&new);
	*img = new;
	return 0;
}

/*
 * Maps a page of zeros after the file: a program that writes to the file while it is read could
 * remove the NUL of its last string.
 */
static void *map_file(int fd, size_t size)
{
	const int flags = MAP_PRIVATE | MAP_NORESERVE;
	void *bytes = mmap(NULL, size + guard_size(), PROT_READ, flags | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (mmap(bytes, size, PROT_READ, flags | MAP_FIXED, fd, 0) != MAP_FAILED)
		return bytes;
	munmap(bytes, size + guard_size());
	return NULL;
}

int elfimg_open(struct elfimg *img, int fd, uint64_t size_max)
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
	else if (size_max && (uint64_t)st.st_size > size_max)
		err = -EFBIG;
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

int elfimg_open_vdso(struct elfimg *img)
{
	unsigned long base = getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) *ehdr = (void *)base;
	size_t size;

	if (!base)
		return -ENOENT;
	size = ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize;
	return elfimg_open_mem(img, xmemdup(ehdr, size), size, ELFIMG_HEAP);
}

void elfimg_close(struct elfimg *img)
{
	release_bytes(img->bytes, img->size, img->mem);
	*img = (struct elfimg){ 0 };
}

void elfimg_release_pages(const struct elfimg *img)
{
	if (img->mem == ELFIMG_MAPPED)
		madvise(img->bytes, img->size, MADV_DONTNEED);
}

/* Finds the only executable segment, which has no bytes in this file. */
static bool find_bare_text(const struct elfimg *img, Elf64_Phdr *out)
{
	bool found = false;
	Elf64_Phdr ph;

	for (uint32_t i = 0; i < img->phnum && read_phdr(img, i, &ph); i++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (found || ph.p_filesz || !ph.p_memsz || ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
			return false;
		*out = ph;
		found = true;
	}
	return found;
}

bool elfimg_place_text(struct elfimg *img, uint64_t off, uint64_t size)
{
	static const uint64_t pages[] = { 0x1000, 0x4000, 0x10000 };
	Elf64_Phdr ph;

	if (!size || off + size < off || !find_bare_text(img, &ph))
		return false;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		uint64_t in = pages[i] - 1, lead = ph.p_vaddr & in;

		if (off & in || ph.p_memsz > size || ((lead + ph.p_memsz + in) & ~in) != size)
			continue;
		img->segs[0] = (struct elfimg_seg){ ph.p_vaddr, off + lead, ph.p_memsz };
		img->seg_cnt = 1;
		return true;
	}
	return false;
}

/* The first section of symbols with its strings; false if there is none. */
static bool find_symbols(const struct elfimg *img, struct elfimg_sec *syms, const uint8_t **data,
			 size_t *size, const uint8_t **strings, size_t *strings_size)
{
	struct elfimg_sec sec;

	for (uint32_t i = 1; elfimg_section(img, i, syms); i++) {
		if (syms->type != SHT_SYMTAB)
			continue;
		*data = elfimg_data(img, syms, size);
		*strings = elfimg_section(img, syms->link, &sec) ?
				   elfimg_data(img, &sec, strings_size) :
				   NULL;
		return *data && *strings;
	}
	return false;
}

void elfimg_place_kernel(struct elfimg *img)
{
	const uint8_t *data, *strings;
	size_t size = 0, strings_size = 0, cnt;
	uint64_t start = 0, end = 0;
	struct elfimg_sec syms;

	img->seg_cnt = 0;
	if (!img->is64 || !find_symbols(img, &syms, &data, &size, &strings, &strings_size))
		return;
	cnt = size / sizeof(Elf64_Sym);
	for (size_t i = 0; i < cnt && i < SYMBOLS_MAX && !(start && end); i++) {
		Elf64_Sym sym;

		memcpy(&sym, data + i * sizeof(sym), sizeof(sym));
		if (sym.st_name >= strings_size || strings_size - sym.st_name < sizeof("_stext"))
			continue;
		if (!memcmp(strings + sym.st_name, "_stext", sizeof("_stext")))
			start = sym.st_value;
		else if (!memcmp(strings + sym.st_name, "_etext", sizeof("_etext")))
			end = sym.st_value;
	}
	if (!start || end <= start)
		return;
	img->segs[0] = (struct elfimg_seg){ start, 0, end - start };
	img->seg_cnt = 1;
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

bool elfimg_section(const struct elfimg *img, uint32_t idx, struct elfimg_sec *out)
{
	Elf64_Shdr sh;

	if (idx >= img->shnum || !read_shdr(img, idx, &sh))
		return false;
	*out = (struct elfimg_sec){
		.name = sh.sh_name,
		.type = sh.sh_type,
		.link = sh.sh_link,
		.flags = sh.sh_flags,
		.addr = sh.sh_addr,
		.off = sh.sh_offset,
		.size = sh.sh_size,
		.entsize = sh.sh_entsize,
	};
	return true;
}

const uint8_t *elfimg_data(const struct elfimg *img, const struct elfimg_sec *sec, size_t *size)
{
	if (sec->type == SHT_NOBITS || sec->type == SHT_NULL || !sec->size)
		return NULL;
	if (sec->off > img->size || sec->size > img->size - sec->off)
		return NULL;
	*size = sec->size;
	return img->bytes + sec->off;
}

bool elfimg_named(const struct elfimg *img, const struct elfimg_sec *sec, const char *name)
{
	struct elfimg_sec strings;
	size_t len = strlen(name) + 1, size;
	const uint8_t *data;

	if (!elfimg_section(img, img->shstrndx, &strings))
		return false;
	data = elfimg_data(img, &strings, &size);
	return data && sec->name < size && len <= size - sec->name &&
	       !memcmp(data + sec->name, name, len);
}

bool elfimg_find(const struct elfimg *img, const char *name, struct elfimg_sec *out)
{
	struct elfimg_sec sec;
	uint32_t i;

	for (i = 1; elfimg_section(img, i, &sec); i++) {
		if (!elfimg_named(img, &sec, name))
			continue;
		*out = sec;
		return true;
	}
	return false;
}

/* Searches the build-id in the notes at off, which are padded to align bytes. */
static size_t search_notes(const struct elfimg *img, uint64_t off, uint64_t size, uint64_t align,
			   const uint8_t **id)
{
	uint64_t pad = align == 8 ? 7 : 3, pos = 0;

	if (off > img->size || size > img->size - off)
		return 0;
	if (size > NOTES_MAX)
		size = NOTES_MAX;
	while (size - pos >= sizeof(Elf64_Nhdr)) {
		uint64_t name, desc, end;
		Elf64_Nhdr nh;

		memcpy(&nh, img->bytes + off + pos, sizeof(nh));
		name = pos + sizeof(nh);
		desc = (name + nh.n_namesz + pad) & ~pad;
		end = desc + nh.n_descsz;
		if (end > size)
			return 0;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    nh.n_descsz && nh.n_descsz <= BUILD_ID_MAX &&
		    !memcmp(img->bytes + off + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id = img->bytes + off + desc;
			return nh.n_descsz;
		}
		pos = (end + pad) & ~pad;
		if (pos > size)
			return 0;
	}
	return 0;
}

size_t elfimg_build_id(const struct elfimg *img, const uint8_t **id)
{
	unsigned int areas = 0;
	struct elfimg_sec sec;
	Elf64_Phdr ph;
	size_t n = 0;
	uint32_t i;

	for (i = 0; !n && i < img->phnum && areas < NOTE_AREAS_MAX; i++) {
		if (!read_phdr(img, i, &ph) || ph.p_type != PT_NOTE)
			continue;
		n = search_notes(img, ph.p_offset, ph.p_filesz, ph.p_align, id);
		areas++;
	}
	for (i = 1; !n && areas < NOTE_AREAS_MAX && elfimg_section(img, i, &sec); i++) {
		if (sec.type != SHT_NOTE)
			continue;
		n = search_notes(img, sec.off, sec.size, 4, id);
		areas++;
	}
	return n;
}
