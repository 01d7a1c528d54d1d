/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_BUSGUARD_H
#define D9_SYMBOL_SANDBOX_BUSGUARD_H

/*
 * From now on, mapped files that someone cuts short read as zeros in the calling thread, instead of
 * killing the process. Takes over SIGBUS for the process; other threads die of it as before.
 */
void busguard_enter(void);

#endif /* D9_SYMBOL_SANDBOX_BUSGUARD_H */
