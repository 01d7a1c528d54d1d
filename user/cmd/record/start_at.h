/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_START_AT_H
#define D9_CMD_RECORD_START_AT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When something is to start, from what --start-at takes: a time of day (HH:MM[:SS], the next one), or a day and
 * a time ("2030-01-31 23:59:59", or T between them; Z or +HH:MM behind it, else local time): *at_ns; or "/" and a
 * duration: *period_ns, of which the next multiple since 1970 is meant, the same on all machines. The other is
 * left alone. Times are CLOCK_REALTIME's. 0, -EINVAL, or -ERANGE for a time that is over.
 */
int start_at_parse(const char *text, uint64_t now_ns, uint64_t *at_ns, uint64_t *period_ns);

/*
 * How long to wait, from what -D takes: milliseconds, or a duration with its unit; -1 holds until something else
 * ends it. 0 or -EINVAL.
 */
int start_at_delay(const char *text, uint64_t *delay_ns, bool *hold);

#endif
