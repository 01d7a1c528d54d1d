/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_IRQS_H
#define D9_KERNEL_IRQS_H

#include <stdint.h>

#define IRQS_DIR "/sys/kernel/irq"
#define IRQS_MAX 1024 /* lines that are told of */

/* @name: of its handlers, as in "virtio0-config" or "i801_smbus,ehci". Not 0 ends it. */
typedef int (*irqs_fn)(void *ctx, uint32_t irq, const char *name);

/* Interrupt lines that have handlers, below @dir. What @fn ended it with; 0, also without such a directory. */
int irqs_each(const char *dir, irqs_fn fn, void *ctx);

#endif /* D9_KERNEL_IRQS_H */
