// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether user stacks reach their root: the code at the entry of the program, of the dynamic linker, or
 * of a thread. Recognised by the bytes of the files, because distributions strip the names of these.
 *
 * D9_UNWIND_SECONDS=60 records for longer; D9_UNWIND_PROGRAMS=xz,node names the programs.
 */
/* ALONE: almost every stack */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hmap.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_rooted, .fini = live_cleanup, .timeout = 1200);

enum { SECONDS = 5, PROGRAMS_MAX = 16, ENTRY_SZ = 64, SAMPLES_MIN = 20, ENOUGH = 1000 };

struct share {
	const char *name;
	uint32_t pid; /* 0: all there are */
	uint64_t stacks; /* of samples, with a user part */
	uint64_t rooted; /* of them, up to their root */
	uint64_t outside; /* frames in no mapping, also of switch-outs */
	uint64_t by_end[PROF_END_CNT];
};

static struct share shares[PROGRAMS_MAX];
static size_t share_cnt;
static struct hmap roots; /* frame -> 1 no, 2 yes */

/* ---- roots ------------------------------------------------------------------------------------- */

static uint64_t entry_offset(int fd)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return 0;
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) != sizeof(ph))
			return 0;
		if (ph.p_type == PT_LOAD && eh.e_entry >= ph.p_vaddr &&
		    eh.e_entry < ph.p_vaddr + ph.p_filesz)
			return eh.e_entry - ph.p_vaddr + ph.p_offset;
	}
	return 0;
}

/* clone() calls a thread's first function by "call *%rax", clone3() by "call *%rdx". */
static bool is_call_of_clone(int fd, uint64_t off)
{
	unsigned char call[2];

	return pread(fd, call, 2, off - 1) == 2 && call[0] == 0xff &&
	       (call[1] == 0xd0 || call[1] == 0xd2);
}

static bool is_root_in(const char *path, uint64_t off)
{
	const char *base = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t entry;
	bool root;

	if (fd < 0)
		return false;
	entry = entry_offset(fd);
	root = (off >= entry && off < entry + ENTRY_SZ) ||
	       (base && !strncmp(base, "/libc.so", 8) && is_call_of_clone(fd, off));
	close(fd);
	return root;
}

static bool is_root(const struct names *n, uint64_t frame)
{
	const struct names_module *m = names_module(n, names_frame_module(frame));
	uintptr_t known = (uintptr_t)hmap_get(&roots, frame);

	if (!known) {
		known = m->announced && is_root_in(names_str(n, m->path, NULL),
						   frame & PROF_FRAME_OFFSET_MASK) ?
				2 :
				1;
		hmap_set(&roots, frame, (void *)known);
	}
	return known == 2;
}

/* ---- recordings -------------------------------------------------------------------------------- */

static void add_stack(struct share *s, const struct names *n, const struct trace_event *ev)
{
	uint8_t end = ev->user_end & PROF_USER_END_MASK;
	const uint64_t *user;
	uint32_t cnt;

	user = workload_user(ev, &cnt);
	/* within execve() the address of the replaced program is in no mapping */
	for (uint32_t i = 0; i < cnt && end != PROF_END_EXEC; i++)
		s->outside += !names_module(n, names_frame_module(user[i]))->announced;
	if (ev->source != PROF_SOURCE_SAMPLE || end == PROF_END_NOT_WALKED)
		return;
	s->stacks++;
	s->by_end[end < PROF_END_CNT ? end : 0]++;
	s->rooted += end == PROF_END_COMPLETE && cnt && is_root(n, user[cnt - 1]);
}

static void read_trace(const char *path, struct share *v, size_t cnt)
{
	struct live_trace lt;
	struct trace_event ev;

	hmap_init(&roots);
	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		for (size_t i = 0; ev.kind == TRACE_SAMPLE && i < cnt; i++)
			if (!v[i].pid || v[i].pid == ev.pid)
				add_stack(&v[i], lt.names, &ev);
	live_close(&lt);
	hmap_fini(&roots);
}

static void print_share(const struct share *s)
{
	printf("%-14s %6llu stacks  %6.2f%% rooted  %llu frames outside  by end:", s->name,
	       (unsigned long long)s->stacks, s->stacks ? 100.0 * s->rooted / s->stacks : 0,
	       (unsigned long long)s->outside);
	for (int i = 0; i < PROF_END_CNT; i++)
		if (s->by_end[i])
			printf(" %d: %llu", i, (unsigned long long)s->by_end[i]);
	puts("");
}

static bool is_rooted(uint64_t rooted, uint64_t stacks, unsigned int per_mille)
{
	return rooted * 1000 >= stacks * per_mille;
}

/*
 * libgcc rewrites its frame when it goes to a handler. Stacks of a program that throws all the time end there if the next
 * frame needs its frame pointer.
 */
static uint64_t rewritten(const struct share *s)
{
	const uint64_t cnt = s->by_end[PROF_END_UNSUPPORTED];

	if (strcmp(s->name, "throw"))
		return 0;
	cr_expect_leq(50 * cnt, s->stacks, "%llu of %llu", (unsigned long long)cnt,
		      (unsigned long long)s->stacks);
	return cnt;
}

/* All of them together, and each less strictly while one stack more or less decides. */
static void assert_shares(unsigned int per_mille)
{
	uint64_t stacks = 0, rooted = 0;

	for (size_t i = 0; i < share_cnt; i++) {
		const struct share *s = &shares[i];
		unsigned int least = s->stacks < ENOUGH ? per_mille - 50 : per_mille;

		print_share(s);
		stacks += s->stacks - rewritten(s);
		rooted += s->rooted;
		cr_expect_geq(s->stacks, SAMPLES_MIN, "%s: few samples", s->name);
		cr_expect(is_rooted(s->rooted, s->stacks - rewritten(s), least),
			  "%s: too few are rooted", s->name);
		cr_expect_eq(s->outside, 0, "%s: frames outside of any mapping", s->name);
	}
	cr_expect(is_rooted(rooted, stacks, per_mille), "%llu of %llu are rooted",
		  (unsigned long long)rooted, (unsigned long long)stacks);
}

static size_t start_all(struct live_proc *procs, struct buf *pids)
{
	for (const struct workload *prog = workloads; prog->name; prog++) {
		if (!prog->shell || !workload_wanted(prog))
			continue;
		cr_assert_lt(share_cnt, PROGRAMS_MAX);
		workload_start(&procs[share_cnt], prog->shell);
		shares[share_cnt] =
			(struct share){ .name = prog->name, .pid = procs[share_cnt].pid };
		buf_printf(pids, "%s%u", share_cnt ? "," : "", shares[share_cnt].pid);
		share_cnt++;
	}
	for (size_t i = 0; i < share_cnt; i++)
		workload_await_work(&procs[i], 100);
	return share_cnt;
}

Test(unwind_rooted, programs_that_already_run)
{
	unsigned int seconds = workload_number("D9_UNWIND_SECONDS", SECONDS);
	struct live_proc procs[PROGRAMS_MAX];
	struct buf pids = { 0 };
	struct live_rec rec;
	size_t cnt;

	cnt = start_all(procs, &pids);
	live_record(&rec, "-F", "999", "-d", live_number(seconds), "-p", buf_cstr(&pids), NULL);
	cr_assert_eq(live_finish(&rec), 0);
	buf_free(&pids);
	for (size_t i = 0; i < cnt; i++)
		workload_kill(&procs[i]);
	read_trace(rec.path, shares, share_cnt);
	assert_shares(995);
}

static void record_once(const struct workload *prog)
{
	const char *const *w = workload_once(prog);
	struct live_rec rec;

	cr_assert_lt(share_cnt, PROGRAMS_MAX);
	shares[share_cnt] = (struct share){ .name = prog->name };
	live_record(&rec, "-F", "999", "--", w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL);
	cr_assert_eq(live_finish(&rec), 0);
	read_trace(rec.path, &shares[share_cnt++], 1);
}

Test(unwind_rooted, programs_that_the_recorder_starts)
{
	for (const struct workload *prog = workloads; prog->name; prog++)
		if (prog->once[0] && workload_wanted(prog))
			record_once(prog);
	assert_shares(980);
}
