/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_EVENT_OPTS_H
#define D9_CMD_RECORD_EVENT_OPTS_H

#include "base/opts.h"
#include "cmd/record/flight_opts.h"

struct eventset_cfg;
struct capture_cfg;

/* What is wrong with the filters; NULL: nothing. @filters is an OPT_LIST_OF of @events. */
const char *event_opts_wrong(const struct opt_list *events, const struct opt_list *filters);

/*
 * Tracepoints with their filters, triggers last: allocates the two arrays of @out, which event_opts_fini() frees.
 * Names of the sampling clock go to @capture.
 */
void event_opts_set(const struct opt_list *events, const struct opt_list *filters,
		    const struct flight_events *triggers, struct eventset_cfg *out,
		    struct capture_cfg *capture);
void event_opts_fini(struct eventset_cfg *cfg);

#endif /* D9_CMD_RECORD_EVENT_OPTS_H */
