/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_WRITE_H
#define D9_FORMATS_APITRACE_WRITE_H

#include "formats/apitrace/value.h"
#include "formats/foreign.h"

/* Writes a trace of version 6 in a snappy container. Errors come from write(). */
struct apitrace_write;

/* sigs holds every signature before an event uses it, and is borrowed. Free with apitrace_write_free(). */
int apitrace_write_new(dial9_write_fn write, void *ctx, const struct apitrace_sigs *sigs,
		       struct apitrace_write **out);
void apitrace_write_free(struct apitrace_write *w);

/* Version and properties; first and once. A property with an empty name would end the list, so it is skipped. */
int apitrace_write_header(struct apitrace_write *w, uint64_t semantic_version,
			  const struct dial9_str (*props)[2], size_t cnt);

/*
 * An event with its details in the flat form. The calls that were entered are numbered from 0. -EBADMSG,
 * and nothing written, when the details are not whole or use a structure that is not in the table; other
 * signatures that are not there are written as empty ones.
 */
int apitrace_write_enter(struct apitrace_write *w, uint64_t thread, const struct apitrace_sig *fn,
			 struct apitrace_cur details);
int apitrace_write_leave(struct apitrace_write *w, uint64_t no, struct apitrace_cur details);

/* Frames whose id no program could have made, or that had to make room for one: they got another. */
uint64_t apitrace_write_renumbered(const struct apitrace_write *w);

/* Writes what waits. */
int apitrace_write_finish(struct apitrace_write *w);

#endif /* D9_FORMATS_APITRACE_WRITE_H */
