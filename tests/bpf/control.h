/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_CONTROL_H
#define D9_TESTS_BPF_CONTROL_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bpf/support.h"

/* For tests that control a recorder, and wait until a command is done. */
struct live_control {
	char spec[512]; /* for --control */
	int to, from;
};

static inline void live_control(struct live_control *c)
{
	const char *to = live_path("control"), *from = live_path("ack");

	cr_assert_eq(mkfifo(to, 0600), 0);
	cr_assert_eq(mkfifo(from, 0600), 0);
	c->to = open(to, O_RDWR | O_CLOEXEC);
	c->from = open(from, O_RDWR | O_CLOEXEC);
	cr_assert(c->to >= 0 && c->from >= 0);
	snprintf(c->spec, sizeof(c->spec), "fifo:%s,%s", to, from);
}

/* Returns when it has been done: after the first, recording is on, unless it is to wait. */
static inline void live_request(const struct live_control *c, const char *command)
{
	struct pollfd p = { .fd = c->from, .events = POLLIN };
	char answer[16] = "";

	cr_assert_gt(dprintf(c->to, "%s\n", command), 0);
	cr_assert_eq(poll(&p, 1, -1), 1, "no answer to %s", command);
	cr_assert_eq(read(c->from, answer, sizeof(answer)), 4);
	cr_assert_str_eq(answer, "ack\n");
}

static inline void live_control_fini(struct live_control *c)
{
	close(c->to);
	close(c->from);
	unlink(live_path("control"));
	unlink(live_path("ack"));
}

#endif
