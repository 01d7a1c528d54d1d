// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_select.c - the part of the kernel side that selects targets by cgroup, user and name
 *
 * Part of capture.c; handles bpf/select.bpf.c.
 */
#include "record/capture/capture_select.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "prof.skel.h"

void capture_select_configure(struct prof *skel, const struct prof_select *select, bool follow)
{
	const bool by_task = select && select->by_task;

	if (select)
		skel->rodata->cfg_select = *select;
	else
		memset(&skel->rodata->cfg_select, 0, sizeof(skel->rodata->cfg_select));
	skel->rodata->cfg_follow = follow;
	if (!by_task)
		return;
	bpf_program__set_autoload(skel->progs.prof_follow_fork, false);
	bpf_program__set_autoload(skel->progs.prof_select_fork, true);
	bpf_program__set_autoload(skel->progs.prof_select_rename, true);
	bpf_program__set_autoload(skel->progs.prof_select_all, true);
	bpf_map__set_max_entries(skel->maps.selects, PROF_TASK_WORDS);
}

int capture_select_walk(const struct bpf_link *link)
{
	int fd = bpf_iter_create(bpf_link__fd(link)), err = 0;
	char none[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, none, sizeof(none));
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

int capture_select_all(struct prof *skel, struct bpf_link **link)
{
	if (!skel->rodata->cfg_select.by_task)
		return 0;
	if (!*link)
		*link = bpf_program__attach_iter(skel->progs.prof_select_all, NULL);
	return *link ? capture_select_walk(*link) : -errno;
}

int capture_select_names(struct prof *skel, struct bpf_link **link)
{
	int err = capture_select_all(skel, link);

	if (err)
		log_error("record: cannot iterate over all tasks: %s", strerror(-err));
	return err;
}

bool capture_select_has_cpu(const struct prof_select *select, uint32_t cpu)
{
	return !select || !select->by_cpu ||
	       (cpu < PROF_CPUS_MAX && select->cpus[cpu / 64] >> cpu % 64 & 1);
}
