/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_unwind.h - input of user stack walks: unwind tables, mappings, processes
 *
 * All of it is in BPF memory that the loader maps and writes without system calls. None of it is
 * written to files. A walk ends for any contents: every number is masked or checked before use.
 *
 * The frames of a walk are encoded as in the trace: module << PROF_FRAME_MODULE_SHIFT | offset; for
 * callers the offset of the return address minus one. In a mapping of module 0: PROF_UNWIND_RAW | address.
 *
 * Tables. A table belongs to a file, by path and build-id. The text of the file is divided into pages of
 * 1 KiB by file offset; 32-bit words are in blocks of 4 KiB:
 *
 *	index, one word per page | big CFA offsets | rows, page after page
 *
 * An index word is `first << 10 | count - 1`: the page's first row, as a word number within the table,
 * and the number of its rows. The rows of a page are sorted and in one block, and the first has pc 0: it
 * applies at the page's start. A row is
 *
 *	31   22 21   19 18      7 6    5    0
 *	pc      kind    off       add8 fp
 *
 * pc: first offset in the page where the row applies. CFA by kind, with n = 8 * off, or n = the big
 * offset; in kinds that read memory, off is signed and has 12 bits. The return address is at CFA - 8, the
 * caller's sp is the CFA.
 *
 * Rows of arm64 have separate kinds; each architecture ignores the kinds of the other one. Instead of add8
 * and fp they have the location of the return address and the caller's frame pointer:
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
	PROF_UNWIND_PAGE_SHIFT = 10, /* text per page */
	PROF_UNWIND_PAGE_ROWS_MAX = 1024,
	PROF_UNWIND_BLOCK_WORDS = 1024, /* 4 KiB: the value size of a chunk's map */
	PROF_UNWIND_CHUNK_BLOCKS = 256, /* a map of 1 MiB */
	PROF_UNWIND_CHUNKS_MAX = 1024,
	PROF_UNWIND_TABLE_WORDS_MAX = 1 << 22, /* 16 MiB */
	PROF_UNWIND_BIGS_MAX = 256,
	PROF_UNWIND_MODULES_MAX = 16384,
	PROF_UNWIND_MAPS_MAX = 1 << 18, /* in all lists */
	PROF_UNWIND_LIST_ROUND = 4, /* lists start at multiples of it */
	PROF_UNWIND_PROC_PROBES = 8, /* possible places of a process in the hash */
	/* a frame pointer farther above the stack pointer is invalid */
	PROF_UNWIND_SP_MAX = 8 << 20,
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
	PROF_UNWIND_FP = 1, /* CFA = frame pointer + n, with add8 on another stack than sp */
	PROF_UNWIND_AT_SP = 2, /* CFA = *(sp + n), + 8 with add8; n may be negative */
	PROF_UNWIND_AT_FP = 3, /* CFA = *(frame pointer + n), + 8 with add8; n may be negative */
	PROF_UNWIND_REG = 4, /* off = DWARF register << 8 | n / 8: CFA = register + n */
	PROF_UNWIND_SPECIAL = 5, /* off: enum prof_unwind_special */
	PROF_UNWIND_A64_SP = 6, /* arm64: CFA = sp + n */
	PROF_UNWIND_A64_FP = 7, /* arm64: CFA = frame pointer + n */
};

enum prof_unwind_special {
	PROF_UNWIND_NONE = 0, /* no information about this text */
	PROF_UNWIND_END = 1, /* the outermost function */
	PROF_UNWIND_SIGNAL = 2, /* registers are in the ucontext at sp */
	PROF_UNWIND_PLT11 = 3, /* CFA = sp + 8 + 8 * ((ip & 15) >= 11) */
	PROF_UNWIND_PLT10 = 4, /* the same with 10 */
	PROF_UNWIND_UNSUPPORTED = 5, /* a rule that no row can express */
	PROF_UNWIND_RA_RDI = 6, /* CFA = sp + 0, return address in rdi: vfork */
	PROF_UNWIND_RA_RDX = 7, /* the same in rdx: longjmp */
	/*
	 * before a function that is not called: as a return address it marks the end of a stack, and is no frame
	 */
	PROF_UNWIND_NO_FRAME = 8,
	PROF_UNWIND_BIG =
		256, /* + i: CFA = sp (on x86-64 with add8 frame pointer) + big offset i */
	/*
	 * + i: Go's runtime left a goroutine's stack, and its registers are in its g. Big word i has
	 * the offsets: PROF_UNWIND_GO_*. With add8 the goroutine goes on at its saved address;
	 * otherwise that is the return address on its stack.
	 */
	PROF_UNWIND_GO = 512,
	/*
	 * + i: the same for a call of C code, which keeps g and the distance from the top of the
	 * goroutine's stack at sp + 8 * the lowest and second byte of big word i
	 */
	PROF_UNWIND_GO_CALL = 768,
	/*
	 * + i: an exception's handler is about to run, so libgcc overwrites the registers that the
	 * frame saved. Its context, big word i bytes below the frame pointer, keeps the CFA and the
	 * return address: PROF_UNWIND_CONTEXT_CFA, PROF_UNWIND_CONTEXT_RA. The caller's frame
	 * pointer is unknown.
	 */
	PROF_UNWIND_CONTEXT = 1024,
	/*
	 * + i: at the return address of a call, in a function whose CFA is rbx + n; the called function pushes rbx.
	 * Big word i has, divided by 8, how far below its own CFA it does (the lowest byte), and n.
	 */
	PROF_UNWIND_PUSHED = 1280,
	PROF_UNWIND_SPECIAL_END = 1536,
};

/* A byte for each offset, divided by 8: m in g; curg in m; sched.sp and sched.bp in g */
#define PROF_UNWIND_GO_M_SHIFT 0
#define PROF_UNWIND_GO_CURG_SHIFT 8
#define PROF_UNWIND_GO_SP_SHIFT 16
#define PROF_UNWIND_GO_FP_SHIFT 24

/* Offsets in libgcc's struct _Unwind_Context */
#define PROF_UNWIND_CONTEXT_CFA 0x90
#define PROF_UNWIND_CONTEXT_RA 0x98

/* Location of the caller's frame pointer: 1 to 60 means at CFA - 8 * fp */
enum prof_unwind_fp {
	PROF_UNWIND_FP_SAME = 0,
	PROF_UNWIND_FP_SAVED_MAX = 60,
	PROF_UNWIND_FP_AT_FP = 61, /* at *frame pointer: for functions that align their stack */
	PROF_UNWIND_FP_UNDEFINED = 62,
	PROF_UNWIND_FP_UNSUPPORTED = 63,
};

/*
 * The lowest 7 bits of an arm64 row: saved registers and their location. A pair is the caller's
 * frame pointer with the return address above it. The base is the register of the CFA rule.
 */
enum prof_unwind_a64 {
	/* at CFA - 16 * n; n = 0: none saved, the return address is in lr */
	PROF_UNWIND_A64_PAIR = 0,
	PROF_UNWIND_A64_PAIR_UP = 32, /* at base + 16 * n */
	PROF_UNWIND_A64_LR = 64, /* only the return address, at CFA - 8 * n, with n below 16 */
	PROF_UNWIND_A64_LR_UP = 80, /* the same at base + 8 * n */
	PROF_UNWIND_A64_LR_FP =
		96, /* the return address at CFA - 16 * n, the frame pointer 16 below */
	PROF_UNWIND_A64_FORM_MASK = 96, /* except LR_UP, which this reduces to LR */
	PROF_UNWIND_A64_N_MASK = 31,
	PROF_UNWIND_A64_LR_N_MASK = 15,
};

/* The table of one file: an element of the modules map */
struct prof_unwind_module {
	__u32 first_page; /* file offset >> PROF_UNWIND_PAGE_SHIFT of the first page */
	__u32 page_cnt; /* words of the index; big offsets follow */
	__u32 table; /* 1 + its first block, counted over all chunks; 0: none. Stored last. */
	__u32 big_cnt;
	__u32 used; /* set to 1 by each walk that needs the module, with or without a table */
	__u32 without; /* there cannot be a table: only frame pointers are used */
	__u32 left_out; /* no room, or no builder: the table will not come soon */
	__u32 spare;
};

/*
 * An executable mapping: an element of the mappings map. The mappings of a process are contiguous
 * and sorted.
 */
struct prof_unwind_map {
	__u64 start, end;
	__u64 pgoff; /* file offset of start */
	__u32 module_id; /* in the trace; 0: frames stay raw */
	/*
	 * in the modules map; PROF_UNWIND_NO_SLOT: only frame pointers are used; PROF_UNWIND_SOON:
	 * the file, and so its module, is being identified
	 */
	__u32 slot;
};

#define PROF_UNWIND_NO_SLOT 0xffffffffU
#define PROF_UNWIND_SOON 0xfffffffeU

/*
 * A process: an element of the processes map, which is a hash with PROF_UNWIND_PROC_PROBES places
 * from prof_unwind_hash(tgid) on, modulo its power-of-two size. A process may be after a free
 * place, so all places are searched. `list` is first << 32 | count in the mappings map, written at
 * once; 0: unknown. Only the loader writes, with two exceptions for changes that programs must make
 * at once:
 *
 * A fork copies the parent's list to the child (threads need no place). It takes a place by a
 * compare-and-swap of `tgid` from 0, like the loader. The loader frees a place by list = 0 and then
 * tgid = 0. So processes that are new to the loader may share a list. Forks do not copy a list that
 * the loader has condemned (a bit per PROF_UNWIND_LIST_ROUND mappings).
 *
 * A child that shares its parent's memory (vfork, CLONE_VM) is marked in `execs` until its exec:
 * mappings of either appear in both.
 *
 * An exec increments `execs` and clears the list. The loader's mappings may be older than the exec.
 * So it publishes a list only if `execs` equals its own count, checks again after that, and
 * withdraws the list if an exec came in between.
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
