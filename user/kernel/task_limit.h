/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TASK_LIMIT_H
#define D9_KERNEL_TASK_LIMIT_H

struct buf;

/* Appends why a process or thread could not be started, as the end of a message: a limit and the remedy if -EAGAIN. */
void task_limit_text(struct buf *out, int err);
/* Prints "WHAT: " and that text as an error. */
void task_limit_error(const char *what, int err);

#endif /* D9_KERNEL_TASK_LIMIT_H */
