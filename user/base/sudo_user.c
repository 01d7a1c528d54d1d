// SPDX-License-Identifier: BSD-2-Clause
/*
 * sudo_user.c - the user who called sudo
 *
 * A recorded command runs as this user, who also owns the output. Both use this file, so they
 * always agree.
 */
#include "base/sudo_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"

/* An id of UINT32_MAX means "no change" in system calls. */
static int read_id(const char *name, const char *text, uint64_t *id)
{
	if (!str_parse_u64(text, UINT32_MAX - 1, id))
		return 0;
	log_error("record: %s is '%s', not a number; unset it to act as root, or call sudo "
		  "again",
		  name, text);
	return -EINVAL;
}

int sudo_user_read(struct sudo_user *out)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	const struct passwd *pw;
	uint64_t uid = 0, gid = 0;

	*out = (struct sudo_user){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
	if (geteuid())
		return 0;
	if ((uid_text && read_id("SUDO_UID", uid_text, &uid)) ||
	    (gid_text && read_id("SUDO_GID", gid_text, &gid)))
		return -EINVAL;
	if (!uid_text)
		return 0;
	if (!gid_text) {
		pw = getpwuid(uid);
		gid = pw ? pw->pw_gid : uid;
	}
	*out = (struct sudo_user){ .known = true, .uid = uid, .gid = gid };
	return 0;
}

int sudo_user_become(const struct sudo_user *user)
{
	const struct passwd *pw = getpwuid(user->uid);

	if (pw ? initgroups(pw->pw_name, user->gid) : setgroups(0, NULL))
		return -errno;
	if (setgid(user->gid) || setuid(user->uid))
		return -errno;
	if (pw) {
		setenv("HOME", pw->pw_dir, 1);
		setenv("USER", pw->pw_name, 1);
		setenv("LOGNAME", pw->pw_name, 1);
	}
	return 0;
}
