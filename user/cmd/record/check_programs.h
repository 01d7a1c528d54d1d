/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_CHECK_PROGRAMS_H
#define D9_CMD_RECORD_CHECK_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

struct recorder_cfg;

/* A command line of `record` that loads other programs, or programs with other constants. */
struct check_configuration {
	const char *name;
	const char *words[16]; /* after the subcommand; NULL-terminated */
	bool boot; /* by the clock that also counts suspended time: process-wide from then on */
};
extern const struct check_configuration check_configurations[];
extern const size_t check_configuration_cnt;

/* Calls @use with the recording of a configuration and of --btf @btf (NULL: none), as record_configured() does. */
int check_configured(const struct check_configuration *c, const char *btf,
		     int (*use)(const struct recorder_cfg *, void *), void *ctx);

/*
 * Loads each BPF program alone in each configuration that matches @glob and prints what the verifier made of it: a line each,
 * with its log if @verbose, or one JSON object. An exit code of cmd.h.
 */
int check_programs(const char *glob, const char *btf, bool json, bool verbose);

#endif /* D9_CMD_RECORD_CHECK_PROGRAMS_H */
