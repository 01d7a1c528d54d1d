// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_rings.c - makes and maps rings and stages, and configures the programs for them
 *
 * There is one ring per CPU, up to PROF_RINGS_MAX, in a map of maps. There is one stage per possible CPU, since a
 * program writes only to its own CPU's stage.
 */
#include "record/capture/capture_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/cpus.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/inner_maps.h"
#include "record/ring/ring.h"
#include "record/ring/stack_repeats.h"

enum {
	BATCHES_MIN = 4, /* per ring */
	PARTS = 8, /* per ring: */
	PARTS_WITH_STACKS = 5,
	PARTS_OF_EVENTS = 7, /* if there are samples */
	WARN_BYTES = 256 << 20,
	REPEATS_MIN = 64, /* of a CPU */
	REPEATS_ALL = 16384, /* of up to 256 CPUs together, a KiB each */
};

/* Whether another program on the same CPU may preempt a program: see stage.bpf.h. */
static bool is_preempt_rt(void)
{
	struct utsname uts;

	return uname(&uts) || strstr(uts.version, "PREEMPT_RT");
}

/* For stacks that repeat: less for each CPU if there are many. */
static uint32_t repeats_of(const struct capture_rings_cfg *cfg, size_t cpu_cnt)
{
	uint32_t cnt = PROF_REPEATS_MAX;

	if (!cfg->stacks)
		return 1;
	while (cnt > REPEATS_MIN && cnt * cpu_cnt > REPEATS_ALL)
		cnt /= 2;
	return cnt;
}

int capture_rings_size(struct prof *skel, const struct capture_rings_cfg *cfg,
		       struct capture_rings *r)
{
	uint32_t last;
	int err = cpus_last_possible(&last);

	if (err)
		return err;
	r->ring_cnt = cfg->ring_cnt;
	r->ring_bytes = cfg->ring_bytes;
	r->stage_cnt = (size_t)last + 1;
	skel->rodata->cfg_ring_cnt = cfg->ring_cnt;
	skel->rodata->cfg_preemptible = is_preempt_rt();
	skel->rodata->cfg_batch_bytes = cfg->ring_bytes / BATCHES_MIN < PROF_STAGE_BYTES ?
						cfg->ring_bytes / BATCHES_MIN :
						PROF_STAGE_BYTES;
	skel->rodata->cfg_stack_bytes = cfg->ring_bytes / PARTS * PARTS_WITH_STACKS;
	skel->rodata->cfg_event_bytes =
		cfg->samples ? cfg->ring_bytes / PARTS * PARTS_OF_EVENTS : cfg->ring_bytes;
	skel->rodata->cfg_wake_bytes = cfg->ring_bytes / PARTS;
	r->repeat_cnt = repeats_of(cfg, r->stage_cnt);
	skel->rodata->cfg_repeats = r->repeat_cnt;
	err = bpf_map__set_max_entries(skel->maps.rings, cfg->ring_cnt);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.repeats, r->repeat_cnt);
	return err ? err : bpf_map__set_max_entries(skel->maps.stages, last + 1);
}

/* Edge-triggered: records that are already in the ring do not wake up. */
static int watch(int epoll_fd, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Programs reach an inner ring through the outer map, the recorder through its mapping. */
static int make_rings(const struct prof *skel, struct capture_rings *r)
{
	uint32_t keys[PROF_RINGS_MAX], i;
	int fd, err;

	for (i = 0; i < r->ring_cnt; i++) {
		keys[i] = i;
		fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, r->ring_bytes, NULL);
		if (fd < 0) {
			err = -errno;
			log_error("record: cannot create a ring of %zu bytes for CPU %u: %s; %s",
				  r->ring_bytes, i, strerror(-err),
				  err == -EMFILE ? "raise \"ulimit -n\"" : "try a smaller -m");
			return err;
		}
		r->fds[r->fd_cnt++] = fd;
		err = watch(r->epoll_fd, fd);
		if (!err)
			err = ring_open(fd, r->ring_bytes, &r->readers[i]);
		if (err) {
			log_error("record: cannot map the ring of CPU %u: %s", i, strerror(-err));
			return err;
		}
		r->reader_cnt++;
	}
	err = inner_maps_put(bpf_map__fd(skel->maps.rings), keys, r->fds, r->ring_cnt);
	if (err)
		log_error("record: cannot give the rings to the programs: %s", strerror(-err));
	return err;
}

static size_t stages_size(const struct capture_rings *r)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (r->stage_cnt * sizeof(struct prof_stage) + page - 1) / page * page;
}

static int map_stages(const struct prof *skel, struct capture_rings *r)
{
	void *mem = mmap(NULL, stages_size(r), PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(skel->maps.stages), 0);
	size_t i;
	int err;

	if (mem == MAP_FAILED) {
		err = -errno;
		log_error("record: cannot map the staging buffers: %s", strerror(-err));
		return err;
	}
	r->stages = mem;
	for (i = 0; i < r->stage_cnt; i++)
		ring_open_staged(&r->readers[i % r->ring_cnt], &r->stages[i], i,
				 &r->readers[r->reader_cnt++]);
	return 0;
}

/* Reports the memory before it is allocated: it may be too much. */
static void report_memory(const struct capture_rings *r)
{
	size_t bytes = r->ring_cnt * r->ring_bytes + stages_size(r) +
		       r->stage_cnt * r->repeat_cnt * 8 * PROF_REPEAT_WORDS;
	void (*report)(const char *, ...) = bytes > WARN_BYTES ? log_warn : log_info;

	report("record: %zu rings of %zu KiB, for %zu CPUs: %zu MiB (-m)", r->ring_cnt,
	       r->ring_bytes >> 10, r->stage_cnt, bytes >> 20);
}

int capture_rings_init(const struct prof *skel, struct capture_rings *r)
{
	int err;

	r->readers = xcalloc(r->ring_cnt + r->stage_cnt, sizeof(*r->readers));
	r->fds = xcalloc(r->ring_cnt, sizeof(*r->fds));
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0) {
		err = -errno;
		log_error("record: cannot create an epoll instance: %s", strerror(-err));
		return err;
	}
	report_memory(r);
	err = make_rings(skel, r);
	return err ? err : map_stages(skel, r);
}

void capture_rings_fini(struct capture_rings *r)
{
	size_t i;

	for (i = 0; i < r->reader_cnt; i++)
		ring_close(&r->readers[i]);
	if (r->stages)
		munmap(r->stages, stages_size(r));
	for (i = 0; i < r->fd_cnt; i++)
		close(r->fds[i]);
	if (r->fds && r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r->fds);
	free(r->readers);
	*r = (struct capture_rings){ 0 };
}

bool capture_rings_read_wakeups(const struct capture_rings *r)
{
	struct epoll_event woken[PROF_RINGS_MAX];

	return epoll_wait(r->epoll_fd, woken, PROF_RINGS_MAX, 0) > 0;
}

int capture_rings_watch(const struct capture_rings *r, int epoll_fd)
{
	size_t i;
	int err = 0;

	for (i = 0; i < r->fd_cnt && !err; i++)
		err = watch(epoll_fd, r->fds[i]);
	return err;
}

unsigned int capture_rings_fill(const struct capture_rings *r)
{
	size_t most = 0, fill, i;

	for (i = 0; i < r->ring_cnt; i++) {
		fill = ring_backlog(&r->readers[i]);
		most = fill > most ? fill : most;
	}
	return (unsigned int)(most * 100 / r->ring_bytes);
}

void capture_rings_count(const struct capture_rings *r, uint64_t *produced, uint64_t *nested)
{
	size_t i;

	*produced = *nested = 0;
	for (i = 0; i < r->stage_cnt; i++) {
		*produced += __atomic_load_n(&r->stages[i].produced, __ATOMIC_RELAXED);
		*nested += __atomic_load_n(&r->stages[i].nested, __ATOMIC_RELAXED);
	}
}

void capture_rings_check(const struct capture_rings *r, struct stack_repeats_check *sum)
{
	size_t i;

	*sum = (struct stack_repeats_check){ 0 };
	for (i = 0; i < r->reader_cnt; i++)
		if (r->readers[i].repeats)
			stack_repeats_count(r->readers[i].repeats, sum);
}
