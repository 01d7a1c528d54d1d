// SPDX-License-Identifier: BSD-2-Clause
/*
 * walked CASE: blocks forever in a stack that is known frame by frame
 *
 * The functions are assembly, so that their use of the stack is visible; each has its unwind row
 * (prof_unwind.h), written by hand, next to the instruction that makes it valid. Before "ready" come, for all
 * cases, "row=ADDRESS WORD" and "big=OFFSET", and for the selected one the frames that a walk should find, leaf
 * first, as "frame=ADDRESS" (of a return address: less one). "done" comes right before it goes. It never
 * returns.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "stimulus.h"

struct row {
	uint64_t at, word;
};

struct frame {
	uint64_t at, of_case;
};

extern const struct row walked_rows[], walked_rows_end[];
extern const struct frame walked_frames[], walked_frames_end[];
extern const char walked_handler[], walked_restorer[];
extern const char walked_jit[], walked_jit_call[], walked_jit_return[], walked_jit_end[];

enum {
	BIG_SP = 40008, /* offsets that no row can hold */
	BIG_FP = 50016,
	SIGNAL_RESTORER = 0x04000000, /* SA_RESTORER */
	SIGNAL_SET_SZ = 8,
	JIT_SZ = 4096,
	JIT_FRAME = 1, /* of the cases with code that was copied */
};

typedef void (*walk_fn)(void *jit, void *jit_call);

struct walk_case {
	const char *name;
	walk_fn fn;
	uint64_t number; /* of its frames */
	bool jit;
};

#define WALK(function, number, jit)                                                                \
	extern void walk_##function(void *, void *);                                               \
	static const struct walk_case case_##number = { #function, walk_##function, number, jit }

WALK(frames, 1, false);
WALK(signal, 2, false);
WALK(ra_rdi, 3, false);
WALK(ra_rdx, 4, false);
WALK(cfa_rdx, 5, false);
WALK(cfa_rbx, 6, false);
WALK(cfa_rsi, 7, false);
WALK(cfa_rdi, 8, false);
WALK(cfa_r8, 9, false);
WALK(cfa_r9, 10, false);
WALK(cfa_r10, 11, false);
WALK(cfa_r12, 12, false);
WALK(cfa_r13, 13, false);
WALK(cfa_r14, 14, false);
WALK(cfa_r15, 15, false);
WALK(plt_behind, 16, false);
WALK(plt_before, 17, false);
WALK(jit, 18, true);
WALK(jit_outermost, 19, true);
WALK(no_row, 20, false);
WALK(unsupported, 21, false);
WALK(register_lost, 22, false);
WALK(kind_unknown, 23, false);
WALK(big_unknown, 24, false);
WALK(no_progress, 25, false);
WALK(unaligned, 26, false);
WALK(unreadable, 27, false);
WALK(no_return, 28, false);
WALK(no_mapping, 29, false);
WALK(fp_lost, 30, false);
WALK(deep, 31, false);
WALK(forever, 32, false);
WALK(odd, 33, false);
WALK(leaf_bare, 34, false);
WALK(leaf_of_callback, 35, false);
WALK(leaf_by_pointer, 36, false);
WALK(leaf_behind_stub, 37, false);
WALK(leaf_by_slot, 38, false);
WALK(leaf_returning, 39, false);
WALK(leaf_called_other, 40, false);
WALK(leaf_called_before, 41, false);
WALK(leaf_called_any, 42, false);
WALK(leaf_has_pointer, 43, false);
WALK(callback_called_other, 44, false);
WALK(callback_called_before, 45, false);
WALK(context_root, 46, false);
WALK(bare_callers, 47, false);
WALK(bare_by_pointer, 48, false);
WALK(bare_far_call, 49, false);
WALK(bare_data_in_fp, 50, false);
WALK(framed_caller, 51, false);
WALK(framed_by_jump, 52, false);
WALK(framed_or_bare_by_jump, 53, false);
WALK(leaf_by_jump, 54, false);

static const struct walk_case *const cases[] = {
	&case_1,  &case_2,  &case_3,  &case_4,	&case_5,  &case_6,  &case_7,  &case_8,	&case_9,
	&case_10, &case_11, &case_12, &case_13, &case_14, &case_15, &case_16, &case_17, &case_18,
	&case_19, &case_20, &case_21, &case_22, &case_23, &case_24, &case_25, &case_26, &case_27,
	&case_28, &case_29, &case_30, &case_31, &case_32, &case_33, &case_34, &case_35, &case_36,
	&case_37, &case_38, &case_39, &case_40, &case_41, &case_42, &case_43, &case_44, &case_45,
	&case_46, &case_47, &case_48, &case_49, &case_50, &case_51, &case_52, &case_53, &case_54,
};

/* clang-format off */
__asm__(
"	SP = 0; FP = 1; AT_SP = 2; AT_FP = 3; REG = 4; SPECIAL = 5\n"
"	NONE = 0; END = 1; SIGNAL = 2; PLT11 = 3; PLT10 = 4; UNSUPPORTED = 5; RDI = 6; RDX = 7; NO_FRAME = 8; BIG = 256\n"
"	AT_RBP = 61; UNDEFINED = 62\n"
/* A row is valid from here on. */
"	.macro ROW kind off fp=0 add8=0\n"
"	.Lrow\\@:\n"
"	.pushsection walked_rows_all, \"aw\"\n"
"	.quad .Lrow\\@, \\kind << 19 | (\\off & 0xfff) << 7 | \\add8 << 6 | \\fp\n"
"	.popsection\n"
"	.endm\n"
/* The true stack of a case has this address: after a call, or after the instruction at which it stopped. */
"	.macro FRAME of less=1\n"
"	.Lframe\\@:\n"
"	.pushsection walked_frames_all, \"aw\"\n"
"	.quad .Lframe\\@ - \\less, \\of\n"
"	.popsection\n"
"	.endm\n"
/* pause(2), which takes no argument in a register. */
"	.macro LEAF of\n"
"	mov $34, %eax\n"
"	syscall\n"
"	FRAME \\of 0\n"
"	ud2\n"
"	.endm\n"
"	.macro BEGIN name\n"
"	.globl \\name\n"
"	.type \\name, @function\n"
"\\name:\n"
"	.endm\n"

"	.pushsection walked_rows_all, \"aw\"\n"
"	.globl walked_rows\n"
"walked_rows:\n"
"	.popsection\n"
"	.pushsection walked_frames_all, \"aw\"\n"
"	.globl walked_frames\n"
"walked_frames:\n"
"	.popsection\n"
"	.text\n"

/* ---- frames: how the caller's stack pointer and frame pointer are found ---- */
"1:	ROW SP 1\n"
"	LEAF 1\n"
"2:	ROW SP 1\n"
"	sub $40, %rsp\n"
"	ROW SP 6\n"
"	call 1b\n"
"	FRAME 1\n"
"3:	ROW SP 1\n" /* saves the frame pointer and uses it for data */
"	push %rbp\n"
"	ROW SP 2 2\n"
"	mov $77, %ebp\n"
"	sub $8000, %rsp\n"
"	ROW SP 1002 2\n"
"	call 2b\n"
"	FRAME 1\n"
"4:	ROW SP 1\n" /* unknown stack pointer */
"	push %rbp\n"
"	ROW SP 2 2\n"
"	mov %rsp, %rbp\n"
"	ROW FP 2 2\n"
"	and $-512, %rsp\n"
"	call 3b\n"
"	FRAME 1\n"
"5:	ROW SP 1\n" /* gcc's code for a large alignment: CFA at -8(%rbp) */
"	lea 8(%rsp), %r10\n"
"	and $-64, %rsp\n"
"	push -8(%r10)\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push %r10\n"
"	ROW AT_FP -1 AT_RBP\n"
"	sub $88, %rsp\n"
"	call 4b\n"
"	FRAME 1\n"
"6:	ROW SP 1\n" /* the stack pointer at entry, kept on the stack */
"	mov %rsp, %rax\n"
"	and $-256, %rsp\n"
"	push %rax\n"
"	sub $16, %rsp\n"
"	ROW AT_SP 2 0 1\n"
"	call 5b\n"
"	FRAME 1\n"
"7:	ROW SP 1\n" /* more than fits into a row */
"	sub $40000, %rsp\n"
"	ROW SPECIAL BIG\n"
"	call 6b\n"
"	FRAME 1\n"
"8:	ROW SP 1\n"
"	push %rbp\n"
"	ROW SP 2 2\n"
"	lea -50000(%rsp), %rbp\n"
"	ROW SPECIAL BIG+1 2 1\n"
"	call 7b\n"
"	FRAME 1\n"
"	.balign 1024\n" /* a page with enough rows for the slow path of the search */
"9:	ROW SP 1\n"
"	.rept 300\n"
"	nop\n"
"	ROW SPECIAL UNSUPPORTED\n"
"	.endr\n"
"	push $0\n"
"	ROW SP 2\n"
"	call 8b\n"
"	FRAME 1\n"
"	.rept 300\n"
"	nop\n"
"	ROW SPECIAL UNSUPPORTED\n"
"	.endr\n"
"BEGIN walk_frames\n"
"	ROW SPECIAL END UNDEFINED\n"
"	call 9b\n"
"	FRAME 1\n"

/* ---- signal: a handler on a stack of its own, below code with the CFA in a register ---- */
"BEGIN walked_handler\n"
"	ROW SP 1\n"
"	LEAF 2\n"
"	ROW SPECIAL SIGNAL\n" /* also of the byte before the restorer, where a caller's frame is looked up */
"	nop\n"
"BEGIN walked_restorer\n"
"	FRAME 2\n"
"	ud2\n"
"1:	ROW SP 1\n"
"	mov %rsp, %r10\n"
"	sub $512, %rsp\n"
"	ROW REG 10<<8|1\n"
"	FRAME 2 0\n"
"	ud2\n"
"BEGIN walk_signal\n"
"	ROW SPECIAL END\n"
"	call 1b\n"
"	FRAME 2\n"

/* ---- registers of the first frame ---- */
"1:	ROW SP 1\n"
"	pop %rdi\n"
"	ROW SPECIAL RDI\n"
"	LEAF 3\n"
"2:	ROW SP 1\n"
"	sub $24, %rsp\n"
"	ROW SP 4\n"
"	call 1b\n"
"	FRAME 3\n"
"BEGIN walk_ra_rdi\n"
"	ROW SPECIAL END\n"
"	call 2b\n"
"	FRAME 3\n"

"1:	ROW SP 1\n"
"	pop %rdx\n"
"	ROW SPECIAL RDX\n"
"	LEAF 4\n"
"BEGIN walk_ra_rdx\n"
"	ROW SPECIAL END\n"
"	call 1b\n"
"	FRAME 4\n"

"	.macro CFA_IN reg dwarf of name\n"
"1:	ROW SP 1\n"
"	lea -120(%rsp), %\\reg\n"
"	sub $512, %rsp\n"
"	ROW REG \\dwarf<<8|16\n"
"	LEAF \\of\n"
"	BEGIN \\name\n"
"	ROW SPECIAL END\n"
"	call 1b\n"
"	FRAME \\of\n"
"	.endm\n"
"	CFA_IN rdx 1 5 walk_cfa_rdx\n"
"	CFA_IN rbx 3 6 walk_cfa_rbx\n"
"	CFA_IN rsi 4 7 walk_cfa_rsi\n"
"	CFA_IN rdi 5 8 walk_cfa_rdi\n"
"	CFA_IN r8 8 9 walk_cfa_r8\n"
"	CFA_IN r9 9 10 walk_cfa_r9\n"
"	CFA_IN r10 10 11 walk_cfa_r10\n"
"	CFA_IN r12 12 12 walk_cfa_r12\n"
"	CFA_IN r13 13 13 walk_cfa_r13\n"
"	CFA_IN r14 14 14 walk_cfa_r14\n"
"	CFA_IN r15 15 15 walk_cfa_r15\n"

/* ---- procedure linkage: the row depends on how far an entry has come ---- */
"	.balign 16\n"
"1:	ROW SPECIAL PLT11\n"
"	push $0\n"
"	nopw 0(%rax, %rax)\n"
"	mov $34, %al\n"
"	syscall\n" /* ends at 11 or 12 */
"	FRAME 16 0\n"
"	ud2\n"
"BEGIN walk_plt_behind\n"
"	ROW SPECIAL END\n"
"	xor %eax, %eax\n"
"	call 1b\n"
"	FRAME 16\n"
"	.balign 16\n"
"1:	ROW SPECIAL PLT10\n"
"	mov $34, %al\n"
"	syscall\n" /* ends at 4 */
"	FRAME 17 0\n"
"	ud2\n"
"BEGIN walk_plt_before\n"
"	ROW SPECIAL END\n"
"	xor %eax, %eax\n"
"	call 1b\n"
"	FRAME 17\n"

/* ---- code known by frame pointers only, which is at another address when it runs ---- */
"1:	ROW SP 1\n"
"	LEAF 18\n"
"BEGIN walked_jit\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	sub $200, %rsp\n"
"BEGIN walked_jit_call\n"
"	call *%rdx\n"
"BEGIN walked_jit_return\n"
"	ud2\n"
"BEGIN walked_jit_end\n"
"	FRAME 18\n" /* replaced by the one in the copy */
"2:	ROW SP 1\n"
"	push %rbp\n"
"	ROW SP 2 2\n"
"	mov %rsp, %rbp\n"
"	ROW FP 2 2\n"
"	sub $16, %rsp\n"
"	lea 1b(%rip), %rdx\n"
"	call *%rdi\n"
"	FRAME 18\n"
"BEGIN walk_jit\n"
"	ROW SPECIAL END\n"
"	call 2b\n"
"	FRAME 18\n"
"1:	ROW SP 1\n"
"	LEAF 19\n"
"BEGIN walk_jit_outermost\n" /* the copy has no caller: frame pointer 0 */
"	lea 1b(%rip), %rdx\n"
"	xor %ebp, %ebp\n"
"	jmp *%rsi\n"
"	FRAME 19\n"

/* ---- ends ---- */
"	.macro ENDS of name row:vararg\n"
"1:	ROW SP 1\n"
"	LEAF \\of\n"
"	BEGIN \\name\n"
"	\\row\n"
"	sub $24, %rsp\n"
"	mov $1, %ebp\n"
"	call 1b\n"
"	FRAME \\of\n"
"	.endm\n"
"	ENDS 20 walk_no_row ROW SPECIAL NONE\n"
"	ENDS 21 walk_unsupported ROW SPECIAL UNSUPPORTED\n"
"	ENDS 22 walk_register_lost ROW REG 3<<8|4\n"
"	ENDS 23 walk_kind_unknown ROW 6 0\n"
"	ENDS 24 walk_big_unknown ROW SPECIAL BIG+2\n"
"	ENDS 25 walk_no_progress ROW SP 0\n"
"1:	ROW SP 1\n"
"	LEAF 26\n"
"BEGIN walk_unaligned\n"
"	ROW FP 2\n"
"	lea 33(%rsp), %rbp\n"
"	call 1b\n"
"	FRAME 26\n"

"1:	ROW SP 1\n"
"	LEAF 27\n"
"BEGIN walk_unreadable\n"
"	ROW FP 2\n"
"	mov $1 << 62, %rbp\n"
"	call 1b\n"
"	FRAME 27\n"

"1:	ROW SP 1\n"
"	LEAF 28\n"
"2:	ROW SP 1\n"
"	call 1b\n"
"	FRAME 28\n"
"BEGIN walk_no_return\n"
"	push $0\n"
"	jmp 2b\n"

"1:	ROW SP 1\n"
"	LEAF 29\n"
"2:	ROW SP 1\n"
"	call 1b\n"
"	FRAME 29\n"
"BEGIN walk_no_mapping\n"
"	push $4096\n"
"	jmp 2b\n"

"1:	ROW SP 1 UNDEFINED\n"
"	LEAF 30\n"
"BEGIN walk_fp_lost\n"
"	ROW FP 2\n"
"	mov %rsp, %rbp\n"
"	call 1b\n"
"	FRAME 30\n"

"1:	ROW SP 1\n"
"	LEAF 46\n"
"2:	ROW SP 1\n"
"	sub $24, %rsp\n"
"	ROW SP 4\n"
"	call 1b\n"
"	FRAME 46\n"
"	ROW SPECIAL NO_FRAME\n" /* where 2 would return to: nothing was called there */
"	nop\n"
"3:	ROW SPECIAL UNSUPPORTED\n"
"	ud2\n"
"BEGIN walk_context_root\n"
"	ROW SPECIAL UNSUPPORTED\n"
"	lea 3b(%rip), %rax\n"
"	push %rax\n"
"	jmp 2b\n"

"1:	ROW SP 2\n" /* where 2 jumps to */
"	LEAF 31\n"
"2:	ROW SP 1\n"
"	sub $8, %rsp\n"
"	ROW SP 2\n"
"	dec %ebx\n"
"	je 1b\n"
"	call 2b\n"
"	FRAME 31\n"
"BEGIN walk_deep\n"
"	mov $300, %ebx\n"
"	call 2b\n"
"	ud2\n"

"BEGIN walk_forever\n" /* interrupted registers that were interrupted at the same address */
"	ROW SPECIAL SIGNAL\n"
"	sub $512, %rsp\n"
"	mov %rsp, 160(%rsp)\n"
"	lea 1f(%rip), %rax\n"
"	mov %rax, 168(%rsp)\n"
"	mov $34, %eax\n"
"	syscall\n"
"	FRAME 32 0\n"
"1:	ud2\n"

"1:	ROW SPECIAL NONE\n" /* an invalid stack pointer */
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	sub $3, %rsp\n"
"	LEAF 33\n"
"BEGIN walk_odd\n"
"	ROW SPECIAL END\n"
"	call 1b\n"
"	FRAME 33\n"
"	ROW SPECIAL NONE\n"

/* ---- leaf: no row has information; the top of the stack is its return address, or looks like one ---- */
"	.macro FRAMED\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	sub $32, %rsp\n"
"	.endm\n"
/* The outermost function, from which \\function is called with the frame pointer 0. */
"	.macro OUTER of name function:vararg\n"
"BEGIN \\name\n"
"	xor %ebp, %ebp\n"
"	\\function\n"
"	FRAME \\of\n"
"	ud2\n"
"	.endm\n"
/* The owner of the frame is unknown. */
"	.macro CALLBACK function\n"
"	lea \\function(%rip), %rax\n"
"	call *%rax\n"
"	.endm\n"
"1:	LEAF 34\n"
"2:	FRAMED\n"
"	call 1b\n"
"	FRAME 34\n"
"	OUTER 34 walk_leaf_bare call 2b\n"
"1:	LEAF 35\n"
"2:	FRAMED\n"
"	call 1b\n"
"	FRAME 35\n"
"	OUTER 35 walk_leaf_of_callback CALLBACK 2b\n"
"1:	LEAF 36\n" /* the caller is unknown; but the frame belongs to another function */
"2:	FRAMED\n"
"	lea 1b(%rip), %rdx\n"
"	call *%rdx\n"
"	FRAME 36\n"
"	OUTER 36 walk_leaf_by_pointer call 2b\n"
"1:	LEAF 37\n"
"	.pushsection .data.rel.local, \"aw\"\n"
"walked_slot:	.quad 1b\n"
"	.popsection\n"
"walked_stub:	endbr64\n"
"	jmp *walked_slot(%rip)\n"
"2:	FRAMED\n"
"	call walked_stub\n"
"	FRAME 37\n"
"	OUTER 37 walk_leaf_behind_stub call 2b\n"
"1:	LEAF 38\n"
"	.pushsection .data.rel.local, \"aw\"\n"
"walked_slot_38:	.quad 1b\n"
"	.popsection\n"
"2:	FRAMED\n"
"	call *walked_slot_38(%rip)\n"
"	FRAME 38\n"
"	OUTER 38 walk_leaf_by_slot call 2b\n"
"1:	FRAMED\n" /* had a frame */
"	leave\n"
"	mov $34, %eax\n"
"	syscall\n"
"	FRAME 39 0\n"
"	ret\n"
"2:	FRAMED\n"
"	call 1b\n"
"	FRAME 39\n"
"	OUTER 39 walk_leaf_returning call 2b\n"
/* of leaves that have a frame: the return address of a call of \\callee is at the top of it */
"	.macro STALE of callee:vararg\n"
"	FRAMED\n"
"	lea 9f(%rip), %rax\n"
"	mov %rax, (%rsp)\n"
"	LEAF \\of\n"
"	\\callee\n"
"9:	ud2\n"
"	.endm\n"
"1:	ret\n"
"2:	STALE 40 call 1b\n"
"	OUTER 40 walk_leaf_called_other call 2b\n"
"1:	STALE 41 call 1b\n"
"	OUTER 41 walk_leaf_called_before call 1b\n"
"1:	STALE 42 call *%rdx\n"
"	OUTER 42 walk_leaf_called_any call 1b\n"
"1:	STALE 43 nop\n"
"	OUTER 43 walk_leaf_has_pointer call 1b\n"
"1:	ret\n"
"2:	STALE 44 call 1b\n"
"	OUTER 44 walk_callback_called_other CALLBACK 2b\n"
"1:	STALE 45 call 1b\n"
"	OUTER 45 walk_callback_called_before CALLBACK 1b\n"

/* ---- callers without a row, of a leaf that has one ---- */
"	.macro LEAF_WITH_ROW of\n"
"	ROW SP 1\n"
"	LEAF \\of\n"
"	ROW SPECIAL NONE\n"
"	.endm\n"
"1:	LEAF_WITH_ROW 47\n"
"2:	sub $40, %rsp\n"
"	call 1b\n"
"	FRAME 47\n"
"3:	sub $24, %rsp\n"
"	call 2b\n"
"	FRAME 47\n"
"4:	FRAMED\n"
"	call 3b\n"
"	FRAME 47\n"
"	OUTER 47 walk_bare_callers call 4b\n"
/* the frame pointer leads past 3; nothing shows that 2 was called there */
"1:	LEAF_WITH_ROW 48\n"
"3:	FRAMED\n"
"	lea 2f(%rip), %rdx\n"
"	call *%rdx\n"
"	ud2\n"
"2:	sub $40, %rsp\n"
"	call 1b\n"
"	FRAME 48\n"
"	OUTER 48 walk_bare_by_pointer call 3b\n"
/* the same, but the owner of the frame is far away */
"1:	LEAF_WITH_ROW 49\n"
"2:	sub $40, %rsp\n"
"	call 1b\n"
"	FRAME 49\n"
"	.skip 70000\n"
"3:	FRAMED\n"
"	lea 2b(%rip), %rdx\n"
"	call *%rdx\n"
"	ud2\n"
"	OUTER 49 walk_bare_far_call call 3b\n"
/* the frame pointer is a value of the caller, at which there are two words of data */
"1:	LEAF_WITH_ROW 50\n"
"2:	sub $40, %rsp\n"
"	call 1b\n"
"	FRAME 50\n"
"BEGIN walk_bare_data_in_fp\n"
"	lea 2b(%rip), %rdx\n"
"	push %rdx\n"
"	push $0\n"
"	mov %rsp, %rbp\n"
"	call *%rdx\n"
"	ud2\n"
/* with return addresses of other calls in its frame */
"1:	LEAF_WITH_ROW 51\n"
"2:	FRAMED\n"
"	lea 8f(%rip), %rax\n"
"	mov %rax, (%rsp)\n"
"	lea 9f(%rip), %rax\n"
"	mov %rax, 8(%rsp)\n"
"	call 1b\n"
"	FRAME 51\n"
"	call 1b\n"
"8:	call 2b\n"
"9:	ud2\n"
"	OUTER 51 walk_framed_caller call 2b\n"
/* reached by a jump from far away, with data in its frame */
"1:	LEAF_WITH_ROW 52\n"
"2:	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push $1\n"
"	push %rsp\n"
"	call 1b\n"
"	FRAME 52\n"
"	.skip 70000\n"
"3:	jmp 2b\n"
"	OUTER 52 walk_framed_by_jump call 3b\n"
/* the same with the return address of a call */
"1:	LEAF_WITH_ROW 53\n"
"2:	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push $1\n"
"	lea 9f(%rip), %rax\n"
"	push %rax\n"
"	call 1b\n"
"	FRAME 53\n"
"	call 1b\n"
"9:	.skip 70000\n"
"3:	jmp 2b\n"
"	OUTER 53 walk_framed_or_bare_by_jump call 3b\n"
/* a leaf without a frame, shortly after the owner of the frame, which called a function that jumps to it */
"1:	FRAMED\n"
"	call 3f\n"
"	ud2\n"
"2:	LEAF 54\n"
"3:	jmp 2b\n"
"4:	FRAMED\n"
"	call 1b\n"
"	FRAME 54\n"
"	OUTER 54 walk_leaf_by_jump call 4b\n"

"	.pushsection walked_rows_all, \"aw\"\n"
"	.globl walked_rows_end\n"
"walked_rows_end:\n"
"	.popsection\n"
"	.pushsection walked_frames_all, \"aw\"\n"
"	.globl walked_frames_end\n"
"walked_frames_end:\n"
"	.popsection\n");
/* clang-format on */

/* The C library's handler would install its own restorer. */
static void set_handler(void)
{
	const struct {
		const void *handler;
		unsigned long flags;
		const void *restorer;
		unsigned long mask;
	} action = {
		.handler = walked_handler,
		.flags = SA_ONSTACK | SIGNAL_RESTORER,
		.restorer = walked_restorer,
	};
	const stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	if (sigaltstack(&stack, NULL) ||
	    syscall(SYS_rt_sigaction, SIGILL, &action, NULL, SIGNAL_SET_SZ))
		exit(2);
}

static char *copy_jit(void)
{
	char *jit = mmap(NULL, JIT_SZ, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (jit == MAP_FAILED)
		exit(2);
	memcpy(jit, walked_jit, walked_jit_end - walked_jit);
	return jit;
}

static void print_truth(const struct walk_case *c, const char *jit)
{
	const char *jit_at = jit + (walked_jit_return - walked_jit) - 1;
	const struct row *row;
	const struct frame *frame;
	int idx = 0;

	for (row = walked_rows; row < walked_rows_end; row++)
		printf("row=%#lx %#lx\n", row->at, row->word);
	printf("big=%d\nbig=%d\n", BIG_SP, BIG_FP);
	for (frame = walked_frames; frame < walked_frames_end; frame++)
		if (frame->of_case == c->number)
			printf("frame=%#lx\n",
			       c->jit && idx++ == JIT_FRAME ? (uint64_t)jit_at : frame->at);
	printf("jit=%#lx\n", (uint64_t)jit);
}

int main(int argc, char **argv)
{
	const struct walk_case *c = NULL;
	char *jit = copy_jit();
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i]->name, argv[1]))
			c = cases[i];
	if (!c)
		return 2;
	set_handler();
	print_truth(c, jit);
	stim_start(false, "");
	printf("done\n");
	fflush(stdout);
	c->fn(jit, jit + (walked_jit_call - walked_jit));
	return 2;
}
