// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks by tables, mappings and lists that are random, and change under the walk: whatever they say, each
 * ends, says how, and takes its time and no more. The loader would never write such; the programs do not
 * rely on it.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/ring/ring.h"
#include "tests/bpf/own_capture.h"
#include "tests/bpf/support.h"
#include "tests/support/chance.h"

TestSuite(unwind_hostile, .fini = live_cleanup);

enum {
	RING_BYTES = 4 << 20,
	PROCS = 16,
	MODULES = 64,
	MAPS = 4096,
	CHUNKS = 2,
	CHUNK_WORDS = PROF_UNWIND_CHUNK_BLOCKS * PROF_UNWIND_BLOCK_WORDS,
	ROUNDS = 200,
	WALKS = 5000,
	WALK_NS_MAX = 500000, /* on average, on a busy machine; a walk has 128 steps at most */
	HZ = 499,
	WALKED = 2,
	AREAS = 4,
	AREA_SZ = 1 << 28, /* of which a table's index reaches each page */
};

struct walked {
	struct live_proc proc;
	uint64_t areas[AREAS];
};

static struct walked walked[WALKED];
static uint32_t longest; /* walk, in frames */
static struct chance chance = { 88172645463325252ULL };

static uint64_t any(void)
{
	return chance_next(&chance);
}

/* A number as it might come of an error: small, near a power of two, or anything. */
static uint64_t odd_number(void)
{
	uint64_t v = any();

	switch (v >> 60 & 3) {
	case 0:
		return v & 0xff;
	case 1:
		return (1ULL << (v & 63)) + (v >> 8 & 3) - 1;
	case 2:
		return v & 0x3fffff;
	default:
		return v;
	}
}

static void open_capture(void)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = {
		.follow = true,
		.samples = true,
		.force_cpu_clock = true,
		.hz = HZ,
		.ring_bytes = RING_BYTES,
		.switch_stacks = PROF_STACKS_USER,
		.call_graph = PROF_CALL_GRAPH_AUTO,
		.unwind = { MODULES, MAPS, PROCS, .chunk_cnt = CHUNKS, .known_cnt = 64 },
	};

	own_capture_open(&events_cfg, &cfg);
}

/* ---- what the programs are given ----------------------------------------------------------------- */

/* Rows of which a walk takes many, since rows of nonsense end it at once. */
static uint32_t likely_row(void)
{
	uint32_t v = any(), kind = v & 7;

	if (kind > PROF_UNWIND_SPECIAL || v >> 28)
		kind = PROF_UNWIND_SP;
	/* as an index word it leads to a block that is there */
	return (v >> 3 & 0x3f) << PROF_UNWIND_ROW_PC_SHIFT | kind << PROF_UNWIND_ROW_KIND_SHIFT |
	       (1 + (v >> 13 & 15)) << PROF_UNWIND_ROW_OFF_SHIFT | (v >> 20 & 7);
}

static void fill_chunks(bool likely)
{
	uint32_t i, chunk, *words;

	for (chunk = 0; chunk < CHUNKS; chunk++) {
		cr_assert_eq(capture_unwind_chunk(unwind, chunk, (void **)&words), 0);
		for (i = 0; i < CHUNK_WORDS; i++)
			words[i] = likely ? likely_row() : any();
	}
}

static void fill_modules(bool likely)
{
	uint32_t i;

	for (i = 0; i < MODULES; i++)
		unwind->modules[i] = (struct prof_unwind_module){
			.first_page = likely ? 0 : odd_number(),
			.page_cnt = likely ? ~0U : odd_number(),
			.table = likely ? 1 + any() % PROF_UNWIND_CHUNK_BLOCKS : odd_number(),
			.big_cnt = odd_number(),
		};
}

/* Where most words of a stack point to: small numbers, the program, the libraries, the stack. */
static void find_areas(struct walked *w)
{
	char path[64], line[512];
	unsigned long start;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", w->proc.pid);
	f = fopen(path, "re");
	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		start = strtoul(line, NULL, 16);
		if (!w->areas[1])
			w->areas[1] = start;
		else if (!w->areas[2] && start >> 40 > w->areas[1] >> 40)
			w->areas[2] = start;
		if (strstr(line, "[stack]"))
			w->areas[3] = start - AREA_SZ / 2;
	}
	fclose(f);
	cr_assert(w->areas[2] && w->areas[3] > w->areas[2]);
}

static void fill_maps(bool likely)
{
	uint32_t i, area;

	for (i = 0; i < MAPS; i++) {
		area = i % AREAS;
		unwind->maps[i] = (struct prof_unwind_map){
			.start = likely ? walked[i / AREAS % WALKED].areas[area] : odd_number(),
			.pgoff = likely ? 0 : odd_number(),
			.module_id = likely ? 1 + any() % 10 : odd_number(),
			.slot = likely	  ? any() % MODULES :
				any() % 2 ? odd_number() :
					    PROF_UNWIND_NO_SLOT,
		};
		unwind->maps[i].end = likely ? unwind->maps[i].start + AREA_SZ : odd_number();
	}
}

static void fill_procs(bool likely)
{
	uint32_t i, j;

	for (i = 0; i < PROCS; i++) {
		j = any() % WALKED;
		unwind->procs[i].list = odd_number() << 32 | (uint32_t)odd_number();
		if (likely)
			unwind->procs[i].list = (uint64_t)j * AREAS << 32 | AREAS;
		unwind->procs[i].tgid = likely ? (uint32_t)walked[j].proc.pid : odd_number();
	}
}
/* ---- what comes of it ---------------------------------------------------------------------------- */

static void count_record(const struct prof_rec *rec, uint64_t ends[PROF_END_CNT])
{
	uint32_t end = rec->user_end & PROF_USER_END_MASK;

	if (!(rec->flags & PROF_REC_STACKS))
		return;
	cr_assert_lt(end, PROF_END_CNT);
	cr_assert_leq(rec->ustack_cnt, rec->flags & PROF_REC_COPIED ?
					       PROF_COPY_REGS + PROF_COPY_WORDS :
					       PROF_STACK_MAX);
	if (rec->flags & PROF_REC_WALKED) {
		cr_assert_geq(rec->ustack_cnt, 1);
		cr_assert_neq(end, PROF_END_NOT_WALKED);
		cr_assert(end != PROF_END_FULL || rec->ustack_cnt == PROF_STACK_MAX);
		ends[end]++;
		if (rec->ustack_cnt > longest)
			longest = rec->ustack_cnt;
	}
}

static void count_records(uint64_t ends[PROF_END_CNT])
{
	const struct prof_rec *rec;
	struct ring *rings;
	size_t cnt, i;

	rings = capture_rings(capture, &cnt);
	for (i = 0; i < cnt; i++) {
		while ((rec = ring_peek(&rings[i]))) {
			count_record(rec, ends);
			ring_pass(&rings[i]);
		}
		ring_publish(&rings[i]);
		cr_assert_eq(rings[i].malformed, 0);
	}
}

static uint64_t sum(const uint64_t ends[PROF_END_CNT])
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < PROF_END_CNT; i++)
		all += ends[i];
	return all;
}

static void walk_nonsense(uint64_t ends[PROF_END_CNT])
{
	uint32_t round;

	for (round = 0; round < ROUNDS || sum(ends) < WALKS; round++) {
		fill_chunks(any() % 4);
		fill_modules(any() % 4);
		fill_maps(any() % 4);
		fill_procs(any() % 4);
		++*unwind->generation;
		count_records(ends);
	}
}

static void check_cost(void)
{
	struct capture_counts counts;
	int i;

	capture_count(capture, &counts);
	for (i = 0; i < PROF_PROG_CNT; i++)
		if (counts.prog_runs[i] > 0)
			cr_expect_lt(counts.prog_ns[i] / counts.prog_runs[i], WALK_NS_MAX);
	cr_expect_gt(counts.prog_runs[PROF_PROG_SWITCH], 0);
	cr_expect_gt(counts.prog_runs[PROF_PROG_SAMPLE], 0);
}

Test(unwind_hostile, walk_over_damaged_tables_and_lists_ends_with_a_reason)
{
	uint64_t ends[PROF_END_CNT] = { 0 };
	int i, kinds = 0;

	open_capture();
	live_stimulus(&walked[0].proc, "pingpong", "100000000", NULL);
	live_stimulus(&walked[1].proc, "spinner", "70", "600000", NULL);
	for (i = 0; i < WALKED; i++) {
		capture_add_target(capture, walked[i].proc.pid, walked[i].proc.pid);
		find_areas(&walked[i]);
		cr_assert_eq(write(walked[i].proc.in, "\n", 1), 1);
	}
	capture_start(capture);
	walk_nonsense(ends);
	check_cost();
	own_capture_close();
	for (i = 0; i < WALKED; i++) {
		cr_expect_eq(waitpid(walked[i].proc.pid, NULL, WNOHANG), 0,
			     "a walked program died");
		live_kill(&walked[i].proc);
	}
	cr_log_info("longest: %u\n", longest);
	for (i = 0; i < PROF_END_CNT; i++) {
		cr_log_info("%2d: %llu\n", i, (unsigned long long)ends[i]);
		kinds += ends[i] > 0;
	}
	/* it was led everywhere */
	cr_expect_geq(kinds, 8);
	cr_expect_geq(longest, 4, "%u", longest);
}
