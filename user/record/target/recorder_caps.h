/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_RECORDER_CAPS_H
#define D9_RECORD_TARGET_RECORDER_CAPS_H

#include <stdbool.h>
#include <stdint.h>

struct capture;

/*
 * -EPERM after one line if nothing can be recorded. With -v it also prints other missing capabilities, including
 * those for the sandbox of symbol lookup.
 */
int recorder_caps_check(bool names, const char *btf);

/*
 * Permanently drops the capabilities that an attached capture no longer needs; *keep: those kept after the start.
 * 0, or -errno after one line.
 */
int recorder_caps_reduce(const struct capture *capture, uint64_t *keep);

#endif
