// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_files.c - checks how many open files a recording needs
 *
 * If libbpf cannot open a file, it assumes that the kernel lacks a feature, and caches that. So files are counted
 * first.
 */
#include "record/capture/capture_files.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/capture/capture_configure.h"
#include "record/capture/capture_load.h"
#include "record/tracepoint/eventset.h"

enum {
	OF_EVENT = 2, /* the event and its link */
	OF_CPU = 4, /* the ring, process metadata, the sampler and its link */
	OF_ITERATORS = 4, /* two links, and their readers */
	OF_START = 20, /* before programs are loaded: the output, sockets, tracefs */
	OF_RECORDER = 16, /* the types, epoll, files of /proc */
};

static size_t raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return SIZE_MAX;
	if (lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
		getrlimit(RLIMIT_NOFILE, &lim);
	}
	return lim.rlim_cur;
}

static size_t open_now(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t cnt = 0;

	while (dir && readdir(dir))
		cnt++;
	if (dir)
		closedir(dir);
	return cnt < OF_START ? OF_START : cnt;
}

static size_t needed(const struct prof *skel, const struct capture_configure *c)
{
	size_t cnt = open_now() + OF_RECORDER + OF_ITERATORS + OF_CPU * c->cpu_cnt +
		     OF_EVENT * c->cfg->events->cnt;
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, skel->obj)
		cnt += bpf_map__autocreate(map);
	bpf_object__for_each_program(prog, skel->obj)
		if (bpf_program__autoload(prog))
			cnt += bpf_program__type(prog) == BPF_PROG_TYPE_TRACING ? 2 : 1;
	return cnt;
}

int capture_files_check(const struct prof *skel, const struct capture_configure *c,
			struct capture_refusal *why)
{
	const size_t need = needed(skel, c);

	if (need <= raise_limit())
		return 0;
	why->files_needed = need;
	return why->err = -EMFILE;
}

int capture_files_lack(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return errno == EMFILE || errno == ENFILE ? -errno : 0;
}
