// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of Go's functions on x86-64, from the table of functions (gopclntab.h).
 *
 * Most functions only need the depth of the stack at each instruction. They save the frame pointer
 * directly below the return address. The functions that change to another stack are the exception; their
 * depths do not lead to the caller:
 *
 * - With a frame pointer (all of them since Go 1.21), it points to the frame on the caller's stack, which can be below.
 * - systemstack (before) and morestack leave the goroutine's registers in its g. asmcgocall (before)
 *   leaves the position on the goroutine's stack on the new stack.
 * - mcall and gogo never return. What the thread does next belongs to no goroutine.
 * - The others end the stack as unsupported.
 *
 * The offsets of g's and m's members differ between versions of Go, so they are read from the code of
 * functions that use them.
 */
#include "symbol/cfi/go_rows.h"

#include <string.h>

#include "prof_unwind.h"
#include "symbol/cfi/cfi.h"
#include "symbol/cfi/cfirow.h"
#include "symbol/elf/elfimg.h"

#define REG_SP 7
/* The runtime's functions that are searched are shorter. */
#define CODE_MAX 1024

struct writer {
	const struct go_runtime *runtime;
	const uint8_t *code; /* of the function, code_sz bytes */
	uint64_t code_sz;
	const struct gopclntab_func *f;
	uint64_t fp_from; /* position of the first instruction after the frame pointer was saved */
	go_row_fn put;
	void *ctx;
};

/* ---- code --------------------------------------------------------------------------------------- */

/* An instruction with a mask for its operands */
struct pattern {
	uint8_t size;
	uint8_t bytes[8], mask[8];
};

static bool matches(const uint8_t *code, uint64_t size, uint64_t at, const struct pattern *p)
{
	unsigned int i;

	if (at > size || size - at < p->size)
		return false;
	for (i = 0; i < p->size; i++)
		if ((code[at + i] & p->mask[i]) != p->bytes[i])
			return false;
	return true;
}

/* The position of the first match from `at` on; size if there is none. */
static uint64_t find(const uint8_t *code, uint64_t size, uint64_t at, const struct pattern *p)
{
	while (at < size && !matches(code, size, at, p))
		at++;
	return at < size ? at : size;
}

static const uint8_t *code_of(const struct elfimg *img, const struct gopclntab_func *f,
			      uint64_t *size)
{
	uint64_t off;

	if (!elfimg_off(img, f->start, &off) || off >= img->size)
		return NULL;
	*size = f->end - f->start;
	if (*size > CODE_MAX)
		*size = CODE_MAX;
	if (*size > img->size - off)
		*size = img->size - off;
	return img->bytes + off;
}

/* The first instruction that makes the stack pointer something else; size if there is none. */
static uint64_t find_switch(const uint8_t *code, uint64_t size, uint64_t at)
{
	static const struct pattern writes[] = {
		/* mov n(register), %rsp */
		{ 3, { 0x48, 0x8b, 0x60 }, { 0xfe, 0xff, 0xf8 } },
		/* mov register, %rsp */
		{ 3, { 0x48, 0x89, 0xc4 }, { 0xfb, 0xff, 0xc7 } },
		/* and $n, %rsp */
		{ 3, { 0x48, 0x83, 0xe4 }, { 0xff, 0xff, 0xff } },
	};
	uint64_t first = size, found;
	size_t i;

	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		found = find(code, first, at, &writes[i]);
		if (found < first)
			first = found;
	}
	return first;
}

static bool has_name(const struct gopclntab_func *f, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(f->name, name, len) && (!f->name[len] || !strcmp(f->name + len, ".abi0"));
}

/* ---- offsets in the runtime's data -------------------------------------------------------------- */

/* A multiple of 8 that fits a byte when divided by it */
static bool pack(uint32_t off, unsigned int shift, uint32_t *packed)
{
	if (off % 8 || !off || off / 8 > UINT8_MAX)
		return false;
	*packed |= off / 8 << shift;
	return true;
}

/* systemstack returns to the goroutine by g->m->curg->sched.sp. */
static uint32_t learn_goroutine(const uint8_t *code, uint64_t size)
{
	/* mov m(%rax), %rbx; mov curg(%rbx), %rax; mov sched.sp(%rax), %rsp */
	static const struct pattern m = { 3, { 0x48, 0x8b, 0x58 }, { 0xff, 0xff, 0xff } };
	static const struct pattern curg = { 3, { 0x48, 0x8b, 0x83 }, { 0xff, 0xff, 0xff } };
	static const struct pattern sp = { 3, { 0x48, 0x8b, 0x60 }, { 0xff, 0xff, 0xff } };
	uint64_t curg_at = find(code, size, 0, &curg), sp_at = find(code, size, curg_at, &sp);
	uint64_t m_at = find(code, size, 0, &m);
	uint32_t packed = 0, off;

	if (m_at >= curg_at || curg_at + 7 > size || sp_at + 4 > size)
		return 0;
	memcpy(&off, code + curg_at + 3, sizeof(off));
	if (!pack(code[m_at + 3], PROF_UNWIND_GO_M_SHIFT, &packed) ||
	    !pack(off, PROF_UNWIND_GO_CURG_SHIFT, &packed) ||
	    !pack(code[sp_at + 3], PROF_UNWIND_GO_SP_SHIFT, &packed))
		return 0;
	return packed;
}

/* morestack saves the frame pointer in g->sched.bp. */
static uint32_t learn_frame_pointer(const uint8_t *code, uint64_t size)
{
	/* mov %rbp, sched.bp(%rsi or %rdi) */
	static const struct pattern bp = { 3, { 0x48, 0x89, 0x6e }, { 0xff, 0xff, 0xfe } };
	uint64_t at = find(code, size, 0, &bp);
	uint32_t packed = 0;

	if (at + 4 > size || !pack(code[at + 3], PROF_UNWIND_GO_FP_SHIFT, &packed))
		return 0;
	return packed;
}

void go_rows_learn(struct go_runtime *r, const struct elfimg *img, const struct gopclntab_func *f)
{
	bool is_systemstack = has_name(f, "runtime.systemstack");
	uint64_t size = 0;
	const uint8_t *code;

	if (!is_systemstack && !has_name(f, "runtime.morestack"))
		return;
	code = code_of(img, f, &size);
	if (code)
		r->goroutine |= is_systemstack ? learn_goroutine(code, size) :
						 learn_frame_pointer(code, size);
}

/* Whether both functions showed their offsets. */
static bool is_goroutine_known(const struct go_runtime *r)
{
	return r->goroutine >> PROF_UNWIND_GO_M_SHIFT & 0xff &&
	       r->goroutine >> PROF_UNWIND_GO_FP_SHIFT & 0xff;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void put(const struct writer *w, uint64_t at, uint32_t row, uint32_t big)
{
	w->put(w->ctx, w->f->start + at, row, big);
}

static void put_special(const struct writer *w, uint64_t at, uint32_t special)
{
	put(w, at, cfirow_special(special), 0);
}

static void put_sp(const struct writer *w, uint64_t at, int64_t off, bool saved)
{
	struct cfi_state s = {
		.cfa = CFI_CFA_REG,
		.reg = REG_SP,
		.off = off,
		.ra = { .where = CFI_AT, .off = -8 },
		.fp = { .where = saved ? CFI_AT : CFI_UNSAID, .off = -16 },
	};
	uint32_t big, row = cfirow_of(&s, &big);

	put(w, at, row, big);
}

/*
 * Finds where the function has saved the frame pointer: right after it made room for its frame, or as
 * the first word of the frame. UINT64_MAX if it does not.
 */
static uint64_t find_saved_fp(const struct writer *w, const struct gopclntab *t)
{
	/* mov %rbp, n(%rsp), with n of 1 or 4 bytes; push %rbp; mov %rsp, %rbp */
	static const struct pattern near = { 4,
					     { 0x48, 0x89, 0x6c, 0x24 },
					     { 255, 255, 255, 255 } };
	static const struct pattern far = { 4, { 0x48, 0x89, 0xac, 0x24 }, { 255, 255, 255, 255 } };
	static const struct pattern push = { 4,
					     { 0x55, 0x48, 0x89, 0xe5 },
					     { 255, 255, 255, 255 } };
	struct gopclntab_depths d;
	uint64_t at;

	gopclntab_depths(&d, t, w->f);
	do {
		if (!gopclntab_next(&d))
			return UINT64_MAX;
	} while (d.depth <= 0);
	at = d.start - w->f->start;
	if (matches(w->code, w->code_sz, at, &near))
		return at + 5;
	if (matches(w->code, w->code_sz, at, &far))
		return at + 8;
	return at && matches(w->code, w->code_sz, at - 1, &push) ? at : UINT64_MAX;
}

/* The frame pointer leads to the caller after the prologue, and until the epilogue restores it. */
static void put_framed_range(const struct writer *w, uint64_t at, uint64_t end, int64_t depth)
{
	/* lea n(%rsp), %rbp, with n of 1 or 4 bytes; mov n(%rsp), %rbp */
	static const struct pattern near = { 4,
					     { 0x48, 0x8d, 0x6c, 0x24 },
					     { 255, 255, 255, 255 } };
	static const struct pattern far = { 4, { 0x48, 0x8d, 0xac, 0x24 }, { 255, 255, 255, 255 } };
	static const struct pattern back = { 4,
					     { 0x48, 0x8b, 0x6c, 0x24 },
					     { 255, 255, 255, 255 } };
	/* CFA = rbp + 16, the caller's rbp is at CFA - 16 */
	const uint32_t other_stack = PROF_UNWIND_FP << PROF_UNWIND_ROW_KIND_SHIFT |
				     2 << PROF_UNWIND_ROW_OFF_SHIFT | PROF_UNWIND_ROW_ADD8 | 2;
	uint64_t limit = end < w->code_sz ? end : w->code_sz, set = w->fp_from + 3, restored;

	if (matches(w->code, w->code_sz, w->fp_from, &near))
		set = w->fp_from + 5;
	else if (matches(w->code, w->code_sz, w->fp_from, &far))
		set = w->fp_from + 8;
	if (at < set) {
		put_sp(w, at, depth + 8, at >= w->fp_from);
		at = set;
	}
	if (end <= set)
		return;
	put(w, at, other_stack, 0);
	restored = find(w->code, limit, at, &back);
	/* rows must be in order, and the next range begins at `end` */
	if (restored < limit && restored + 5 < end)
		put_sp(w, restored + 5, depth + 8, true);
}

static void put_range(const struct writer *w, uint64_t at, uint64_t end, int64_t depth, bool framed)
{
	if (depth < 0 || depth > INT32_MAX) {
		put_special(w, at, PROF_UNWIND_UNSUPPORTED);
	} else if (!depth) {
		put_sp(w, at, 8, false);
	} else if (framed) {
		put_framed_range(w, at, end, depth);
	} else {
		put_sp(w, at, depth + 8, at >= w->fp_from);
		if (at < w->fp_from && w->fp_from < end)
			put_sp(w, w->fp_from, depth + 8, true);
	}
}

/* By the table, up to a position, where the rest is unsupported */
static void put_depths(const struct writer *w, const struct gopclntab *t, uint64_t to, bool framed)
{
	struct gopclntab_depths d;
	uint64_t done = 0;

	gopclntab_depths(&d, t, w->f);
	while (done < to && gopclntab_next(&d)) {
		put_range(w, done, d.end - w->f->start, d.depth, framed);
		done = d.end - w->f->start;
	}
	if (done > to)
		done = to;
	if (done < w->f->end - w->f->start)
		put_special(w, done, PROF_UNWIND_UNSUPPORTED);
}

/* systemstack without a frame pointer: on another stack from the first change until the second */
static void put_systemstack(const struct writer *w)
{
	uint64_t from = find_switch(w->code, w->code_sz, 0) + 3;
	uint64_t to = find_switch(w->code, w->code_sz, from) + 4;

	put_sp(w, 0, 8, false);
	if (to >= w->code_sz || !is_goroutine_known(w->runtime)) {
		put_special(w, from, PROF_UNWIND_UNSUPPORTED);
		return;
	}
	put(w, from, cfirow_special(PROF_UNWIND_GO), w->runtime->goroutine);
	put_sp(w, to, 8, false);
}

static void put_morestack(const struct writer *w)
{
	uint64_t from = find_switch(w->code, w->code_sz, 0) + 3;

	put_sp(w, 0, 8, false);
	if (is_goroutine_known(w->runtime))
		put(w, from, cfirow_special(PROF_UNWIND_GO) | PROF_UNWIND_ROW_ADD8,
		    w->runtime->goroutine);
	else
		put_special(w, from, PROF_UNWIND_UNSUPPORTED);
}

/*
 * asmcgocall without a frame pointer. After the change of stacks it stores g and the depth of the goroutine's stack;
 * if there is no change, it stores the old stack pointer.
 */
static void put_asmcgocall(const struct writer *w)
{
	/* mov %rdi, n(%rsp); sub %rdx, %rdi; mov %rdx, n(%rsp); mov %rsi, %rsp */
	static const struct pattern save = { 4,
					     { 0x48, 0x89, 0x7c, 0x24 },
					     { 255, 255, 255, 255 } };
	static const struct pattern old = { 4, { 0x48, 0x89, 0x54, 0x24 }, { 255, 255, 255, 255 } };
	static const struct pattern back = { 3, { 0x48, 0x89, 0xf4 }, { 255, 255, 255 } };
	const uint64_t size = w->code_sz;
	uint64_t from = find_switch(w->code, size, 0), g = find(w->code, size, from, &save);
	uint64_t depth = find(w->code, size, g + 1, &save), to = find(w->code, size, depth, &back);
	uint64_t away = find_switch(w->code, size, to + 3), sp = find(w->code, size, to, &old);
	uint64_t end = find(w->code, size, sp, &back);
	uint32_t packed = 0;
	struct cfi_state kept = {
		.cfa = CFI_CFA_DEREF, .reg = REG_SP, .add = 8, .ra = { .where = CFI_AT, .off = -8 }
	};

	put_sp(w, 0, 8, false);
	put_special(w, from, PROF_UNWIND_UNSUPPORTED);
	if (end + 3 > size || away > sp || !pack(w->code[g + 4], 0, &packed) ||
	    !pack(w->code[depth + 4], 8, &packed))
		return;
	put(w, depth + 5, cfirow_special(PROF_UNWIND_GO_CALL), packed);
	put_sp(w, to + 3, 8, false);
	put_special(w, away, PROF_UNWIND_UNSUPPORTED);
	kept.off = w->code[sp + 4];
	put(w, sp + 5, cfirow_of(&kept, &packed), 0);
	put_sp(w, end + 3, 8, false);
}

/* A function that changes the stack pointer, without a frame pointer */
static void put_switching(const struct writer *w, const struct gopclntab *t)
{
	if (has_name(w->f, "runtime.systemstack"))
		put_systemstack(w);
	else if (has_name(w->f, "runtime.morestack"))
		put_morestack(w);
	else if (has_name(w->f, "runtime.asmcgocall"))
		put_asmcgocall(w);
	else
		put_depths(w, t, find_switch(w->code, w->code_sz, 0), false);
}

/* 0, or the special row of the whole function */
static uint32_t special_of(const struct gopclntab_func *f)
{
	static const char *const outermost[] = { "runtime.goexit", "runtime.mstart",
						 "runtime.rt0_go", "runtime.mcall",
						 "runtime.gogo",   "gogo" };
	size_t i;

	if (f->flags & GOPCLNTAB_OUTERMOST)
		return PROF_UNWIND_END;
	for (i = 0; i < sizeof(outermost) / sizeof(outermost[0]); i++)
		if (has_name(f, outermost[i]))
			return PROF_UNWIND_END;
	if (has_name(f, "runtime.sigreturn") || has_name(f, "runtime.sigreturn__sigaction"))
		return PROF_UNWIND_SIGNAL;
	return 0;
}

void go_rows_put(const struct go_runtime *r, const struct elfimg *img, const struct gopclntab *t,
		 const struct gopclntab_func *f, go_row_fn fn, void *ctx)
{
	struct writer w = { .runtime = r, .f = f, .put = fn, .ctx = ctx };
	uint32_t special = special_of(f);
	bool switches = f->flags & GOPCLNTAB_WRITES_SP || has_name(f, "runtime.morestack");

	w.code = code_of(img, f, &w.code_sz);
	if (special || !w.code) {
		put_special(&w, 0, special ? special : PROF_UNWIND_UNSUPPORTED);
		return;
	}
	w.fp_from = find_saved_fp(&w, t);
	if (switches && w.fp_from == UINT64_MAX)
		put_switching(&w, t);
	else
		put_depths(&w, t, f->end - f->start, switches);
}
