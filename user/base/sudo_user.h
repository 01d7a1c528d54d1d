/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_SUDO_USER_H
#define D9_BASE_SUDO_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who asked root to record */
struct sudo_user {
	/* if false: the program was not started by sudo, and the ids are (uid_t)-1 and (gid_t)-1 */
	bool known;
	uid_t uid;
	gid_t gid;
};

/*
 * Reads SUDO_UID and SUDO_GID if the process is root; otherwise the result is unknown. Without
 * SUDO_GID, uses the group of the user's account. Refuses text that is not a number, because
 * ignoring it would run a command as root: -EINVAL after printing one line.
 */
int sudo_user_read(struct sudo_user *out);

/*
 * Becomes this user for good, with the user's groups and HOME. For a child that was just forked. 0
 * or -errno.
 */
int sudo_user_become(const struct sudo_user *user);

#endif
