/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_STREAM_H
#define D9_RECORD_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Outputs that are no files: "unix:PATH" and "tcp:HOST:PORT", where somebody listens. */
bool stream_is(const char *path);

/* Whether a stream's name has a number for a port that is none: 0, or beyond 65535. */
bool stream_port_is_wrong(const char *path);

/*
 * Connects, and waits wait_ns at most for an answer. *fd, to be closed by the caller, waits in poll() and is not inherited.
 * Prints one line and returns -errno.
 */
int stream_connect(const char *path, uint64_t wait_ns, int *fd);

#endif
