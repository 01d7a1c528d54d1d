/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_NOTIFY_H
#define D9_RECORD_CONTROL_NOTIFY_H

#include <signal.h>
#include <stdint.h>

struct status;

/*
 * What whoever started the recorder is told: through a descriptor (--ready-fd) and, below systemd, through
 * $NOTIFY_SOCKET, by the protocol of sd_notify(3). No call waits or fails: a message that finds no room is sent
 * at a later step, and a socket that cannot be used is one warning.
 */
struct notify;

/* The lowest descriptor that --ready-fd takes: the others are standard files. */
#define NOTIFY_FD_MIN 3

struct notify_cfg {
	int ready_fd; /* 0: none */
	const volatile sig_atomic_t
		*reload_asked; /* another file was asked for when this has another value */
};

/*
 * To be called before the first fork: takes $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID out of the
 * environment, and ready_fd over. Prints one line and returns -errno if that cannot be written.
 */
int notify_new(const struct notify_cfg *cfg, struct notify **out);
/* NULL is allowed, here and below. */
void notify_free(struct notify *n);

/* Recording runs. what: one line for people, such as the file's name; NULL: nothing is known of it. */
void notify_ready(struct notify *n, const char *what);

/*
 * To be called by the drain, often: pings the watchdog, reports the state and that another file was asked for, and
 * sends what waits. status: what the state is made of; NULL: it stays as it is. now_ns: CLOCK_MONOTONIC.
 */
void notify_step(struct notify *n, uint64_t now_ns, struct status *status);
/* The file that was asked for is there. */
void notify_reloaded(struct notify *n);
/* Recording is over; what is left is written. */
void notify_stopping(struct notify *n);

#endif
