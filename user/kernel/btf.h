/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_BTF_H
#define D9_KERNEL_BTF_H

/* BTF of the running kernel */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

#endif /* D9_KERNEL_BTF_H */
