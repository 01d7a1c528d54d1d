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
	struct sym_client *broker; /* borrowed; after sym_client_hurry() */
	struct frames *frames;
	uint64_t wait_ns; /* for all symbols */
	const volatile sig_atomic_t *stop; /* 2: at once */
	void (*waiting)(void *ctx); /* called if it takes long; may be NULL */
	void *ctx;
	struct notify *notify; /* for the watchdog; may be NULL */
};

/*
 * Waits for the symbols of a finished recording while some keep arriving. Writes them, and labels for code without
 * symbols. *cut: some are missing because of the limit. -errno of the encoder.
 */
int name_drain(const struct name_drain_cfg *cfg, bool *cut);

#endif
