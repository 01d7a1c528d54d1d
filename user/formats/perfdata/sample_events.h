/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_SAMPLE_EVENTS_H
#define D9_FORMATS_PERFDATA_SAMPLE_EVENTS_H

#include "formats/perfdata/sample.h"
#include "formats/perfdata/tasks.h"

/* Writes SAMPLE records: tracepoints, CPU samples and their stacks. */
struct perfdata_samples;

struct perfdata_samples_cfg {
	const struct perfdata_header *header;
	struct perfdata_tasks *tasks;
	struct dial9_enc *enc;
	struct emit *emit;
	struct foreign_notes *notes;
	const struct foreign_unwind *unwind; /* NULL: none */
};

/* All members of cfg are borrowed. */
void perfdata_samples_new(const struct perfdata_samples_cfg *cfg, struct perfdata_samples **out);
void perfdata_samples_free(struct perfdata_samples *w);

/* 0, or the encoder's -errno. What is damaged or has no place in dial9 is noted. */
int perfdata_samples_write(struct perfdata_samples *w, const struct perfdata_record *r,
			   uint64_t ts);

/*
 * The event whose samples are CPU samples: the first event that counts time or cycles, or else the first other than a
 * tracepoint. NULL: none.
 */
const struct perfdata_event *perfdata_samples_cpu_event(const struct perfdata_header *h);

/* Its name without modifiers, as metadata has it, into out. */
void perfdata_samples_name(const struct perfdata_event *ev, struct buf *out);

/* Whether its periods are in nanoseconds. */
bool perfdata_samples_is_clock(const struct perfdata_event *ev);

/* Whether each sample represents the same CPU time: a clock, or cycles at a frequency. */
bool perfdata_samples_have_time(const struct perfdata_event *ev);

#endif /* D9_FORMATS_PERFDATA_SAMPLE_EVENTS_H */
