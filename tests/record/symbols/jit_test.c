// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=sym_client_add_module,--wrap=sym_client_ask,--wrap=sym_client_asking */
/* LINK: -Wl,--wrap=sym_client_drop */
/*
 * Which generated code waits for symbols, and which programs get entries for that. The broker is a list of
 * requests; the linker replaces the functions that send them.
 */
#include "record/symbols/jit.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "prof_events.h"
#include "record/process/tasks.h"
#include "symbol/broker/sym_client.h"

#define SECOND 1000000000ULL
#define NO_SUCH_PID 5000000u /* above every pid_max */
#define FRAME(module, offset) ((uint64_t)(module) << 40 | (offset))

/* ---- the broker ----------------------------------------------------------------------------------- */

enum { MODULES_MAX = 1000 };

struct sym_client {
	uint32_t ids[MODULES_MAX];
	pid_t pids[MODULES_MAX];
	char path[64]; /* of the last module */
	size_t module_cnt;
	size_t asked; /* since the last check */
	uint32_t asked_id; /* the last */
	uint64_t asked_offset;
	bool asking; /* questions are open */
	size_t dropped;
};

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t module_id,
				 const struct sym_client_module *module);
bool __wrap_sym_client_ask(struct sym_client *b, uint32_t module_id, uint64_t offset);
bool __wrap_sym_client_asking(const struct sym_client *b, uint32_t module_id);
bool __wrap_sym_client_drop(struct sym_client *b, uint32_t module_id, sym_client_take_fn fn,
			    void *ctx);

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t module_id,
				 const struct sym_client_module *module)
{
	size_t i;

	cr_assert_lt(b->module_cnt, MODULES_MAX);
	for (i = 0; i < b->module_cnt; i++)
		cr_assert_neq(b->ids[i], module_id, "an id for each");
	cr_expect_eq(module->kind, SYM_CLIENT_PERFMAP);
	b->ids[b->module_cnt] = module_id;
	b->pids[b->module_cnt++] = module->pid;
	snprintf(b->path, sizeof(b->path), "%s", module->path);
	return 0;
}

bool __wrap_sym_client_ask(struct sym_client *b, uint32_t module_id, uint64_t offset)
{
	b->asked++;
	b->asked_id = module_id;
	b->asked_offset = offset;
	return true;
}

bool __wrap_sym_client_asking(const struct sym_client *b, uint32_t module_id)
{
	return b->asking;
}

bool __wrap_sym_client_drop(struct sym_client *b, uint32_t module_id, sym_client_take_fn fn,
			    void *ctx)
{
	const struct sym_client_answer last = {
		.kind = SYM_CLIENT_STATUS,
		.module_id = module_id,
		.status = SYM_CLIENT_GONE,
	};

	if (b->asking)
		return false;
	fn(ctx, &last);
	b->dropped++;
	return true;
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static struct sym_client broker;
static struct jit *jit;

static void setup(void)
{
	broker = (struct sym_client){ .module_cnt = 0 };
	jit = jit_new(&broker);
}

static void teardown(void)
{
	jit_free(jit);
}

TestSuite(jit, .init = setup, .fini = teardown, .timeout = 60);

static void request(uint32_t pid, uint64_t addr, uint64_t frame)
{
	struct process proc = { .pid = pid, .serial = 1000 + pid, .owner = 1 + pid };

	jit_ask(jit, &proc, addr, frame);
}

static size_t questions(void)
{
	size_t n = broker.asked;

	broker.asked = 0;
	return n;
}

/* An answer about the program with this index, in the order of appearance. */
static struct sym_client_answer answer(size_t program, uint64_t addr)
{
	return (struct sym_client_answer){ .module_id = broker.ids[program], .offset = addr };
}

static uint64_t name(size_t program, uint64_t addr)
{
	const struct sym_client_answer a = answer(program, addr);
	uint64_t frame;

	cr_expect(jit_is_answer(&a));
	return jit_receive_name(jit, &a, &frame) ? frame : 0;
}

Test(jit, program_is_requested_by_its_perf_map_and_addresses)
{
	request(77, 0x1234, FRAME(5, 0x34));
	cr_expect_eq(broker.module_cnt, 1);
	cr_expect_eq(broker.pids[0], 77);
	cr_expect_str_eq(broker.path, "/tmp/perf-77.map");
	cr_expect_eq(broker.asked_id, broker.ids[0]);
	cr_expect_eq(broker.asked_offset, 0x1234);
	request(77, 0x5678, FRAME(6, 0x78));
	cr_expect_eq(broker.module_cnt, 1, "one map for all of its mappings");
	cr_expect_eq(questions(), 2);
	request(78, 0x1234, FRAME(7, 0x34));
	cr_expect_eq(broker.module_cnt, 2);
	cr_expect_eq(broker.asked_id, broker.ids[1]);
}

Test(jit, symbol_is_returned_for_one_frame_once)
{
	struct sym_client_answer unknown;
	uint64_t frame;

	request(77, 0x1234, FRAME(5, 0x34));
	request(78, 0x1234, FRAME(7, 0x99));
	cr_expect_eq(name(1, 0x1234), FRAME(7, 0x99));
	cr_expect_eq(name(0, 0x9999), 0, "never asked");
	cr_expect_eq(name(0, 0x1234), FRAME(5, 0x34));
	cr_expect_eq(name(0, 0x1234), 0);
	unknown = answer(0, 0x1234);
	unknown.module_id += 2;
	cr_expect_not(jit_receive_name(jit, &unknown, &frame), "no such program");
	unknown.module_id = PROF_FRAME_MODULE_MAX;
	cr_expect_not(jit_is_answer(&unknown), "that is a module of the trace");
}

struct modules {
	uint32_t ids[8];
	size_t cnt;
};

static void note(void *ctx, uint32_t module_id, const struct sym_client_answer *a)
{
	struct modules *m = ctx;

	cr_assert_lt(m->cnt, 8);
	cr_expect_eq(a->offset, 1);
	m->ids[m->cnt++] = module_id;
}

Test(jit, status_of_a_perf_map_belongs_to_all_its_modules)
{
	struct sym_client_answer a;
	struct modules m = { .cnt = 0 };

	request(77, 0x1000, FRAME(5, 1));
	request(77, 0x2000, FRAME(PROF_FRAME_MODULE_MAX, 1));
	request(77, 0x1001, FRAME(5, 2));
	request(78, 0x1000, FRAME(7, 1));
	a = answer(0, 1);
	jit_each_module(jit, &a, note, &m);
	cr_expect_eq(m.cnt, 2);
	cr_expect_eq(m.ids[0], 5);
	cr_expect_eq(m.ids[1], PROF_FRAME_MODULE_MAX);
	a.module_id += 2;
	jit_each_module(jit, &a, note, &m);
	cr_expect_eq(m.cnt, 2, "no such program");
}

/* A program without a perf map, or without a symbol in it, is requested after 1, 2, 4, 8 and 16 seconds. */
Test(jit, unresolved_address_is_requested_again_at_longer_intervals)
{
	static const unsigned int waits[] = { 2, 4, 8, 16 };
	uint64_t now;
	size_t i;

	request(77, 0x1000, FRAME(5, 1));
	request(77, 0x2000, FRAME(5, 2));
	name(0, 0x1000);
	jit_ask_again(jit, clock_mono_ns() - SECOND, false);
	cr_expect_eq(questions(), 2, "it is too early");
	now = clock_mono_ns() + SECOND;
	jit_ask_again(jit, now, false);
	cr_expect_eq(questions(), 1, "of what has no name");
	cr_expect_eq(broker.asked_offset, 0x2000);
	now += SECOND;
	jit_ask_again(jit, now - 1, false);
	cr_expect_eq(questions(), 0);
	jit_ask_again(jit, now, false);
	cr_expect_eq(questions(), 1, "a second later, since there was a name");
	for (i = 0; i < 4; i++) {
		now += waits[i] * SECOND;
		jit_ask_again(jit, now - 1, false);
		cr_expect_eq(questions(), 0, "%zu", i);
		jit_ask_again(jit, now, false);
		cr_expect_eq(questions(), 1, "%zu", i);
	}
	jit_ask_again(jit, now, true);
	cr_expect_eq(questions(), 1, "at the end, whenever that is");
}

Test(jit, each_program_has_its_own_retry_time)
{
	uint64_t now;

	request(77, 0x1000, FRAME(5, 1));
	now = clock_mono_ns() + SECOND;
	jit_ask_again(jit, now, false); /* again after two seconds */
	while (clock_mono_ns() <= now - SECOND)
		;
	request(78, 0x2000, FRAME(6, 1)); /* again after one */
	questions();
	jit_ask_again(jit, now + SECOND, false);
	cr_expect_eq(questions(), 1);
	cr_expect_eq(broker.asked_id, broker.ids[1]);
	jit_ask_again(jit, now + 2 * SECOND, false);
	cr_expect_eq(questions(), 1);
	cr_expect_eq(broker.asked_id, broker.ids[0]);
}

Test(jit, pending_request_is_not_repeated)
{
	request(77, 0x1000, FRAME(5, 1));
	broker.asking = true;
	questions();
	jit_ask_again(jit, clock_mono_ns() + SECOND, false);
	cr_expect_eq(questions(), 0);
	broker.asking = false;
	jit_ask_again(jit, clock_mono_ns() + 4 * SECOND, false);
	cr_expect_eq(questions(), 1);
}

Test(jit, pending_request_at_the_end_is_repeated_once)
{
	request(77, 0x1000, FRAME(5, 1));
	broker.asking = true;
	questions();
	jit_ask_again(jit, clock_mono_ns(), true);
	cr_expect_eq(questions(), 0);
	broker.asking = false;
	jit_ask_again(jit, clock_mono_ns(), false);
	cr_expect_eq(questions(), 1, "the answer may be older than the last lines");
	jit_ask_again(jit, clock_mono_ns(), false);
	cr_expect_eq(questions(), 0);
}

struct covered {
	uint64_t frames[4], starts[4];
	char names[64];
	size_t cnt;
};

static int cover(void *ctx, uint64_t frame, const struct sym_client_answer *a)
{
	struct covered *c = ctx;

	cr_assert_lt(c->cnt, 4);
	c->frames[c->cnt] = frame;
	c->starts[c->cnt++] = a->start;
	strncat(c->names, a->name, a->name_len);
	return 0;
}

static void name_range(uint64_t addr, uint64_t start, uint64_t size, const char *text)
{
	struct sym_client_answer a = answer(0, addr);
	uint64_t frame;

	a.start = start;
	a.size = size;
	a.name = text;
	a.name_len = strlen(text);
	cr_expect(jit_receive_name(jit, &a, &frame));
}

Test(jit, frames_inside_a_known_symbol_get_its_name_without_an_answer)
{
	struct covered c = { .cnt = 0 };

	request(77, 0x1010, FRAME(5, 0x10));
	request(77, 0x1050, FRAME(5, 0x50));
	request(77, 0x1100, FRAME(5, 0x100));
	request(77, 0x0fff, FRAME(4, 0xfff));
	request(78, 0x1050, FRAME(6, 0x50));
	cr_expect_eq(jit_name_covered(jit, cover, &c), 0);
	cr_expect_eq(c.cnt, 0);
	name_range(0x1010, 0x1000, 0x100, "made");
	cr_expect_eq(jit_name_covered(jit, cover, &c), 0);
	cr_expect_eq(c.cnt, 1, "another program has other code there");
	cr_expect_eq(c.frames[0], FRAME(5, 0x50));
	cr_expect_eq(c.starts[0], 0x1000);
	cr_expect_str_eq(c.names, "made");
	cr_expect_eq(jit_name_covered(jit, cover, &c), 0);
	cr_expect_eq(c.cnt, 1, "it has one now");
}

Test(jit, last_line_for_an_address_counts)
{
	struct covered c = { .cnt = 0 };

	request(77, 0x1010, FRAME(5, 0x10));
	request(77, 0x1020, FRAME(5, 0x20));
	request(77, 0x1030, FRAME(5, 0x30));
	name_range(0x1010, 0x1000, 0x100, "old");
	name_range(0x1020, 0x1000, 0x80, "new");
	cr_expect_eq(jit_name_covered(jit, cover, &c), 0);
	cr_expect_str_eq(c.names, "new");
}

Test(jit, programs_and_addresses_have_a_limit)
{
	uint32_t i;

	for (i = 0; i < 500; i++)
		request(i, 0x1000, FRAME(5, 1));
	cr_expect_eq(broker.module_cnt, 256);
	cr_expect_eq(questions(), 256);
	for (i = 1; i < 70000; i++)
		request(3, 0x1000 + i, FRAME(5, i));
	cr_expect_eq(questions(), 65535);
	request(4, 0x2000, FRAME(5, 1));
	cr_expect_eq(questions(), 1, "which is each program's own");
	jit_ask_again(jit, 0, true);
	cr_expect_eq(questions(), 65536 + 2 + 254);
}

Test(jit, no_request_is_made_without_a_broker)
{
	struct process proc = { .pid = 1, .serial = 1 };
	struct jit *none = jit_new(NULL);

	jit_ask(none, &proc, 0x1000, FRAME(5, 1));
	jit_ask_again(none, UINT64_MAX, true);
	jit_free(none);
	jit_free(NULL);
	cr_expect_eq(broker.module_cnt, 0);
}

/* ---- entries ----------------------------------------------------------------------------------------- */

enum { OF_ONE = 64, ALL = 256 };

static uint64_t serial, sweep_ns;
static size_t last_answers;

/* One frame of a new program. */
static bool meet(uint32_t pid, uint64_t owner)
{
	struct process proc = { .pid = pid, .serial = ++serial, .owner = owner };

	return jit_ask(jit, &proc, 0x1000, FRAME(serial, 0));
}

static void count_last_answers(void *ctx, uint32_t module_id, const struct sym_client_answer *a)
{
	cr_assert_eq(a->status, SYM_CLIENT_GONE);
	last_answers++;
}

static void sweep(void)
{
	sweep_ns += SECOND;
	jit_sweep(jit, sweep_ns, count_last_answers, NULL);
}

static size_t kept(void)
{
	return broker.module_cnt - broker.dropped;
}

/* A check whether a number is in use treats threads like processes. */
static pthread_barrier_t barrier;

static void *live(void *tid)
{
	*(pid_t *)tid = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void begin_lives(pid_t *tids, pthread_t *threads, size_t cnt)
{
	pthread_attr_t attr;
	size_t i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	pthread_barrier_init(&barrier, NULL, cnt + 1);
	for (i = 0; i < cnt; i++)
		cr_assert_eq(pthread_create(&threads[i], &attr, live, &tids[i]), 0);
	pthread_barrier_wait(&barrier);
	pthread_attr_destroy(&attr);
}

static void end_lives(const pthread_t *threads, size_t cnt)
{
	size_t i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
}

Test(jit, programs_of_ended_processes_are_removed)
{
	size_t i;

	for (i = 0; i < 3 * ALL; i++) {
		cr_assert(meet(NO_SUCH_PID + i, 1 + i % 8), "program %zu", i);
		sweep();
	}
	cr_expect_leq(kept(), OF_ONE);
	cr_expect_eq(last_answers, broker.dropped, "the last word of each that went");
	cr_expect_eq(questions(), 3 * ALL);
}

/* PIDs are reused, and a program that seemed to have ended may return. */
Test(jit, removed_program_is_new_when_it_is_met_again)
{
	struct process proc = { .pid = NO_SUCH_PID, .serial = 1, .owner = 7 };
	size_t i;

	for (i = 0; i < OF_ONE; i++)
		cr_assert(meet(NO_SUCH_PID + i, 7));
	sweep();
	cr_assert_eq(kept(), 0);
	cr_expect(jit_ask(jit, &proc, 0x1000, FRAME(5, 1)));
	cr_expect_eq(broker.module_cnt, OF_ONE + 1);
	cr_expect_eq(broker.asked_id, broker.ids[OF_ONE]);
	cr_expect_eq(name(OF_ONE, 0x1000), FRAME(5, 1));
}

Test(jit, one_owner_gets_a_share_and_others_the_rest)
{
	static pthread_t threads[ALL + 1];
	static pid_t tids[ALL + 1];
	size_t i;

	begin_lives(tids, threads, ALL + 1);
	for (i = 0; i < OF_ONE; i++)
		cr_assert(meet(tids[i], 7));
	sweep();
	cr_expect_not(meet(tids[i], 7), "his share is used up");
	cr_expect(meet(tids[i], 8), "somebody else has his own");
	for (i++; i < ALL; i++)
		cr_assert(meet(tids[i], 100 + i));
	sweep();
	cr_expect_not(meet(tids[i], 9), "all live, and there is room for no more");
	cr_expect_eq(last_answers, 0);
	end_lives(threads, ALL + 1);
	while (!kill(tids[0], 0))
		sched_yield();
	sweep();
	cr_expect(meet(NO_SUCH_PID, 7), "those that ended are swept away");
}

Test(jit, pid_used_by_another_program_does_not_keep_a_program_alive)
{
	size_t i;

	for (i = 0; i < 10 * OF_ONE; i++) {
		cr_assert(meet(getpid(), 7), "%zu", i);
		sweep();
	}
	cr_expect_leq(kept(), OF_ONE);
}

Test(jit, program_with_a_pending_request_is_not_removed)
{
	size_t i;

	broker.asking = true;
	for (i = 0; i < OF_ONE; i++)
		cr_assert(meet(NO_SUCH_PID + i, 7));
	sweep();
	cr_expect_eq(kept(), OF_ONE);
	cr_expect_eq(name(OF_ONE - 1, 0x1000), FRAME(serial, 0));
	broker.asking = false;
	sweep();
	cr_expect_eq(kept(), 0);
	cr_expect_eq(name(0, 0x1000), 0, "what comes late is nobody's");
}
