/* SPDX-License-Identifier: BSD-2-Clause */
/* ptregs.h - the user registers that a walk starts from, for each architecture; and which words of a
 * sample's context are registers, which is how uapi/linux/bpf_perf_event.h has them */
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
#define PTREGS_LR(regs) 0 /* calls leave the return address on the stack */
#define PTREGS_IS_64BIT(regs) ((regs)->cs == 0x33)

enum { SAMPLED_FP = 4, SAMPLED_IP = 16, SAMPLED_STATE = 17, SAMPLED_SP = 19 };
#define SAMPLED_IN_USER(state) ((state)&3)

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
#define PTREGS_LR(regs) ((regs)->user_regs.regs[30])
#define PTREGS_IS_64BIT(regs) (!((regs)->user_regs.pstate & 0x10))

enum { SAMPLED_FP = 29, SAMPLED_SP = 31, SAMPLED_IP = 32, SAMPLED_STATE = 33 };
#define SAMPLED_IN_USER(state) (!((state)&0xf))

#else
#error "no user registers known for this architecture: add them here"
#endif

#endif
