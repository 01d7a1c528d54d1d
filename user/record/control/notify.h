/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_NOTIFY_H
#define D9_RECORD_CONTROL_NOTIFY_H

#include <signal.h>
#include <stdint.h>

struct status;

/*
 * Reports the recorder's state to its starter: through a descriptor (--ready-fd), and under systemd through
 * $NOTIFY_SOCKET by the protocol of sd_notify(3). No call blocks or fails. A message that cannot be sent now is
 * sent at a later step. An unusable socket causes one warning.
 */
struct notify;

/* The lowest descriptor for --ready-fd: lower ones are standard files. */
#define NOTIFY_FD_MIN 3

struct notify_cfg {
	int ready_fd; /* 0: none */
	const volatile sig_atomic_t *reload_asked; /* a change of the value requests another file */
};

/*
 * Call before the first fork: removes $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID from the environment, and
 * owns ready_fd. Prints one line and returns -errno if ready_fd is not writable.
 */
int notify_new(const struct notify_cfg *cfg, struct notify **out);
/* NULL is allowed, here and below. */
void notify_free(struct notify *n);

/* Recording runs. what: one line for people, such as the file's name; NULL: none. */
void notify_ready(struct notify *n, const char *what);

/*
 * Called often by the drain: pings the watchdog, reports the state and requests for another file, and sends queued
 * messages. status: source of the state; NULL: unchanged. now_ns: CLOCK_MONOTONIC.
 */
void notify_step(struct notify *n, uint64_t now_ns, struct status *status);
/* The requested file exists. */
void notify_reloaded(struct notify *n);
/* Recording has ended; the rest is being written. */
void notify_stopping(struct notify *n);

#endif
