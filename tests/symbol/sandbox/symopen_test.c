// SPDX-License-Identifier: BSD-2-Clause
/* Which file is opened, and what is never opened. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/sandbox/symopen.h"
#include "symbol/sandbox/symproto.h"

static char dir[64];

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/d9-symopen-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
}

static void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	cr_assert_eq(system(cmd), 0);
}

TestSuite(symopen, .init = make_dir, .fini = remove_dir, .timeout = 20);

static char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	int fd = open(in_dir(name), O_CREAT | O_WRONLY | O_TRUNC, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void expect_text(int fd, const char *text)
{
	char got[64] = "";

	cr_assert_geq(fd, 0, "%d", fd);
	cr_assert_eq(read(fd, got, sizeof(got) - 1), (ssize_t)strlen(text));
	cr_assert_str_eq(got, text);
	close(fd);
}

Test(symopen, opens_a_regular_file_by_path_and_through_a_process)
{
	struct symopen_where where = { .pid = getpid(), .path = in_dir("file") };

	write_file("file", "content");
	expect_text(symopen_file(&where, SYMOPEN_ROOT), "content");
	expect_text(symopen_file(&where, SYMOPEN_HERE), "content");
}

/* Like in a sysroot: links stay inside that root. */
Test(symopen, paths_and_links_below_another_root_stay_inside_it)
{
	static const uint8_t id[] = { 0xab, 0xcd, 0xef };
	char root[128], path[1024];
	struct symopen_dirs dirs = { .symfs = root, .cache = root };
	struct symopen_where where = { .path = "/usr/bin/app",
				       .checked = true,
				       .build_id = id,
				       .build_id_sz = 3,
				       .dirs = &dirs };
	const struct {
		const char *name;
		enum symopen_place place;
	} files[] = {
		{ "root/usr/bin/app", SYMOPEN_SYMFS },
		{ "root/app", SYMOPEN_SYMFS_NAME },
		{ "root/.build-id/ab/cdef.debug", SYMOPEN_SYMFS_DEBUG },
		{ "root/abcdef/executable", SYMOPEN_CACHED },
		{ "root/abcdef/debuginfo", SYMOPEN_CACHED_DEBUG },
		{ "root/app.debug", SYMOPEN_SYMFS_DEBUG_NAME },
		{ "root/usr/bin/app.debug", SYMOPEN_SYMFS_DEBUG_NAME },
	};

	snprintf(root, sizeof(root), "%s", in_dir("root"));
	snprintf(path, sizeof(path), "mkdir -p %s/usr/bin %s/.build-id/ab %s/abcdef %s/lib", root,
		 root, root, root);
	cr_assert_eq(system(path), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!i || files[i].place != files[i - 1].place)
			cr_expect_eq(symopen_file(&where, files[i].place), -ENOENT, "%s",
				     files[i].name);
		write_file(files[i].name, files[i].name);
		expect_text(symopen_file(&where, files[i].place), files[i].name);
	}
	where.path = "/lib/link";
	cr_assert_eq(symlink("/usr/bin/app", in_dir("root/lib/link")), 0);
	expect_text(symopen_file(&where, SYMOPEN_SYMFS), "root/usr/bin/app");
	where.path = "/lib/out";
	write_file("secret", "outside");
	cr_assert_eq(symlink("../../../secret", in_dir("root/lib/out")), 0);
	cr_expect_eq(symopen_file(&where, SYMOPEN_SYMFS), -ENOENT);
	/* files without a build-id are not searched there, and a recorder has no such root */
	where.path = "/usr/bin/app";
	where.build_id_sz = 0;
	cr_expect_eq(symopen_file(&where, SYMOPEN_SYMFS), -ENOENT);
	where.build_id_sz = 3;
	where.dirs = NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		cr_expect_eq(symopen_file(&where, files[i].place), -ENOENT);
}

/* A target that replaces its file by a link chooses what root opens. */
Test(symopen, refuses_regular_files_of_kernel_file_systems)
{
	static const char *const files[] = { "/proc/version", "/sys/kernel/notes" };
	struct symopen_where where = { .pid = getpid() };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct stat st;

		if (stat(files[i], &st))
			continue;
		cr_assert(S_ISREG(st.st_mode));
		where.path = in_dir("link");
		unlink(where.path);
		cr_assert_eq(symlink(files[i], where.path), 0);
		cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -EINVAL, "%s", files[i]);
		cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -EINVAL, "%s", files[i]);
	}
}

Test(symopen, refuses_other_file_types_without_hanging)
{
	struct symopen_where where = { .pid = getpid(), .path = in_dir("fifo") };

	cr_assert_eq(mkfifo(where.path, 0600), 0);
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -EINVAL);
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -EINVAL);
	where.path = "/dev/null";
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -EINVAL);
	where.path = dir;
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -EINVAL);
}

/* Opening that one would create a terminal: it is checked, and not opened. */
Test(symopen, file_replaced_by_a_link_to_a_device_is_not_opened)
{
	struct symopen_where where = { .pid = getpid(), .path = in_dir("library") };

	write_file("library", "content");
	cr_assert_eq(unlink(where.path), 0);
	cr_assert_eq(symlink("/dev/ptmx", where.path), 0);
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -EINVAL);
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -EINVAL);
}

/* Without the process, only the build-id can show whether it is the right file. */
Test(symopen, searches_its_own_root_for_files_with_a_build_id)
{
	struct symopen_where where = { .pid = 1 << 22, .path = in_dir("file") };

	write_file("file", "content");
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ENOENT);
	where.checked = true;
	expect_text(symopen_file(&where, SYMOPEN_HERE), "content");
	where.pid = 0;
	expect_text(symopen_file(&where, SYMOPEN_HERE), "content");
	where.checked = false;
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ENOENT);
}

static void note_inode(struct symopen_where *where)
{
	struct stat st;

	cr_assert_eq(stat(where->path, &st), 0);
	where->dev = major(st.st_dev) << 20 | minor(st.st_dev);
	where->inode = st.st_ino;
}

/* A file without a build-id is identified by its inode. */
Test(symopen, searches_its_own_root_for_the_mapped_inode)
{
	struct symopen_where where = { .pid = 1 << 22, .path = in_dir("file") };

	write_file("file", "content");
	note_inode(&where);
	expect_text(symopen_file(&where, SYMOPEN_HERE), "content");
	where.inode++;
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ESTALE);
	where.inode--;
	where.dev++;
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ESTALE);
}

/* A file that is not mapped any more, or not yet: another may be in its place. */
Test(symopen, searches_a_process_for_the_inode_of_an_unmapped_file)
{
	struct symopen_where where = { .pid = getpid(), .path = in_dir("file") };

	write_file("file", "content");
	note_inode(&where);
	expect_text(symopen_file(&where, SYMOPEN_ROOT), "content");
	where.inode++;
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -ESTALE);
	where.checked = true;
	expect_text(symopen_file(&where, SYMOPEN_ROOT), "content");
}

Test(symopen, reports_missing_files)
{
	struct symopen_where where = { .path = "/nonexistent/file" };

	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ENOENT);
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -ENOENT, "no process is known");
	cr_expect_eq(symopen_file(&where, SYMOPEN_MAP_FILES), -ENOENT);
	where.path = "[anon]";
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ENOENT);
	where.path = NULL;
	cr_expect_eq(symopen_file(&where, SYMOPEN_HERE), -ENOENT);
	where.pid = 1 << 22;
	where.path = "/etc/passwd";
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -ENOENT);
}

/* A link in /proc/PID/fd would lead anywhere, whatever the root directory is. */
Test(symopen, follows_no_magic_link_out_of_the_root)
{
	struct symopen_where where = { .pid = getpid() };
	char path[64];
	int fd;

	write_file("file", "content");
	fd = open(in_dir("file"), O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	where.path = path;
	cr_expect_eq(symopen_file(&where, SYMOPEN_ROOT), -ELOOP);
	close(fd);
}

Test(symopen, rewritten_file_has_another_version)
{
	struct timespec times[2];
	uint64_t before;
	struct stat st;
	int fd;

	write_file("file", "content");
	fd = open(in_dir("file"), O_RDONLY);
	before = symopen_version(fd);
	cr_expect_neq(before, 0);
	cr_expect_eq(symopen_version(fd), before);
	cr_assert_eq(fstat(fd, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	/* file system timestamps have a limited resolution */
	while (symopen_version(fd) == before) {
		write_file("file", "CONTENT");
		cr_assert_eq(utimensat(AT_FDCWD, in_dir("file"), times, 0), 0);
	}
	close(fd);
}

/* What a process has mapped can be read after its file is gone. Needs root. */
Test(symopen, opens_a_deleted_file_by_its_mapping)
{
	struct symopen_where where = { .pid = getpid() };
	void *map;
	int fd;

	if (geteuid())
		cr_skip_test("map_files needs root");
	write_file("file", "content");
	fd = open(in_dir("file"), O_RDONLY);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert_neq(map, MAP_FAILED);
	close(fd);
	unlink(in_dir("file"));
	where.map_start = (uintptr_t)map;
	where.map_end = where.map_start + 4096;
	expect_text(symopen_file(&where, SYMOPEN_MAP_FILES), "content");
	munmap(map, 4096);
}

Test(symopen, finds_debug_files_in_the_directories_of_distributions)
{
	const uint8_t id[] = { 0xab, 0xcd, 0xef };
	struct symopen_where where = { .pid = getpid(), .debug_root = dir };
	struct symbolizer_want want = {
		.kind = SYMBOLIZER_WANT_BUILD_ID,
		.build_id = id,
		.build_id_sz = sizeof(id),
	};
	char cmd[512], path[128];

	snprintf(cmd, sizeof(cmd), "mkdir -p %s/.build-id/ab %s/.dwz %s/bin/.debug %s%s/bin", dir,
		 dir, dir, dir, dir);
	cr_assert_eq(system(cmd), 0);
	write_file(".build-id/ab/cdef.debug", "by id");
	expect_text(symopen_debug(&where, &want), "by id");

	want.kind = SYMBOLIZER_WANT_ALTLINK;
	want.name = "../../../.dwz/shared.debug";
	write_file(".dwz/shared.debug", "shared");
	expect_text(symopen_debug(&where, &want), "shared");
	want.name = "/x/.dwz/../.build-id/ab/cdef.debug";
	expect_text(symopen_debug(&where, &want), "by id");

	snprintf(path, sizeof(path), "%s/bin/app", dir);
	where.path = path;
	want.kind = SYMBOLIZER_WANT_DEBUGLINK;
	want.name = "app.debug";
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
	snprintf(cmd, sizeof(cmd), "%s/bin/app.debug", dir + 1);
	write_file(cmd, "in the root");
	expect_text(symopen_debug(&where, &want), "in the root");
	write_file("bin/.debug/app.debug", "below");
	expect_text(symopen_debug(&where, &want), "below");
	write_file("bin/app.debug", "beside");
	expect_text(symopen_debug(&where, &want), "beside");
	want.name = "../app.debug";
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
}

/* The file with common parts of several files, at the path of dwz's option -m. */
Test(symopen, finds_dwz_files_next_to_the_binary)
{
	const uint8_t id[] = { 0xab, 0xcd, 0xef };
	char path[128], absolute[128], cmd[256];
	struct symopen_where where = { .pid = getpid(), .debug_root = dir, .path = path };
	struct symbolizer_want want = {
		.kind = SYMBOLIZER_WANT_ALTLINK,
		.name = "common.dwz",
		.build_id = id,
		.build_id_sz = sizeof(id),
	};

	snprintf(cmd, sizeof(cmd), "mkdir -p %s/bin/.debug %s/.build-id/ab", dir, dir);
	cr_assert_eq(system(cmd), 0);
	snprintf(path, sizeof(path), "%s/bin/app", dir);
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
	write_file("bin/.debug/common.dwz", "below");
	expect_text(symopen_debug(&where, &want), "below");
	write_file("bin/common.dwz", "beside");
	expect_text(symopen_debug(&where, &want), "beside");
	snprintf(absolute, sizeof(absolute), "%s/bin/common.dwz", dir);
	want.name = absolute;
	expect_text(symopen_debug(&where, &want), "beside");
	want.name = ".debug/../common.dwz";
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
	want.name = "";
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
	want.name = "common.dwz";
	where.path = "relative/app";
	cr_expect_eq(symopen_debug(&where, &want), -ENOENT);
	where.path = path;
	write_file(".build-id/ab/cdef.debug", "by id");
	expect_text(symopen_debug(&where, &want), "by id");
}

/* Where the compiler put it, next to the program, and first of all below --symfs. */
Test(symopen, finds_split_debug_information)
{
	char path[128], name[128], symfs[128], cmd[512];
	struct symopen_dirs dirs = { .symfs = symfs };
	struct symopen_where where = { .pid = getpid(), .debug_root = dir, .path = path };
	const uint8_t id[] = { 0xab, 0xcd, 0xef };
	struct symbolizer_want dwp = { .kind = SYMBOLIZER_WANT_DWP,
				       .build_id = id,
				       .build_id_sz = sizeof(id) };
	struct symbolizer_want dwo = { .kind = SYMBOLIZER_WANT_DWO, .name = name };

	snprintf(path, sizeof(path), "%s/bin/app", dir);
	snprintf(name, sizeof(name), "%s/made/./sub/a.dwo", dir);
	snprintf(symfs, sizeof(symfs), "%s/symfs", dir);
	snprintf(cmd, sizeof(cmd),
		 "mkdir -p %s/bin/sub %s/bin/.debug %s/.build-id/ab %s/made/sub %s%s/bin", dir, dir,
		 dir, dir, symfs, dir);
	cr_assert_eq(system(cmd), 0);
	cr_expect_eq(symopen_debug(&where, &dwp), -ENOENT);
	cr_expect_eq(symopen_debug(&where, &dwo), -ENOENT);
	write_file("bin/.debug/app.debug.dwp", "of the debug file");
	expect_text(symopen_debug(&where, &dwp), "of the debug file");
	write_file("bin/app.dwp", "package");
	expect_text(symopen_debug(&where, &dwp), "package");
	write_file(".build-id/ab/cdef.debug.dwp", "by id of the debug file");
	expect_text(symopen_debug(&where, &dwp), "by id of the debug file");
	write_file(".build-id/ab/cdef.dwp", "by id");
	expect_text(symopen_debug(&where, &dwp), "by id");
	dwp.build_id_sz = 0;
	write_file("bin/a.dwo", "beside");
	expect_text(symopen_debug(&where, &dwo), "beside");
	write_file("bin/sub/a.dwo", "beside as it was");
	expect_text(symopen_debug(&where, &dwo), "beside as it was");
	write_file("made/sub/a.dwo", "made");
	expect_text(symopen_debug(&where, &dwo), "made");
	dwo.skip = 1;
	expect_text(symopen_debug(&where, &dwo), "beside as it was");
	dwo.skip = 2;
	expect_text(symopen_debug(&where, &dwo), "beside");
	dwo.skip = 3;
	cr_expect_eq(symopen_debug(&where, &dwo), -ENOENT);
	dwo.skip = 0;

	where.dirs = &dirs;
	expect_text(symopen_debug(&where, &dwp), "package");
	snprintf(cmd, sizeof(cmd), "printf below >%s%s/bin/a.dwo && printf elsewhere >%s/app.dwp",
		 symfs, dir, symfs);
	cr_assert_eq(system(cmd), 0);
	expect_text(symopen_debug(&where, &dwp), "elsewhere");
	snprintf(cmd, sizeof(cmd),
		 "mkdir -p %s/.build-id/ab && printf root >%s/.build-id/ab/cdef.dwp", symfs, symfs);
	cr_assert_eq(system(cmd), 0);
	dwp.build_id_sz = 3;
	expect_text(symopen_debug(&where, &dwp), "root");
	snprintf(name, sizeof(name), "gone/./a.dwo");
	expect_text(symopen_debug(&where, &dwo), "below");
	where.path = "relative/app";
	cr_expect_eq(symopen_debug(&where, &dwo), -ENOENT);
}

/* ---- requests by messages ----------------------------------------------------------------------- */

struct server {
	int sock;
	pthread_t thread;
};

static void *serve(void *arg)
{
	symopen_serve((int)(intptr_t)arg, NULL);
	close((int)(intptr_t)arg);
	return NULL;
}

static void server_begin(struct server *s)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	s->sock = pair[0];
	cr_assert_eq(pthread_create(&s->thread, NULL, serve, (void *)(intptr_t)pair[1]), 0);
}

static void server_end(struct server *s)
{
	close(s->sock);
	pthread_join(s->thread, NULL);
}

/* The received descriptor, or the error; *place is where the file was found. */
static int request(struct server *s, struct symproto_msg msg, uint32_t *place)
{
	char *packet = malloc(SYMPROTO_PACKET_MAX);
	struct symproto_msg result;
	struct buf b = { 0 };
	size_t pos = 0;
	ssize_t n;
	int fd;

	msg.kind = SYMPROTO_OPEN;
	msg.id = 7;
	msg.pid = msg.pid ? msg.pid : getpid();
	symproto_put(&b, &msg);
	cr_assert_eq(symproto_send(s->sock, &b, -1, 0), 0);
	buf_free(&b);
	n = symproto_receive(s->sock, packet, &fd, 0);
	cr_assert_gt(n, 0);
	cr_assert_eq(symproto_get(packet, n, &pos, SYMPROTO_FROM_OPENER, &result), 1);
	cr_expect_eq(result.kind, SYMPROTO_RESULT);
	cr_expect_eq(result.id, 7);
	cr_expect_eq(result.error < 0, fd < 0);
	if (place)
		*place = result.depth;
	free(packet);
	return fd < 0 ? result.error : fd;
}

Test(symopen, server_reports_where_it_found_a_file)
{
	struct symproto_msg msg = { .what = SYMPROTO_ELF };
	struct server s;
	uint32_t place;

	server_begin(&s);
	write_file("file", "content");
	msg.text = in_dir("file");
	msg.text_len = strlen(msg.text);
	expect_text(request(&s, msg, &place), "content");
	cr_expect_eq(place, SYMOPEN_ROOT, "no mapping was told");
	unlink(msg.text);
	cr_expect_eq(request(&s, msg, NULL), -ENOENT);
	cr_assert_eq(mkfifo(msg.text, 0600), 0);
	cr_expect_eq(request(&s, msg, NULL), -EINVAL, "which says more than that there is none");
	msg.what = SYMPROTO_VDSO;
	cr_expect_eq(request(&s, msg, NULL), -EINVAL, "that is no file");
	msg.what = SYMPROTO_WANT_DEBUGLINK;
	cr_expect_eq(request(&s, msg, NULL), -EINVAL, "of no name");
	server_end(&s);
}

/* In a directory that is writable for all users. */
Test(symopen, perf_map_must_belong_to_the_program)
{
	const struct symproto_msg msg = { .what = SYMPROTO_PERFMAP };
	char path[64];
	struct server s;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	server_begin(&s);
	cr_expect_eq(request(&s, msg, NULL), -ENOENT);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	cr_assert_eq(write(fd, "1000 10 f\n", 10), 10);
	close(fd);
	expect_text(request(&s, msg, NULL), "1000 10 f\n");
	if (!geteuid() && !chown(path, 1, 1))
		cr_expect_eq(request(&s, msg, NULL), -EPERM, "another's");
	unlink(path);
	write_file("secret", "content");
	cr_assert_eq(symlink(in_dir("secret"), path), 0);
	cr_expect_lt(request(&s, msg, NULL), 0, "a link");
	unlink(path);
	server_end(&s);
}

Test(symopen, perf_map_of_an_ended_process_is_unknown)
{
	struct symproto_msg msg = { .what = SYMPROTO_PERFMAP, .pid = fork() };
	struct server s;
	siginfo_t info;

	if (!msg.pid)
		_exit(0);
	server_begin(&s);
	cr_assert_eq(waitid(P_PID, msg.pid, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(request(&s, msg, NULL), -ESRCH, "a zombie");
	cr_assert_eq(waitpid(msg.pid, NULL, 0), msg.pid);
	cr_expect_eq(request(&s, msg, NULL), -ESRCH);
	server_end(&s);
}
