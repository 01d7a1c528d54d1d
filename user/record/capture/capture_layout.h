/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_LAYOUT_H
#define D9_RECORD_CAPTURE_CAPTURE_LAYOUT_H

struct eventset;
struct prof;

/*
 * Marks the programs of the hot events in @set for loading, and tells them their records' layouts.
 * -ENOTSUP with one line printed when this kernel's are not as they should be.
 */
int capture_layout(struct prof *skel, const struct eventset *set);

#endif
