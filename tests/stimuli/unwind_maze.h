/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_STIMULI_UNWIND_MAZE_H
#define D9_STIMULI_UNWIND_MAZE_H

#include <stdint.h>

enum { MAZE_LETTERS = 3, MAZE_STEPS = 8 };

/* While a thread had only functions of one library on its stack: CLOCK_MONOTONIC. */
struct maze_phase {
	uint32_t tid;
	uint32_t letter; /* 'a' and up */
	uint64_t from_ns, to_ns;
};

#endif
