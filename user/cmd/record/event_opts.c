// SPDX-License-Identifier: BSD-2-Clause
/* event_opts.c - interprets -e and --filter */
#include "cmd/record/event_opts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/capture/capture.h"
#include "record/tracepoint/eventset.h"

static const char *filter_of(const struct opt_list *filters, size_t event)
{
	return event < filters->cnt ? filters->v[event] : NULL;
}

/* `-e cycles` and `-e cpu-clock` name the sampling clock, as in perf. */
static bool is_clock(const char *event)
{
	return !strcmp(event, "cycles") || !strcmp(event, "cpu-clock");
}

const char *event_opts_wrong(const struct opt_list *events, const struct opt_list *filters)
{
	for (size_t i = 0; i < filters->cnt; i++)
		if (filters->v[i] && is_clock(events->v[i]))
			return "--filter needs a tracepoint, not samples";
	return NULL;
}

void event_opts_set(const struct opt_list *events, const struct opt_list *filters,
		    const struct flight_events *triggers, struct eventset_cfg *out,
		    struct capture_cfg *capture)
{
	const size_t max = events->cnt + triggers->cnt + 1;
	const char **names = xcalloc(max, sizeof(*names));
	const char **texts = xcalloc(max, sizeof(*texts));
	size_t kept = 0;

	for (size_t i = 0; i < events->cnt; i++) {
		if (!strcmp(events->v[i], "cycles"))
			capture->force_cycles = true;
		else if (!strcmp(events->v[i], "cpu-clock"))
			capture->force_cpu_clock = true;
		else {
			texts[kept] = filter_of(filters, i);
			names[kept++] = events->v[i];
		}
	}
	for (size_t i = 0; i < triggers->cnt; i++) {
		texts[kept] = triggers->filters[i];
		names[kept++] = triggers->names[i];
	}
	out->patterns = names;
	out->filters = texts;
	out->pattern_cnt = kept;
}

void event_opts_fini(struct eventset_cfg *cfg)
{
	free((void *)cfg->patterns);
	free((void *)cfg->filters);
}
