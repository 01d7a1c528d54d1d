// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the tests of this directory: paths of stimuli, scratch space, opening a file, workers. */
#include "tests/symbol/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/elf/elfimg.h"

const char *stimulus(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];
	const char *shared = getenv("D9_SYMBOL"), *build = getenv("D9_BUILD");

	if (shared)
		snprintf(path, PATH_MAX, "%s/%s", shared, name);
	else
		snprintf(path, PATH_MAX, "%s/stimuli/symbol/%s", build ? build : "build", name);
	if (path[0] != '/') {
		char *abs = realpath(path, NULL);

		cr_assert_not_null(abs, "%s is missing: make stimuli", path);
		snprintf(path, PATH_MAX, "%s", abs);
		free(abs);
	}
	return path;
}

static char scratch_dir[64];

static void remove_scratch(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", scratch_dir);
	if (system(cmd))
		perror(scratch_dir);
}

const char *scratch(void)
{
	if (!scratch_dir[0]) {
		snprintf(scratch_dir, sizeof(scratch_dir), "/tmp/d9-symbol-XXXXXX");
		cr_assert_not_null(mkdtemp(scratch_dir));
		atexit(remove_scratch);
	}
	return scratch_dir;
}

void shell(const char *fmt, ...)
{
	char cmd[4 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	cr_assert_eq(system(cmd), 0, "%s", cmd);
}

void copy_split(const char *flavour)
{
	char name[64];

	snprintf(name, sizeof(name), "split-%s", flavour);
	shell("cd %s && cp %s/* . && LC_ALL=C sed -i s,/tmp/d9-symbol-XXXXXX,%s,g whole split && "
	      "grep -qF %s whole && grep -qF %s split",
	      scratch(), stimulus(name), scratch(), scratch(), scratch());
}

void open_path(struct opened *o, const char *path, const char *debug_root, size_t mem_max)
{
	struct symbolizer_cfg cfg = {
		.dwarf_mem_max = mem_max,
		.open_debug = symopen_debug,
		.open_ctx = &o->where,
	};
	int fd, err;

	snprintf(o->path, sizeof(o->path), "%s", path);
	o->where = (struct symopen_where){ .path = o->path,
					   .checked = true,
					   .debug_root = debug_root };
	fd = symopen_file(&o->where, SYMOPEN_HERE);
	cr_assert_geq(fd, 0, "%s: %d", path, fd);
	err = symbolizer_open(fd, NULL, 0, &cfg, &o->sym);
	cr_assert_eq(err, 0, "%s: %d", path, err);
}

struct section section_of(const char *path, const char *name)
{
	struct elfimg img = { 0 };
	struct section s;
	struct elfimg_sec sec;

	cr_assert_eq(elfimg_open(&img, open(path, O_RDONLY), 0), 0, "%s", path);
	cr_assert(elfimg_find(&img, name, &sec), "%s: no %s", path, name);
	s = (struct section){ .addr = sec.addr, .off = sec.off, .size = sec.size };
	elfimg_close(&img);
	return s;
}

struct budget *unbounded(void)
{
	static const struct budget_max max = {
		.cpu_ns = UINT64_MAX,
		.mem = UINT64_MAX,
		.entries = UINT64_MAX,
	};
	static struct budget b;

	if (!b.max.mem)
		budget_init(&b, &max);
	return &b;
}

pid_t find_worker(const char *name)
{
	uint64_t deadline = clock_mono_ns() + 30000000000ull;
	char cmd[128], line[32] = "";
	bool found = false;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "for s in $(pgrep -P %d); do pgrep -P $s -x %s; done", getpid(),
		 name);
	while (!found) {
		cr_assert_lt(clock_mono_ns(), deadline, "no %s", name);
		f = popen(cmd, "r");
		found = fgets(line, sizeof(line), f) != NULL;
		pclose(f);
	}
	return atoi(line);
}
