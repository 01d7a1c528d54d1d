/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_DETACH_H
#define D9_RECORD_CAPTURE_DETACH_H

/*
 * Forks a child that holds this process's programs, links and perf events until it has ended: closing them here
 * costs no time.
 */
void detach_later(void);

#endif
