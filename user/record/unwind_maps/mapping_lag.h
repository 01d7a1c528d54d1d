/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H
#define D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time ranges in which processes ran other code than in their mapping lists: from the time of a mapping that
 * replaced another until the programs had the new list. Walks during that time attribute the code to the replaced
 * module, and the frames above it are invalid.
 */
struct mapping_lag;
struct prof_rec;

struct mapping_lag *mapping_lag_new(void);
void mapping_lag_free(struct mapping_lag *s);

/* From that time on the process's list has a mapping of a replaced module; 0: of any. */
void mapping_lag_begin(struct mapping_lag *s, uint32_t pid, uint32_t module_id, uint64_t from_ns);
/* From now on its list is valid, or it has none. */
void mapping_lag_end(struct mapping_lag *s, uint32_t pid, uint64_t now_ns);
/* The child copied its parent's list at that time. Returns whether that was out of date. */
bool mapping_lag_fork(struct mapping_lag *s, uint32_t parent, uint32_t child, uint64_t at_ns);

/*
 * Number of valid frames of a walk at that time: up to the first frame in a replaced module. Frames are in the form
 * of prof_unwind.h, leaf first.
 */
size_t mapping_lag_true(const struct mapping_lag *s, uint32_t pid, uint64_t ts,
			const uint64_t *frames, size_t cnt);

/*
 * Returns the record, or a copy without invalid frames and with the reason as the stack's end; borrowed until the
 * next call.
 */
const struct prof_rec *mapping_lag_record(struct mapping_lag *s, const struct prof_rec *rec);

/* Earlier times are no longer needed. */
void mapping_lag_forget(struct mapping_lag *s, uint64_t before_ns);
/* Bytes held. */
size_t mapping_lag_memory(const struct mapping_lag *s);

#endif /* D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H */
