// SPDX-License-Identifier: BSD-2-Clause
/* Which files may be opened to find out which recording they are part of. */
#include "trace/source/recording_id.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"

/* Its writer waits for the reader of the events, and would lose this one in the middle. */
Test(recording_id, a_fifo_is_not_opened)
{
	const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char dir[64], path[96], event[4096];
	struct recording_id id;

	temp_dir_make(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/a.1.bin", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_geq(watch, 0);
	cr_assert_geq(inotify_add_watch(watch, path, IN_OPEN), 0);
	recording_id_read(path, &id);
	cr_expect_null(id.data);
	cr_expect_lt(read(watch, event, sizeof(event)), 0);
	recording_id_fini(&id);
	close(watch);
	temp_dir_remove(dir);
}
