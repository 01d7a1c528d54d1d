/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_BTF_H
#define D9_KERNEL_BTF_H

/* The kernel's types. */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

#endif /* D9_KERNEL_BTF_H */
