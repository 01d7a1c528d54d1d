/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_SELECT_H
#define D9_RECORD_CAPTURE_CAPTURE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "prof_select.h"

struct bpf_link;
struct prof;

/* Call before load: which of the requested tasks are targets; NULL: all. @follow: and their children. */
void capture_select_configure(struct prof *skel, const struct prof_select *select, bool follow);

/*
 * Evaluates all existing tasks. Before recording starts it matches their names. Afterwards it selects the targets,
 * which records in the rings show. Call it with attached programs. The first call makes *link, which the caller
 * destroys. Does nothing without a selection. Silent, -errno.
 */
int capture_select_all(struct prof *skel, struct bpf_link **link);

/* The first call. Prints one line on errors. */
int capture_select_names(struct prof *skel, struct bpf_link **link);

/* Runs an iterator's program for all existing tasks. Silent, -errno. */
int capture_select_walk(const struct bpf_link *link);

/* Whether events of a CPU are wanted. */
bool capture_select_has_cpu(const struct prof_select *select, uint32_t cpu);

#endif
