/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_SELECT_H
#define D9_RECORD_CAPTURE_CAPTURE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "prof_select.h"

struct bpf_link;
struct prof;

/* Before load: who of those asked for is a target; NULL: all. @follow: and who comes from them. */
void capture_select_configure(struct prof *skel, const struct prof_select *select, bool follow);

/*
 * Has all tasks that there are looked at: before recording starts at their names, and afterwards whether they
 * are targets, which the rings then tell. When programs are attached. *link is made the first time, and the
 * caller's to destroy. Nothing to do where nobody is told apart. Silent, -errno.
 */
int capture_select_all(struct prof *skel, struct bpf_link **link);

/* The first time. One line when it fails. */
int capture_select_names(struct prof *skel, struct bpf_link **link);

/* Runs an iterator's program for all tasks there are. Silent, -errno. */
int capture_select_walk(const struct bpf_link *link);

/* Whether events of a CPU are wanted. */
bool capture_select_has_cpu(const struct prof_select *select, uint32_t cpu);

#endif
