// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the unwind table of one file within limits. A browser takes 0.2 s and 40 MB; one owner's
 * files must not delay all others for long.
 */
#include "symbol/cfi/cfi_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "symbol/elf/elfimg.h"

#define CPU_MAX_NS 500000000ull
#define MEM_DEFAULT (192ull << 20)
#define ENTRIES_MAX 50000000ull

struct cfi_job {
	struct elfimg img;
	uint64_t mem_max;
	struct budget budget;
	struct cfitable building;
};

static void start_job(struct cfi_job *t)
{
	const struct budget_max max = {
		.cpu_ns = CPU_MAX_NS,
		.mem = t->mem_max,
		.entries = ENTRIES_MAX,
	};

	budget_init(&t->budget, &max);
	cfitable_init(&t->building, &t->img, &t->budget);
}

static struct cfi_job *new_job(void)
{
	struct cfi_job *t = xcalloc(1, sizeof(*t));

	t->mem_max = MEM_DEFAULT;
	start_job(t);
	return t;
}

static int finish_open(struct cfi_job *t, int err, struct cfi_job **out)
{
	if (err) {
		cfi_job_free(t);
		return err;
	}
	*out = t;
	return 0;
}

int cfi_job_open(int fd, const uint8_t *build_id, size_t build_id_sz, struct cfi_job **out)
{
	struct cfi_job *t = new_job();
	const uint8_t *id = NULL;
	int err = elfimg_open(&t->img, fd, 0);
	if (!err && build_id_sz &&
	    (elfimg_build_id(&t->img, &id) != build_id_sz || memcmp(id, build_id, build_id_sz)))
		err = -ESTALE;
	return finish_open(t, err, out);
}

int cfi_job_open_vdso(struct cfi_job **out)
{
	struct cfi_job *t = new_job();

	return finish_open(t, elfimg_open_vdso(&t->img), out);
}

void cfi_job_limit_mem(struct cfi_job *t, size_t max)
{
	t->mem_max = t->budget.max.mem = max;
}

size_t cfi_job_mem(const struct cfi_job *t)
{
	return t->budget.mem;
}

void cfi_job_release_pages(const struct cfi_job *t)
{
	elfimg_release_pages(&t->img);
}

int cfi_job_build(struct cfi_job *t, uint64_t cpu_ns, struct unwind_table *out)
{
	int err;

	budget_slice(&t->budget, budget_clock_ns() + cpu_ns);
	budget_enter(&t->budget);
	err = cfitable_build(&t->building, out);
	budget_leave(&t->budget);
	if (err != -EAGAIN) {
		cfitable_fini(&t->building);
		start_job(t);
	}
	return err;
}

void cfi_job_free(struct cfi_job *t)
{
	if (!t)
		return;
	cfitable_fini(&t->building);
	elfimg_close(&t->img);
	free(t);
}
