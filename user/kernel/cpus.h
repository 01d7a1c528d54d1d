/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_CPUS_H
#define D9_KERNEL_CPUS_H

#include <stddef.h>
#include <stdint.h>

/* Online CPUs in ascending order; the caller frees *cpus. 0 or -errno, without a message. */
int cpus_online(uint32_t **cpus, size_t *cnt);

/* The highest possible CPU number of this machine. 0 or -errno, without a message. */
int cpus_last_possible(uint32_t *cpu);

/*
 * Parses the kernel's list format, "0-3,8" and a newline; "" is an empty list. 0, -EINVAL or
 * -ERANGE.
 */
int cpus_parse(const char *text, uint32_t **cpus, size_t *cnt);

#endif /* D9_KERNEL_CPUS_H */
