/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_FORMAT_KNOWN_H
#define D9_KERNEL_TRACEFS_FORMAT_KNOWN_H

struct format_event;

/*
 * Private to format.c: adds the meaning of fields that print fmt does not have to ev->symbols and
 * to the fields. ev must be complete otherwise.
 */
void format_known_collect(struct format_event *ev);

#endif /* D9_KERNEL_TRACEFS_FORMAT_KNOWN_H */
