// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code of x86-64 that never has an FDE and has the same bytes in all files, so it is recognised by
 * them.
 *
 * The entry point of a file has no caller. The sections .init and .fini are parts of functions that
 * the linker joins. GNU ld writes an FDE for procedure linkage tables; lld and BOLT do not.
 */
#include "symbol/cfi/cfi_patterns.h"

#include <string.h>

#include "prof_unwind.h"
#include "symbol/cfi/cfirow.h"
#include "symbol/elf/elfimg.h"

static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Whether code has these bytes at pos. */
static bool is_at(const uint8_t *code, size_t size, size_t pos, const uint8_t *bytes, size_t sz)
{
	return pos <= size && sz <= size - pos && !memcmp(code + pos, bytes, sz);
}

void cfi_patterns_add(struct cfi_patterns *out, size_t *cnt, uint64_t off, uint32_t row)
{
	const uint32_t none = cfirow_special(PROF_UNWIND_NONE);
	size_t at = *cnt, i;

	while (at && out[at - 1].off > off)
		at--;
	if (at && out[at - 1].off == off && (row == none || out[at - 1].row == none)) {
		out[at - 1].row = row == none ? out[at - 1].row : row;
		return;
	}
	for (i = (*cnt)++; i > at; i--)
		out[i] = out[i - 1];
	out[at] = (struct cfi_patterns){ off, row };
}

/*
 * Whether the code clears the frame pointer or reads the stack pointer first, as entry points of
 * programs do. Linkers set the entry of libraries to the start of their code, which does not.
 */
static bool starts_program(const struct elfimg *img, uint64_t off)
{
	static const uint8_t first[][3] = { { 0x31, 0xed },
					    { 0x48, 0x31, 0xed },
					    { 0x48, 0x89, 0xe7 } };
	static const size_t sizes[] = { 2, 3, 3 };
	size_t i;

	if (is_at(img->bytes, img->size, off, endbr, sizeof(endbr)))
		off += sizeof(endbr);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (is_at(img->bytes, img->size, off, first[i], sizes[i]))
			return true;
	return false;
}

static void add_entry(const struct elfimg *img, struct cfi_patterns *out, size_t *cnt)
{
	uint64_t off;

	if (img->entry && elfimg_off(img, img->entry, &off) && starts_program(img, off))
		cfi_patterns_add(out, cnt, off, cfirow_special(PROF_UNWIND_END));
}

static const uint8_t *find_code(const struct elfimg *img, const char *name, size_t *size,
				uint64_t *off)
{
	struct elfimg_sec sec;
	const uint8_t *code;

	code = elfimg_find(img, name, &sec) ? elfimg_data(img, &sec, size) : NULL;
	return code && elfimg_off(img, sec.addr, off) && *off == sec.off ? code : NULL;
}

/* They reserve 8 bytes at their start to align the stack, and release them at their end. */
static void add_section(const struct elfimg *img, const char *name, struct cfi_patterns *out,
			size_t *cnt)
{
	static const uint8_t push[] = { 0x48, 0x83, 0xec, 0x08 };
	static const uint8_t pop_ret[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	size_t size = 0, at;
	uint64_t off;
	const uint8_t *code = find_code(img, name, &size, &off);

	if (!code)
		return;
	at = is_at(code, size, 0, endbr, sizeof(endbr)) ? sizeof(endbr) : 0;
	if (!is_at(code, size, at, push, sizeof(push)) ||
	    size < at + sizeof(push) + sizeof(pop_ret) ||
	    !is_at(code, size, size - sizeof(pop_ret), pop_ret, sizeof(pop_ret)))
		return;
	cfi_patterns_add(out, cnt, off, cfirow_sp(8));
	cfi_patterns_add(out, cnt, off + at + sizeof(push), cfirow_sp(16));
	cfi_patterns_add(out, cnt, off + size - 1, cfirow_sp(8));
	cfi_patterns_add(out, cnt, off + size, cfirow_special(PROF_UNWIND_NONE));
}

/*
 * A procedure linkage table that looks functions up when they are first called. Its first entry pushes an argument
 * and jumps to the dynamic linker. Each other entry jumps to its function or, the first time, pushes an argument and
 * jumps to the first entry.
 */
static void add_lazy_stubs(const struct elfimg *img, struct cfi_patterns *out, size_t *cnt)
{
	enum { ENTRY_SZ = 16, PUSH_SZ = 6, SECOND_PUSH = ENTRY_SZ + 6 };
	static const uint8_t push[] = { 0xff, 0x35 }, jump[] = { 0xff, 0x25 },
			     push_number[] = { 0x68 };
	size_t size = 0;
	uint64_t off;
	const uint8_t *code = find_code(img, ".plt", &size, &off);

	if (!code || off % ENTRY_SZ || !is_at(code, size, 0, push, sizeof(push)) ||
	    !is_at(code, size, PUSH_SZ, jump, sizeof(jump)) ||
	    !is_at(code, size, ENTRY_SZ, jump, sizeof(jump)) ||
	    !is_at(code, size, SECOND_PUSH, push_number, sizeof(push_number)))
		return;
	cfi_patterns_add(out, cnt, off, cfirow_sp(16));
	cfi_patterns_add(out, cnt, off + PUSH_SZ, cfirow_sp(24));
	cfi_patterns_add(out, cnt, off + ENTRY_SZ, cfirow_special(PROF_UNWIND_PLT11));
	cfi_patterns_add(out, cnt, off + size, cfirow_special(PROF_UNWIND_NONE));
}

/* Stubs that only jump. */
static void add_stubs(const struct elfimg *img, const char *name, struct cfi_patterns *out,
		      size_t *cnt)
{
	static const uint8_t jump[] = { 0xff, 0x25 };
	size_t size = 0, at;
	uint64_t off;
	const uint8_t *code = find_code(img, name, &size, &off);

	at = code && is_at(code, size, 0, endbr, sizeof(endbr)) ? sizeof(endbr) : 0;
	if (!code || !is_at(code, size, at, jump, sizeof(jump)))
		return;
	cfi_patterns_add(out, cnt, off, cfirow_sp(8));
	cfi_patterns_add(out, cnt, off + size, cfirow_special(PROF_UNWIND_NONE));
}

bool cfi_patterns_is_goexit(const struct elfimg *img, uint64_t start, uint64_t end)
{
	enum { CALL = 0xe8, NOP = 0x90, SIZE = 7 };
	struct elfimg_sec sec;

	return end - start == SIZE && end <= img->size && img->bytes[start] == NOP &&
	       img->bytes[start + 1] == CALL && img->bytes[end - 1] == NOP &&
	       elfimg_find(img, ".gopclntab", &sec);
}

bool cfi_patterns_is_start_context(const struct elfimg *img, uint64_t start, uint64_t end)
{
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je */
	static const uint8_t code[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
					0x24, 0x48, 0x85, 0xff, 0x74 };
	size_t size = end < img->size ? end : img->size;

	if (is_at(img->bytes, size, start, endbr, sizeof(endbr)))
		start += sizeof(endbr);
	return is_at(img->bytes, size, start, code, sizeof(code));
}

/* libgcc's functions have less than 1 KiB. A file may have many entries for one long function. */
enum { EH_RETURN_MAX = 16384 };

/* The register that "mov register, %rdi" reads; -1: another instruction */
static int moved_to_rdi(const uint8_t *insn)
{
	if ((insn[0] != 0x48 && insn[0] != 0x4c) || insn[1] != 0x89 || (insn[2] & 0xc7) != 0xc7)
		return -1;
	return (insn[2] >> 3 & 7) | (insn[0] == 0x4c ? 8 : 0);
}

/* The distance from the frame pointer down to where "lea n(%rbp), register" leads; 0: another instruction */
static uint32_t below_fp(const uint8_t *insn, int reg)
{
	enum { MAX = 4096 };
	int32_t n;

	memcpy(&n, insn + 3, sizeof(n));
	if (insn[0] != (reg & 8 ? 0x4c : 0x48) || insn[1] != 0x8d ||
	    insn[2] != (0x85 | (reg & 7) << 3) || n >= 0 || n < -MAX || n % 8)
		return 0;
	return -n;
}

/* The first argument of a call, which must be an address relative to the frame pointer */
static uint32_t find_context(const uint8_t *code, uint64_t size)
{
	enum { RDI = 7, MOV_SZ = 3, LEA_SZ = 7 };
	uint32_t found = 0, here;
	int reg = RDI;
	uint64_t at;

	for (at = 0; at + MOV_SZ <= size; at++)
		if (moved_to_rdi(code + at) >= 0)
			reg = moved_to_rdi(code + at);
	for (at = 0; at + LEA_SZ <= size; at++) {
		here = below_fp(code + at, reg);
		if (here)
			found = here;
	}
	return found;
}

bool cfi_patterns_eh_return(const struct elfimg *img, uint64_t start, uint64_t end,
			    struct cfi_eh_return *out)
{
	enum { CALL = 0xe8, SIZE = 5 };
	uint64_t last = 0, before = 0, at, off, addr;
	int32_t to;

	*out = (struct cfi_eh_return){ 0 };
	if (end - start > EH_RETURN_MAX || !elfimg_addr(img, start, &addr))
		return false;
	if (end > img->size)
		end = img->size;
	for (at = start; at + SIZE <= end; at++) {
		memcpy(&to, img->bytes + at + 1, sizeof(to));
		if (img->bytes[at] != CALL ||
		    !elfimg_off(img, addr + (at - start) + SIZE + to, &off))
			continue;
		if (!last)
			out->context = find_context(img->bytes + start, at - start);
		before = last;
		last = at;
	}
	out->from = (before ? before : last) + 1;
	out->leaving = last + SIZE;
	return last;
}

size_t cfi_patterns_find(const struct elfimg *img, struct cfi_patterns *out)
{
	size_t cnt = 0;

	add_entry(img, out, &cnt);
	add_section(img, ".init", out, &cnt);
	add_section(img, ".fini", out, &cnt);
	add_lazy_stubs(img, out, &cnt);
	add_stubs(img, ".plt.sec", out, &cnt);
	add_stubs(img, ".plt.got", out, &cnt);
	return cnt;
}
