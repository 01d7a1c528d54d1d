// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes that read symbols are killed or stopped behind the recorder's back: names still come. The
 * neighbour starts to run after that, so that its names are asked of whoever comes then.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "fault.h"

TestSuite(fault_workers, .fini = live_cleanup, .timeout = 60);

#define SECOND_NS 1000000000ULL

enum { HELPERS_MAX = 64 };

struct attack {
	int signal;
	const char *names[5]; /* of whom it goes to */
	size_t hit; /* processes that got it */
	bool done;
};

static bool is_one_of(pid_t pid, const char *const *names)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* Who reads and opens files for that recorder, but not who makes them. */
static size_t find_helpers(pid_t recorder, const char *const *names, pid_t *pids)
{
	static const char *const spawner[] = { "d9-spawner", NULL };
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t cnt = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)) && cnt < HELPERS_MAX) {
		pid_t pid = atoi(entry->d_name), parent;

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_one_of(pid, names))
			continue;
		parent = fault_status(pid, "PPid");
		if (is_one_of(parent, spawner) && (pid_t)fault_status(parent, "PPid") == recorder)
			pids[cnt++] = pid;
	}
	closedir(dir);
	return cnt;
}

static void attack_once(void *ctx, struct fault *f)
{
	struct attack *a = ctx;
	pid_t pids[HELPERS_MAX];
	size_t cnt;

	if (a->done || clock_mono_ns() < f->began_ns + SECOND_NS)
		return;
	a->done = true;
	cnt = find_helpers(f->rec.proc.pid, a->names, pids);
	for (size_t i = 0; i < cnt; i++)
		a->hit += kill(pids[i], a->signal) == 0;
	fault_go(f);
}

static void record_under(struct attack *attack)
{
	struct fault f;

	fault_begin_late(&f);
	fault_record(&f, 8, NULL);
	fault_watch(&f, attack_once, attack);
	cr_expect_gt(attack->hit, 0, "there are no such processes");
	fault_check(&f);
	fault_end(&f);
}

Test(fault_workers, killed)
{
	struct attack attack = {
		.signal = SIGKILL,
		.names = { "d9-names", "d9-lines", "d9-tables", "d9-opener" },
	};

	record_under(&attack);
}

/* Not who opens files: that one cannot be told from one whose file does not answer. */
Test(fault_workers, stopped)
{
	struct attack attack = { .signal = SIGSTOP,
				 .names = { "d9-names", "d9-lines", "d9-tables" } };

	record_under(&attack);
}
