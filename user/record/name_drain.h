/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_NAME_DRAIN_H
#define D9_RECORD_NAME_DRAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct frames;
struct notify;
struct sym_client;

struct name_drain_cfg {
	struct sym_client *broker; /* borrowed */
	struct frames *frames;
	uint64_t wait_ns; /* for all of them */
	const volatile sig_atomic_t *stop; /* 2: at once */
	void (*waiting)(void *ctx); /* told when it takes long; may be NULL */
	void *ctx;
	struct notify *notify; /* shown that we live; may be NULL */
};

/*
 * Waits for the names of a recording that is over, as long as some keep coming, and writes them, and of which
 * code there are none. *cut: some were not waited for. -errno of the encoder.
 */
int name_drain(const struct name_drain_cfg *cfg, bool *cut);

#endif
