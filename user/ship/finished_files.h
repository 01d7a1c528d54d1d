/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_FINISHED_FILES_H
#define D9_SHIP_FINISHED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ship_state;

/* Appended to the name of a file that is set aside: the server did not take all of it, or it is not a complete trace. */
#define FINISHED_FILES_REFUSED ".refused"
#define FINISHED_FILES_UNREADABLE ".unreadable"

/* A finished file of the directory. */
struct finished_file {
	char *name;
	uint64_t bytes, wall; /* ns since 1970 of its last change */
	bool set_aside; /* it is not sent again */
};

/* Finished files, oldest first. {0}: none. */
struct finished_files {
	struct finished_file *files;
	size_t cnt, cap;
	uint64_t bytes;
};

/* Lists the finished files of --switch-output in a directory. 0 or -errno. Free with finished_files_fini(). */
int finished_files_list(int dir, struct finished_files *out);
void finished_files_fini(struct finished_files *s);

/*
 * Deletes the oldest files, also those set aside, until at most @max bytes are left, except the file @keep, which may be NULL.
 * Each file that was not sent is noted in the state as lost, unless that is NULL, before it is deleted, and printed. Returns
 * the number of these.
 */
size_t finished_files_trim(int dir, uint64_t max, const char *keep, struct ship_state *state);

#endif /* D9_SHIP_FINISHED_FILES_H */
