/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_PAGER_H
#define D9_CMD_COMMON_PAGER_H

struct pager;

/*
 * From now on what is printed goes to $PAGER (less -FRX when there is none) once it is longer than
 * the terminal on standard output. NULL, and nothing changes, when that is no terminal, or the pager
 * is told to be cat. One at a time.
 */
struct pager *pager_begin(void);

/*
 * Shows what is left and waits until the pager is quit. NULL is fine. 0, or -errno when not all could
 * be written; -EPIPE when the pager was quit before.
 */
int pager_end(struct pager *p);

#endif /* D9_CMD_COMMON_PAGER_H */
