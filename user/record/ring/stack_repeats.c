// SPDX-License-Identifier: BSD-2-Clause
/*
 * stack_repeats.c - puts back the frames that programs omit because they were sent before
 *
 * The programs' side is repeat.bpf.h. Each number has the frames of its last record. CPU, number and the times that
 * the number got new frames identify them, so that later stages need not compare them.
 */
#include "record/ring/stack_repeats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "prof_abi.h"
#include "prof_rec.h"

enum { REC_BYTES = sizeof(struct prof_rec) + PROF_STAGE_RAW_MAX + 8, VERSION_BITS = 40 };

#define ID(cpu, number, version)                                                                   \
	(((uint64_t)(cpu)*PROF_REPEATS_MAX + (number)) << VERSION_BITS | (version))

struct place {
	uint64_t cnt; /* 0: empty */
	uint64_t version; /* of the words, from 1 on */
	uint64_t words[PROF_REPEAT_WORDS];
};

/* Places that no stack had use no memory. */
struct stack_repeats {
	struct place places[PROF_REPEATS_MAX];
	struct stack_repeats_check check;
	uint32_t cpu;
	uint64_t rec[REC_BYTES / 8 + PROF_REPEAT_WORDS + 1]; /* the last expanded record */
};

struct stack_repeats *stack_repeats_new(uint32_t cpu)
{
	struct stack_repeats *s = xcalloc(1, sizeof(*s));

	s->cpu = cpu;
	return s;
}

void stack_repeats_free(struct stack_repeats *s)
{
	free(s);
}

static size_t stack_words(const struct prof_rec *rec)
{
	return (size_t)rec->kstack_cnt + rec->ustack_cnt;
}

static uint64_t number_of(const struct prof_rec *rec)
{
	uint64_t number;

	memcpy(&number, (const uint8_t *)rec + rec->size - sizeof(number), sizeof(number));
	return number;
}

size_t stack_repeats_size(const struct prof_rec *rec)
{
	const size_t head = prof_rec_stack_offset(rec), words = stack_words(rec);
	uint64_t number;

	if (rec->size < head + sizeof(number) || rec->size % 8 || head > REC_BYTES ||
	    words > PROF_REPEAT_WORDS)
		return SIZE_MAX;
	number = number_of(rec);
	if ((number & PROF_REPEAT_NUMBER) >= PROF_REPEATS_MAX)
		return SIZE_MAX;
	return head + sizeof(number) + (number & PROF_REPEAT_OMITTED ? 0 : 8 * words);
}

static void store(struct place *p, const uint64_t *words, size_t cnt)
{
	memcpy(p->words, words, cnt * sizeof(*words));
	p->cnt = cnt;
	p->version++;
}

static bool holds(const struct place *p, const uint64_t *words, size_t cnt)
{
	return p->cnt == cnt && !memcmp(p->words, words, cnt * sizeof(*words));
}

const struct prof_rec *stack_repeats_expand(struct stack_repeats *s, const struct prof_rec *rec)
{
	struct prof_rec *out = (struct prof_rec *)s->rec;
	const size_t head = prof_rec_stack_offset(rec), words = stack_words(rec);
	const uint64_t number = number_of(rec);
	const uint64_t *frames = prof_rec_frames(rec);
	struct place *p = &s->places[number & PROF_REPEAT_NUMBER];

	memcpy(out, rec, head);
	if (number & PROF_REPEAT_OMITTED) {
		if (p->cnt != words) {
			prof_rec_drop_stacks(out);
			return out;
		}
		frames = p->words;
	} else {
		if (number & PROF_REPEAT_SAME && p->cnt) {
			s->check.compared++;
			s->check.differing += !holds(p, frames, words);
		}
		store(p, frames, words);
	}
	memcpy(s->rec + head / 8, frames, 8 * words);
	s->rec[head / 8 + words] = ID(s->cpu, number & PROF_REPEAT_NUMBER, p->version);
	out->size = head + 8 * (words + 1);
	return out;
}

void stack_repeats_forget(struct stack_repeats *s)
{
	size_t i;

	for (i = 0; i < PROF_REPEATS_MAX; i++)
		if (s->places[i].cnt)
			s->places[i].cnt = 0;
}

void stack_repeats_count(const struct stack_repeats *s, struct stack_repeats_check *sum)
{
	sum->compared += s->check.compared;
	sum->differing += s->check.differing;
}
