/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_SUDO_USER_H
#define D9_BASE_SUDO_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user in whose name root was asked to record. */
struct sudo_user {
	bool known; /* else the others are (uid_t)-1 and (gid_t)-1: nobody but root is behind this */
	uid_t uid;
	gid_t gid;
};

/*
 * From SUDO_UID and SUDO_GID, for whoever is root; anybody else acts in no other name. Without
 * SUDO_GID the group is that of the user's account. Text that is no number is refused: -EINVAL after
 * one line, since taking it for "nobody" would run a command as root.
 */
int sudo_user_read(struct sudo_user *out);

/* Becomes him for good, with his groups and his HOME. For a child that was just forked. -errno. */
int sudo_user_become(const struct sudo_user *user);

#endif
