/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_TRACEPOINT_H
#define D9_FORMATS_PERFDATA_TRACEPOINT_H

#include "dial9.h"
#include "formats/perfdata/sample.h"
#include "formats/perfdata/tracing.h"

/* Writes tracepoints, with the schemas that the recorder would write. */
struct perfdata_tracepoints;

/* enc is borrowed. */
void perfdata_tracepoints_new(struct dial9_enc *enc, struct perfdata_tracepoints **out);
void perfdata_tracepoints_free(struct perfdata_tracepoints *t);

/*
 * Writes the raw record of a sample. 0; -EBADMSG if a field lies outside of the record; or the encoder's -errno.
 * The number of a format identifies it.
 */
int perfdata_tracepoints_write(struct perfdata_tracepoints *t, const struct perfdata_format *format,
			       uint64_t ts, const struct perfdata_sample *s);

/*
 * Writes a sample of an event that is no tracepoint as perf:NAME, with its period and address. @index: of the event,
 * in the header. 0, or -errno.
 */
int perfdata_tracepoints_write_other(struct perfdata_tracepoints *t, size_t index, uint64_t ts,
				     const struct perfdata_sample *s);

#endif /* D9_FORMATS_PERFDATA_TRACEPOINT_H */
