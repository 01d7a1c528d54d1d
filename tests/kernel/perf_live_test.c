// SPDX-License-Identifier: BSD-2-Clause
/* perf events of the running kernel: side-band records of a child, the ring, the sampler. */
#include "kernel/perf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/cpus.h"
#include "kernel/kallsyms.h"
#include "kernel/tracefs/tracefs.h"
#include "tests/kernel/need_root.h"

struct rings {
	struct perf_ring **v;
	size_t cnt;
};

static struct rings open_rings(size_t sz)
{
	struct rings r = { 0 };
	uint32_t *cpus;

	cr_assert_eq(cpus_online(&cpus, &r.cnt), 0);
	r.v = calloc(r.cnt, sizeof(struct perf_ring *));
	for (size_t i = 0; i < r.cnt; i++) {
		cr_assert_eq(perf_ring_open(cpus[i], sz, &r.v[i]), 0);
		cr_assert_eq(perf_ring_cpu(r.v[i]), cpus[i]);
	}
	free(cpus);
	return r;
}

static void close_rings(struct rings *r)
{
	for (size_t i = 0; i < r->cnt; i++)
		perf_ring_close(r->v[i]);
	free(r->v);
}

/* Records seen of one process. */
struct story {
	pid_t pid;
	bool fork, exec, exit, mapped, build_id;
	uint64_t lost, full, records, first_time, last_time;
};

static void add_side(struct story *s, const struct perf_side *side)
{
	s->records++;
	if (side->time < s->first_time)
		s->first_time = side->time;
	if (side->type == PERF_SIDE_LOST)
		s->lost += side->lost;
	s->full += side->type == PERF_SIDE_FULL;
	if (side->pid != (uint32_t)s->pid)
		return;
	if (side->type == PERF_SIDE_FORK)
		s->fork = side->ppid == (uint32_t)getpid();
	if (side->type == PERF_SIDE_EXIT)
		s->exit = true;
	if (side->type == PERF_SIDE_COMM && side->comm_exec)
		s->exec = !strcmp(side->name, "true");
	if (side->type == PERF_SIDE_MMAP && (side->prot & PROT_EXEC) && side->name_len > 5 &&
	    !strcmp(side->name + side->name_len - 5, "/true")) {
		s->mapped = true;
		s->build_id = side->build_id_sz > 0;
	}
}

static void drain(struct rings *r, struct story *s)
{
	struct perf_side side;
	int got;

	for (size_t i = 0; i < r->cnt; i++) {
		s->last_time = 0;
		for (;;) {
			got = perf_ring_next(r->v[i], &side);
			cr_assert_geq(got, 0);
			if (!got)
				break;
			add_side(s, &side);
			if (side.type == PERF_SIDE_FULL)
				continue;
			cr_assert_geq(side.time, s->last_time, "a step back in time");
			s->last_time = side.time;
		}
	}
}

static pid_t run_true(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

Test(perf_live, side_band_reports_fork_and_exit_of_a_child)
{
	struct rings r = open_rings(256 * 1024);
	uint64_t before = clock_mono_ns();
	struct story s = { .first_time = UINT64_MAX, .pid = run_true() };

	drain(&r, &s);
	cr_assert(s.fork, "no birth");
	cr_assert(s.exec, "no exec");
	cr_assert(s.mapped, "no mapping of the program");
	cr_assert(s.build_id, "no build-id");
	cr_assert(s.exit, "no death");
	cr_assert_eq(s.lost, 0);
	cr_assert_leq(s.last_time, clock_mono_ns(), "not the monotonic clock");
	cr_assert_gt(s.first_time + 1000000000, before, "not the monotonic clock");
	close_rings(&r);
}

/* All records of one ring, by reading ahead or for good; their times and whether reading ahead had returned them. */
static size_t read_records(struct perf_ring *ring, bool peek, uint64_t *times, bool *peeked,
			   size_t max)
{
	struct perf_side side;
	size_t cnt = 0;
	int got;

	while ((got = peek ? perf_ring_peek(ring, &side) : perf_ring_next(ring, &side)) &&
	       cnt < max) {
		cr_assert_eq(got, 1);
		peeked[cnt] = !peek && perf_ring_is_looked(ring);
		times[cnt++] = side.time;
	}
	return cnt;
}

Test(perf_live, look_ahead_consumes_no_records)
{
	enum { MAX = 4096 };
	static uint64_t seen[MAX], returned[MAX];
	static bool peeked[MAX];
	struct rings r = open_rings(256 * 1024);
	size_t seen_cnt, returned_cnt, i, k, total = 0;

	run_true();
	for (k = 0; k < r.cnt; k++) {
		seen_cnt = read_records(r.v[k], true, seen, peeked, MAX);
		run_true();
		returned_cnt = read_records(r.v[k], false, returned, peeked, MAX);
		total += seen_cnt;
		cr_assert_leq(seen_cnt, returned_cnt);
		for (i = 0; i < returned_cnt; i++)
			cr_expect_eq(peeked[i], i < seen_cnt);
		cr_expect_arr_eq(seen, returned, seen_cnt * sizeof(*seen));
		/* new records are not returned by reading ahead next time */
		seen_cnt = read_records(r.v[k], true, seen, peeked, MAX);
		for (i = 0; i < seen_cnt; i++)
			cr_expect_geq(seen[i], returned[returned_cnt - 1]);
	}
	cr_expect_gt(total, 4, "a birth, a program, its mappings, a death");
	close_rings(&r);
}

#define BURST 1000

/* Maps a program cnt times, with lengths in a pattern that a reader can check. */
static void map_often(int fd, int cnt)
{
	for (int i = 0; i < cnt; i++) {
		size_t len = 4096 * (1 + i % 7);
		void *p = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		cr_assert_neq(p, MAP_FAILED);
		munmap(p, len);
	}
}

/* How many of the burst's records were read, in order and whole; losses of any records are added up. */
static int count_burst(struct perf_ring *ring, uint64_t *lost)
{
	struct perf_side side;
	int seen = 0, got;

	while ((got = perf_ring_next(ring, &side))) {
		cr_assert_eq(got, 1);
		if (side.type == PERF_SIDE_LOST)
			*lost += side.lost;
		if (side.type != PERF_SIDE_MMAP || side.pid != (uint32_t)getpid())
			continue;
		cr_assert_str_eq(side.name, "/usr/bin/true");
		cr_assert_eq(side.name_len, 13);
		if (!*lost)
			cr_assert_eq(side.len, 4096u * (unsigned int)(1 + seen % 7));
		seen++;
	}
	return seen;
}

/*
 * Many times around the ring: records that wrap must be as whole as the others. The ring gets all records of
 * its CPU, so a burst in which other programs filled it is not counted.
 */
Test(perf_live, records_that_wrap_are_whole)
{
	int fd = open("/usr/bin/true", O_RDONLY), good = 0;
	struct perf_ring *ring;
	uint64_t lost;
	cpu_set_t cpu;
	uint32_t *cpus;
	size_t cnt;

	cr_assert_geq(fd, 0);
	cr_assert_eq(cpus_online(&cpus, &cnt), 0);
	CPU_ZERO(&cpu);
	CPU_SET(cpus[0], &cpu);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpu), &cpu), 0);
	cr_assert_eq(perf_ring_open(cpus[0], 256 * 1024, &ring), 0);
	for (int i = 0; i < 200 && good < 20; i++) {
		lost = 0;
		map_often(fd, BURST);
		if (count_burst(ring, &lost) == BURST) {
			good++;
			continue;
		}
		/* A loss at the end is reported before the next record. */
		map_often(fd, 1);
		count_burst(ring, &lost);
		cr_assert_gt(lost, 0, "burst %d is not whole", i);
	}
	cr_assert_eq(good, 20);
	perf_ring_close(ring);
	close(fd);
	free(cpus);
}

/* A program that is loaded and freed at once: the kernel reports its image twice. */
static void load_program(const char *name)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t) "GPL",
	};
	long fd;

	strcpy(attr.prog_name, name);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	cr_assert_geq(fd, 0, "%s", strerror(errno));
	close((int)fd);
}

/* Drains one ring: times never lie in the future nor far back. Returns the program's records. */
static int count_images(struct perf_ring *ring, const char *suffix)
{
	uint64_t last = 0, now = clock_mono_ns() + 1000000;
	struct perf_side side;
	int seen = 0, got;

	while ((got = perf_ring_next(ring, &side))) {
		cr_assert_eq(got, 1);
		if (side.type == PERF_SIDE_FULL)
			continue;
		cr_assert_leq(side.time, now, "%s lies in the future", side.name);
		cr_assert_gt(side.time + 1000000000, last, "%s lies in the past", side.name);
		last = side.time;
		if (side.type == PERF_SIDE_KSYMBOL && strstr(side.name, suffix))
			seen++;
	}
	return seen;
}

Test(perf_live, other_listeners_make_no_record_unreadable)
{
	struct perf_ring *ring, *others[3];
	cpu_set_t cpu;
	uint32_t *cpus;
	size_t cnt, i;
	int fd = open("/usr/bin/true", O_RDONLY), loads, seen = 0;

	cr_assert_eq(cpus_online(&cpus, &cnt), 0);
	CPU_ZERO(&cpu);
	CPU_SET(cpus[0], &cpu);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpu), &cpu), 0);
	/* The list of listeners is walked from the newest to the oldest. */
	cr_assert_eq(perf_ring_open(cpus[0], 64 * 1024, &ring), 0);
	for (i = 0; i < 3; i++)
		cr_assert_eq(perf_ring_open(cpus[0], 64 * 1024, &others[i]), 0);
	/* once around the ring, so that it has stale bytes */
	map_often(fd, BURST);
	count_images(ring, "");
	for (loads = 0; loads < 3; loads++) {
		load_program("stale_tail");
		seen += count_images(ring, "_stale_tail");
	}
	cr_expect_geq(seen, loads);
	for (i = 0; i < 3; i++)
		perf_ring_close(others[i]);
	perf_ring_close(ring);
	close(fd);
	free(cpus);
}

Test(perf_live, full_ring_reports_the_number_of_lost_records)
{
	struct rings r = open_rings(4096);
	struct story s = { 0 };

	for (int i = 0; i < 100; i++)
		run_true();
	drain(&r, &s);
	/* The count of lost records comes before the next record that fits. */
	for (int i = 0; i < 20; i++) {
		run_true();
		drain(&r, &s);
	}
	cr_assert_gt(s.lost, 100);
	cr_assert_gt(s.full, 0, "a ring that was full says so before the kernel can");
	close_rings(&r);
}

Test(perf_live, sampler_opens_on_each_cpu_and_reports_its_clock)
{
	struct perf_sampler_cfg cfg = { .which = PERF_SAMPLER_AUTO, .hz = 99 };
	bool cycles = true;
	uint32_t *cpus;
	size_t cnt;
	int fd;

	cr_assert_eq(cpus_online(&cpus, &cnt), 0);
	for (size_t i = 0; i < cnt; i++) {
		cr_assert_eq(perf_open_sampler(cpus[i], &cfg, &fd, &cycles), 0);
		cr_assert_eq(perf_enable(fd), 0);
		cr_assert_eq(perf_disable(fd), 0);
		close(fd);
	}
	cfg.which = PERF_SAMPLER_CPU_CLOCK;
	cr_assert_eq(perf_open_sampler(cpus[0], &cfg, &fd, &cycles), 0);
	cr_assert_not(cycles);
	close(fd);
	cfg.hz = 0;
	cr_assert_eq(perf_open_sampler(cpus[0], &cfg, &fd, &cycles), -EINVAL);
	cr_assert_lt(
		perf_open_sampler(100000, &(struct perf_sampler_cfg){ .hz = 99 }, &fd, &cycles), 0);
	cr_assert_gt(perf_max_rate(), 0);
	free(cpus);
}

/* Of CPU 0, while this thread sleeps there. */
static uint64_t switches_counted(int fd)
{
	cpu_set_t cpus;
	uint64_t cnt;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	usleep(1000);
	cr_assert_eq(read(fd, &cnt, sizeof(cnt)), sizeof(cnt));
	return cnt;
}

Test(perf_live, tracepoint_opens_by_its_id)
{
	uint32_t id;
	int dirfd, fd;

	cr_assert_eq(tracefs_open(&dirfd), 0);
	cr_assert_eq(tracefs_event_id(dirfd, "sched", "sched_switch", &id), 0);
	cr_assert_eq(perf_open_tracepoint(id, 0, &fd), 0);
	cr_expect_eq(switches_counted(fd), 0);
	perf_enable(fd);
	cr_expect_gt(switches_counted(fd), 0);
	close(fd);
	cr_assert_lt(perf_open_tracepoint(0x7fffffff, 0, &fd), 0);
	/* a tracepoint that the kernel does not allow to sample */
	if (!tracefs_event_id(dirfd, "irq_vectors", "irq_work_exit", &id)) {
		cr_assert_eq(perf_open_tracepoint(id, 0, &fd), 0);
		close(fd);
	}
	close(dirfd);
}

/* The address of a symbol from the kernel itself; false if it has none. */
static bool kernel_address(const char *name, uint64_t *addr)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], found[256];
	unsigned long long at;
	bool ok = false;

	cr_assert(f);
	while (!ok && fgets(line, sizeof(line), f))
		ok = sscanf(line, "%llx %*c %255s", &at, found) == 2 && !strcmp(found, name);
	fclose(f);
	*addr = at;
	return ok;
}

Test(perf_live, kernel_symbols_have_the_kernels_addresses)
{
	const struct kallsyms_module *m;
	struct kallsyms_sym sym;
	uint64_t addr;
	struct kallsyms *k;

	cr_assert_eq(kallsyms_load(NULL, NULL, &k), 0);
	cr_assert(kernel_address("schedule", &addr));
	cr_assert_eq(kallsyms_find(k, addr + 1, &sym), 0);
	cr_assert_str_eq(sym.name, "schedule");
	m = kallsyms_module_find(k, addr);
	cr_assert_eq(m->kind, KALLSYMS_KERNEL);
	cr_assert(kernel_address("_stext", &addr));
	cr_assert_eq(m->start, addr);
	kallsyms_free(k);
}
