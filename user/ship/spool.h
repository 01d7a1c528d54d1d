/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SPOOL_H
#define D9_SHIP_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct ship_state;

/* A finished file of the directory. */
struct spool_file {
	char *name;
	uint64_t bytes, wall; /* ns since 1970 of its last change */
};

/* Finished files, oldest first. {0}: none. */
struct spool {
	struct spool_file *files;
	size_t cnt, cap;
	uint64_t bytes;
};

/* Lists the finished files of --switch-output in a directory. 0 or -errno. Free with spool_fini(). */
int spool_list(int dir, struct spool *out);
void spool_fini(struct spool *s);

/*
 * Deletes the oldest files until at most @max bytes are left, except the file @keep, which may be NULL. Each is noted in the
 * state as lost, before it is deleted, and printed. Returns their number.
 */
size_t spool_trim(int dir, uint64_t max, const char *keep, struct ship_state *state);

#endif /* D9_SHIP_SPOOL_H */
