/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_PAGER_H
#define D9_CMD_COMMON_PAGER_H

struct pager;

/*
 * From now on, output that is longer than the terminal on standard output goes to $PAGER (default less -FRX). NULL,
 * without an effect, if standard output is not a terminal or the pager is cat. One at a time.
 */
struct pager *pager_begin(void);

/*
 * Shows what is left and waits until the pager is quit. NULL is fine. 0, or -errno when not all could
 * be written; -EPIPE when the pager was quit before.
 */
int pager_end(struct pager *p);

#endif /* D9_CMD_COMMON_PAGER_H */
