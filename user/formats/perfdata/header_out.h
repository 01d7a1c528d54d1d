/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_HEADER_OUT_H
#define D9_FORMATS_PERFDATA_HEADER_OUT_H

#include "formats/perfdata/addresses.h"
#include "formats/perfdata/raw_layout.h"

/* What surrounds the records of a file. All borrowed. */
struct perfdata_header_out {
	const struct names *names;
	uint32_t part; /* the recording that it describes */
	const struct perfdata_raw_layout *layout;
	const struct perfdata_addresses *addresses;
	bool has_samples; /* of the CPU; their event is number 1, others follow */
	bool has_cpu; /* events are known to be of a CPU */
	uint64_t data_sz; /* of the records */
	uint64_t first_ts, last_ts;
};

/* The number of an event in records. */
#define PERFDATA_OUT_SAMPLE_ID 1
static inline uint64_t perfdata_header_out_id(const struct perfdata_raw_event *e)
{
	return PERFDATA_OUT_SAMPLE_ID + (uint64_t)e->number;
}

/* Values of its records; @e NULL: of CPU samples. */
uint64_t perfdata_header_out_type(const struct perfdata_header_out *h,
				  const struct perfdata_raw_event *e);

/* Before the records, and after them. */
void perfdata_header_out_begin(const struct perfdata_header_out *h, struct perfdata_out *out);
void perfdata_header_out_end(const struct perfdata_header_out *h, struct perfdata_out *out);

/* The TRACING_DATA section: formats of all events. */
void perfdata_tracing_out(const struct perfdata_raw_layout *l, struct buf *out);

#endif /* D9_FORMATS_PERFDATA_HEADER_OUT_H */
