// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=snapshot_read */
/*
 * The start of a recording with a process whose mappings cannot be read, because it holds its locks. The linker
 * makes reads of them wait; everything else is real.
 */
#include "record/process/tasks.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/process/proc_reader.h"
#include "record/process/snapshot.h"
#include "tests/record/side.h"

static pthread_mutex_t locks = PTHREAD_MUTEX_INITIALIZER;
static int readings; /* of locked address spaces */

struct snapshot *__real_snapshot_read(uint32_t pid, size_t maps_sz);
struct snapshot *__wrap_snapshot_read(uint32_t pid, size_t maps_sz);

struct snapshot *__wrap_snapshot_read(uint32_t pid, size_t maps_sz)
{
	struct snapshot *s;

	if (pid != (uint32_t)getpid() || !maps_sz)
		return __real_snapshot_read(pid, maps_sz);
	pthread_mutex_lock(&locks);
	readings++;
	s = __real_snapshot_read(pid, maps_sz);
	pthread_mutex_unlock(&locks);
	return s;
}

static const struct map *own_code(void)
{
	return proc_maps_find(&tasks_process(t, getpid())->maps, (uintptr_t)&own_code);
}

/* Drains until /proc has answered. */
static void await_answer(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	while (tasks_process(t, pid)->asked) {
		nanosleep(&step, NULL);
		tasks_expire(t, clock_mono_ns());
	}
}

Test(tasks_scan, process_that_holds_its_locks_is_added_without_its_mappings, .init = setup,
     .fini = teardown, .timeout = 60)
{
	struct proc_reader *reader;
	char own[17] = "";

	cr_assert_eq(proc_reader_new(&reader), 0);
	tasks_set_reader(t, reader);
	prctl(PR_GET_NAME, own);
	pthread_mutex_lock(&locks);
	cr_assert_eq(tasks_scan(t, getpid()), 0);
	cr_expect_str_eq(known(getpid())->comm, own);
	cr_expect_null(own_code());
	cr_assert(tasks_process(t, getpid())->asked, "the answer is still to come");
	pthread_mutex_unlock(&locks);
	await_answer(getpid());
	cr_expect_not_null(own_code());
	cr_expect_eq(readings, 1, "nobody is asked twice at a time");
	proc_reader_free(reader);
}

Test(tasks_scan, process_that_holds_its_locks_does_not_block_others, .init = setup,
     .fini = teardown, .timeout = 60)
{
	struct proc_reader *reader;

	cr_assert_eq(proc_reader_new(&reader), 0);
	tasks_set_reader(t, reader);
	pthread_mutex_lock(&locks);
	tasks_scan_all(t);
	await_answer(getppid());
	cr_expect_not_null(proc_maps_next(&tasks_process(t, getppid())->maps, 0));
	cr_assert_not_null(tasks_process(t, getpid()));
	cr_expect_null(own_code());
	pthread_mutex_unlock(&locks);
	await_answer(getpid());
	cr_expect_not_null(own_code());
	proc_reader_free(reader);
}
