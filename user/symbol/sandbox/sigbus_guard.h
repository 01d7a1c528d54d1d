/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H
#define D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H

/*
 * From now on, mapped files that someone cuts short read as zeros in the calling thread, instead of
 * killing the process. Takes over SIGBUS for the process; other threads die of it as before.
 */
void sigbus_guard_enter(void);

#endif /* D9_SYMBOL_SANDBOX_SIGBUS_GUARD_H */
