// SPDX-License-Identifier: BSD-2-Clause
/* What --flight and the options around it mean together. Owns the texts that triggers are taken apart into. */
#include "cmd/record/flight_opts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "record/control/trigger.h"
#include "record/output/flight.h"

#define KEEP_MIN_NS 1000000000ULL
#define REARM_NS 1000000000ULL

enum { BYTES_DEFAULT = 256 << 20, BYTES_MIN = 4 << 20 };

/* TIME[,SIZE] */
static const char *read_keep(const char *text, struct flight_cfg *cfg)
{
	const char *comma = strchr(text, ',');
	char *time = comma ? xstrndup(text, (size_t)(comma - text)) : xstrdup(text);
	const char *wrong = NULL;
	uint64_t bytes = BYTES_DEFAULT;

	if (str_parse_duration(time, &cfg->ns) || (comma && str_parse_size(comma + 1, &bytes)))
		wrong = "bad value for --flight: expected TIME or TIME,SIZE, such as 30s,256M";
	else if (cfg->ns < KEEP_MIN_NS || bytes < BYTES_MIN)
		wrong = "bad value for --flight: expected at least 1s and 4M";
	cfg->bytes = bytes;
	free(time);
	return wrong;
}

/* SYS:EVENT[/FILTER/], where a filter may have slashes. */
static const char *read_event(const char *text, struct flight_events *events)
{
	const char *slash = strchr(text, '/');
	size_t len = strlen(text), name_len = slash ? (size_t)(slash - text) : len, i;

	if (slash && (text[len - 1] != '/' || slash + 2 > text + len - 1))
		return "bad value for --trigger: expected SYS:EVENT or SYS:EVENT/FILTER/";
	if (!memchr(text, ':', name_len) || memchr(text, ',', name_len))
		return "bad value for --trigger: expected one SYS:EVENT; repeat the option for others";
	i = events->cnt++;
	events->names[i] = xstrndup(text, name_len);
	if (slash)
		events->filters[i] = xstrndup(slash + 1, len - name_len - 2);
	return NULL;
}

static const char *read_latency(const char *text, struct trigger_cfg *cfg)
{
	static const char wrong[] =
		"bad value for --trigger-latency: expected offcpu>DUR or runq>DUR, "
		"such as 'runq>20ms'";
	uint64_t *ns;

	if (str_starts(text, "offcpu>"))
		ns = &cfg->offcpu_ns;
	else if (str_starts(text, "runq>"))
		ns = &cfg->runq_ns;
	else
		return wrong;
	if (*ns)
		return "--trigger-latency: offcpu and runq may each be given once";
	return str_parse_duration(strchr(text, '>') + 1, ns) || !*ns ? wrong : NULL;
}

const char *flight_opts_read(const struct flight_opts *o, struct flight_cfg *flight,
			     struct trigger_cfg *trigger, struct flight_events *events)
{
	const char *wrong = NULL;
	size_t i;

	*events = (struct flight_events){
		.names = xcalloc(o->events.cnt + 1, sizeof(char *)),
		.filters = xcalloc(o->events.cnt + 1, sizeof(char *)),
	};
	if (!o->keep &&
	    (o->events.cnt || o->latencies.cnt || o->post_ns || o->rearm_ns != FLIGHT_REARM_UNSAID))
		return "--trigger, --trigger-latency, --post and --rearm need --flight";
	if (o->keep)
		wrong = read_keep(o->keep, flight);
	for (i = 0; i < o->events.cnt && !wrong; i++)
		wrong = read_event(o->events.v[i], events);
	for (i = 0; i < o->latencies.cnt && !wrong; i++)
		wrong = read_latency(o->latencies.v[i], trigger);
	trigger->events = (const char *const *)events->names;
	trigger->event_cnt = events->cnt;
	trigger->post_ns = o->post_ns;
	trigger->rearm_ns = o->rearm_ns == FLIGHT_REARM_UNSAID ? REARM_NS : o->rearm_ns;
	return wrong;
}

void flight_opts_fini(struct flight_events *events)
{
	for (size_t i = 0; i < events->cnt; i++) {
		free(events->names[i]);
		free(events->filters[i]);
	}
	free(events->names);
	free(events->filters);
}
