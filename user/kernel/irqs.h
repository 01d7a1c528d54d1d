/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_IRQS_H
#define D9_KERNEL_IRQS_H

#include <stdint.h>

#define IRQS_DIR "/sys/kernel/irq"
#define IRQS_MAX 1024 /* lines above are not reported */

/*
 * @name: its handlers, such as "virtio0-config" or "i801_smbus,ehci". A nonzero result ends the
 * iteration.
 */
typedef int (*irqs_fn)(void *ctx, uint32_t irq, const char *name);

/*
 * Calls @fn for each interrupt line with handlers below @dir. Returns the nonzero result of @fn, or
 * 0, also if there is no such directory.
 */
int irqs_each(const char *dir, irqs_fn fn, void *ctx);

#endif /* D9_KERNEL_IRQS_H */
