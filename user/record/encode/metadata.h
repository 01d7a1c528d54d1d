/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_METADATA_H
#define D9_RECORD_ENCODE_METADATA_H

#include <stdint.h>

struct capture;
struct emit;
struct status_head;

struct metadata_recording {
	struct capture *capture; /* borrowed */
	uint64_t at_ns; /* time of the event */
	uint64_t start_real_ns; /* wall clock at the start */
	long cpus; /* online at the start */
};

/* Writes a SegmentMetadataEvent. 0 or -errno. */
int metadata_write(struct emit *emit, const struct status_head *head,
		   const struct metadata_recording *of);

#endif /* D9_RECORD_ENCODE_METADATA_H */
