/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_PROFILE_FILE_H
#define D9_SHIP_PROFILE_FILE_H

#include "ship/pyroscope.h"
#include "ship/ship_file.h"

/*
 * Sends a trace as profiles, two for each service: CPU samples and blocked time. Results as pyroscope_send(), where -EBADE
 * means that some were not taken, after one line; or -EBADMSG after one line: the file is not a trace, or only its start
 * could be read. @opts->sender and @opts->seen are not used.
 */
int profile_file_send(const struct ship_file_opts *opts, struct pyroscope *server, int fd,
		      const char *path, const uint64_t id[2]);

#endif /* D9_SHIP_PROFILE_FILE_H */
