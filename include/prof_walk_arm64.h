/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_walk_arm64.h - the arm64 part of prof_walk_step.h, which includes it
 *
 * A call stores the return address in the register lr. A function that calls others saves lr in
 * memory, usually in a pair with the caller's frame pointer. The value of lr is known for the first
 * frame of a walk and for a frame interrupted by a signal. The upper bits of a return address may
 * be a signature.
 */
#ifndef D9_PROF_WALK_ARM64_H
#define D9_PROF_WALK_ARM64_H

#ifdef PROF_WALK_HERE

/* Signal frame, in bytes above sp: siginfo, the ucontext up to its registers, x0 to x30, sp, pc */
enum {
	PROF_WALK_SIGNAL_REGS = 128 + 184,
	PROF_WALK_SIGNAL_FP = PROF_WALK_SIGNAL_REGS + 8 * 29,
	PROF_WALK_SIGNAL_LR = PROF_WALK_SIGNAL_REGS + 8 * 30,
	PROF_WALK_SIGNAL_SP = PROF_WALK_SIGNAL_REGS + 8 * 31,
	PROF_WALK_SIGNAL_IP = PROF_WALK_SIGNAL_REGS + 8 * 32,
};

PROF_WALK_INLINE __u64 prof_walk_code(const struct prof_walk *w, __u64 ret)
{
	return ret & prof_walk_code_mask(w);
}

/*
 * Steps to the caller of a leaf that does not save lr: the frame pointer is the caller's. The leaf
 * may have moved sp for its locals.
 */
PROF_WALK_INLINE bool prof_walk_guess(struct prof_walk *w)
{
	/* generated code may change until the next walk */
	w->unseen |= w->in.map.slot == PROF_UNWIND_NO_SLOT;
	if (prof_walk_leaf(w) < 0)
		return false;
	w->ip = prof_walk_code(w, w->lr);
	w->sp_lost = 1;
	w->called = 1;
	w->regs_at = PROF_WALK_REGS_NONE;
	w->guessed = 1;
	return true;
}

PROF_WALK_INLINE int prof_walk_signal(struct prof_walk *w)
{
	__u64 fp, lr, sp, ip;

	if (w->sp_lost)
		return PROF_END_FRAME_POINTER;
	if (prof_walk_word(w, w->sp + PROF_WALK_SIGNAL_FP, &fp) ||
	    prof_walk_word(w, w->sp + PROF_WALK_SIGNAL_LR, &lr) ||
	    prof_walk_word(w, w->sp + PROF_WALK_SIGNAL_SP, &sp) ||
	    prof_walk_word(w, w->sp + PROF_WALK_SIGNAL_IP, &ip))
		return PROF_END_READ_FAILED;
	w->ip = ip;
	w->sp = sp;
	w->fp = fp;
	w->lr = lr;
	w->called = 0;
	w->regs_at = PROF_WALK_REGS_NONE;
	w->flags |= PROF_USER_SIGNAL;
	return 0;
}

/* Offset of the CFA from sp or the frame pointer. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_cfa_off(struct prof_walk *w, __u32 row, __u32 special, __u32 *off)
{
	__u32 kind = row >> PROF_UNWIND_ROW_KIND_SHIFT & 7;

	*off = 8 * (row >> PROF_UNWIND_ROW_OFF_SHIFT & PROF_UNWIND_ROW_OFF_MASK);
	if (kind == PROF_UNWIND_A64_SP || kind == PROF_UNWIND_A64_FP)
		return 0;
	special -= PROF_UNWIND_BIG;
	if (kind != PROF_UNWIND_SPECIAL || special >= PROF_UNWIND_BIGS_MAX ||
	    special >= w->in.big_cnt || prof_walk_table_word(w, w->in.page_cnt + special, off))
		return PROF_END_UNSUPPORTED;
	return 0;
}

/*
 * Computes the caller's sp and the location of saved registers. After a step by frame pointer, sp
 * is unknown; but then the frame pointer is the address of the pair, which is enough. 0 or enum
 * prof_user_end.
 */
PROF_WALK_INLINE int prof_walk_frame(struct prof_walk *w, __u32 row, __u32 special, __u64 *cfa,
				     __u64 *pair)
{
	bool by_fp = (row >> PROF_UNWIND_ROW_KIND_SHIFT & 7) == PROF_UNWIND_A64_FP;
	__u32 form = row & PROF_UNWIND_A64_FORM_MASK, n = row & PROF_UNWIND_A64_N_MASK, off;
	bool lr_alone = form == PROF_UNWIND_A64_LR;
	bool from_base = form == PROF_UNWIND_A64_PAIR_UP ||
			 (lr_alone && row & (PROF_UNWIND_A64_LR_UP - PROF_UNWIND_A64_LR));
	__u64 base = by_fp ? w->fp : w->sp;
	__u64 up = lr_alone ? 8 * (row & PROF_UNWIND_A64_LR_N_MASK) : 16 * n;
	int end = prof_walk_cfa_off(w, row, special, &off);

	if (end)
		return end;
	if (w->sp_lost && !by_fp) {
		if (form == PROF_UNWIND_A64_PAIR_UP)
			base = w->fp - up;
		else if (form == PROF_UNWIND_A64_PAIR && n)
			base = w->fp + up - off;
		else
			return PROF_END_FRAME_POINTER;
	}
	*cfa = base + off;
	*pair = from_base ? base + up : *cfa - up;
	return 0;
}

/* Reads the return address and the caller's frame pointer from memory. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_kept(struct prof_walk *w, __u32 row, __u64 pair, __u64 *ret)
{
	__u32 form = row & PROF_UNWIND_A64_FORM_MASK;
	__u64 lr_at = pair, fp_at = pair;

	if (form == PROF_UNWIND_A64_LR_FP)
		fp_at = pair - 16;
	else if (form != PROF_UNWIND_A64_LR)
		lr_at = pair + 8;
	if (form != PROF_UNWIND_A64_LR && prof_walk_word(w, fp_at, &w->fp))
		return PROF_END_READ_FAILED;
	return prof_walk_word(w, lr_at, ret) ? PROF_END_READ_FAILED : 0;
}

/* Steps to the caller by a row. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_by_row(struct prof_walk *w, __u32 row, __u32 special)
{
	bool in_lr = !(row & (PROF_UNWIND_A64_FORM_MASK | PROF_UNWIND_A64_N_MASK));
	__u64 cfa, pair, ret = w->lr;
	int end;

	if (in_lr && w->called)
		return PROF_END_UNSUPPORTED;
	end = prof_walk_frame(w, row, special, &cfa, &pair);
	if (end)
		return end;
	if (cfa < w->sp + !in_lr)
		return PROF_END_NO_PROGRESS;
	end = in_lr ? 0 : prof_walk_kept(w, row, pair, &ret);
	if (end)
		return end;
	w->ip = prof_walk_code(w, ret);
	w->sp = cfa;
	w->sp_lost = 0;
	w->called = 1;
	w->regs_at = PROF_WALK_REGS_NONE;
	return w->ip ? 0 : PROF_END_NO_RETURN;
}

#endif /* PROF_WALK_HERE */

#endif /* D9_PROF_WALK_ARM64_H */
