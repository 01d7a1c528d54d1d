/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FIELD_EXTRACT_H
#define D9_RECORD_CAPTURE_CAPTURE_FIELD_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eventset;
struct prof;
struct prof_extract;

struct capture_field_extract {
	/* by event; an event with cnt 0 is recorded in another way. NULL: all are */
	struct prof_extract *v;
	uint32_t *lanes; /* by event: the lane whose programs build it */
	size_t cnt;
	int *links; /* descriptors, two per event */
	size_t link_cnt;
	uint64_t refused; /* the last reported count */
};

/*
 * Chooses the events that are built by extracts, before the programs are loaded. @none: choose none. A kernel or an
 * event that does not support it is no error. Free with capture_field_extract_fini().
 */
void capture_field_extract_choose(struct prof *s, const struct eventset *set, bool none,
				  struct capture_field_extract *r);
bool capture_field_extract_has(const struct capture_field_extract *r, size_t event);
/* Call after load. 0 or -errno. */
int capture_field_extract_fill(struct prof *s, const struct capture_field_extract *r);
/* Attaches an event that has an extract: 0 or -errno. @name: the tracepoint's. */
int capture_field_extract_attach(struct prof *s, struct capture_field_extract *r, size_t event,
				 const char *name);
/* Events that both programs of a lane missed so far. Never decreases. No call on a map. */
uint64_t capture_field_extract_refused(const struct prof *s, struct capture_field_extract *r);
void capture_field_extract_fini(struct capture_field_extract *r);

#endif
