/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_unwind.h - what the walker of user stacks reads: unwind tables, mappings, processes
 *
 * All of it lies in BPF memory that the loader maps and writes without system calls. Nothing here
 * reaches a file. Whatever the bytes are, a walk ends: every number is masked or checked before use.
 *
 * A frame leaves the walk as the trace has it: module << PROF_FRAME_MODULE_SHIFT | offset, of callers
 * the return address less one; or, in a mapping of module 0, as PROF_UNWIND_RAW | address.
 *
 * Tables. A table belongs to a file, by path and build-id. Its text is cut into pages of 1 KiB by file offset;
 * words of 32 bits lie in blocks of 4 KiB:
 *
 *	index, one word a page | big CFA offsets | rows, page by page
 *
 * An index word is `first << 10 | count - 1`: the page's first row, as a word number within the
 * table, and how many there are. The rows of a page are sorted, lie in one block, and the first has
 * pc 0: it is in force at the page's start. A row is
 *
 *	31   22 21   19 18      7 6    5    0
 *	pc      kind    off       add8 fp
 *
 * pc: offset in the page from which on the row holds. CFA by kind, with n = 8 * off, or n = the big
 * offset; in the kinds that read memory off is signed, of 12 bits. The return address is at CFA - 8,
 * the caller's sp is the CFA.
 *
 * Rows of arm64 have kinds of their own, which no walk of x86-64 follows, and the other way round. In place of
 * add8 and fp they say where the function keeps the return address and the caller's frame pointer:
 *
 *	18      7 6    5 4 0
 *	off       form   n
 */
#ifndef D9_PROF_UNWIND_H
#define D9_PROF_UNWIND_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "prof_events.h"

enum prof_unwind_limits {
	PROF_UNWIND_PAGE_SHIFT = 10, /* bytes of text a page */
	PROF_UNWIND_PAGE_ROWS_MAX = 1024,
	PROF_UNWIND_BLOCK_WORDS = 1024, /* 4 KiB: the value of a chunk's map */
	PROF_UNWIND_CHUNK_BLOCKS = 256, /* a map of 1 MiB */
	PROF_UNWIND_CHUNKS_MAX = 1024,
	PROF_UNWIND_TABLE_WORDS_MAX = 1 << 22, /* 16 MiB */
	PROF_UNWIND_BIGS_MAX = 256,
	PROF_UNWIND_MODULES_MAX = 16384,
	PROF_UNWIND_MAPS_MAX = 1 << 18, /* in all lists */
	PROF_UNWIND_LIST_ROUND = 4, /* lists begin at multiples of it */
	PROF_UNWIND_PROC_PROBES = 8, /* places at which a process may stand in the hash */
	PROF_UNWIND_SP_MAX = 8 << 20, /* a frame pointer this far above the stack pointer is none */
};

#define PROF_UNWIND_INDEX_COUNT_BITS 10
#define PROF_UNWIND_RAW (1ULL << 63)

#define PROF_UNWIND_ROW_PC_SHIFT 22
#define PROF_UNWIND_ROW_KIND_SHIFT 19
#define PROF_UNWIND_ROW_OFF_SHIFT 7
#define PROF_UNWIND_ROW_OFF_MASK 0xfffU
#define PROF_UNWIND_ROW_ADD8 (1U << 6)
#define PROF_UNWIND_ROW_FP_MASK 0x3fU

enum prof_unwind_kind {
	PROF_UNWIND_SP = 0, /* CFA = sp + n */
	PROF_UNWIND_FP = 1, /* CFA = frame pointer + n */
	PROF_UNWIND_AT_SP = 2, /* CFA = *(sp + n), + 8 with add8; n may be below 0 */
	PROF_UNWIND_AT_FP = 3, /* CFA = *(frame pointer + n), + 8 with add8; n may be below 0 */
	PROF_UNWIND_REG = 4, /* off = DWARF register << 8 | n / 8: CFA = register + n */
	PROF_UNWIND_SPECIAL = 5, /* off: enum prof_unwind_special */
	PROF_UNWIND_A64_SP = 6, /* of arm64: CFA = sp + n */
	PROF_UNWIND_A64_FP = 7, /* of arm64: CFA = frame pointer + n */
};

enum prof_unwind_special {
	PROF_UNWIND_NONE = 0, /* nothing is known of this text */
	PROF_UNWIND_END = 1, /* the outermost function */
	PROF_UNWIND_SIGNAL = 2, /* registers are in the ucontext at sp */
	PROF_UNWIND_PLT11 = 3, /* CFA = sp + 8 + 8 * ((ip & 15) >= 11) */
	PROF_UNWIND_PLT10 = 4, /* the same with 10 */
	PROF_UNWIND_UNSUPPORTED = 5, /* a rule that no row can say */
	PROF_UNWIND_RA_RDI = 6, /* CFA = sp + 0, return address in rdi: vfork */
	PROF_UNWIND_RA_RDX = 7, /* the same in rdx: longjmp */
	PROF_UNWIND_BIG =
		256, /* + i: CFA = sp (on x86-64 with add8 frame pointer) + big offset i */
};

/* How the frame pointer of the caller is found: 1 to 60 is "at CFA - 8 * fp". */
enum prof_unwind_fp {
	PROF_UNWIND_FP_SAME = 0,
	PROF_UNWIND_FP_SAVED_MAX = 60,
	PROF_UNWIND_FP_AT_FP = 61, /* at *frame pointer: of functions that align their stack */
	PROF_UNWIND_FP_UNDEFINED = 62,
	PROF_UNWIND_FP_UNSUPPORTED = 63,
};

/*
 * The lowest 7 bits of a row of arm64: what lies in memory, and where. A pair is the caller's frame pointer with
 * the return address above it. The base is the register that the CFA is counted from.
 */
enum prof_unwind_a64 {
	PROF_UNWIND_A64_PAIR = 0, /* at CFA - 16 * n; n = 0: nothing, the return address is in lr */
	PROF_UNWIND_A64_PAIR_UP = 32, /* at base + 16 * n */
	PROF_UNWIND_A64_LR = 64, /* the return address alone, at CFA - 8 * n, with n below 16 */
	PROF_UNWIND_A64_LR_UP = 80, /* the same at base + 8 * n */
	PROF_UNWIND_A64_LR_FP =
		96, /* the return address at CFA - 16 * n, the frame pointer 16 below */
	PROF_UNWIND_A64_FORM_MASK = 96, /* but for LR_UP, which is LR by this */
	PROF_UNWIND_A64_N_MASK = 31,
	PROF_UNWIND_A64_LR_N_MASK = 15,
};

/* One file's table: an element of the modules map. */
struct prof_unwind_module {
	__u32 first_page; /* file offset >> PROF_UNWIND_PAGE_SHIFT of the first page */
	__u32 page_cnt; /* the index has so many words, big offsets begin behind it */
	__u32 table; /* 1 + its first block, in all chunks' order; 0: none. Stored last. */
	__u32 big_cnt;
	__u32 used; /* set to 1 by walks that came here with a table or without: what is needed */
	__u32 without; /* there cannot be a table: frame pointers are all there is */
	__u32 left_out; /* there was no room for one, or nobody to build it: it will not come soon */
	__u32 spare;
};

/* An executable mapping: an element of the mappings map. A process's are in one piece, sorted. */
struct prof_unwind_map {
	__u64 start, end;
	__u64 pgoff; /* file offset of start */
	__u32 module_id; /* of the trace; 0: frames stay raw */
	/* in the modules map; PROF_UNWIND_NO_SLOT: nothing to unwind by but frame pointers; PROF_UNWIND_SOON:
	 * which file it is, and so its module, is being found out */
	__u32 slot;
};

#define PROF_UNWIND_NO_SLOT 0xffffffffU
#define PROF_UNWIND_SOON 0xfffffffeU

/*
 * A process: an element of the processes map, which is a hash with PROF_UNWIND_PROC_PROBES places from
 * prof_unwind_hash(tgid) on, modulo its power-of-two size; a process may stand behind a free place, so
 * that all are looked at. `list` is first << 32 | count in the mappings map, written at once; 0: not
 * known. All of it is the loader's but for two things that programs do at once:
 *
 * A fork gives the child its parent's list (a thread needs none of its own), in a place that is taken
 * by a compare-and-swap of `tgid` from 0; the loader takes its places the same way, and frees one by
 * list = 0 first and tgid = 0 then. So processes of which the loader has not heard yet may share a list.
 * A list that the loader has condemned (a bit for each PROF_UNWIND_LIST_ROUND mappings) no fork hands on.
 *
 * A child that has not a copy of its parent's memory but the very same (vfork, CLONE_VM) is marked in `execs`
 * until it execs: what either maps, both have.
 *
 * An exec counts in `execs` and empties the list. What the loader knows of mappings may be older than
 * that: it publishes a list only while `execs` is what it has heard of itself, looks again after, and
 * takes a list back that an exec has overtaken.
 */
struct prof_unwind_proc {
	__u32 tgid; /* 0: free */
	__u32 execs; /* since the place was taken; PROF_UNWIND_SHARES_MEMORY */
	__u64 list;
};

#define PROF_UNWIND_SHARES_MEMORY (1U << 31)

static inline __u32 prof_unwind_hash(__u32 tgid)
{
	return tgid * 2654435761U >> 7;
}

_Static_assert(sizeof(struct prof_unwind_module) == 32, "modules share no cache line's half");
_Static_assert(sizeof(struct prof_unwind_map) == 32, "part of the ABI");
_Static_assert(sizeof(struct prof_unwind_proc) == 16, "part of the ABI");

#endif
