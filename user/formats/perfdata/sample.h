/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_SAMPLE_H
#define D9_FORMATS_PERFDATA_SAMPLE_H

#include "formats/perfdata/header.h"
#include "formats/perfdata/stream.h"

/* The event of a record, and the values that any record may have. */
struct perfdata_sample {
	const struct perfdata_event *event; /* NULL: unknown */
	uint64_t has; /* PERF_SAMPLE_*, of TID, TIME and CPU, and in samples all others */
	uint32_t pid, tid, cpu;
	uint64_t time;
	/* samples only: */
	uint64_t ip, addr, period;
	struct perfdata_bytes chain; /* 8 bytes each */
	struct perfdata_bytes raw;
	uint64_t user_abi, user_mask; /* of the registers: PERF_SAMPLE_REGS_ABI_*, and which */
	struct perfdata_bytes user_regs; /* 8 bytes each */
	struct perfdata_bytes stack; /* a copy of the stack's memory, from the stack pointer on */
};

/* A SAMPLE record: 0; -EBADMSG if it is damaged; -ENOENT if no event has its number. */
int perfdata_sample_parse(const struct perfdata_header *h, const struct perfdata_record *r,
			  struct perfdata_sample *out);

/* What any record may have: its event, and TID, TIME and CPU if out->has them. */
void perfdata_sample_common(const struct perfdata_header *h, const struct perfdata_record *r,
			    struct perfdata_sample *out);

#endif /* D9_FORMATS_PERFDATA_SAMPLE_H */
