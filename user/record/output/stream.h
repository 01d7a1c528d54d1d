/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_STREAM_H
#define D9_RECORD_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Outputs that are no files: "unix:PATH" and "tcp:HOST:PORT", where somebody listens. */
bool stream_is(const char *path);

/*
 * What is wrong with the name of an output as such, NULL for nothing: one that begins like a stream's but is of
 * no kind that there is, or lacks a part, or has a number for a port that is none. "./word:x" is always a file.
 */
const char *stream_name_is_wrong(const char *path);

/*
 * Connects, and waits wait_ns at most for an answer. *fd, to be closed by the caller, waits in poll() and is not inherited.
 * Prints one line and returns -errno.
 */
int stream_connect(const char *path, uint64_t wait_ns, int *fd);

/* Whether a write failed since nobody reads any more: nothing can be written, so there is no end to be written. */
bool stream_is_gone(int err);

#endif
