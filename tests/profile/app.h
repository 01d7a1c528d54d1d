/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_PROFILE_APP_H
#define D9_TESTS_PROFILE_APP_H

/* A small program with samples, for profiles and trees. */
#include <criterion/criterion.h>
#include <string.h>

#include "profile/sums/profile.h"

/* Module 1 is "app", module 2 "libc"; functions are at these offsets. */
#define MAIN 0x100
#define WORK 0x200
#define HOT 0x300
#define COLD 0x400
#define NAMELESS 0x900

static inline uint64_t at(uint32_t module, uint64_t off)
{
	return (uint64_t)module << PROF_FRAME_MODULE_SHIFT | off;
}

static inline uint32_t name(struct names *n, const char *s)
{
	return names_add(n, s, strlen(s));
}

static inline void symbol(struct names *n, uint64_t frame, uint32_t depth, const char *s)
{
	struct names_frame f = { .name = name(n, s), .file = NAMES_NONE, .base = frame };

	names_symbol_set(n, frame, depth, &f);
}

static inline struct names *make_names(void)
{
	struct names_module app = { .id = 1, .announced = true },
			    libc = { .id = 2, .announced = true };
	struct names *n;

	names_new(&n);
	app.path = name(n, "/bin/app");
	libc.path = name(n, "/lib/libc.so");
	cr_assert_eq(names_module_add(n, &app), 1);
	cr_assert_eq(names_module_add(n, &libc), 2);
	symbol(n, at(1, MAIN), 0, "main");
	symbol(n, at(1, WORK), 0, "work");
	symbol(n, at(1, HOT), 0, "hot");
	symbol(n, at(2, COLD), 0, "cold");
	return n;
}

static inline void add(struct profile *p, uint32_t tid, const uint64_t *frames, uint32_t cnt,
		       int times)
{
	struct trace_event ev = { .kind = TRACE_SAMPLE,
				  .tid = tid,
				  .pid = 10,
				  .comm = NAMES_NONE,
				  .frames = frames,
				  .frame_cnt = cnt };

	while (times--)
		profile_add(p, &ev);
}

/* 6 x main>work>hot, 3 x main>work>cold, 1 x main>work>work>work>hot */
static inline struct profile *make_profile(struct names *n)
{
	const uint64_t hot[] = { at(1, HOT), at(1, WORK), at(1, MAIN) };
	const uint64_t cold[] = { at(2, COLD), at(1, WORK), at(1, MAIN) };
	const uint64_t deep[] = { at(1, HOT), at(1, WORK), at(1, WORK), at(1, WORK), at(1, MAIN) };
	struct profile *p;

	profile_new(n, &p);
	add(p, 11, hot, 3, 4);
	add(p, 12, hot, 3, 2);
	add(p, 11, cold, 3, 3);
	add(p, 11, deep, 5, 1);
	return p;
}

#endif /* D9_TESTS_PROFILE_APP_H */
