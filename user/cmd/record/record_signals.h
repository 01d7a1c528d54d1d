/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_RECORD_SIGNALS_H
#define D9_CMD_RECORD_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* How often a stop, and another file, was asked for: what a signal handler may touch. */
extern volatile sig_atomic_t record_signals_stops, record_signals_switches;

/* SIGUSR2. Call before anything takes time: what is asked for while the recording starts is done when it runs. */
void record_signals_catch_switch(void);
/* All other signals, independent of inherited settings. @switching: SIGHUP requests another file. */
void record_signals_catch(bool switching);

#endif /* D9_CMD_RECORD_RECORD_SIGNALS_H */
