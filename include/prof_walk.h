/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_walk.h - the state of a walk up a user stack; prof_walk_step.h has the steps */
#ifndef D9_PROF_WALK_H
#define D9_PROF_WALK_H

#include "prof_unwind.h"

enum prof_walk_limits {
	PROF_WALK_WORDS = 128, /* of the stack, read at once */
	PROF_WALK_CODE = 256, /* bytes of a leaf that are looked at */
	PROF_WALK_SEEN = 128, /* words that a walk took, as far as they are noted; a power of two */
	PROF_WALK_RULES = 1024, /* a power of two */
	PROF_WALK_MAPS_MAX = 1 << 20, /* of a process */
	PROF_WALK_REGS = 16,
};

/* A row that was found before, by module and offset. */
struct prof_walk_rule {
	__u64 key;
	__u32 row;
	__u32 generation; /* of all tables, when it was found */
};

enum prof_walk_regs {
	PROF_WALK_REGS_NONE, /* lost to calls */
	PROF_WALK_REGS_START, /* the frame that the walk starts with: prof_walk_register() */
	PROF_WALK_REGS_SIGNAL, /* in the ucontext at `gregs` */
};

/*
 * The words of the stack that a walk took, in order. Who reads them again and finds them unchanged knows
 * where a walk from the same registers, by the same list and tables, would come to.
 */
struct prof_walk_seen {
	__u32 cnt; /* beyond PROF_WALK_SEEN: not all are here */
	__u64 at[PROF_WALK_SEEN]; /* addresses */
	__u64 words[PROF_WALK_SEEN];
};

/* Where a frame lies: a mapping, and what its module has. */
struct prof_walk_place {
	struct prof_unwind_map map;
	__u32 table, first_page, page_cnt, big_cnt, without;
};

struct prof_walk {
	/* set by prof_walk_start(), and by the walker itself what its prof_walk_register() needs */
	__u64 ip, sp, fp;
	__u64 lr; /* the return address while `called` is 0; of machines that have such a register */
	__u64 regs;
	__u64 list; /* prof_unwind_proc's */
	__u32 generation;
	/* what a step leaves */
	__u64 frame; /* as prof_unwind.h says */
	__u8 end; /* enum prof_user_end, 0: there is a frame */
	__u8 flags; /* PROF_USER_FRAME_POINTERS, PROF_USER_SIGNAL, PROF_USER_GUESSED */
	/* the walk's own */
	__u8 stepped; /* the first frame is found */
	__u8 called; /* the address is a return address */
	__u8 fp_lost;
	__u8 sp_lost; /* `sp` is no more than a lower bound; of machines whose frames do not end at fp + 16 */
	__u8 regs_at; /* enum prof_walk_regs */
	__u8 nowhere; /* the first frame is in no mapping */
	__u8 by_fp; /* the last step was by frame pointer, for want of this enum prof_user_end */
	__u8 guessed; /* the last step was to the caller of a leaf without a frame, likewise */
	__u8 unseen; /* it depends on more than what `seen` can tell */
	__u64 gregs;
	struct prof_walk_place in; /* the last frame's */
	struct prof_walk_place before; /* the one before it: callbacks go to and fro */
	__u64 words_at; /* address of the first */
	__u64 words_sz; /* bytes that are there */
	__u64 words[PROF_WALK_WORDS];
	__u8 code[PROF_WALK_CODE];
	struct prof_walk_seen seen;
	/* lasts from walk to walk */
	struct prof_walk_rule rules[PROF_WALK_RULES];
};

/* To the frame with these registers of a process with @list, as of @generation of all tables. */
static inline __attribute__((always_inline)) void prof_walk_start(struct prof_walk *w, __u64 ip,
								  __u64 sp, __u64 fp, __u64 lr,
								  __u64 list, __u32 generation)
{
	w->ip = ip;
	w->sp = sp;
	w->fp = fp;
	w->lr = lr;
	w->list = list;
	w->generation = generation;
	w->end = 0;
	w->flags = 0;
	w->stepped = 0;
	w->called = 0;
	w->fp_lost = 0;
	w->sp_lost = 0;
	w->regs_at = PROF_WALK_REGS_START;
	w->nowhere = 0;
	w->unseen = 0;
	w->seen.cnt = 0;
	w->in.map.end = 0;
	w->in.map.start = 0;
	w->before.map.end = 0;
	w->before.map.start = 0;
	w->words_sz = 0;
}

#endif /* D9_PROF_WALK_H */
