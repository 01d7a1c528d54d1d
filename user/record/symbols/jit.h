/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_JIT_H
#define D9_RECORD_SYMBOLS_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct sym_client;
struct sym_client_answer;

/*
 * Run-time code of programs: its symbols are in the map that the program writes for profilers, by address. A
 * program writes its lines late, so missing symbols are requested again from time to time.
 */
struct jit;

/* broker is borrowed; NULL: no requests. Never fails. */
struct jit *jit_new(struct sym_client *broker);
void jit_free(struct jit *j);

/*
 * Requests the symbol of the code at addr of a process. The trace knows it as `frame`, in a module that is an
 * anonymous mapping. Each frame is passed once. False if there is no room: too many programs, too many of one
 * owner, or too much code of this program.
 */
bool jit_ask(struct jit *j, struct process *proc, uint64_t addr, uint64_t frame);

/* Called for a module (its id) of the status's program. */
typedef void (*jit_module_fn)(void *ctx, uint32_t module_id,
			      const struct sym_client_answer *answer);

/*
 * Makes room if there are many programs: forgets exited ones, after fn was called with the last status of each of
 * their modules. Call it often (CLOCK_MONOTONIC now_ns).
 */
void jit_sweep(struct jit *j, uint64_t now_ns, jit_module_fn fn, void *ctx);

/* Whether an answer of the broker is about a program's map. */
bool jit_is_answer(const struct sym_client_answer *answer);

/* The frame of a symbol, returned only once; false if it has one already. */
bool jit_receive_name(struct jit *j, const struct sym_client_answer *answer, uint64_t *frame);

/*
 * Calls fn for each frame without a symbol whose address is in the range of a known symbol of its program, and stops
 * at its first result other than 0, which it returns. @answer has the address (offset) and that symbol. The frame
 * then has a symbol. For the end: before that, a later line of the map may have another symbol.
 */
int jit_name_covered(struct jit *j,
		     int (*fn)(void *ctx, uint64_t frame, const struct sym_client_answer *answer),
		     void *ctx);

/* The status of the map of the process's program; false: unknown, or not yet known. */
bool jit_status(const struct jit *j, const struct process *proc, struct sym_client_answer *out);

/* Calls fn for each module of the status's program. */
void jit_each_module(const struct jit *j, const struct sym_client_answer *answer, jit_module_fn fn,
		     void *ctx);

/* Requests missing symbols again: now, or when the time has come (CLOCK_MONOTONIC now_ns). */
void jit_ask_again(struct jit *j, uint64_t now_ns, bool now);

#endif
