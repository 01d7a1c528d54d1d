/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h - differences between the architectures that the program runs on
 *
 * vmlinux/ptregs.h has the differences for BPF programs. A file may hold code of another
 * architecture; see symbol/elf/elfimg.h.
 */
#ifndef D9_BASE_MACHINE_H
#define D9_BASE_MACHINE_H

#if defined(__x86_64__)

#define MACHINE_AUDIT_ARCH AUDIT_ARCH_X86_64 /* <linux/audit.h> */
#define MACHINE_ELF EM_X86_64 /* <elf.h> */
#define MACHINE_LIB_DIR "x86_64-linux-gnu" /* directory below /lib on Debian multiarch systems */

#elif defined(__aarch64__)

#define MACHINE_AUDIT_ARCH AUDIT_ARCH_AARCH64
#define MACHINE_ELF EM_AARCH64
#define MACHINE_LIB_DIR "aarch64-linux-gnu"

#else
#error "what differs on this machine is not known: add it here and in vmlinux/ptregs.h"
#endif

#endif /* D9_BASE_MACHINE_H */
