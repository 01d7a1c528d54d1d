/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_SUMMARY_H
#define D9_RECORD_CAPTURE_CAPTURE_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "prof_abi.h"

struct prof;

/* The mapped tables of --summary. {0}: none. */
struct capture_summary {
	struct prof_summary_row *rows; /* NULL: none */
	uint32_t cpu_cnt;
	volatile uint32_t *active; /* which of its two tables each CPU writes to: 0 or 1 */
};

/* Call before load: tables for that many CPUs. 0 or -errno. */
int capture_summary_configure(struct prof *skel, uint32_t cpu_cnt);
/* Call after load. 0 or -errno. */
int capture_summary_init(const struct prof *skel, struct capture_summary *out);
void capture_summary_fini(struct capture_summary *s);

/* The PROF_SUMMARY_TABLE rows of a CPU in one of the two tables. */
static inline struct prof_summary_row *capture_summary_table(const struct capture_summary *s,
							     uint32_t which, uint32_t cpu)
{
	return &s->rows[((size_t)which * s->cpu_cnt + cpu) * PROF_SUMMARY_TABLE];
}

#endif
