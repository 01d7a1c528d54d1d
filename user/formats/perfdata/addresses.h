/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_ADDRESSES_H
#define D9_FORMATS_PERFDATA_ADDRESSES_H

#include "formats/perfdata/record_out.h"
#include "trace/read/names.h"

/* Frames of a trace as addresses, and the mappings that lead from these back to files. */
struct perfdata_addresses;

/* @names: of the trace; borrowed. */
void perfdata_addresses_new(const struct names *names, struct perfdata_addresses **out);
void perfdata_addresses_free(struct perfdata_addresses *a);

/* A mapping of the trace. @module: index of names_module(). */
struct perfdata_known {
	uint32_t pid, module;
	uint64_t start, end, off;
	uint64_t ts;
};
void perfdata_addresses_learn(struct perfdata_addresses *a, const struct perfdata_known *known);

/* The records of a recording start again, for another output, which is borrowed. */
void perfdata_addresses_start(struct perfdata_addresses *a, uint32_t part,
			      struct perfdata_out *out);
/* The process has no mappings any more, for perf too. */
void perfdata_addresses_reset(struct perfdata_addresses *a, uint32_t pid);

/* The address of a frame in process m->pid. First writes the mapping, if perf does not know it at that time. */
uint64_t perfdata_addresses_get(struct perfdata_addresses *a, const struct perfdata_moment *m,
				uint64_t frame);

/* Whether a module had a frame in the records. */
bool perfdata_addresses_used(const struct perfdata_addresses *a, uint32_t module);

#endif /* D9_FORMATS_PERFDATA_ADDRESSES_H */
