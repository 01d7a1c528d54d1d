/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_WAITER_H
#define D9_UNWIND_WAITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A thread that does slow kernel requests in the background: grace periods, and chunks of memory.
 */
struct waiter;

struct waiter_cfg {
	/*
	 * Allocates chunk i and returns its address in *mem: 0 or -errno. Called by the waiter's
	 * thread only.
	 */
	int (*make_chunk)(void *ctx, uint32_t i, void **mem);
	void *ctx;
	uint64_t capabilities; /* capabilities for make_chunk; the thread drops all others */
};

/* 0; -errno if the thread cannot be created or cannot drop its privileges. */
int waiter_new(const struct waiter_cfg *cfg, struct waiter **out);
/* Waits for the current request. */
void waiter_free(struct waiter *w);

/*
 * Starts a grace period and returns its ticket. Once waiter_is_over(), no BPF program that ran at
 * the time of this call still runs, so none uses data that was unpublished before.
 */
uint64_t waiter_grace(struct waiter *w);
bool waiter_is_over(struct waiter *w, uint64_t ticket);

/* Requests chunk i; the chunk requested before must be finished. */
void waiter_ask_chunk(struct waiter *w, uint32_t i);
/* 1: *mem is the last requested chunk; 0: not ready; -errno: failed */
int waiter_chunk(struct waiter *w, void **mem);

#endif /* D9_UNWIND_WAITER_H */
