/* SPDX-License-Identifier: BSD-2-Clause */
/* ptregs.h - the user registers that a frame-pointer walk starts from, for each architecture */
#ifndef D9_PTREGS_H
#define D9_PTREGS_H

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long bp;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};

#define PTREGS_IP(regs) ((regs)->ip)
#define PTREGS_FP(regs) ((regs)->bp)
#define PTREGS_SP(regs) ((regs)->sp)
#define PTREGS_IS_64BIT(regs) ((regs)->cs == 0x33)
#define PTREGS_HAVE_ROWS true

#elif defined(__TARGET_ARCH_arm64)

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs {
	struct user_pt_regs user_regs;
};

#define PTREGS_IP(regs) ((regs)->user_regs.pc)
#define PTREGS_FP(regs) ((regs)->user_regs.regs[29])
#define PTREGS_SP(regs) ((regs)->user_regs.sp)
#define PTREGS_IS_64BIT(regs) (!((regs)->user_regs.pstate & 0x10))
#define PTREGS_HAVE_ROWS false /* prof_unwind.h's are x86-64's */

#else
#error "no user registers known for this architecture: add them here"
#endif

#endif
