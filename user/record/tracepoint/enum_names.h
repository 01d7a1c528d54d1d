/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_ENUM_NAMES_H
#define D9_RECORD_TRACEPOINT_ENUM_NAMES_H

#include <stdint.h>

/* Receives a row (enum prof_tp_symbol_kind and its parts); a non-zero result ends the walk and is returned. */
typedef int (*enum_names_fn)(void *ctx, uint8_t kind, uint64_t value, const char *name);

/* The names of the recorder's own values: of PROF_F_USER_END, PROF_F_CONTEXT and PROF_EV_SUMMARY's kinds. */
int enum_names_user_end(enum_names_fn fn, void *ctx);
int enum_names_context(enum_names_fn fn, void *ctx);
int enum_names_summary_kind(enum_names_fn fn, void *ctx);

#endif
