// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_offcpu.c - the part of the kernel side that records off-CPU intervals
 *
 * Part of capture.c; handles bpf/offcpu.bpf.c.
 */
#include "record/capture/capture_offcpu.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/capture/capture_select.h"
#include "record/tracepoint/eventset.h"

/* A slot for each existing thread, and as many again. */
static uint32_t place_cnt(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	uint32_t threads = PROF_OFF_HELD_MAX, cnt;

	if (f && fscanf(f, "%*s %*s %*s %*u/%u", &threads) != 1)
		threads = PROF_OFF_HELD_MAX;
	if (f)
		fclose(f);
	cnt = threads < PROF_OFF_HELD_MAX / 2 ? 2 * threads : PROF_OFF_HELD_MAX;
	return cnt > PROF_OFF_HELD_MIN ? cnt : PROF_OFF_HELD_MIN;
}

int capture_offcpu_configure(struct prof *s, const struct eventset *set,
			     const struct capture_off_cpu *which)
{
	const int event = set->hot[EVENTSET_OFF_CPU];
	int err;

	if (event < 0)
		return 0;
	s->rodata->cfg_off_type = set->defs[event]->cfg.type;
	s->rodata->cfg_off_event = event;
	s->rodata->cfg_off_min_ns = which->min_ns;
	s->rodata->cfg_off_max_ns = which->max_ns;
	bpf_program__set_autoload(s->progs.prof_off_cpu_switch, true);
	bpf_program__set_autoload(s->progs.prof_off_cpu_wakeup, true);
	bpf_program__set_autoload(s->progs.prof_off_cpu_all, true);
	err = bpf_map__set_max_entries(s->maps.off_copies, PROF_OFF_COPIES);
	return err ? err : bpf_map__set_max_entries(s->maps.off_held, place_cnt());
}

int capture_offcpu_attach(struct prof *s, struct bpf_link **link)
{
	int err;

	if (!bpf_program__autoload(s->progs.prof_off_cpu_all))
		return 0;
	*link = bpf_program__attach_iter(s->progs.prof_off_cpu_all, NULL);
	if (*link)
		return 0;
	err = -errno;
	log_error("record: cannot iterate over all tasks: %s", strerror(-err));
	return err;
}

void capture_offcpu_end(const struct bpf_link *link)
{
	int err = link ? capture_select_walk(link) : 0;

	if (err)
		log_warn("record: unfinished off-CPU intervals are not recorded: %s",
			 strerror(-err));
}
