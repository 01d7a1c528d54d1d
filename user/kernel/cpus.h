/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_CPUS_H
#define D9_KERNEL_CPUS_H

#include <stddef.h>
#include <stdint.h>

/* CPU numbers in ascending order; the caller frees *cpus. Silent, -errno. */
int cpus_online(uint32_t **cpus, size_t *cnt);

/* The highest number that a CPU of this machine can ever have. Silent, -errno. */
int cpus_last_possible(uint32_t *cpu);

/* The kernel's list text, "0-3,8" and a newline; "" is an empty list. -EINVAL, -ERANGE. */
int cpus_parse(const char *text, uint32_t **cpus, size_t *cnt);

#endif /* D9_KERNEL_CPUS_H */
