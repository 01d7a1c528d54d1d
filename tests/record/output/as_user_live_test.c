// SPDX-License-Identifier: BSD-2-Clause
/* What root does for the user who called sudo: it runs the command as that user, who owns the trace. */
#include <criterion/criterion.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out_file.h"
#include "record/target/exec_probe.h"
#include "tests/record/command.h"
#include "tests/record/found.h"

__attribute__((constructor)) static void need_root(void)
{
	if (!geteuid())
		return;
	puts("needs root: becomes another user");
	fflush(stdout);
	_exit(77);
}

Test(as_user, command_runs_as_the_user_who_called_sudo)
{
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "5678", 1);
	cr_expect_eq(run("test $(id -u) = 1234 && test $(id -g) = 5678", false), 0);
	cr_assert_eq(setgroups(2, (const gid_t[]){ 0, 4 }), 0);
	cr_expect_eq(run("test \"$(id -G)\" = 5678", false), 0, "and in none of root's groups");
}

Test(as_user, user_with_a_name_gets_the_home_directory)
{
	setenv("SUDO_UID", "1", 1);
	unsetenv("SUDO_GID");
	cr_expect_eq(run("test $USER:$LOGNAME:$HOME = daemon:daemon:/usr/sbin", false), 0);
	cr_expect_eq(run("test $(id -un):$(id -gn) = daemon:daemon", false), 0);
}

Test(as_user, as_root_keeps_root)
{
	setenv("SUDO_UID", "1234", 1);
	cr_expect_eq(run("exit $(id -u)", true), 0);
}

/* Files that only root may see must not be checked on behalf of another user. */
Test(as_user, exec_probe_has_the_rights_of_the_user)
{
	char dir[] = "/tmp/d9-scout-XXXXXX", path[64];
	struct found f = { 0 };
	struct exec_probe *s;
	siginfo_t info;
	int turn;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/command", dir);
	cr_assert_eq(symlink("/bin/sh", path), 0);
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "5678", 1);
	for (turn = 0; turn < 2; turn++) {
		cr_assert_eq(exec_probe_new(path, turn == 1, &s), 0);
		cr_assert_eq(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
		exec_probe_receive(s, found_add, &f);
		exec_probe_free(s);
		cr_expect(turn == 1 ? f.cnt > 2 : f.cnt == 0, "as %s: %zu files",
			  turn ? "root" : "the user", f.cnt);
		found_fini(&f);
	}
	unlink(path);
	rmdir(dir);
}

Test(as_user, file_belongs_to_the_user_who_called_sudo)
{
	char dir[] = "/tmp/d9-sink-XXXXXX";
	struct out_file *s = NULL;
	struct stat st;

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(out_file_open("t.bin", 1234, 5678, &s), 0);
	cr_assert_eq(out_file_write(s, "trace", 5), 0);
	cr_assert_eq(out_file_close(s), 0);
	cr_assert_eq(stat("t.bin", &st), 0);
	cr_expect_eq(st.st_uid, 1234);
	cr_expect_eq(st.st_gid, 5678);
	cr_expect_eq(st.st_mode & 07777, 0600);
	unlink("t.bin");
	rmdir(dir);
}
