/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_HEADER_H
#define D9_FORMATS_PERFDATA_HEADER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "formats/foreign.h"
#include "formats/perfdata/bytes.h"
#include "formats/perfdata/tracing.h"

/* Sections that describe the recording. In the pipe format each is a record. */
enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_CLOCKID = 23,
	PERFDATA_DIR_FORMAT = 24,
	PERFDATA_CLOCK_DATA = 29,
	PERFDATA_FEATURE_CNT = 256,
};

/* An event that was recorded: what perf asked the kernel for, and the numbers of its records. */
struct perfdata_event {
	struct perf_event_attr attr; /* members that the file does not have are 0 */
	char *name; /* as perf spells it, "cpu-clock:u"; NULL: unknown */
};

#define PERFDATA_BUILD_ID_MAX 20

/* Of MMAP2 records: they have a build-id. In the uapi header since 5.12. */
#define PERFDATA_MISC_MMAP_BUILD_ID (1 << 14)

struct perfdata_build_id {
	char *path;
	uint8_t id[PERFDATA_BUILD_ID_MAX];
	uint8_t sz;
};

/* What a file says about itself. {0} is empty; perfdata_header_fini() frees what it holds. */
struct perfdata_header {
	struct perfdata_event *events;
	size_t event_cnt, event_cap;
	struct hmap by_id; /* number of a record's event -> 1 + index in events */
	struct perfdata_build_id *build_ids;
	size_t build_id_cnt, build_id_cap;
	struct hmap by_path; /* hash of a path -> 1 + index in build_ids */
	struct perfdata_tracing tracing;
	char *host, *release, *version, *arch, *command_line;
	uint32_t cpus; /* 0: unknown */
	bool has_clock_data;
	uint64_t wall_ns, clock_ns; /* the same moment on the wall and on the events' clock */
};

void perfdata_header_fini(struct perfdata_header *h);

/* An event and its numbers, 8 bytes each: 0; -EBADMSG if it cannot be one; -E2BIG: too many. */
int perfdata_header_add_event(struct perfdata_header *h, struct perfdata_bytes attr,
			      struct perfdata_bytes ids);

/*
 * A section. What is not used is ignored; what is damaged is noted, and used as far as it can be read.
 */
void perfdata_header_add_feature(struct perfdata_header *h, uint32_t feature,
				 struct perfdata_bytes b, struct foreign_notes *notes);

/* The body of a BUILD_ID record, or of an entry in that section. False: damaged. */
bool perfdata_header_add_build_id(struct perfdata_header *h, uint16_t misc,
				  struct perfdata_bytes b);

/* The body of an EVENT_UPDATE record. */
void perfdata_header_update(struct perfdata_header *h, struct perfdata_bytes b);

/* The event of that number; NULL if there is none. */
const struct perfdata_event *perfdata_header_event(const struct perfdata_header *h, uint64_t id);

/* The build-id of a file; NULL: unknown. */
const struct perfdata_build_id *perfdata_header_build_id(const struct perfdata_header *h,
							 const char *path);

/* Whether all times are on CLOCK_MONOTONIC. */
bool perfdata_header_is_monotonic(const struct perfdata_header *h);

#endif /* D9_FORMATS_PERFDATA_HEADER_H */
