/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SHIP_STATE_H
#define D9_SHIP_SHIP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file in the directory, and the lock that keeps a second program out. */
#define SHIP_STATE_NAME ".dial9-ship"
#define SHIP_STATE_LOCK ".dial9-ship.lock"

/* What a directory's program knows after a crash: batches that the server has, and files that it lost. */
struct ship_state;

/* A file that was deleted before it was shipped. */
struct ship_state_drop {
	char *name;
	uint64_t bytes, wall; /* ns since 1970 of its last change */
};

/* Reads the state in a directory, or starts an empty one. 0, or -errno after one line. Free with ship_state_close(). */
int ship_state_open(int dir, const char *path, struct ship_state **out);
void ship_state_close(struct ship_state *s);

/* Whether all of a file is at the server, so that it only has to be deleted. */
bool ship_state_is_done(const struct ship_state *s, const uint64_t id[2]);
/* Whether a server acknowledged a batch of a file. */
bool ship_state_is_acked(const struct ship_state *s, const uint64_t id[2], uint64_t batch);

/*
 * Each change is on the disk before the call returns: 0 or -errno. After an error the state is right in memory, and the
 * next call that succeeds writes all of it.
 */
int ship_state_ack(struct ship_state *s, const uint64_t id[2], uint64_t batch);
int ship_state_done(struct ship_state *s, const uint64_t id[2]);
int ship_state_drop(struct ship_state *s, const struct ship_state_drop *drop);
/* The file of the last drop could not be deleted: it is no loss. */
int ship_state_keep(struct ship_state *s);
/*
 * How many of the first drops are to be reported together: the same number until they are reported, also after a crash. 1
 * if the state cannot be written.
 */
size_t ship_state_batch_drops(struct ship_state *s);
/* The first @cnt drops are reported. */
int ship_state_forget_drops(struct ship_state *s, size_t cnt);
const struct ship_state_drop *ship_state_drops(const struct ship_state *s, size_t *cnt);

#endif /* D9_SHIP_SHIP_STATE_H */
