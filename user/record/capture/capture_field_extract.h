/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FIELD_EXTRACT_H
#define D9_RECORD_CAPTURE_CAPTURE_FIELD_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eventset;
struct prof;
struct prof_recipe;

struct capture_field_extract {
	/* by event; those of cnt 0 are recorded in another way. NULL: all are */
	struct prof_recipe *v;
	uint32_t *lanes; /* by event: which programs make it */
	size_t cnt;
	int *links; /* descriptors, two an event */
	size_t link_cnt;
	uint64_t refused; /* as it was told last */
};

/*
 * Before the programs are loaded: which events are made by recipes, unless @none are to be. A kernel or an
 * event that does not allow it is no error. To be freed with capture_field_extract_fini().
 */
void capture_field_extract_choose(struct prof *s, const struct eventset *set, bool none,
				  struct capture_field_extract *r);
bool capture_field_extract_has(const struct capture_field_extract *r, size_t event);
/* After that: 0 or -errno. */
int capture_field_extract_fill(struct prof *s, const struct capture_field_extract *r);
/* One that has a recipe: 0 or -errno. @name: the tracepoint's. */
int capture_field_extract_attach(struct prof *s, struct capture_field_extract *r, size_t event,
				 const char *name);
/* Events that neither program of a lane could take, up to now. It never goes back. No call on a map. */
uint64_t capture_field_extract_refused(const struct prof *s, struct capture_field_extract *r);
void capture_field_extract_fini(struct capture_field_extract *r);

#endif
