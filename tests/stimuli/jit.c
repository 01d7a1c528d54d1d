// SPDX-License-Identifier: BSD-2-Clause
/*
 * jit [--now] MAP [MS]: runs code that it wrote itself, for MS milliseconds of CPU time (500).
 *
 * MAP selects the kind of /tmp/perf-PID.map: "early" is written before the code runs, "late" when it has run,
 * "none" not at all, "link" is a symbolic link to a map elsewhere, "other" a map that belongs to another user;
 * "memfd" is early, and the code is in a memfd. The map names the code made_spin.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "stimulus.h"

enum { CODE_SZ = 4096, OTHER_UID = 65533 };

/* A countdown that does nothing. */
static size_t write_code(uint8_t *code)
{
#if defined(__x86_64__)
	static const uint8_t loop[] = { 0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#elif defined(__aarch64__)
	static const uint32_t loop[] = { 0x52884800, 0x72a001e0, 0x71000400, 0x54ffffe1,
					 0xd65f03c0 };
#endif

	memcpy(code, loop, sizeof(loop));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(loop));
	return sizeof(loop);
}

static void write_map(const char *how, const uint8_t *code, size_t sz)
{
	char path[64], real[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(real, sizeof(real), "/tmp/perf-%d.map.real", getpid());
	unlink(path);
	f = fopen(strcmp(how, "link") ? path : real, "w");
	if (!f || (!strcmp(how, "link") && symlink(real, path)))
		exit(2);
	fprintf(f, "%llx %zx made_spin\n", (unsigned long long)(uintptr_t)code, sz);
	fclose(f);
	if (!strcmp(how, "other") && chown(path, OTHER_UID, OTHER_UID))
		exit(2);
}

static void remove_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map.real", getpid());
	unlink(path);
}

static uint8_t *map_code(bool in_file)
{
	int fd = in_file ? memfd_create("code", MFD_CLOEXEC) : -1;

	if (in_file && ftruncate(fd, CODE_SZ))
		exit(2);
	return mmap(NULL, CODE_SZ, PROT_READ | PROT_WRITE | PROT_EXEC,
		    in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
}

STIM_NOINLINE static void run(void (*made)(void), uint64_t goal_ns)
{
	uint64_t begin = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < goal_ns)
		made();
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	const char *how = argc > 1 ? argv[1] : "early";
	uint64_t goal_ns = stim_arg(argc, argv, 2, 500) * 1000000;
	uint8_t *code = map_code(!strcmp(how, "memfd"));
	void (*made)(void);
	size_t sz;

	if (code == MAP_FAILED)
		return 2;
	sz = write_code(code);
	memcpy(&made, &code, sizeof(made));
	if (strcmp(how, "none") && strcmp(how, "late"))
		write_map(how, code, sz);
	stim_start(now, "");
	run(made, goal_ns);
	if (!strcmp(how, "late"))
		write_map(how, code, sz);
	stim_done(now);
	remove_map();
	return 0;
}
