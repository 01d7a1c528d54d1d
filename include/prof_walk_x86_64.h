/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_walk_x86_64.h - the x86-64 part of prof_walk_step.h, which includes it
 *
 * The return address is directly below the CFA, except for a few functions that hold it in a
 * register.
 */
#ifndef D9_PROF_WALK_X86_64_H
#define D9_PROF_WALK_X86_64_H

#ifdef PROF_WALK_HERE

/* Registers in a ucontext, and the index of each DWARF register */
enum {
	PROF_WALK_GREGS = 40,
	PROF_WALK_GREG_FP = 10,
	PROF_WALK_GREG_SP = 15,
	PROF_WALK_GREG_IP = 16
};
/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15: a nibble each, lowest first */
#define PROF_WALK_GREG_OF 0x76543210fa89becdULL
/* the same for pt_regs, except rsp, which no row uses */
#define PROF_WALK_PT_OF 0x01236789f4ed5bcaULL
/* rax, rdx, rcx, rsi, rdi, r8 to r11 */
#define PROF_WALK_CALLER_SAVED 0x0f37U
/* the register in pt_regs where Go keeps the current g */
#define PROF_WALK_PT_R14 1
#define PROF_WALK_PT_RBX 5

PROF_WALK_INLINE __u64 prof_walk_code(const struct prof_walk *w, __u64 ret)
{
	return ret;
}

/* Reads a register by its DWARF number. */
PROF_WALK_INLINE int prof_walk_other(struct prof_walk *w, __u32 reg, __u64 *val)
{
	__u32 greg = PROF_WALK_GREG_OF >> 4 * reg & 15, word = PROF_WALK_PT_OF >> 4 * reg & 15;

	if (w->regs_at == PROF_WALK_REGS_START) {
		w->unseen = 1;
		return prof_walk_register(w, word, val);
	}
	if (w->regs_at == PROF_WALK_REGS_SIGNAL)
		return prof_walk_rare(w, w->gregs + 8 * greg, val);
	return -1;
}

/*
 * The same for a function that called the first frame: assembler keeps its stack pointer in a caller-saved register
 * during calls of its own functions, which preserve it. The value must be above the stack pointer.
 */
PROF_WALK_INLINE int prof_walk_preserved(struct prof_walk *w, __u32 reg, __u64 *val)
{
	if (!(PROF_WALK_CALLER_SAVED >> reg & 1))
		return -1;
	w->unseen = 1;
	if (prof_walk_register(w, PROF_WALK_PT_OF >> 4 * reg & 15, val))
		return -1;
	return *val & 7 || *val - w->sp >= PROF_UNWIND_SP_MAX ? -1 : 0;
}

/* Steps to the caller of a leaf without a frame: the frame pointer is the caller's, and stays. */
PROF_WALK_INLINE bool prof_walk_guess(struct prof_walk *w)
{
	int off = prof_walk_leaf(w);
	__u64 at = w->sp + off, ret;

	/* generated code may change until the next walk */
	w->unseen |= w->in.map.slot == PROF_UNWIND_NO_SLOT;
	if (off < 0 || prof_walk_rare(w, at, &ret))
		return false;
	w->ip = ret;
	w->sp = at + 8;
	w->called = 1;
	w->regs_at = PROF_WALK_REGS_NONE;
	w->guessed = 1;
	return true;
}

/* Restores the interrupted registers, which the kernel stored in the signal frame. */
PROF_WALK_INLINE int prof_walk_signal(struct prof_walk *w)
{
	__u64 gregs = w->sp + PROF_WALK_GREGS, ip, sp, fp;

	if (prof_walk_rare(w, gregs + 8 * PROF_WALK_GREG_FP, &fp) ||
	    prof_walk_rare(w, gregs + 8 * PROF_WALK_GREG_SP, &sp) ||
	    prof_walk_rare(w, gregs + 8 * PROF_WALK_GREG_IP, &ip))
		return PROF_END_READ_FAILED;
	w->ip = ip;
	w->sp = sp;
	w->fp = fp;
	w->fp_lost = 0;
	w->called = 0;
	w->gregs = gregs;
	w->regs_at = PROF_WALK_REGS_SIGNAL;
	w->flags |= PROF_USER_SIGNAL;
	return 0;
}

/* CFA of the special rows that have one */
PROF_WALK_INLINE int prof_walk_special_cfa(struct prof_walk *w, __u32 row, __u32 special,
					   __u64 *cfa)
{
	__u32 big;

	if (special == PROF_UNWIND_PLT11 || special == PROF_UNWIND_PLT10) {
		big = special == PROF_UNWIND_PLT11 ? 11 : 10;
		*cfa = w->sp + ((w->ip & 15) >= big ? 16 : 8);
		return 0;
	}
	special -= PROF_UNWIND_BIG;
	if (special >= PROF_UNWIND_BIGS_MAX || special >= w->in.big_cnt ||
	    (row & PROF_UNWIND_ROW_ADD8 && w->fp_lost) ||
	    prof_walk_table_word(w, w->in.page_cnt + special, &big))
		return PROF_END_UNSUPPORTED;
	*cfa = (row & PROF_UNWIND_ROW_ADD8 ? w->fp : w->sp) + big;
	return 0;
}

/* The caller's sp. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_cfa(struct prof_walk *w, __u32 row, __u64 *cfa)
{
	__u32 kind = row >> PROF_UNWIND_ROW_KIND_SHIFT & 7;
	__u32 off = row >> PROF_UNWIND_ROW_OFF_SHIFT & PROF_UNWIND_ROW_OFF_MASK;
	bool by_fp = kind == PROF_UNWIND_FP || kind == PROF_UNWIND_AT_FP;
	__u64 base = by_fp ? w->fp : w->sp;

	if (by_fp && w->fp_lost)
		return PROF_END_UNSUPPORTED;
	switch (kind) {
	case PROF_UNWIND_SP:
	case PROF_UNWIND_FP:
		*cfa = base + 8 * off;
		return 0;
	case PROF_UNWIND_AT_SP:
	case PROF_UNWIND_AT_FP:
		base += 8 * (__s64)((__s32)(off << 20) >> 20);
		if (prof_walk_rare(w, base, &base))
			return PROF_END_READ_FAILED;
		*cfa = base + (row & PROF_UNWIND_ROW_ADD8 ? 8 : 0);
		return 0;
	case PROF_UNWIND_REG:
		if (w->regs_at == PROF_WALK_REGS_CALLER ? prof_walk_preserved(w, off >> 8, &base) :
							  prof_walk_other(w, off >> 8, &base))
			return PROF_END_UNSUPPORTED;
		*cfa = base + 8 * (off & 0xff);
		return 0;
	case PROF_UNWIND_SPECIAL:
		return prof_walk_special_cfa(w, row, off, cfa);
	}
	return PROF_END_UNSUPPORTED;
}

/* The caller's frame pointer. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_fp(struct prof_walk *w, __u32 row, __u64 cfa)
{
	__u32 rule = row & PROF_UNWIND_ROW_FP_MASK;
	__u64 at = rule == PROF_UNWIND_FP_AT_FP ? w->fp : cfa - 8 * rule;

	if (rule == PROF_UNWIND_FP_SAME || (rule == PROF_UNWIND_FP_AT_FP && w->fp_lost))
		return 0;
	w->fp_lost = rule > PROF_UNWIND_FP_AT_FP;
	/* a copy has nothing below sp: there, the value was popped already, and the register has it */
	if (!w->fp_lost && prof_walk_word(w, at, &w->fp) && at >= w->sp)
		return PROF_END_READ_FAILED;
	return 0;
}

/* From a frame that libgcc rewrites, while its context is valid. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_context(struct prof_walk *w, __u32 big)
{
	__u64 context = w->fp - big, cfa;

	if (w->fp_lost || prof_walk_rare(w, context + PROF_UNWIND_CONTEXT_CFA, &cfa) ||
	    cfa != w->fp + 16 || cfa <= w->sp ||
	    prof_walk_rare(w, context + PROF_UNWIND_CONTEXT_RA, &w->ip))
		return PROF_END_UNSUPPORTED;
	w->sp = cfa;
	w->fp_lost = 1;
	return 0;
}

/*
 * From a function whose CFA is rbx + n, at a call of a function that pushes rbx. If that is the first frame and has not
 * pushed it yet, or has popped it, the register has the value. 0 or enum prof_user_end.
 */
PROF_WALK_INLINE int prof_walk_pushed(struct prof_walk *w, __u32 offs)
{
	__u64 at = w->sp - 8 * (offs & 0xff), cfa;

	if (!w->called)
		return PROF_END_UNSUPPORTED;
	if (w->regs_at == PROF_WALK_REGS_CALLER && at < w->start_sp) {
		w->unseen = 1;
		if (prof_walk_register(w, PROF_WALK_PT_RBX, &cfa))
			return PROF_END_UNSUPPORTED;
	} else if (prof_walk_rare(w, at, &cfa)) {
		return PROF_END_READ_FAILED;
	}
	cfa += 8 * (offs >> 8 & 0xff);
	if (cfa <= w->sp || cfa - w->sp >= PROF_UNWIND_SP_MAX)
		return PROF_END_NO_PROGRESS;
	if (prof_walk_rare(w, cfa - 8, &w->ip))
		return PROF_END_READ_FAILED;
	w->sp = cfa;
	return 0;
}

/*
 * ---- from the stack of a thread to the stack of its goroutine ------------------------------------
 */

/*
 * Finds the g of the goroutine that runs on this thread. Go code keeps a g of the thread in a register. It is valid
 * if its m and the m's own g (the first member) point to each other. 0 or enum prof_user_end.
 */
PROF_WALK_INLINE int prof_walk_find_g(struct prof_walk *w, __u32 offs, __u64 *g)
{
	__u32 m_off = 8 * (offs >> PROF_UNWIND_GO_M_SHIFT & 0xff);
	__u64 m, m_of_g0;

	w->unseen = 1;
	if (prof_walk_register(w, PROF_WALK_PT_R14, g) || prof_walk_rare(w, *g + m_off, &m) ||
	    prof_walk_rare(w, m, g) || prof_walk_rare(w, *g + m_off, &m_of_g0) || m_of_g0 != m)
		return PROF_END_UNSUPPORTED;
	if (prof_walk_rare(w, m + 8 * (offs >> PROF_UNWIND_GO_CURG_SHIFT & 0xff), g))
		return PROF_END_READ_FAILED;
	return *g ? 0 : PROF_END_COMPLETE;
}

/* After a change of stacks with the goroutine's registers in its g. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_goroutine(struct prof_walk *w, __u32 offs, bool goes_on)
{
	__u64 g, at, sp, fp = w->fp;
	int end = prof_walk_find_g(w, offs, &g);

	if (end)
		return end;
	at = g + 8 * (offs >> PROF_UNWIND_GO_SP_SHIFT & 0xff);
	if (prof_walk_rare(w, at, &sp) || prof_walk_rare(w, goes_on ? at + 8 : sp, &w->ip))
		return PROF_END_READ_FAILED;
	if (goes_on && prof_walk_rare(w, g + 8 * (offs >> PROF_UNWIND_GO_FP_SHIFT & 0xff), &fp))
		return PROF_END_READ_FAILED;
	w->fp = fp;
	w->sp = goes_on ? sp : sp + 8;
	return 0;
}

/* From C code to the goroutine that called it. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_go_call(struct prof_walk *w, __u32 offs)
{
	__u64 g, depth, top;

	if (prof_walk_rare(w, w->sp + 8 * (offs & 0xff), &g) ||
	    prof_walk_rare(w, w->sp + 8 * (offs >> 8 & 0xff), &depth) ||
	    prof_walk_rare(w, g + 8, &top) || prof_walk_rare(w, top - depth, &w->ip))
		return PROF_END_READ_FAILED;
	w->sp = top - depth + 8;
	return 0;
}

/*
 * Steps by a row with a big word of its own meaning. A goroutine's stack can be below or above the thread's, so nothing
 * here makes sure that there is progress; the number of steps is limited. 0 or enum prof_user_end.
 */
PROF_WALK_PART int prof_walk_by_big(struct prof_walk *w, __u32 row)
{
	__u32 special = row >> PROF_UNWIND_ROW_OFF_SHIFT & PROF_UNWIND_ROW_OFF_MASK, offs, big;
	int end;

	if (!w)
		return PROF_END_NOT_WALKED;
	big = special % PROF_UNWIND_BIGS_MAX;
	if (big >= w->in.big_cnt || prof_walk_table_word(w, w->in.page_cnt + big, &offs))
		return PROF_END_UNSUPPORTED;
	if (special >= PROF_UNWIND_PUSHED)
		end = prof_walk_pushed(w, offs);
	else if (special >= PROF_UNWIND_CONTEXT)
		end = prof_walk_context(w, offs);
	else if (special >= PROF_UNWIND_GO_CALL)
		end = prof_walk_go_call(w, offs);
	else
		end = prof_walk_goroutine(w, offs, row & PROF_UNWIND_ROW_ADD8);
	if (end)
		return end;
	w->called = 1;
	w->regs_at = PROF_WALK_REGS_NONE;
	return w->ip ? 0 : PROF_END_NO_RETURN;
}

/* Steps to the caller by a row. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_by_row(struct prof_walk *w, __u32 row, __u32 special)
{
	const __u32 kind = 7U << PROF_UNWIND_ROW_KIND_SHIFT | PROF_UNWIND_ROW_ADD8;
	const __u32 other_stack =
		PROF_UNWIND_FP << PROF_UNWIND_ROW_KIND_SHIFT | PROF_UNWIND_ROW_ADD8;
	__u64 cfa = w->sp, ret;
	int end = 0;

	if (special >= PROF_UNWIND_GO && special < PROF_UNWIND_SPECIAL_END)
		return prof_walk_by_big(w, row);
	if (special == PROF_UNWIND_RA_RDI || special == PROF_UNWIND_RA_RDX) {
		if (prof_walk_other(w, special == PROF_UNWIND_RA_RDI ? 5 : 1, &ret))
			return PROF_END_UNSUPPORTED;
	} else {
		end = prof_walk_cfa(w, row, &cfa);
		if (end)
			return end;
		if (cfa <= w->sp && (row & kind) != other_stack)
			return PROF_END_NO_PROGRESS;
		if (prof_walk_word(w, cfa - 8, &ret))
			return PROF_END_READ_FAILED;
	}
	end = prof_walk_fp(w, row, cfa);
	if (end)
		return end;
	w->ip = ret;
	w->sp = cfa;
	w->called = 1;
	w->regs_at =
		w->regs_at == PROF_WALK_REGS_START ? PROF_WALK_REGS_CALLER : PROF_WALK_REGS_NONE;
	return ret ? 0 : PROF_END_NO_RETURN;
}

#endif /* PROF_WALK_HERE */

#endif /* D9_PROF_WALK_X86_64_H */
