/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_PROBE_H
#define D9_RECORD_CAPTURE_PROBE_H

#include <stddef.h>

/* Each makes one small thing and leaves nothing behind: 0, or -errno why it cannot. */

/* The smallest map there is, for what denies all of bpf(). */
int probe_bpf(void);
/* A ring buffer of this size. */
int probe_ring(size_t bytes);

#endif
