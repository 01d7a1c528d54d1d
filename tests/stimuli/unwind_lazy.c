// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_lazy [--now] [ROUNDS]
 *
 * Loads unwind_lazy.so, calls lazy_all() there, and unloads it, ROUNDS times or until it is killed. lazy_all() calls many
 * functions of the library, each of which the dynamic linker looks up first.
 */
#ifdef LAZY_LIBRARY
#define DEFINE(n)                                                                                  \
	unsigned long lazy_##n(unsigned long v)                                                    \
	{                                                                                          \
		return v + 0x##n;                                                                  \
	}
#define CALL(n) v += lazy_##n(v);
#define SIXTEEN(what, n)                                                                           \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)    \
		what(n##8) what(n##9) what(n##a) what(n##b) what(n##c) what(n##d) what(n##e)       \
			what(n##f)
#define ALL(what)                                                                                  \
	SIXTEEN(what, 0)                                                                           \
	SIXTEEN(what, 1)                                                                           \
	SIXTEEN(what, 2)                                                                           \
	SIXTEEN(what, 3) SIXTEEN(what, 4) SIXTEEN(what, 5) SIXTEEN(what, 6) SIXTEEN(what, 7)

unsigned long lazy_all(unsigned long v);
ALL(DEFINE)

unsigned long lazy_all(unsigned long v)
{
	ALL(CALL)
	return v;
}
#else
#include <dlfcn.h>
#include <limits.h>

#include "stimulus.h"

typedef unsigned long (*lazy_fn)(unsigned long v);

static volatile unsigned long sink;

STIM_NOINLINE static void lazy_round(const char *path)
{
	void *lib = dlopen(path, RTLD_LAZY);
	lazy_fn all = lib ? (lazy_fn)(uintptr_t)dlsym(lib, "lazy_all") : NULL;

	if (!all)
		exit(1);
	sink += all(sink);
	dlclose(lib);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 0);
	char path[PATH_MAX + 4] = "";
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (len < 0)
		return 1;
	memcpy(path + len, ".so", 4);
	stim_start(now, "");
	for (unsigned long i = 0; !rounds || i < rounds; i++)
		lazy_round(path);
	stim_done(now);
	return 0;
}
#endif
