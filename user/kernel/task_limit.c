// SPDX-License-Identifier: BSD-2-Clause
/* task_limit.c - the limits on processes and threads. fork() returns EAGAIN for all of them. */
#include "kernel/task_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/log.h"

void task_limit_text(struct buf *out, int err)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (err != -EAGAIN) {
		buf_addstr(out, strerror(-err));
		return;
	}
	getrlimit(RLIMIT_NPROC, &limit);
	buf_addstr(out, "too many processes and threads; raise ");
	if (limit.rlim_cur != RLIM_INFINITY)
		buf_printf(out, "the user's limit (ulimit -u, now %" PRIu64 ") or ",
			   (uint64_t)limit.rlim_cur);
	buf_addstr(out, "the limit of the control group (pids.max)");
}

void task_limit_error(const char *what, int err)
{
	struct buf why = { 0 };

	task_limit_text(&why, err);
	log_error("%s: %s", what, buf_cstr(&why));
	buf_free(&why);
}
