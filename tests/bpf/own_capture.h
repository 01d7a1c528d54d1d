/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_OWN_CAPTURE_H
#define D9_TESTS_BPF_OWN_CAPTURE_H

/* The programs in the kernel by themselves, for tests that write what they unwind by. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "kernel/tracefs/tracefs.h"
#include "record/capture/capture.h"
#include "record/tracepoint/eventset.h"

static struct eventset *own_events;
static struct capture *capture;
static struct capture_unwind *unwind; /* NULL: stacks are not unwound */

/* Loads and attaches them; cfg->events become what events_cfg says. */
static inline void own_capture_open(const struct eventset_cfg *events_cfg, struct capture_cfg *cfg)
{
	int tracefs_fd;

	cr_assert_eq(tracefs_open(&tracefs_fd), 0);
	cr_assert_eq(eventset_new(tracefs_fd, events_cfg, &own_events), 0);
	close(tracefs_fd);
	cfg->events = own_events;
	cr_assert_eq(capture_new(cfg, &capture), 0);
	cr_assert_eq(capture_attach(capture), 0);
	unwind = capture_unwind(capture);
}

static inline void own_capture_close(void)
{
	capture_stop(capture);
	capture_free(capture);
	eventset_free(own_events);
}

#endif /* D9_TESTS_BPF_OWN_CAPTURE_H */
