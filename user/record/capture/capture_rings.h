/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_RINGS_H
#define D9_RECORD_CAPTURE_CAPTURE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof;
struct prof_stage;
struct ring;

struct capture_rings_cfg {
	size_t ring_cnt;
	size_t ring_bytes; /* of each: a power of two of at least a page */
	bool samples; /* for which the last of each ring is kept */
};

/* Where records come from: rings, and the stages in which those of hot events gather. */
struct capture_rings {
	struct ring *readers; /* one for each ring, then one for each stage */
	size_t ring_cnt;
	size_t ring_bytes;
	size_t stage_cnt; /* CPUs that there can be */
	size_t reader_cnt;
	struct prof_stage *stages;
	int *fds; /* of the rings; NULL: none was made */
	size_t fd_cnt;
	int epoll_fd; /* of all of them */
};

/* Sets what programs are to know of the rings, before they are loaded. -errno. */
int capture_rings_size(struct prof *skel, const struct capture_rings_cfg *cfg,
		       struct capture_rings *r);
/* Makes and maps them. Prints one line and returns -errno; to be ended by capture_rings_fini() even then. */
int capture_rings_init(const struct prof *skel, struct capture_rings *r);
void capture_rings_fini(struct capture_rings *r);

/* Whether a ring has filled up to an eighth since this was last asked: only then epoll_fd is readable. */
bool capture_rings_take_wakeups(const struct capture_rings *r);

/* Of all stages: records that were begun, and events that came while one was being written. */
void capture_rings_count(const struct capture_rings *r, uint64_t *produced, uint64_t *nested);

#endif
