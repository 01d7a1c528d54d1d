/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_WORDS_H
#define D9_RECORD_TRACEPOINT_WORDS_H

#include <stdint.h>

/* Takes a row (enum prof_tp_symbol_kind and its parts); other than 0 ends the walk, which returns it. */
typedef int (*words_fn)(void *ctx, uint8_t kind, uint64_t value, const char *name);

/* The names of values that the recorder itself makes up: of PROF_F_USER_END, of PROF_F_CONTEXT and of
 * PROF_EV_SUMMARY's kinds. */
int words_user_end(words_fn fn, void *ctx);
int words_context(words_fn fn, void *ctx);
int words_summary_kind(words_fn fn, void *ctx);

#endif
