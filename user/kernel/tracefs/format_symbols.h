/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_FORMAT_SYMBOLS_H
#define D9_KERNEL_TRACEFS_FORMAT_SYMBOLS_H

struct format_event;
struct tep_event;

/*
 * Private to format.c: fills ev->symbols and `hex` of the fields from the print fmt that
 * libtraceevent parsed. ev must have all fields. Skips fields whose print fmt cannot be expressed
 * as rows.
 */
void format_symbols_collect(struct format_event *ev, const struct tep_event *tep);

#endif /* D9_KERNEL_TRACEFS_FORMAT_SYMBOLS_H */
