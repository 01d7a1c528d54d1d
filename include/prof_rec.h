/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_rec.h - the parts of a record (prof_abi.h), for the loader. Its lengths were checked. */
#ifndef D9_PROF_REC_H
#define D9_PROF_REC_H

#include <stddef.h>
#include <stdint.h>

#include "prof_abi.h"
#include "prof_events.h"

/* Bytes of the header and the raw part, with padding: where the frames begin. */
static inline size_t prof_rec_stack_offset(const struct prof_rec *rec)
{
	return sizeof(*rec) + ((rec->raw_len + 7UL) & ~7UL);
}

/* Kernel frames, then user frames. */
static inline const uint64_t *prof_rec_frames(const struct prof_rec *rec)
{
	return (const uint64_t *)((const uint8_t *)rec + prof_rec_stack_offset(rec));
}

/* Makes it a record as programs write it while the ring fills up: of a task, without stacks. */
static inline void prof_rec_drop_stacks(struct prof_rec *rec)
{
	rec->size = (uint16_t)prof_rec_stack_offset(rec);
	rec->kstack_cnt = rec->ustack_cnt = 0;
	rec->context = PROF_CONTEXT_TASK;
	rec->flags = (rec->flags & PROF_REC_RAW_CUT) | PROF_REC_THINNED;
}

#endif
