/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_STREAM_H
#define D9_RECORD_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Outputs that are not files: "unix:PATH" and "tcp:HOST:PORT" of a listener. */
bool stream_is(const char *path);

/*
 * Describes the error in an output name; NULL: none. Errors are an unknown scheme, a missing part or an invalid
 * port. "./word:x" is always a file.
 */
const char *stream_name_is_wrong(const char *path);

/*
 * Connects, and waits at most wait_ns for an answer. *fd is non-blocking and close-on-exec; the caller closes it.
 * Prints one line and returns -errno.
 */
int stream_connect(const char *path, uint64_t wait_ns, int *fd);

/* Whether a write failed because the reader has closed the stream: then the end cannot be written either. */
bool stream_is_gone(int err);

#endif
