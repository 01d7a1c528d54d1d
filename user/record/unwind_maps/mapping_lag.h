/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H
#define D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When processes ran with other code than their lists of mappings said: from the time at which a mapping
 * took another's place to the time at which the programs had the new list. Walks of that time know the
 * code there as that of the module that is gone, and what they found above is not true.
 */
struct mapping_lag;
struct prof_rec;

struct mapping_lag *mapping_lag_new(void);
void mapping_lag_free(struct mapping_lag *s);

/* From that time on the process's list has a mapping of the module that is none any more; 0: of any. */
void mapping_lag_begin(struct mapping_lag *s, uint32_t pid, uint32_t module_id, uint64_t from_ns);
/* From now on its list is true, or it has none. */
void mapping_lag_end(struct mapping_lag *s, uint32_t pid, uint64_t now_ns);
/* The child was given its parent's list of that time. Whether it was not true. */
bool mapping_lag_fork(struct mapping_lag *s, uint32_t parent, uint32_t child, uint64_t at_ns);

/*
 * How many frames of a walk at that time are true: up to the first one in a module that was gone. The
 * frames are as prof_unwind.h has them, leaf first.
 */
size_t mapping_lag_true(const struct mapping_lag *s, uint32_t pid, uint64_t ts,
			const uint64_t *frames, size_t cnt);

/*
 * A record, or, when frames of its walk are not true, a copy without those and with the end that says so;
 * borrowed until the next call.
 */
const struct prof_rec *mapping_lag_record(struct mapping_lag *s, const struct prof_rec *rec);

/* Nobody will ask for times before this any more. */
void mapping_lag_forget(struct mapping_lag *s, uint64_t before_ns);
/* Bytes held. */
size_t mapping_lag_memory(const struct mapping_lag *s);

#endif /* D9_RECORD_UNWIND_MAPS_MAPPING_LAG_H */
