// SPDX-License-Identifier: BSD-2-Clause
/* capture_summary.c - sizes and maps the tables of --summary */
#include "record/capture/capture_summary.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prof_select.h"
#include "prof.skel.h"

enum { SETS_MIN = 1024, PID_MAX = 4194304 };

/* A slot for each possible thread id, up to a limit. */
static uint32_t set_cnt(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	uint32_t cnt = SETS_MIN, ids = PID_MAX;

	if (f && fscanf(f, "%u", &ids) != 1)
		ids = PID_MAX;
	if (f)
		fclose(f);
	while (cnt < PROF_SUMMARY_SETS_MAX && cnt < ids / PROF_SUMMARY_WAYS)
		cnt *= 2;
	return cnt;
}

int capture_summary_configure(struct prof *skel, uint32_t cpu_cnt)
{
	uint32_t sets = set_cnt();
	int err;

	bpf_program__set_autoload(skel->progs.prof_summary_switch, true);
	bpf_program__set_autoload(skel->progs.prof_summary_wakeup, true);
	bpf_program__set_autoload(skel->progs.prof_summary_wakeup_new, true);
	skel->rodata->cfg_summary_cpus = cpu_cnt;
	skel->rodata->cfg_summary_sets = sets;
	err = bpf_map__set_max_entries(skel->maps.summary_tasks, sets);
	return err ? err :
		     bpf_map__set_max_entries(skel->maps.summary_rows,
					      2 * cpu_cnt * PROF_SUMMARY_TABLE);
}

static size_t mapped_size(uint32_t cpu_cnt)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t sz = 2 * (size_t)cpu_cnt * PROF_SUMMARY_TABLE * sizeof(struct prof_summary_row);

	return (sz + page - 1) / page * page;
}

int capture_summary_init(const struct prof *skel, struct capture_summary *out)
{
	uint32_t cpu_cnt = skel->rodata->cfg_summary_cpus;
	void *p = mmap(NULL, mapped_size(cpu_cnt), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(skel->maps.summary_rows), 0);

	if (p == MAP_FAILED)
		return -errno;
	*out = (struct capture_summary){
		.rows = p,
		.cpu_cnt = cpu_cnt,
		.active = &skel->bss->summary_active,
	};
	return 0;
}

void capture_summary_fini(struct capture_summary *s)
{
	if (s->rows)
		munmap(s->rows, mapped_size(s->cpu_cnt));
	*s = (struct capture_summary){ 0 };
}
