/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FIELDS_H
#define D9_RECORD_CAPTURE_CAPTURE_FIELDS_H

struct eventset;
struct prof;

/*
 * Marks the programs of the hot events in @set for loading, and sets their records' layouts. -ENOTSUP after one
 * line if this kernel's layouts are not supported.
 */
int capture_fields(struct prof *skel, const struct eventset *set);

#endif
