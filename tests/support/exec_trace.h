/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_EXEC_TRACE_H
#define D9_TESTS_SUPPORT_EXEC_TRACE_H

#include "tests/support/make_trace.h"

/*
 * A shell, process 10, that uses most CPU time and then becomes the program "thing" by exec, with a second
 * thread 11. Samples of thread 10, 10 ms apart: five in parse(), then first(), second(), first().
 */
static inline void exec_trace_make(struct make *m)
{
	static const char *const kv[] = {
		"target",	    "command sh thing", "target_pids", "10",
		"sample_event",	    "cpu-clock",	"sample_hz",   "100",
		"sample_period_ns", "10000000",		NULL
	};
	const uint64_t parse = make_frame(1, 0x100), first = make_frame(2, 0x200),
		       second = make_frame(2, 0x300);
	const uint64_t order[] = { parse, parse, parse, parse, parse, first, second, first };
	uint64_t ts = 1000000000;

	make_init(m, NULL);
	make_metadata(m, ts, kv);
	make_module(m, ts, 1, "/usr/bin/dash", PROF_MODULE_ELF);
	make_module(m, ts, 2, "/usr/bin/thing", PROF_MODULE_ELF);
	make_task(m, ts, 10, 10, "sh");
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++, ts += 10000000) {
		if (i == 5) {
			make_exec(m, ts - 5000000, 10, 10);
			make_task(m, ts - 4000000, 10, 10, "thing");
			make_task(m, ts - 3000000, 10, 11, "helper");
		}
		make_sample(m, ts, 10, 10, PROF_SOURCE_SAMPLE, 0, &order[i], 1);
	}
	make_sample(m, ts, 10, 11, PROF_SOURCE_SAMPLE, 0, &second, 1);
	make_symbol(m, ts, parse, 0, parse, "parse", "", 0);
	make_symbol(m, ts, first, 0, first, "first", "", 0);
	make_symbol(m, ts, second, 0, second, "second", "", 0);
}

#endif /* D9_TESTS_SUPPORT_EXEC_TRACE_H */
