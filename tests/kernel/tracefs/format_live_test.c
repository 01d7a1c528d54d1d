// SPDX-License-Identifier: BSD-2-Clause
/* Every tracepoint of the running kernel: its fields map, and its rows print what print fmt says. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "tests/kernel/tracefs/format_check.h"
#include "tests/kernel/need_root.h"

struct walk {
	int dirfd;
	size_t events, compared, with_rows;
};

static int check_event(const char *system, const char *name, void *ctx)
{
	struct walk *w = ctx;
	struct buf text = { 0 };
	struct format_event *ev;
	char path[600];
	const char *why;
	uint32_t id;

	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	cr_assert_eq(tracefs_read(w->dirfd, path, &text), 0, "%s", path);
	cr_assert_eq(format_parse(text.data, text.len, system, &ev, &why), 0, "%s:%s: %s", system,
		     name, why);
	cr_assert_str_eq(ev->system, system);
	cr_assert_str_eq(ev->name, name);
	format_check_fields(text.data, ev);
	w->compared += format_check_symbols(text.data, text.len, ev);
	w->with_rows += ev->symbol_cnt > 0;
	w->events++;
	/* ftrace's own events cannot be attached to, and have no id file. */
	if (tracefs_event_id(w->dirfd, system, name, &id) == 0)
		cr_assert_eq(id, ev->id, "%s:%s", system, name);
	format_free(ev);
	buf_free(&text);
	return 0;
}

Test(format_live, every_event_of_this_kernel_is_parsed)
{
	struct walk w = { 0 };

	cr_assert_eq(tracefs_open(&w.dirfd), 0);
	cr_assert_eq(tracefs_each_event(w.dirfd, check_event, &w), 0);
	cr_log_info("%zu events, %zu with rows, %zu values compared", w.events, w.with_rows,
		    w.compared);
	cr_assert_gt(w.events, 500);
	cr_assert_gt(w.compared, w.events / 2);
	close(w.dirfd);
}

static int stop_at_switch(const char *system, const char *name, void *ctx)
{
	if (strcmp(system, "sched") || strcmp(name, "sched_switch"))
		return 0;
	++*(int *)ctx;
	return 42;
}

Test(tracefs, walk_ends_when_the_callback_returns_an_error)
{
	int fd, hits = 0;

	cr_assert_eq(tracefs_open(&fd), 0);
	cr_assert_eq(tracefs_each_event(fd, stop_at_switch, &hits), 42);
	cr_assert_eq(hits, 1);
	close(fd);
}

Test(tracefs, names_cannot_leave_the_directory)
{
	uint32_t id = 7;
	int fd;

	cr_assert_eq(tracefs_open(&fd), 0);
	cr_assert_eq(tracefs_event_id(fd, "..", "x", &id), -EINVAL);
	cr_assert_eq(tracefs_event_id(fd, "sched", "../sched/sched_switch", &id), -EINVAL);
	cr_assert_eq(tracefs_event_id(fd, "", "x", &id), -EINVAL);
	cr_assert_eq(tracefs_event_id(fd, "sched", "no_such_event", &id), -ENOENT);
	cr_assert_eq(id, 7);
	cr_assert_eq(tracefs_event_id(fd, "sched", "sched_switch", &id), 0);
	cr_assert_gt(id, 7);
	close(fd);
}

Test(tracefs, loaded_format_equals_the_parsed_file, .init = cr_redirect_stderr)
{
	struct format_event *ev = NULL;
	int fd;

	cr_assert_eq(tracefs_open(&fd), 0);
	cr_assert_eq(format_load(fd, "sched", "sched_switch", &ev), 0);
	cr_assert_not_null(format_find(ev, "prev_state"));
	cr_assert_null(format_find(ev, "common_pid"));
	format_free(ev);
	cr_assert_eq(format_load(fd, "sched", "no_such_event", &ev), -ENOENT);
	close(fd);
}

/* Both possible mount points, hidden in a namespace of this test. */
static void hide_mounts(void)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/sys/kernel", "tmpfs", 0, NULL), 0);
}

Test(tracefs, unmounted_tracefs_is_mounted_for_the_descriptor_only)
{
	uint32_t id = 0;
	bool mounted = true;
	int fd;

	hide_mounts();
	cr_assert_eq(tracefs_open_quiet(&fd, &mounted), 0);
	cr_expect_not(mounted);
	cr_expect_eq(tracefs_event_id(fd, "sched", "sched_switch", &id), 0);
	cr_expect_gt(id, 0);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

Test(tracefs, plain_directory_at_the_mount_point_is_not_used)
{
	bool mounted = true;
	int fd;

	hide_mounts();
	cr_assert_eq(system("mkdir -p /sys/kernel/tracing/events /sys/kernel/debug"), 0);
	cr_assert_eq(tracefs_open_quiet(&fd, &mounted), 0);
	cr_expect_not(mounted);
	cr_expect_neq(faccessat(fd, "events/sched", F_OK, 0), -1);
	close(fd);
}

Test(tracefs, descriptor_may_be_0)
{
	bool mounted;
	int fd;

	hide_mounts();
	cr_assert_eq(system("mkdir -p /sys/kernel/tracing"), 0);
	cr_assert_eq(mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL), 0);
	close(0);
	cr_assert_eq(tracefs_open_quiet(&fd, &mounted), 0);
	cr_expect(mounted);
	cr_expect_eq(fd, 0);
	close(fd);
	cr_assert_eq(umount2("/sys/kernel/tracing", MNT_DETACH), 0);
	cr_assert_eq(tracefs_open_quiet(&fd, &mounted), 0);
	close(fd);
}

static void drop_to_nobody(void)
{
	cr_assert_eq(setgroups(0, NULL), 0);
	cr_assert_eq(setresgid(65534, 65534, 65534), 0);
	cr_assert_eq(setresuid(65534, 65534, 65534), 0);
}

Test(tracefs_remedy, mount_without_read_permission, .init = cr_redirect_stderr)
{
	bool mounted = false;
	struct stat st;
	int fd = -7;

	cr_assert_eq(stat("/sys/kernel/tracing", &st), 0);
	if (st.st_mode & (S_IROTH | S_IXOTH))
		cr_skip_test("anybody may read tracefs here");
	drop_to_nobody();
	cr_expect_eq(tracefs_open(&fd), -EACCES);
	cr_expect_eq(tracefs_open_quiet(&fd, &mounted), -EACCES);
	cr_expect(mounted);
	cr_expect_eq(fd, -7);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: cannot read tracefs: Permission denied (run as root, with "
		"sudo, or give the program CAP_DAC_READ_SEARCH)\n");
}

Test(tracefs_remedy, missing_mount, .init = cr_redirect_stderr)
{
	int fd = -7;

	hide_mounts();
	drop_to_nobody();
	cr_expect_eq(tracefs_open(&fd), -EPERM);
	cr_expect_eq(fd, -7);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: cannot open tracefs: it is not mounted, and a private mount needs "
		"CAP_SYS_ADMIN; run as root, with sudo, or first \"mount -t tracefs tracefs "
		"/sys/kernel/tracing\"\n");
}
