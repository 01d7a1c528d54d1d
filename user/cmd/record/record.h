/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_RECORD_H
#define D9_CMD_RECORD_RECORD_H

struct recorder_cfg;

/*
 * Calls @use with the recording that the command line of `record` asks for (argv[0] is its word; argv is
 * reordered), and returns what it returns; -EINVAL after one line for a bad command line. Records nothing.
 */
int record_configured(int argc, char **argv, int (*use)(const struct recorder_cfg *, void *),
		      void *ctx);

#endif /* D9_CMD_RECORD_RECORD_H */
