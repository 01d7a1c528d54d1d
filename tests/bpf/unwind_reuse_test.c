// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks that are not made again: of a program that falls asleep at one place by many ways, each stack is the
 * way that it came, whichever thread slept there before; and what is kept goes when lists or tables do.
 *
 * There is one place to keep walks in, so that all of them meet.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/tracefs/tracefs.h"
#include "prof_rec.h"
#include "record/capture/capture.h"
#include "record/ring/ring.h"
#include "record/tracepoint/eventset.h"
#include "tests/bpf/support.h"

TestSuite(unwind_reuse, .fini = live_cleanup);

enum {
	RING_BYTES = 4 << 20,
	PROCS = 1024,
	MODULE = 7,
	SLOT = 3,
	MAP = 100,
	NAPS = 1000,
	NAPS_MAX = 2 * NAPS,
	LEVELS = 3,
	FRAMES = LEVELS + 2,
	BY_RBX = 8, /* of the ways */
	LEAF_1 = 16,
	/* rows; frame pointers are saved below return addresses */
	ROW_RBP = PROF_UNWIND_FP << PROF_UNWIND_ROW_KIND_SHIFT | 2 << PROF_UNWIND_ROW_OFF_SHIFT | 2,
	ROW_RBX = PROF_UNWIND_REG << PROF_UNWIND_ROW_KIND_SHIFT |
		  (3 << 8 | 2) << PROF_UNWIND_ROW_OFF_SHIFT | 2,
	ROW_END = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT |
		  PROF_UNWIND_END << PROF_UNWIND_ROW_OFF_SHIFT,
};

struct nap {
	uint32_t tid, ways;
	uint64_t from_ns, to_ns;
};

/* What the stacks should be. */
struct expected {
	uint32_t module_id;
	uint32_t leaf_row;
};

static struct eventset *events;
static struct capture *capture;
static struct capture_unwind *unwind;
static struct live_proc proc;
static uint64_t leaves[2], root, sites[LEVELS][2];
static uint64_t start, end, pgoff; /* of the program's text */
static struct nap naps[NAPS_MAX];
static size_t nap_cnt, stack_cnt, wrong_cnt, thinned_cnt;

static void open_capture(void)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = {
		.follow = true,
		.ring_bytes = RING_BYTES,
		.switch_stacks = PROF_STACKS_USER,
		.call_graph = PROF_CALL_GRAPH_AUTO,
		.unwind = { .module_cnt = 10, .map_cnt = 1000, .proc_cnt = PROCS, .chunk_cnt = 1 },
	};
	int tracefs_fd;

	cr_assert_eq(tracefs_open(&tracefs_fd), 0);
	cr_assert_eq(eventset_new(tracefs_fd, &events_cfg, &events), 0);
	close(tracefs_fd);
	cfg.events = events;
	cr_assert_eq(capture_new(&cfg, &capture), 0);
	cr_assert_eq(capture_attach(capture), 0);
	unwind = capture_unwind(capture);
	capture_start(capture);
}

static struct capture_counts counts(void)
{
	struct capture_counts c;

	capture_count(capture, &c);
	return c;
}

/* ---- tables and lists ---------------------------------------------------------------------------- */

static uint32_t page_of(uint64_t addr)
{
	return (addr - start) >> PROF_UNWIND_PAGE_SHIFT;
}

/* A page has one row: for naps_leaf, for naps_enter, or for all others. */
static void put_table(uint32_t leaf_row)
{
	struct prof_unwind_module *m = &unwind->modules[SLOT];
	uint32_t pages = (end - start) >> PROF_UNWIND_PAGE_SHIFT, i;
	uint32_t *words;

	cr_assert_eq(capture_unwind_chunk(unwind, 0, (void **)&words), 0);
	words[pages] = ROW_RBP;
	words[pages + 1] = leaf_row;
	words[pages + 2] = ROW_END;
	for (i = 0; i < pages; i++)
		words[i] = pages << PROF_UNWIND_INDEX_COUNT_BITS;
	words[page_of(leaves[0])] = (pages + 1) << PROF_UNWIND_INDEX_COUNT_BITS;
	words[page_of(root)] = (pages + 2) << PROF_UNWIND_INDEX_COUNT_BITS;
	*m = (struct prof_unwind_module){
		.first_page = pgoff >> PROF_UNWIND_PAGE_SHIFT,
		.page_cnt = pages,
		.table = 1,
	};
	++*unwind->generation;
}

static void put_list(uint32_t at, uint32_t module_id)
{
	struct prof_unwind_proc *p = &unwind->procs[prof_unwind_hash(proc.pid) % PROCS];

	unwind->maps[at] = (struct prof_unwind_map){ start, end, pgoff, module_id, SLOT };
	p->tgid = proc.pid;
	p->list = (uint64_t)at << 32 | 1;
}

/* ---- what the program says ----------------------------------------------------------------------- */

static void find_text(void)
{
	char path[64], line[512], perms[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", proc.pid);
	maps = fopen(path, "re");
	cr_assert(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, perms, &pgoff) == 4 &&
		    start <= root && root < end)
			break;
	fclose(maps);
	cr_assert(start <= root && root < end && page_of(leaves[0]) != page_of(root));
}

static void read_line(const char *line)
{
	struct nap n;
	unsigned int level, way;
	uint64_t addr;

	if (sscanf(line, "nap=%u %lu %lu %u", &n.tid, &n.from_ns, &n.to_ns, &n.ways) == 4) {
		cr_assert_lt(nap_cnt, NAPS_MAX);
		naps[nap_cnt++] = n;
	} else if (sscanf(line, "site_%u_%u=%lx", &level, &way, &addr) == 3) {
		cr_assert(level < LEVELS && way < 2);
		sites[level][way] = addr;
	} else if (sscanf(line, "leaf_%u=%lx", &way, &addr) == 2) {
		cr_assert_lt(way, 2);
		leaves[way] = addr;
	} else if (sscanf(line, "root=%lx", &addr) == 1) {
		root = addr;
	}
}

static void read_printed(void)
{
	char *text = strndup((const char *)proc.output.data, proc.output.len), *line, *save = NULL;

	nap_cnt = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(line);
	free(text);
	buf_clear(&proc.output);
}

/* ---- stacks -------------------------------------------------------------------------------------- */

static const struct nap *nap_at(uint32_t tid, uint64_t ts)
{
	size_t i;

	for (i = 0; i < nap_cnt; i++)
		if (naps[i].tid == tid && naps[i].from_ns <= ts && ts <= naps[i].to_ns)
			return &naps[i];
	return NULL;
}

static uint64_t frame_of(uint64_t addr, uint32_t module_id)
{
	return (uint64_t)module_id << PROF_FRAME_MODULE_SHIFT | (addr - start + pgoff);
}

static uint32_t make_stack(const struct nap *n, const struct expected *e, uint64_t *frames)
{
	int level = LEVELS - 1;
	uint32_t cnt = 0;

	frames[cnt++] = frame_of(leaves[(n->ways & LEAF_1) != 0], e->module_id);
	if (e->leaf_row == ROW_END)
		return cnt;
	if (e->leaf_row == ROW_RBX && n->ways & BY_RBX)
		level--;
	for (; level >= 0; level--)
		frames[cnt++] = frame_of(sites[level][n->ways >> level & 1], e->module_id);
	frames[cnt++] = frame_of(root, e->module_id);
	return cnt;
}

static void print_difference(const struct prof_rec *rec, const uint64_t *frames,
			     const uint64_t *truth, uint32_t cnt)
{
	uint32_t i;

	fprintf(stderr, "thread %u: flags %#x, end %u\n", rec->tid, rec->flags, rec->user_end);
	for (i = 0; i < cnt || i < rec->ustack_cnt; i++)
		fprintf(stderr, "  %#18lx, expected %#18lx\n", i < rec->ustack_cnt ? frames[i] : 0,
			i < cnt ? truth[i] : 0);
}

static void check_one_record(const struct prof_rec *rec, const struct expected *e)
{
	const uint64_t *frames = prof_rec_frames(rec) + rec->kstack_cnt;
	uint64_t truth[FRAMES];
	const struct nap *n;
	uint32_t cnt;

	if (!(rec->flags & PROF_REC_WALKED) ||
	    ((frames[0] & PROF_FRAME_OFFSET_MASK) != leaves[0] - start + pgoff &&
	     (frames[0] & PROF_FRAME_OFFSET_MASK) != leaves[1] - start + pgoff))
		return;
	n = nap_at(rec->tid, rec->ts);
	if (!n)
		return;
	stack_cnt++;
	cnt = make_stack(n, e, truth);
	if (rec->ustack_cnt != cnt || rec->user_end != PROF_END_COMPLETE ||
	    memcmp(frames, truth, cnt * sizeof(*truth)) != 0) {
		if (wrong_cnt++ == 0)
			print_difference(rec, frames, truth, cnt);
	}
}

static void check_records(const struct expected *e)
{
	const struct prof_rec *rec;
	struct ring *rings;
	size_t cnt, i;

	stack_cnt = wrong_cnt = thinned_cnt = 0;
	rings = capture_rings(capture, &cnt);
	for (i = 0; i < cnt; i++) {
		while ((rec = ring_peek(&rings[i]))) {
			check_one_record(rec, e);
			thinned_cnt += (rec->flags & PROF_REC_THINNED) != 0;
			ring_pass(&rings[i]);
		}
		ring_publish(&rings[i]);
	}
}

/* How many stacks of a round were known; all must be right. */
static uint64_t round_of(struct expected e)
{
	uint64_t before = counts().stacks_reused;

	live_go(&proc);
	read_printed();
	cr_assert_eq(nap_cnt, NAPS_MAX);
	check_records(&e);
	cr_expect_gt(stack_cnt, NAPS_MAX / 2);
	cr_expect_eq(wrong_cnt, 0, "%zu of %zu stacks are wrong", wrong_cnt, stack_cnt);
	return counts().stacks_reused - before;
}

static void begin(const struct expected *e)
{
	open_capture();
	live_stimulus(&proc, "unwind_naps", live_number(NAPS), NULL);
	read_printed();
	find_text();
	capture_add_target(capture, proc.pid, proc.pid);
	put_table(e->leaf_row);
	put_list(MAP, e->module_id);
}

static void finish(void)
{
	live_end(&proc);
	capture_stop(capture);
	capture_free(capture);
	eventset_free(events);
}

Test(unwind_reuse, each_stack_has_the_frames_of_its_own_call_path)
{
	struct expected e = { .module_id = MODULE, .leaf_row = ROW_RBP };

	begin(&e);
	cr_expect_gt(round_of(e), NAPS_MAX / 10, "walks are kept");

	/* another list */
	e.module_id++;
	put_list(MAP + 1, e.module_id);
	cr_expect_gt(round_of(e), NAPS_MAX / 10);

	/* and one in its place */
	e.module_id++;
	put_list(MAP + 1, e.module_id);
	++*unwind->list_generation;
	cr_expect_gt(round_of(e), NAPS_MAX / 10);

	/* other tables */
	e.leaf_row = ROW_END;
	put_table(e.leaf_row);
	cr_expect_gt(round_of(e), NAPS_MAX / 10);

	/* what a walk took from a register may be another the next time */
	e.leaf_row = ROW_RBX;
	put_table(e.leaf_row);
	cr_expect_eq(round_of(e), 0);
	finish();
}

/* Until the rings are read, the programs find no room in them. */
static void fill_rings(void)
{
	struct ring *rings;
	size_t cnt, i;

	rings = capture_rings(capture, &cnt);
	for (i = 0; i < cnt; i++)
		if (!rings[i].stage)
			__atomic_store_n(rings[i].consumer, *rings[i].producer - rings[i].sz,
					 __ATOMIC_RELEASE);
}

Test(unwind_reuse, frames_of_a_lost_batch_are_sent_again)
{
	struct expected e = { .module_id = MODULE, .leaf_row = ROW_RBP };

	begin(&e);
	round_of(e);
	cr_expect_eq(counts().lost[PROF_CLASS_TRACEPOINT], 0);

	/* new stacks, which are lost */
	e.module_id++;
	put_list(MAP + 1, e.module_id);
	fill_rings();
	live_go(&proc);
	read_printed();
	check_records(&e);
	cr_expect_eq(wrong_cnt, 0, "%zu of %zu stacks are wrong", wrong_cnt, stack_cnt);
	cr_expect_gt(counts().lost[PROF_CLASS_TRACEPOINT], NAPS / 10);

	/* the programs see that there is room again */
	live_go(&proc);
	read_printed();
	check_records(&e);
	cr_expect_eq(wrong_cnt, 0, "%zu of %zu stacks are wrong", wrong_cnt, stack_cnt);

	round_of(e);
	cr_expect_eq(thinned_cnt, 0, "%zu stacks are missing", thinned_cnt);
	finish();
}
