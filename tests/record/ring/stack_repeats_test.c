// SPDX-License-Identifier: BSD-2-Clause
/* Records whose frames were omitted, made as repeat.bpf.h makes them. */
#include <criterion/criterion.h>
#include <string.h>

#include "prof_abi.h"
#include "prof_events.h"
#include "record/ring/stack_repeats.h"

enum { CPU = 1, RAW = 12, RAW_PADDED = 16, WORDS_MAX = 200 };

struct made {
	struct prof_rec rec;
	uint8_t raw[RAW_PADDED];
	uint64_t words[WORDS_MAX];
};

static struct made made;

/* A record with `kernel` + `user` frames that count up from `first`, and its number. */
static const struct prof_rec *make(uint64_t number, uint64_t first, uint16_t kernel, uint16_t user)
{
	size_t i, cnt = kernel + user;

	made = (struct made){
		.rec = { .kind = PROF_REC_TRACEPOINT,
			 .flags = PROF_REC_STACKS | PROF_REC_WALKED | PROF_REC_NUMBERED,
			 .ts = 7,
			 .raw_len = RAW,
			 .kstack_cnt = kernel,
			 .ustack_cnt = user,
			 .user_end = PROF_END_COMPLETE },
		.raw = "raw bytes",
	};
	if (number & PROF_REPEAT_OMITTED)
		cnt = 0;
	for (i = 0; i < cnt; i++)
		made.words[i] = first + i;
	made.words[cnt] = number;
	made.rec.size = sizeof(made.rec) + RAW_PADDED + 8 * (cnt + 1);
	return &made.rec;
}

static const uint64_t OMITTED = PROF_REPEAT_SAME | PROF_REPEAT_OMITTED;

static void expect_frames(const struct prof_rec *rec, uint64_t first, uint16_t kernel,
			  uint16_t user)
{
	const struct made *got = (const struct made *)rec;
	size_t i;

	cr_assert_eq(rec->flags, PROF_REC_STACKS | PROF_REC_WALKED | PROF_REC_NUMBERED);
	cr_assert_eq(rec->kstack_cnt, kernel);
	cr_assert_eq(rec->ustack_cnt, user);
	cr_assert_eq(rec->ts, 7);
	cr_assert_eq(rec->user_end, PROF_END_COMPLETE);
	cr_assert_str_eq((const char *)got->raw, "raw bytes");
	cr_assert_eq(rec->size, sizeof(*rec) + RAW_PADDED + 8 * (kernel + user + 1));
	for (i = 0; i < (size_t)kernel + user; i++)
		cr_assert_eq(got->words[i], first + i);
}

Test(stack_repeats, each_number_has_the_frames_of_its_last_record)
{
	struct stack_repeats *s = stack_repeats_new(CPU);

	expect_frames(stack_repeats_expand(s, make(3, 100, 2, 3)), 100, 2, 3);
	expect_frames(stack_repeats_expand(s, make(4, 200, 0, 64)), 200, 0, 64);
	expect_frames(stack_repeats_expand(s, make(3 | OMITTED, 0, 2, 3)), 100, 2, 3);
	expect_frames(stack_repeats_expand(s, make(4 | OMITTED, 0, 0, 64)), 200, 0, 64);
	expect_frames(stack_repeats_expand(s, make(3, 300, 100, 28)), 300, 100, 28);
	expect_frames(stack_repeats_expand(s, make(3 | OMITTED, 0, 100, 28)), 300, 100, 28);
	expect_frames(stack_repeats_expand(s, make(3, 400, 1, 2)), 400, 1, 2);
	expect_frames(stack_repeats_expand(s, make(3 | OMITTED, 0, 1, 2)), 400, 1, 2);
	stack_repeats_free(s);
}

static void expect_dropped(const struct prof_rec *rec)
{
	cr_expect_eq(rec->flags, PROF_REC_THINNED);
	cr_expect_eq(rec->kstack_cnt + rec->ustack_cnt, 0);
	cr_expect_eq(rec->size, sizeof(*rec) + RAW_PADDED);
	cr_expect_eq(rec->context, PROF_CONTEXT_TASK);
	cr_expect_str_eq((const char *)((const struct made *)rec)->raw, "raw bytes");
}

static uint64_t id_of(const struct prof_rec *rec)
{
	return ((const struct made *)rec)->words[rec->kstack_cnt + rec->ustack_cnt];
}

Test(stack_repeats, equal_ids_mean_equal_frames)
{
	struct stack_repeats *s = stack_repeats_new(CPU), *other = stack_repeats_new(CPU + 1);
	uint64_t first = id_of(stack_repeats_expand(s, make(3, 100, 2, 3))), next;

	cr_expect_eq(id_of(stack_repeats_expand(s, make(3 | OMITTED, 0, 2, 3))), first);
	cr_expect_neq(id_of(stack_repeats_expand(s, make(4, 100, 2, 3))), first);
	cr_expect_neq(id_of(stack_repeats_expand(other, make(3, 100, 2, 3))), first);
	next = id_of(stack_repeats_expand(s, make(3, 200, 2, 3)));
	cr_expect_neq(next, first);
	stack_repeats_forget(s);
	next = id_of(stack_repeats_expand(s, make(3, 300, 2, 3)));
	cr_expect_neq(next, first);
	cr_expect_neq(first, 0);
	stack_repeats_free(s);
	stack_repeats_free(other);
}

Test(stack_repeats, unknown_frames_are_dropped_not_guessed)
{
	struct stack_repeats *s = stack_repeats_new(CPU);

	expect_dropped(stack_repeats_expand(s, make(5 | OMITTED, 0, 2, 3)));
	stack_repeats_expand(s, make(5, 100, 2, 3));
	expect_dropped(stack_repeats_expand(s, make(5 | OMITTED, 0, 2, 4)));
	stack_repeats_forget(s);
	expect_dropped(stack_repeats_expand(s, make(5 | OMITTED, 0, 2, 3)));
	expect_frames(stack_repeats_expand(s, make(5, 100, 2, 3)), 100, 2, 3);
	stack_repeats_free(s);
}

Test(stack_repeats, frames_that_were_sent_anyway_are_compared)
{
	struct stack_repeats *s = stack_repeats_new(CPU);
	struct stack_repeats_check sum = { 0 };

	stack_repeats_expand(s, make(5, 100, 2, 3));
	stack_repeats_expand(s, make(5 | PROF_REPEAT_SAME, 100, 2, 3));
	stack_repeats_expand(s, make(5 | PROF_REPEAT_SAME, 101, 2, 3));
	stack_repeats_expand(s, make(6 | PROF_REPEAT_SAME, 101, 2, 3));
	stack_repeats_count(s, &sum);
	cr_expect_eq(sum.compared, 2, "there was none to compare with number 6");
	cr_expect_eq(sum.differing, 1);
	stack_repeats_free(s);
}

Test(stack_repeats, impossible_numbers_and_counts_have_no_size)
{
	struct prof_rec *rec = &made.rec;

	cr_expect_eq(stack_repeats_size(make(3, 0, 2, 3)), rec->size);
	cr_expect_eq(stack_repeats_size(make(3 | OMITTED, 0, 2, 3)), rec->size);
	cr_expect_eq(stack_repeats_size(make(PROF_REPEATS_MAX - 1, 0, 28, 100)), rec->size);
	cr_expect_eq(stack_repeats_size(make(PROF_REPEATS_MAX, 0, 2, 3)), SIZE_MAX);
	cr_expect_eq(stack_repeats_size(make(3 | OMITTED, 0, 29, 100)), SIZE_MAX);
	cr_expect_eq(stack_repeats_size(make(3 | OMITTED, 0, 65535, 65535)), SIZE_MAX);
	make(3, 0, 2, 3);
	rec->size -= 8;
	cr_expect_neq(stack_repeats_size(rec), rec->size);
	make(3, 0, 2, 3);
	rec->size -= 4;
	cr_expect_eq(stack_repeats_size(rec), SIZE_MAX);
	make(3 | OMITTED, 0, 2, 3);
	rec->raw_len = PROF_STAGE_RAW_MAX + 9;
	rec->size = 2048;
	cr_expect_eq(stack_repeats_size(rec), SIZE_MAX);
	make(3 | OMITTED, 0, 2, 3);
	rec->size = sizeof(*rec) + RAW_PADDED;
	cr_expect_eq(stack_repeats_size(rec), SIZE_MAX);
}
