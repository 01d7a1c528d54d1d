/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_DETACH_H
#define D9_RECORD_CAPTURE_DETACH_H

/*
 * Forks a child that holds what programs, links and perf events this process has, until it has ended: what is
 * closed here costs no time.
 */
void detach_later(void);

#endif
