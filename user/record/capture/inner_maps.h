/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_INNER_MAPS_H
#define D9_RECORD_CAPTURE_INNER_MAPS_H

#include <stdint.h>

/*
 * Puts map fds[i] at index keys[i] of an array of maps, for cnt > 0 indexes without a map. Returns 0 when programs
 * find all of them, or -errno. The arrays are copied.
 */
int inner_maps_put(int outer_fd, const uint32_t *keys, const int *fds, uint32_t cnt);

#endif
