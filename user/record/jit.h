/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_JIT_H
#define D9_RECORD_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct symbroker;
struct symbroker_answer;

/*
 * Code that programs made while they ran: its names are in the map that the program writes for
 * profilers, by address. A program writes its lines late, so what has no name is asked again from
 * time to time.
 */
struct jit;

/* broker is borrowed; NULL: nothing is ever asked. Never fails. */
struct jit *jit_new(struct symbroker *broker);
void jit_free(struct jit *j);

/*
 * Asks for the name of the code at addr of a process, which the trace calls frame, in a module that
 * is an anonymous mapping. Each frame is given once.
 */
void jit_ask(struct jit *j, const struct process *proc, uint64_t addr, uint64_t frame);

/* Whether an answer of the broker is about a program's map. */
bool jit_is_answer(const struct symbroker_answer *answer);

/* The frame that a name is for, and never again; false when it has one. */
bool jit_take_name(struct jit *j, const struct symbroker_answer *answer, uint64_t *frame);

/* Calls fn for each module (its id) that lies in the program that a status is about. */
void jit_each_module(const struct jit *j, const struct symbroker_answer *answer,
		     void (*fn)(void *ctx, uint32_t module_id,
				const struct symbroker_answer *answer),
		     void *ctx);

/* Asks again for what has no name: now, or when it is time to (CLOCK_MONOTONIC now_ns). */
void jit_ask_again(struct jit *j, uint64_t now_ns, bool now);

#endif
