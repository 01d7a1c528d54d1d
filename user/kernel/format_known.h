/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_FORMAT_KNOWN_H
#define D9_KERNEL_FORMAT_KNOWN_H

struct format_event;

/*
 * Private to format.c: what is known of fields beside the print fmt, put into ev->symbols and the fields.
 * ev is complete otherwise.
 */
void format_known_collect(struct format_event *ev);

#endif /* D9_KERNEL_FORMAT_KNOWN_H */
