// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_recipes.c - events whose records are made from the tracepoint's arguments
 *
 * Owns their recipes and the attachments of the two programs of bpf/recipe.bpf.c. The attachments are made
 * by the system call itself: libbpf knows their cookies since 1.5 only.
 */
#include "record/capture_recipes.h"

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
#include "kernel/format.h"
#include "record/recipe.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/eventset.h"

enum { PROGRAMS = 2 }; /* an event */

static bool any_known(const struct eventset *set)
{
	size_t i;

	for (i = 0; i < set->cnt; i++)
		if (!eventset_is_hot(set, i) && recipe_is_known(set->defs[i]->format))
			return true;
	return false;
}

void capture_recipes_choose(struct prof *s, const struct eventset *set, bool none,
			    struct capture_recipes *r)
{
	bool any = false;
	struct btf *btf;
	size_t i;

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
	r->links = xcalloc(r->cnt * PROGRAMS, sizeof(*r->links));
	for (i = 0; i < r->cnt; i++)
		if (!eventset_is_hot(set, i))
			any |= !recipe_compile(btf, set->defs[i]->format, &r->v[i]);
	btf__free(btf);
	bpf_program__set_autoload(s->progs.prof_recipe, any);
	bpf_program__set_autoload(s->progs.prof_recipe_stand_in, any);
	bpf_map__set_max_entries(s->maps.recipes, r->cnt);
}

bool capture_recipes_has(const struct capture_recipes *r, size_t event)
{
	return event < r->cnt && r->v[event].cnt;
}

int capture_recipes_fill(struct prof *s, const struct capture_recipes *r)
{
	uint32_t i;

	for (i = 0; i < r->cnt; i++)
		if (bpf_map_update_elem(bpf_map__fd(s->maps.recipes), &i, &r->v[i], BPF_ANY))
			return -errno;
	return 0;
}

/* The kernel's own layout, as far as it is needed; a shorter one is taken as if zeros followed. */
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

int capture_recipes_attach(struct prof *s, struct capture_recipes *r, size_t event,
			   const char *name)
{
	const struct bpf_program *progs[PROGRAMS] = { s->progs.prof_recipe,
						      s->progs.prof_recipe_stand_in };
	int i, fd;

	for (i = 0; i < PROGRAMS; i++) {
		fd = attach(progs[i], name, event);
		if (fd < 0)
			return fd;
		r->links[r->link_cnt++] = fd;
	}
	return 0;
}

/* Who stood in is read last: what comes in between is told the next time. */
uint64_t capture_recipes_refused(const struct prof *s, struct capture_recipes *r)
{
	struct bpf_prog_info info = { 0 };
	uint64_t stood_in = 0;
	uint32_t sz = sizeof(info);
	size_t cpu;

	if (!r->link_cnt ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(s->progs.prof_recipe), &info, &sz))
		return r->refused;
	for (cpu = 0; cpu < PROF_CPUS_MAX; cpu++)
		stood_in += __atomic_load_n(&s->bss->cpu_recipes[cpu].stood_in, __ATOMIC_RELAXED);
	if (info.recursion_misses > stood_in && info.recursion_misses - stood_in > r->refused)
		r->refused = info.recursion_misses - stood_in;
	return r->refused;
}

void capture_recipes_fini(struct capture_recipes *r)
{
	size_t i;

	for (i = 0; i < r->link_cnt; i++)
		close(r->links[i]);
	free(r->links);
	free(r->v);
}
