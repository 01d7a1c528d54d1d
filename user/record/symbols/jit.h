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
 * Code that programs made while they ran: its names are in the map that the program writes for
 * profilers, by address. A program writes its lines late, so what has no name is asked again from
 * time to time.
 */
struct jit;

/* broker is borrowed; NULL: nothing is ever asked. Never fails. */
struct jit *jit_new(struct sym_client *broker);
void jit_free(struct jit *j);

/*
 * Asks for the name of the code at addr of a process, which the trace calls frame, in a module that
 * is an anonymous mapping. Each frame is given once. False when there is no room: so many programs are
 * known, or of so few owners, or so much code of this one.
 */
bool jit_ask(struct jit *j, struct process *proc, uint64_t addr, uint64_t frame);

/* Called for a module (its id) of the program that a status is about. */
typedef void (*jit_module_fn)(void *ctx, uint32_t module_id,
			      const struct sym_client_answer *answer);

/*
 * Makes room where there are many programs: forgets those whose process is gone, after fn was called
 * with the last status for each of their modules. To be called often (CLOCK_MONOTONIC now_ns).
 */
void jit_sweep(struct jit *j, uint64_t now_ns, jit_module_fn fn, void *ctx);

/* Whether an answer of the broker is about a program's map. */
bool jit_is_answer(const struct sym_client_answer *answer);

/* The frame that a name is for, and never again; false when it has one. */
bool jit_take_name(struct jit *j, const struct sym_client_answer *answer, uint64_t *frame);

/* The status of the map of the process's program; false: it is not known, or not yet. */
bool jit_status(const struct jit *j, const struct process *proc, struct sym_client_answer *out);

/* Calls fn for each module that lies in the program that a status is about. */
void jit_each_module(const struct jit *j, const struct sym_client_answer *answer, jit_module_fn fn,
		     void *ctx);

/* Asks again for what has no name: now, or when it is time to (CLOCK_MONOTONIC now_ns). */
void jit_ask_again(struct jit *j, uint64_t now_ns, bool now);

#endif
