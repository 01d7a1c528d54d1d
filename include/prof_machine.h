/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_machine.h - user registers of this architecture: the words of struct pt_regs
 *
 * For BPF programs and the loader. vmlinux/ptregs.h has definitions for programs only,
 * base/machine.h for the loader only.
 */
#ifndef D9_PROF_MACHINE_H
#define D9_PROF_MACHINE_H

#if defined(__TARGET_ARCH_x86) || (!defined(__bpf__) && defined(__x86_64__))

#define PROF_MACHINE_X86_64

enum prof_machine {
	PROF_COPY_REGS = 21, /* of a copied stack: all of pt_regs */
	PROF_REG_FP = 4,
	PROF_REG_IP = 16,
	PROF_REG_SP = 19,
};
#define PROF_REGS_LR(regs) 0

#elif defined(__TARGET_ARCH_arm64) || (!defined(__bpf__) && defined(__aarch64__))

#define PROF_MACHINE_ARM64

enum prof_machine {
	PROF_COPY_REGS = 34, /* of a copied stack: registers of user space */
	PROF_REG_FP = 29,
	PROF_REG_LR = 30,
	PROF_REG_SP = 31,
	PROF_REG_IP = 32,
};
#define PROF_REGS_LR(regs) ((regs)[PROF_REG_LR])

#else
#error "no user registers known for this architecture: add them here"
#endif

#endif
