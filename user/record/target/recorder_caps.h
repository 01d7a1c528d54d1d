/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_RECORDER_CAPS_H
#define D9_RECORD_TARGET_RECORDER_CAPS_H

#include <stdbool.h>
#include <stdint.h>

struct capture;

/* -EPERM after one line when nothing can be recorded; with -v what else is missing, walls around the
 * reading of names included. */
int recorder_caps_check(bool names, const char *btf);

/*
 * Drops what an attached capture and what follows need no more, for good; *keep is what stays when the start
 * is over. realtime: priorities are changed later. 0, or -errno after one line.
 */
int recorder_caps_reduce(const struct capture *capture, bool realtime, uint64_t *keep);

#endif
