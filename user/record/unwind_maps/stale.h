/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_STALE_H
#define D9_RECORD_UNWIND_MAPS_STALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * When processes ran with other code than their lists of mappings said: from the time at which a mapping
 * took another's place to the time at which the programs had the new list. Walks of that time know the
 * code there as that of the module that is gone, and what they found above is not true.
 */
struct stale;
struct prof_rec;

struct stale *stale_new(void);
void stale_free(struct stale *s);

/* From that time on the process's list has a mapping of the module that is none any more; 0: of any. */
void stale_begin(struct stale *s, uint32_t pid, uint32_t module_id, uint64_t from_ns);
/* From now on its list is true, or it has none. */
void stale_end(struct stale *s, uint32_t pid, uint64_t now_ns);
/* The child was given its parent's list of that time. Whether it was not true. */
bool stale_fork(struct stale *s, uint32_t parent, uint32_t child, uint64_t at_ns);

/*
 * How many frames of a walk at that time are true: up to the first one in a module that was gone. The
 * frames are as prof_unwind.h has them, leaf first.
 */
size_t stale_true(const struct stale *s, uint32_t pid, uint64_t ts, const uint64_t *frames,
		  size_t cnt);

/*
 * A record, or, when frames of its walk are not true, a copy without those and with the end that says so;
 * borrowed until the next call.
 */
const struct prof_rec *stale_record(struct stale *s, const struct prof_rec *rec);

/* Nobody will ask for times before this any more. */
void stale_forget(struct stale *s, uint64_t before_ns);
/* Bytes held. */
size_t stale_memory(const struct stale *s);

#endif /* D9_RECORD_UNWIND_MAPS_STALE_H */
