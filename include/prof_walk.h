/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_walk.h - the state of a user stack walk; prof_walk_step.h has the steps */
#ifndef D9_PROF_WALK_H
#define D9_PROF_WALK_H

#include "prof_unwind.h"

enum prof_walk_limits {
	PROF_WALK_WORDS = 128, /* of the stack, read at once */
	PROF_WALK_CODE = 256, /* bytes of a leaf function that are searched */
	PROF_WALK_SEEN = 128, /* words of the walk that are recorded; a power of two */
	PROF_WALK_RULES = 1024, /* a power of two */
	PROF_WALK_MAPS_MAX = 1 << 20, /* of a process */
	PROF_WALK_REGS = 16,
};

/* A cached row, by module and offset */
struct prof_walk_rule {
	__u64 key;
	__u32 row;
	__u32 generation; /* of all tables when it was cached */
};

/* Whose frame the frame pointer leads to: results of prof_walk_owner() */
enum prof_walk_owner {
	PROF_WALK_OWNER_SELF = 0, /* the current function's, as far as code shows */
	PROF_WALK_OWNER_UNSURE = 1, /* maybe a caller's */
	/* the function that was called from there sets up a frame, and the current address is after its start */
	PROF_WALK_OWNER_LIKELY,
	PROF_WALK_OWNER_KNOWN, /* and no return address is below the frame */
	PROF_WALK_OWNER_CALLER, /* a caller's; the return address is at w->bare_at */
	PROF_WALK_OWNER_NONE, /* no function's: no call precedes the return address in a file */
};

enum prof_walk_regs {
	PROF_WALK_REGS_NONE, /* changed by calls */
	PROF_WALK_REGS_START, /* registers of the first frame: prof_walk_register() */
	PROF_WALK_REGS_SIGNAL, /* in the ucontext at `gregs` */
	/* of the first frame, whose caller's these are if the first frame preserves them */
	PROF_WALK_REGS_CALLER,
};

/*
 * The words of the stack that a walk read, in order. If they are unchanged, a walk from the same
 * registers, with the same list and tables, gives the same result.
 */
struct prof_walk_seen {
	__u32 cnt; /* above PROF_WALK_SEEN: not all are recorded */
	__u64 at[PROF_WALK_SEEN]; /* addresses */
	__u64 words[PROF_WALK_SEEN];
};

/* Location of a frame: its mapping and module */
struct prof_walk_place {
	struct prof_unwind_map map;
	__u32 table, first_page, page_cnt, big_cnt, without;
};

struct prof_walk {
	/* set by prof_walk_start(); the walker sets members for its prof_walk_register() */
	__u64 ip, sp, fp;
	__u64 start_sp; /* of the first frame */
	__u64 lr; /* the return address if `called` is 0; for architectures with such a register */
	__u64 regs;
	__u64 list; /* of the prof_unwind_proc */
	__u32 generation;
	/* result of a step */
	__u64 frame; /* encoded as in prof_unwind.h */
	__u8 end; /* enum prof_user_end; 0: there is a frame */
	__u8 flags; /* PROF_USER_FRAME_POINTERS, PROF_USER_SIGNAL, PROF_USER_GUESSED */
	__u8 surplus; /* 1: the last frame only marked the end, and does not count */
	/* private to the walk */
	__u8 stepped; /* the first frame was found */
	__u8 called; /* the address is a return address */
	__u8 fp_lost;
	/* `sp` is only a lower bound; for architectures whose frames do not end at fp + 16 */
	__u8 sp_lost;
	__u8 regs_at; /* enum prof_walk_regs */
	__u8 nowhere; /* the first frame is in no mapping */
	__u8 by_fp; /* the last step used the frame pointer, because of this enum prof_user_end */
	/*
	 * the last step guessed the caller of a function without a frame: the word that looks like its
	 * return address
	 */
	__u8 guessed;
	__u8 leaf_known; /* set by prof_walk_leaf() if the guess is certain */
	__u8 unsure; /* the last step used a frame pointer that may belong to a caller */
	__u8 unseen; /* the result depends on more than `seen` */
	/*
	 * set after prof_walk_start() by a walker that can search the stack for the callers of frames
	 * without a row, to how many: while all callers are guesses, the walk stops there first, unless
	 * code shows whose frame the frame pointer leads to; clear it to continue by the frame pointer
	 */
	__u8 searches;
	__u64 gregs;
	__u64 loaded[2]; /* by prof_walk_load() and prof_walk_load_pair() */
	__u64 call_target; /* of the call that was found last */
	__u64 bare_at; /* PROF_WALK_OWNER_CALLER: the address of the return address */
	struct prof_walk_place in; /* of the last frame */
	/* of the frame before: callbacks alternate between two modules */
	struct prof_walk_place before;
	struct prof_walk_place other; /* memory for an exchange of both: a program's stack is small */
	__u64 words_at; /* address of the first word */
	__u64 words_sz; /* bytes that were read */
	__u64 words[PROF_WALK_WORDS];
	__u8 code[PROF_WALK_CODE];
	struct prof_walk_seen seen;
	/* kept between walks */
	struct prof_walk_rule rules[PROF_WALK_RULES];
};

/*
 * Starts at the frame with these registers, for a process with @list and @generation of all tables.
 */
static inline __attribute__((always_inline)) void prof_walk_start(struct prof_walk *w, __u64 ip,
								  __u64 sp, __u64 fp, __u64 lr,
								  __u64 list, __u32 generation)
{
	w->ip = ip;
	w->sp = sp;
	w->start_sp = sp;
	w->fp = fp;
	w->lr = lr;
	w->list = list;
	w->generation = generation;
	w->end = 0;
	w->flags = 0;
	w->surplus = 0;
	w->stepped = 0;
	w->called = 0;
	w->fp_lost = 0;
	w->sp_lost = 0;
	w->regs_at = PROF_WALK_REGS_START;
	w->nowhere = 0;
	w->leaf_known = 0;
	w->unseen = 0;
	w->searches = 0;
	w->seen.cnt = 0;
	w->in.map.end = 0;
	w->in.map.start = 0;
	w->before.map.end = 0;
	w->before.map.start = 0;
	w->words_sz = 0;
}

#endif /* D9_PROF_WALK_H */
