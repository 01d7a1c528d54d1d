// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks of which every frame is known, walked by tables that were written by hand: tests/stimuli/walked.c
 * says both. Each walk belongs to the switch-out in which the program falls asleep for good.
 */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prof_rec.h"
#include "record/ring/ring.h"
#include "record/unwind_maps/stack_copy_unwind.h"
#include "tests/bpf/own_capture.h"
#include "tests/bpf/support.h"

TestSuite(unwind_walk, .fini = live_cleanup);

enum {
	RING_BYTES = 1 << 20,
	PROCS = 1024,
	MODULE = 7,
	SLOT = 3,
	FIRST_MAP = 100,
	DECOYS = 10, /* mappings of nothing, before and after each mapping that counts */
	BLOCK = PROF_UNWIND_CHUNK_BLOCKS - 1, /* of a table that goes on in the next chunk */
	ROWS_MAX = 4096,
	FRAMES_MAX = 16,
	BIGS = 2,
	REG_IP = 16, /* of a copy's words */
	NO_ROWS = PROF_UNWIND_SPECIAL << PROF_UNWIND_ROW_KIND_SHIFT,
};

struct truth {
	uint64_t row_at[ROWS_MAX], row_word[ROWS_MAX];
	size_t row_cnt;
	uint64_t frames[FRAMES_MAX];
	size_t frame_cnt;
	uint32_t bigs[BIGS];
	uint64_t jit, start, end, pgoff; /* of the program's text */
};

static void open_capture(uint32_t call_graph, uint32_t max_stack)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = {
		.follow = true,
		.ring_bytes = RING_BYTES,
		.switch_stacks = PROF_STACKS_USER,
		.call_graph = call_graph,
		.max_stack = max_stack,
		.unwind = { .module_cnt = 10, .map_cnt = 1000, .proc_cnt = PROCS, .chunk_cnt = 4 },
	};

	own_capture_open(&events_cfg, &cfg);
	capture_start(capture);
}

/* ---- what the program says ---------------------------------------------------------------------- */

static void read_line(struct truth *t, const char *line)
{
	unsigned long a, b;

	if (sscanf(line, "row=%lx %lx", &a, &b) == 2) {
		cr_assert_lt(t->row_cnt, ROWS_MAX);
		t->row_at[t->row_cnt] = a;
		t->row_word[t->row_cnt++] = b;
	} else if (sscanf(line, "frame=%lx", &a) == 1) {
		cr_assert_lt(t->frame_cnt, FRAMES_MAX);
		t->frames[t->frame_cnt++] = a;
	} else if (sscanf(line, "big=%lu", &a) == 1) {
		t->bigs[t->bigs[0] != 0] = a;
	} else {
		sscanf(line, "jit=%lx", &t->jit);
	}
}

static void read_truth(struct truth *t, const struct live_proc *p)
{
	char *text = strndup((const char *)p->output.data, p->output.len), *line, *save = NULL;
	char path[64], perms[8];
	FILE *maps;
	char map[512];

	memset(t, 0, sizeof(*t));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(t, line);
	free(text);
	cr_assert(t->row_cnt && t->frame_cnt && t->bigs[1] && t->jit);
	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	maps = fopen(path, "re");
	cr_assert(maps);
	while (fgets(map, sizeof(map), maps))
		if (sscanf(map, "%lx-%lx %7s %lx", &t->start, &t->end, perms, &t->pgoff) == 4 &&
		    perms[2] == 'x' && t->start <= t->row_at[0] && t->row_at[0] < t->end)
			break;
	fclose(maps);
	cr_assert(t->start <= t->row_at[0] && t->row_at[0] < t->end);
}

/* ---- tables and lists ---------------------------------------------------------------------------- */

static void put_word(uint32_t i, uint32_t word)
{
	uint32_t block = BLOCK + i / PROF_UNWIND_BLOCK_WORDS;
	void *mem;

	cr_assert_eq(capture_unwind_chunk(unwind, block / PROF_UNWIND_CHUNK_BLOCKS, &mem), 0);
	((uint32_t *)mem)[block % PROF_UNWIND_CHUNK_BLOCKS * PROF_UNWIND_BLOCK_WORDS +
			  i % PROF_UNWIND_BLOCK_WORDS] = word;
}

/* The rows of one page: that which is in force at its start, and those within. Returns the next free word. */
static uint32_t put_page(const struct truth *t, uint32_t page, uint32_t at)
{
	uint64_t from = t->start + ((uint64_t)page << PROF_UNWIND_PAGE_SHIFT);
	uint64_t to = from + (1 << PROF_UNWIND_PAGE_SHIFT);
	uint32_t rows[PROF_UNWIND_PAGE_ROWS_MAX] = { NO_ROWS }, cnt = 1;
	size_t i;

	for (i = 0; i < t->row_cnt; i++) {
		if (t->row_at[i] <= from)
			rows[0] = t->row_word[i];
		else if (t->row_at[i] < to)
			rows[cnt++] =
				(t->row_at[i] - from) << PROF_UNWIND_ROW_PC_SHIFT | t->row_word[i];
	}
	if (at / PROF_UNWIND_BLOCK_WORDS != (at + cnt - 1) / PROF_UNWIND_BLOCK_WORDS)
		at = (at / PROF_UNWIND_BLOCK_WORDS + 1) * PROF_UNWIND_BLOCK_WORDS;
	put_word(page, at << PROF_UNWIND_INDEX_COUNT_BITS | (cnt - 1));
	for (i = 0; i < cnt; i++)
		put_word(at++, rows[i]);
	return at;
}

static void put_table(const struct truth *t)
{
	struct prof_unwind_module *m = &unwind->modules[SLOT];
	uint32_t pages = (t->end - t->start) >> PROF_UNWIND_PAGE_SHIFT, at = pages, i;

	for (i = 0; i < BIGS; i++)
		put_word(at++, t->bigs[i]);
	/* the long way over a chunk's end */
	at = PROF_UNWIND_BLOCK_WORDS;
	for (i = 0; i < pages; i++)
		at = put_page(t, i, at);
	*m = (struct prof_unwind_module){
		.first_page = t->pgoff >> PROF_UNWIND_PAGE_SHIFT,
		.page_cnt = pages,
		.big_cnt = BIGS,
		.table = 1 + BLOCK,
	};
	++*unwind->generation;
}

static uint32_t put_decoys(uint32_t at, uint64_t before)
{
	uint64_t i;

	for (i = 0; i < DECOYS; i++)
		unwind->maps[at++] = (struct prof_unwind_map){
			.start = before - (DECOYS - i) * 4096,
			.end = before - (DECOYS - i) * 4096 + 4095,
			.module_id = 99,
		};
	return at;
}

static void put_list(const struct truth *t, pid_t pid)
{
	struct prof_unwind_proc *p = &unwind->procs[prof_unwind_hash(pid) % PROCS];
	uint32_t at = put_decoys(FIRST_MAP, t->start);

	unwind->maps[at++] = (struct prof_unwind_map){ t->start, t->end, t->pgoff, MODULE, SLOT };
	at = put_decoys(at, t->jit);
	unwind->maps[at++] = (struct prof_unwind_map){
		.start = t->jit,
		.end = t->jit + 4096,
		.slot = PROF_UNWIND_NO_SLOT,
	};
	at = put_decoys(at, t->jit + (1 << 30));
	p->tgid = pid;
	p->list = (uint64_t)FIRST_MAP << 32 | (at - FIRST_MAP);
}

/* As prof_unwind.h says it. */
static uint64_t frame_of(const struct truth *t, uint64_t at)
{
	if (at < t->start || at >= t->end)
		return PROF_UNWIND_RAW | at;
	return (uint64_t)MODULE << PROF_FRAME_MODULE_SHIFT | (at - t->start + t->pgoff);
}

/* ---- walks --------------------------------------------------------------------------------------- */

static const uint64_t *user_frames(const struct prof_rec *rec)
{
	return prof_rec_frames(rec) + rec->kstack_cnt;
}

/* The last thing that it does is to leave the CPU at this place. */
static bool is_last(const struct prof_rec *rec, const struct truth *t, pid_t pid)
{
	uint64_t leaf;

	if (rec->tid != (uint32_t)pid || !(rec->flags & PROF_REC_STACKS) || !rec->ustack_cnt)
		return false;
	leaf = user_frames(rec)[rec->flags & PROF_REC_COPIED ? REG_IP : 0];
	return leaf == t->frames[0] || leaf == frame_of(t, t->frames[0]) ||
	       leaf == (PROF_UNWIND_RAW | t->frames[0]);
}

static struct prof_rec *wait_for_walk(const struct truth *t, pid_t pid)
{
	struct prof_rec *found = NULL;
	const struct prof_rec *rec;
	struct ring *rings;
	size_t cnt, i;

	rings = capture_rings(capture, &cnt);
	while (!found) {
		for (i = 0; i < cnt; i++) {
			while ((rec = ring_peek(&rings[i]))) {
				if (!found && is_last(rec, t, pid)) {
					found = malloc(rec->size);
					memcpy(found, rec, rec->size);
				}
				ring_pass(&rings[i]);
			}
			ring_publish(&rings[i]);
		}
		sched_yield();
	}
	return found;
}

enum how {
	WITH_TABLE,
	WITHOUT_TABLE, /* yet */
	LEFT_OUT, /* is the table, for want of room */
	WITHOUT_ANY, /* table that there could be */
	WITHOUT_SLOT, /* in the modules map: what hostile numbers come to */
	WITHOUT_MAPPING,
	WITHOUT_LIST,
};

/* The walk of one case, to be freed. */
static struct prof_rec *walk(const char *name, enum how how, struct truth *t)
{
	struct prof_rec *rec;
	struct live_proc p;

	live_stimulus(&p, "walked", name, NULL);
	read_truth(t, &p);
	if (unwind) {
		put_table(t);
		if (how != WITHOUT_LIST)
			put_list(t, p.pid);
		if (how == WITHOUT_TABLE || how == WITHOUT_ANY || how == LEFT_OUT)
			unwind->modules[SLOT].table = 0;
		unwind->modules[SLOT].without = how == WITHOUT_ANY;
		unwind->modules[SLOT].left_out = how == LEFT_OUT;
		if (how == WITHOUT_SLOT)
			unwind->maps[FIRST_MAP + DECOYS].slot = 1 << 20;
		if (how == WITHOUT_MAPPING)
			unwind->maps[FIRST_MAP + DECOYS].end = t->start;
	}
	capture_add_target(capture, p.pid, p.pid);
	live_go(&p);
	rec = wait_for_walk(t, p.pid);
	live_kill(&p);
	return rec;
}

static const struct prof_unwind_map *find_listed(void *ctx, uint64_t addr)
{
	const struct prof_unwind_map *m = &unwind->maps[FIRST_MAP];

	for (int i = 0; i < 3 * DECOYS + 2; i++, m++)
		if (addr - m->start < m->end - m->start)
			return m;
	return NULL;
}

/* A copy is walked as the drain does it; all that it knows is the list. */
static struct prof_rec *walk_copy(struct prof_rec *rec, enum how how)
{
	struct stack_copy_unwind *copied = stack_copy_unwind_new(unwind, 0);
	const struct stack_copy_maps maps = { find_listed, NULL };
	const struct prof_rec *out;

	out = stack_copy_unwind_walk(copied, rec, how == WITHOUT_MAPPING ? NULL : &maps);
	free(rec);
	rec = malloc(out->size);
	memcpy(rec, out, out->size);
	stack_copy_unwind_free(copied);
	return rec;
}

static void check_frames(const char *name, const struct truth *t, size_t frame_cnt,
			 const struct prof_rec *rec, uint8_t end)
{
	const uint64_t *frames = user_frames(rec);
	size_t i;

	cr_expect_eq(rec->flags & (PROF_REC_WALKED | PROF_REC_COPIED), PROF_REC_WALKED, "%s", name);
	cr_expect_eq(rec->user_end, end, "%s ends as %#x", name, rec->user_end);
	cr_expect_eq(rec->ustack_cnt, frame_cnt, "%s: %u frames", name, rec->ustack_cnt);
	for (i = 0; i < rec->ustack_cnt && i < frame_cnt; i++)
		cr_expect_eq(frames[i], frame_of(t, t->frames[i]), "%s: frame %zu is %#lx", name, i,
			     frames[i]);
}

static void check(const char *name, uint8_t end)
{
	static struct truth t;
	struct prof_rec *rec = walk(name, WITH_TABLE, &t);

	if (end == PROF_END_NO_MAPPING)
		rec = walk_copy(rec, WITH_TABLE);
	check_frames(name, &t, t.frame_cnt, rec, end);
	cr_expect_eq(unwind->modules[SLOT].used, 1, "%s", name);
	free(rec);
}

/*
 * The same stack, as a copy of which the list is known later; it reaches all frames, or `frame_cnt` and some
 * more, as far as pages between them were ever touched.
 */
static void check_copy(const char *name, size_t frame_cnt, uint8_t end)
{
	static struct truth t;
	struct prof_rec *rec = walk(name, WITHOUT_LIST, &t);

	cr_assert(rec->flags & PROF_REC_COPIED, "%s", name);
	put_list(&t, 1);
	rec = walk_copy(rec, WITHOUT_LIST);
	if (!frame_cnt)
		frame_cnt = t.frame_cnt;
	else if (rec->ustack_cnt > frame_cnt && rec->ustack_cnt < t.frame_cnt)
		frame_cnt = rec->ustack_cnt;
	check_frames(name, &t, frame_cnt, rec, end);
	free(rec);
}

Test(unwind_walk, every_kind_of_row_finds_the_caller)
{
	static const char *const complete[] = {
		"frames",  "ra_rdi",  "ra_rdx",	    "cfa_rdx",	  "cfa_rbx", "cfa_rsi",
		"cfa_rdi", "cfa_r8",  "cfa_r9",	    "cfa_r10",	  "cfa_r12", "cfa_r13",
		"cfa_r14", "cfa_r15", "plt_behind", "plt_before",
	};
	size_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	for (i = 0; i < sizeof(complete) / sizeof(complete[0]); i++)
		check(complete[i], PROF_END_COMPLETE);
	check("signal", PROF_END_COMPLETE | PROF_USER_SIGNAL);
	check("jit", PROF_END_COMPLETE | PROF_USER_FRAME_POINTERS);
	check("jit_outermost", PROF_END_COMPLETE);
	own_capture_close();
}

Test(unwind_walk, every_end_has_its_reason)
{
	static const struct {
		const char *name;
		enum prof_user_end end;
	} ends[] = {
		{ "no_row", PROF_END_NO_ROW },
		{ "unsupported", PROF_END_UNSUPPORTED },
		{ "register_lost", PROF_END_UNSUPPORTED },
		{ "kind_unknown", PROF_END_UNSUPPORTED },
		{ "big_unknown", PROF_END_UNSUPPORTED },
		{ "fp_lost", PROF_END_UNSUPPORTED },
		{ "no_progress", PROF_END_NO_PROGRESS },
		{ "unaligned", PROF_END_READ_FAILED },
		{ "unreadable", PROF_END_READ_FAILED },
		{ "no_return", PROF_END_NO_RETURN },
		{ "no_mapping", PROF_END_NO_MAPPING },
	};
	size_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		check(ends[i].name, ends[i].end);
	own_capture_close();
}

/* The return address of a context's function belongs to no caller. */
Test(unwind_walk, function_of_a_context_is_the_root)
{
	static struct truth t;
	struct prof_rec *rec;
	uint32_t max;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	check("context_root", PROF_END_COMPLETE);
	own_capture_close();
	/* the address itself still fits */
	for (max = 2; max <= 3; max++) {
		open_capture(PROF_CALL_GRAPH_AUTO, max);
		rec = walk("context_root", WITH_TABLE, &t);
		check_frames("context_root", &t, t.frame_cnt, rec,
			     max == 3 ? PROF_END_COMPLETE : PROF_END_FULL);
		free(rec);
		own_capture_close();
	}
}

Test(unwind_walk, copy_of_a_stack_is_walked_like_the_stack)
{
	static const char *const complete[] = {
		"ra_rdi",  "ra_rdx",	 "cfa_rdx",    "cfa_rbx",      "cfa_rsi", "cfa_rdi",
		"cfa_r8",  "cfa_r9",	 "cfa_r10",    "cfa_r12",      "cfa_r13", "cfa_r14",
		"cfa_r15", "plt_behind", "plt_before", "context_root",
	};
	size_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	for (i = 0; i < sizeof(complete) / sizeof(complete[0]); i++)
		check_copy(complete[i], 0, PROF_END_COMPLETE);
	/* a copy has no code that could show whose frame it is */
	check_copy("jit", 0, PROF_END_COMPLETE | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	check_copy("no_row", 0, PROF_END_NO_ROW);
	/* as far as the copy goes, and on the stack that was copied */
	check_copy("frames", 3, PROF_END_READ_FAILED);
	check_copy("signal", 3, PROF_END_READ_FAILED | PROF_USER_SIGNAL);
	own_capture_close();
}

Test(unwind_walk, copied_stack_is_complete_once_its_table_has_arrived)
{
	static struct truth t;
	struct prof_rec *rec;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	rec = walk("cfa_rdx", WITHOUT_TABLE, &t);
	cr_assert(rec->flags & PROF_REC_COPIED);
	put_table(&t);
	rec = walk_copy(rec, WITHOUT_TABLE);
	check_frames("cfa_rdx", &t, t.frame_cnt, rec, PROF_END_COMPLETE);
	free(rec);
	own_capture_close();
}

/* Its leaf is all that is certain. */
static void check_leaf(const char *name, enum how how, uint8_t end, uint64_t raw)
{
	static struct truth t;
	struct prof_rec *rec = walk(name, how, &t);

	cr_expect_eq(!(rec->flags & PROF_REC_COPIED), how == LEFT_OUT);
	if (how != LEFT_OUT)
		rec = walk_copy(rec, how);
	cr_expect_eq(rec->user_end, end, "%s ends as %#x", name, rec->user_end);
	cr_expect_eq(rec->ustack_cnt, 1, "%s: %u frames", name, rec->ustack_cnt);
	cr_expect_eq(user_frames(rec)[0], raw ? raw | t.frames[0] : frame_of(&t, t.frames[0]),
		     "%s: %#lx", name, user_frames(rec)[0]);
	free(rec);
}

Test(unwind_walk, without_a_table_or_a_mapping_only_the_first_frame_is_found)
{
	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	/* the frame pointer is 1 there */
	check_leaf("unsupported", WITHOUT_TABLE, PROF_END_NO_TABLE, 0);
	check_leaf("unsupported", LEFT_OUT, PROF_END_NO_TABLE, 0);
	check_leaf("unsupported", WITHOUT_SLOT, PROF_END_NO_TABLE, 0);
	check_leaf("unsupported", WITHOUT_MAPPING, PROF_END_NO_MAPPING, PROF_UNWIND_RAW);
	own_capture_close();
}

/*
 * The leaf has no frame of its own there: by frame pointers its caller is skipped. That all calls go through
 * registers proves nothing.
 */
Test(unwind_walk, frame_pointers_are_used_only_if_there_can_be_no_table)
{
	static struct truth t;
	struct prof_rec *rec;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	check_leaf("jit", WITHOUT_TABLE, PROF_END_NO_TABLE, 0);
	rec = walk("jit", WITHOUT_ANY, &t);
	cr_expect_eq(rec->user_end & ~PROF_USER_END_MASK,
		     PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	cr_assert_gt(rec->ustack_cnt, 1);
	cr_expect_eq(user_frames(rec)[1], frame_of(&t, t.frames[2]));
	free(rec);
	own_capture_close();
}

static const char *const bare[] = {
	"leaf_bare",	    "leaf_of_callback", "leaf_by_pointer",
	"leaf_behind_stub", "leaf_by_slot",	"leaf_returning",
};

/* The code of a leaf whose next instruction returns shows its caller. */
static uint8_t mark_of(const char *name)
{
	return strcmp(name, "leaf_returning") ? PROF_USER_GUESSED : 0;
}

/* What an earlier call left at the top of a frame, or a pointer into the code, is none of its callers. */
static const char *const framed[] = {
	"leaf_called_other", "leaf_called_before",    "leaf_called_any",
	"leaf_has_pointer",  "callback_called_other", "callback_called_before",
};
enum { BARE = sizeof(bare) / sizeof(bare[0]), FRAMED = sizeof(framed) / sizeof(framed[0]) };

Test(unwind_walk, without_rows_the_caller_of_a_frameless_leaf_is_found)
{
	size_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	for (i = 0; i < BARE; i++)
		check(bare[i], PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | mark_of(bare[i]));
	for (i = 0; i < BARE; i++)
		check_copy(bare[i], 0,
			   PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	own_capture_close();
}

Test(unwind_walk, without_rows_a_leaf_with_a_frame_gets_only_its_own_caller)
{
	size_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	/* a call through a register can have been a call of the leaf */
	for (i = 0; i < FRAMED; i++)
		check(framed[i],
		      PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS |
			      (strcmp(framed[i], "leaf_called_any") ? 0 : PROF_USER_GUESSED));
	for (i = 0; i < FRAMED; i++)
		check_copy(framed[i], 0,
			   PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	own_capture_close();
}

Test(unwind_walk, callers_without_a_frame_are_found_or_marked)
{
	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	check("bare_callers", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	check("bare_by_pointer", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	check("bare_far_call", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	check("bare_data_in_fp", PROF_END_NO_ROW);
	check("leaf_by_jump", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	own_capture_close();
}

Test(unwind_walk, caller_with_a_frame_is_certain)
{
	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	check("framed_caller", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS);
	own_capture_close();
}

Test(unwind_walk, frame_of_a_function_that_was_jumped_to_is_certain_without_return_addresses_below)
{
	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	check("framed_by_jump", PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS);
	check("framed_or_bare_by_jump",
	      PROF_END_NO_ROW | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	own_capture_close();
}

/* Of --call-graph fp: raw addresses, of callers where they return to. */
static void check_raw(const char *name, uint8_t end)
{
	static struct truth t;
	struct prof_rec *rec = walk(name, WITHOUT_LIST, &t);

	cr_expect_eq(rec->user_end, end, "%s ends as %#x", name, rec->user_end);
	cr_expect_eq(rec->ustack_cnt, t.frame_cnt, "%s: %u frames", name, rec->ustack_cnt);
	for (size_t i = 0; i < rec->ustack_cnt && i < t.frame_cnt; i++)
		cr_expect_eq(user_frames(rec)[i], t.frames[i] + (i > 0), "%s: frame %zu is %#lx",
			     name, i, user_frames(rec)[i]);
	free(rec);
}

Test(unwind_walk, frame_pointer_call_graph_finds_the_caller_of_a_frameless_leaf)
{
	size_t i;

	open_capture(PROF_CALL_GRAPH_FP, 0);
	for (i = 0; i < BARE; i++)
		check_raw(bare[i], PROF_END_UNCHECKED | mark_of(bare[i]));
	for (i = 0; i < FRAMED; i++)
		check_raw(framed[i], PROF_END_UNCHECKED);
	own_capture_close();
}

Test(unwind_walk, stack_deeper_than_the_limit_is_marked_full)
{
	static struct truth t;
	struct prof_rec *rec;
	uint32_t max, i;

	for (max = PROF_STACK_MAX; max > 2; max = max > 40 ? 40 : 2) {
		open_capture(PROF_CALL_GRAPH_AUTO, max);
		rec = walk("deep", WITH_TABLE, &t);
		cr_expect_eq(rec->ustack_cnt, max);
		cr_expect_eq(rec->user_end, PROF_END_FULL);
		cr_expect(rec->flags & PROF_REC_USTACK_CUT);
		for (i = 1; i < max; i++)
			cr_assert_eq(user_frames(rec)[i], frame_of(&t, t.frames[1]));
		free(rec);
		own_capture_close();
	}
	/* not another stack with as many frames */
	open_capture(PROF_CALL_GRAPH_AUTO, 10);
	check("frames", PROF_END_COMPLETE);
	own_capture_close();
}

Test(unwind_walk, circular_stack_ends_when_it_is_full)
{
	static struct truth t;
	struct prof_rec *rec;
	uint32_t i;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	rec = walk("forever", WITH_TABLE, &t);
	cr_expect_eq(rec->user_end, PROF_END_FULL | PROF_USER_SIGNAL);
	cr_assert_eq(rec->ustack_cnt, PROF_STACK_MAX);
	for (i = 0; i < PROF_STACK_MAX; i++)
		cr_assert_eq(user_frames(rec)[i], frame_of(&t, t.frames[0]));
	free(rec);
	own_capture_close();
}

Test(unwind_walk, without_a_list_or_a_copy_frame_pointers_are_followed_as_unchecked)
{
	static struct truth t;
	struct prof_rec *rec;

	open_capture(PROF_CALL_GRAPH_AUTO, 0);
	rec = walk("odd", WITHOUT_LIST, &t);
	cr_expect_eq(rec->user_end, PROF_END_NO_LIST);
	cr_expect_not(rec->flags & (PROF_REC_WALKED | PROF_REC_COPIED));
	/* as the CPU saw them */
	cr_expect_eq(user_frames(rec)[0], t.frames[0]);
	cr_expect_eq(user_frames(rec)[1], t.frames[1] + 1);
	free(rec);
	own_capture_close();
}

Test(unwind_walk, call_graph_fp_or_no_has_its_own_end_reason)
{
	static struct truth t;
	struct prof_rec *rec;

	open_capture(PROF_CALL_GRAPH_FP, 0);
	cr_expect_eq(unwind, NULL);
	rec = walk("jit", WITHOUT_LIST, &t);
	cr_expect_eq(rec->user_end, PROF_END_UNCHECKED);
	cr_expect_eq(user_frames(rec)[1], t.frames[2] + 1);
	free(rec);
	own_capture_close();
	open_capture(PROF_CALL_GRAPH_NO, 0);
	rec = walk("jit", WITHOUT_LIST, &t);
	cr_expect_eq(rec->user_end, PROF_END_NOT_WALKED);
	cr_expect_eq(rec->ustack_cnt, 1);
	cr_expect_eq(user_frames(rec)[0], t.frames[0]);
	free(rec);
	own_capture_close();
}
