/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H
#define D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H

/*
 * From now on, missing pages of mapped files read as zeros in the calling thread. Installs a
 * handler for SIGBUS in the process; other threads still die of it.
 */
void sigbus_guard_enter(void);

#endif /* D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H */
