/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_WAITER_H
#define D9_UNWIND_WAITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What takes the kernel milliseconds, done by a thread of its own while nobody waits: periods of grace
 * and chunks of memory.
 */
struct waiter;

struct waiter_cfg {
	/* Makes chunk i and says where it is mapped: 0 or -errno. Called by the waiter's thread only. */
	int (*make_chunk)(void *ctx, uint32_t i, void **mem);
	void *ctx;
	uint64_t capabilities; /* that make_chunk needs: all that the thread keeps */
};

/* -errno when there is no thread to be had, or it cannot give up its privileges. */
int waiter_new(const struct waiter_cfg *cfg, struct waiter **out);
/* Waits for what the thread is at. */
void waiter_free(struct waiter *w);

/*
 * A ticket for a period of grace. When waiter_is_over(), no program of the kernel's that ran when the
 * ticket was taken runs any more, so that none still holds what was out of its reach then.
 */
uint64_t waiter_grace(struct waiter *w);
bool waiter_is_over(struct waiter *w, uint64_t ticket);

/* Asks for chunk i; the one asked for before must be there. */
void waiter_ask_chunk(struct waiter *w, uint32_t i);
/* 1: *mem is the chunk that was asked for last; 0: not yet; -errno: it cannot be made. */
int waiter_chunk(struct waiter *w, void **mem);

#endif /* D9_UNWIND_WAITER_H */
