/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_PROBE_H
#define D9_RECORD_CAPTURE_PROBE_H

#include <stddef.h>

/* Each creates one small object and removes it: 0, or -errno if it cannot. */

/* The smallest map, which fails if all of bpf() is denied. */
int probe_bpf(void);
/* A ring buffer of this size. */
int probe_ring(size_t bytes);

#endif
