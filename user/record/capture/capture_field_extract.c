// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_field_extract.c - events whose records are built from the tracepoint's arguments
 *
 * Owns their extracts and the attachments of the programs in bpf/extract.bpf.c. The attachments are made by the
 * system call itself, because libbpf supports their cookies only since 1.5.
 */
#include "record/capture/capture_field_extract.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/tracefs/format.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "record/tracepoint/field_extract.h"
#include "prof.skel.h"
#include "record/tracepoint/eventset.h"

enum { PROGRAMS = 2 }; /* per lane */

static struct bpf_program *program(const struct prof *s, uint32_t lane, bool stands_in)
{
	struct bpf_program *const progs[PROF_EXTRACT_LANES][PROGRAMS] = {
		{ s->progs.prof_extract_0, s->progs.prof_extract_stand_in_0 },
		{ s->progs.prof_extract_1, s->progs.prof_extract_stand_in_1 },
		{ s->progs.prof_extract_2, s->progs.prof_extract_stand_in_2 },
	};

	return progs[lane][stands_in];
}

/* The first lane is for events in interrupts only; the others are assigned in rotation. */
static uint32_t choose_lane(const struct format_event *ev, uint32_t *turn)
{
	if (field_extract_is_of_interrupts(ev))
		return 0;
	return 1 + (*turn)++ % (PROF_EXTRACT_LANES - 1);
}

static void load_lane(struct prof *s, uint32_t lane)
{
	bpf_map__set_autocreate(s->maps.extract_places, true);
	bpf_program__set_autoload(program(s, lane, false), true);
	bpf_program__set_autoload(program(s, lane, true), true);
}

static bool any_known(const struct eventset *set)
{
	size_t i;

	for (i = 0; i < set->cnt; i++)
		if (!eventset_is_hot(set, i) && field_extract_is_known(set->defs[i]->format))
			return true;
	return false;
}

void capture_field_extract_choose(struct prof *s, const struct eventset *set, bool none,
				  struct capture_field_extract *r)
{
	uint32_t turn = 0;
	struct btf *btf;
	size_t i;

	bpf_map__set_autocreate(s->maps.extract_places, false);
	if (none || !any_known(set))
		return;
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_get_attach_cookie,
				    NULL) != 1) {
		log_info("record: events in interrupts that hit a program are lost: others need "
			 "Linux 6.10");
		return;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return;
	r->cnt = set->cnt;
	r->v = xcalloc(r->cnt, sizeof(*r->v));
	r->lanes = xcalloc(r->cnt, sizeof(*r->lanes));
	r->links = xcalloc(r->cnt * PROGRAMS, sizeof(*r->links));
	for (i = 0; i < r->cnt; i++) {
		const struct format_event *ev = set->defs[i]->format;

		if (eventset_is_hot(set, i) || field_extract_compile(btf, ev, &r->v[i]))
			continue;
		r->lanes[i] = choose_lane(ev, &turn);
		load_lane(s, r->lanes[i]);
	}
	btf__free(btf);
	bpf_map__set_max_entries(s->maps.extracts, r->cnt);
}

bool capture_field_extract_has(const struct capture_field_extract *r, size_t event)
{
	return event < r->cnt && r->v[event].cnt;
}

int capture_field_extract_fill(struct prof *s, const struct capture_field_extract *r)
{
	uint32_t i;

	for (i = 0; i < r->cnt; i++)
		if (bpf_map_update_elem(bpf_map__fd(s->maps.extracts), &i, &r->v[i], BPF_ANY))
			return -errno;
	return 0;
}

/* The needed part of the kernel's own layout; the kernel reads missing fields as zeros. */
static int attach(const struct bpf_program *prog, const char *name, uint64_t cookie)
{
	const struct {
		uint64_t name;
		uint32_t prog_fd, spare;
		uint64_t cookie;
	} attr = {
		.name = (uintptr_t)name,
		.prog_fd = (uint32_t)bpf_program__fd(prog),
		.cookie = cookie,
	};
	long fd = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

int capture_field_extract_attach(struct prof *s, struct capture_field_extract *r, size_t event,
				 const char *name)
{
	int i, fd;

	for (i = 0; i < PROGRAMS; i++) {
		fd = attach(program(s, r->lanes[event], i), name, event);
		if (fd < 0)
			return fd;
		r->links[r->link_cnt++] = fd;
	}
	return 0;
}

/* The second program's count is read last: events in between are counted by the next call. */
static uint64_t lane_refused(const struct prof *s, uint32_t lane)
{
	int fd = bpf_program__fd(program(s, lane, false));
	struct bpf_prog_info info = { 0 };
	uint64_t stood_in = 0;
	uint32_t sz = sizeof(info);
	size_t cpu;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &sz))
		return 0;
	for (cpu = 0; cpu < PROF_CPUS_MAX; cpu++)
		stood_in += __atomic_load_n(&s->bss->cpu_extracts[cpu].stood_in[lane],
					    __ATOMIC_RELAXED);
	return info.recursion_misses > stood_in ? info.recursion_misses - stood_in : 0;
}

uint64_t capture_field_extract_refused(const struct prof *s, struct capture_field_extract *r)
{
	uint64_t refused = 0;
	uint32_t lane;

	for (lane = 0; r->link_cnt && lane < PROF_EXTRACT_LANES; lane++)
		refused += lane_refused(s, lane);
	if (refused > r->refused)
		r->refused = refused;
	return r->refused;
}

void capture_field_extract_fini(struct capture_field_extract *r)
{
	size_t i;

	for (i = 0; i < r->link_cnt; i++)
		close(r->links[i]);
	free(r->links);
	free(r->lanes);
	free(r->v);
}
