// SPDX-License-Identifier: BSD-2-Clause
/*
 * Causes of the time of spans, in a trace that the test makes. In us: victim (11) runs from 0, blocks in one
 * stack after the other from 100 on for 100 each with 10 of running in between, and is runnable while hog (20)
 * runs.
 */
#include "profile/explain/causes.h"

#include <criterion/criterion.h>

#include "base/buf.h"
#include "tests/support/read_trace.h"

TestSuite(causes, .timeout = 60);

#define KERNEL(off) (make_frame(9, off) | PROF_FRAME_KERNEL)

struct fixture {
	struct reader *r;
	struct intervals *iv;
	struct explain e;
	struct causes c;
};

static void add_interval(void *ctx, const struct interval *i)
{
	struct fixture *f = ctx;

	explain_add(&f->e, f->iv, i);
}

static void read_all(struct fixture *f, struct make *m)
{
	struct trace_event ev;

	f->r = read_trace(make_done(m));
	f->iv = intervals_new(&(struct intervals_opts){ reader_names(f->r), add_interval, f });
	while (reader_next(f->r, &ev) == 1)
		intervals_add(f->iv, reader_trace(f->r), &ev);
	intervals_finish(f->iv);
	explain_finish(&f->e, reader_names(f->r));
}

/* A span of a thread. */
static void add(struct fixture *f, uint32_t tid, uint64_t from_us, uint64_t to_us)
{
	causes_add(&f->c, &f->e, f->iv, reader_names(f->r), 0, tid, from_us * 1000, to_us * 1000);
}

static void done(struct fixture *f)
{
	causes_fini(&f->c);
	explain_fini(&f->e);
	intervals_free(f->iv);
	reader_free(f->r);
}

static void name_all(struct make *m)
{
	static const struct {
		uint64_t off;
		const char *name;
	} kernel[] = { { 0x100, "__schedule" },
		       { 0x200, "io_schedule" },
		       { 0x300, "folio_wait_bit" },
		       { 0x400, "asm_exc_page_fault" } },
	  user[] = { { 0x500, "__futex_wait" },
		     { 0x100, "__lll_lock_wait" },
		     { 0x200, "pthread_mutex_lock" },
		     { 0x300, "touch" },
		     { 0x400, "main" } };

	make_module(m, 1, 1, "/opt/app", PROF_MODULE_ELF);
	make_module(m, 1, 9, "[kernel]", PROF_MODULE_ELF);
	for (size_t k = 0; k < sizeof(kernel) / sizeof(kernel[0]); k++)
		make_symbol(m, 1, KERNEL(kernel[k].off), 0, 0, kernel[k].name, "", 0);
	for (size_t k = 0; k < sizeof(user) / sizeof(user[0]); k++)
		make_symbol(m, 1, make_frame(1, user[k].off), 0, 0, user[k].name, "", 0);
	make_symbol(m, 1, make_frame(1, 0x100), 1, 0, "futex_wait", "", 0);
}

static void blocks(struct make *m, uint64_t us, const uint64_t *stack, size_t cnt)
{
	make_switch(m, us * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	if (cnt)
		make_sample(m, us * 1000, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, stack, cnt);
	make_waking(m, (us + 100) * 1000, 0, 0, "victim", 11);
	make_switch(m, (us + 100) * 1000, 0, "swapper/0", 0, 0, "victim", 11);
}

static const char *function_of(const struct fixture *f, const struct cause *c)
{
	return c->function == NAMES_NONE ? "" : names_str(reader_names(f->r), c->function, NULL);
}

static void is(const struct fixture *f, size_t k, enum cause_kind kind, const char *function,
	       uint64_t us)
{
	const struct cause *row = &f->c.v[k];

	cr_assert_lt(k, f->c.cnt);
	cr_expect_eq(row->kind, kind, "%zu is of kind %d", k, row->kind);
	cr_expect_str_eq(function_of(f, row), function);
	cr_expect_eq(row->ns, us * 1000, "%zu took %llu", k, (unsigned long long)row->ns);
}

/* The most specific function: the program's before the kernel's, without underscores before with. */
Test(causes, blocked_times_are_grouped_by_function)
{
	const uint64_t lock[] = { KERNEL(0x100), KERNEL(0x200), make_frame(1, 0x100),
				  make_frame(1, 0x200), make_frame(1, 0x400) },
		       fault[] = { KERNEL(0x100), KERNEL(0x400), make_frame(1, 0x300) },
		       kernel[] = { KERNEL(0x100), KERNEL(0x200), KERNEL(0x300) },
		       nameless[] = { make_frame(1, 0x900) },
		       low[] = { make_frame(1, 0x500), make_frame(1, 0x100) };
	struct fixture f = { 0 };
	unsigned int found = 0;
	struct make m;

	make_init(&m, NULL);
	name_all(&m);
	make_switch(&m, 0, 0, "swapper/0", 0, 0, "victim", 11);
	blocks(&m, 100, lock, 5);
	blocks(&m, 300, lock, 5);
	blocks(&m, 410, fault, 3);
	blocks(&m, 520, kernel, 3);
	blocks(&m, 630, nameless, 1);
	blocks(&m, 740, low, 2);
	make_switch(&m, 845 * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	read_all(&f, &m);
	add(&f, 11, 100, 400);
	add(&f, 11, 400, 845);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 6);
	is(&f, 0, CAUSE_BLOCKED, "pthread_mutex_lock", 200);
	is(&f, 1, CAUSE_RAN, "", 145);
	cr_expect_eq(f.c.v[0].ranges, 1);
	cr_expect_eq(f.c.v[1].ranges, 2);
	/* of equal time: in any order */
	for (size_t k = 2; k < 6; k++) {
		const char *name = function_of(&f, &f.c.v[k]);

		cr_expect_eq(f.c.v[k].ns, 100 * 1000);
		cr_expect_eq(f.c.v[k].fault, !strcmp(name, "touch"), "of %s", name);
		found |= !strcmp(name, "touch")		 ? 1 :
			 !strcmp(name, "folio_wait_bit") ? 2 :
			 !strcmp(name, "__futex_wait")	 ? 4 :
			 !*name				 ? 8 :
							   0;
	}
	cr_expect_eq(found, 1 | 2 | 4 | 8);
	cr_expect_eq(f.c.ns, 745 * 1000);
	cr_expect_eq(f.c.ranges, 2);
	done(&f);
}

static const char *under_of(const struct fixture *f, const struct cause *c)
{
	return c->under == NAMES_NONE ? "" : names_str(reader_names(f->r), c->under, NULL);
}

/* A function of another file with a specific name: not a wrapper, neither of the same library nor of Rust's. */
Test(causes, blocked_time_in_a_library_is_grouped_by_its_caller)
{
	enum { LIBC = 2, APP = 1 };
	const uint64_t write_log[] = { make_frame(LIBC, 0x10), make_frame(LIBC, 0x20),
				       make_frame(APP, 0x10), make_frame(APP, 0x20),
				       make_frame(APP, 0x30) },
		       sync[] = { make_frame(LIBC, 0x10), make_frame(APP, 0x40) },
		       own[] = { make_frame(APP, 0x30), make_frame(LIBC, 0x20),
				 make_frame(3, 0x10) },
		       begun[] = { make_frame(LIBC, 0x10), make_frame(4, 0x10) };
	struct fixture f = { 0 };
	struct buf got = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 1, APP, "/opt/app", PROF_MODULE_ELF);
	make_module(&m, 1, LIBC, "/lib/libc.so.6", PROF_MODULE_ELF);
	make_symbol(&m, 1, make_frame(LIBC, 0x10), 0, 0, "fsync", "", 0);
	make_symbol(&m, 1, make_frame(LIBC, 0x20), 0, 0, "__libc_start_main", "", 0);
	make_symbol(&m, 1, make_frame(APP, 0x10), 0, 0, "<std::fs::File>::sync_all", "", 0);
	make_symbol(&m, 1, make_frame(APP, 0x20), 0, 0, "_ZN3log", "", 0);
	make_symbol(&m, 1, make_frame(APP, 0x30), 0, 0, "write_log", "", 0);
	make_symbol(&m, 1, make_frame(APP, 0x40), 0, 0, "sync", "", 0);
	make_module(&m, 1, 3, "/lib/loop.so", PROF_MODULE_ELF);
	make_symbol(&m, 1, make_frame(3, 0x10), 0, 0, "run_loop", "", 0);
	make_module(&m, 1, 4, "/lib/libpthread.so.0", PROF_MODULE_ELF);
	make_symbol(&m, 1, make_frame(4, 0x10), 0, 0, "start_thread", "", 0);
	make_switch(&m, 0, 0, "swapper/0", 0, 0, "victim", 11);
	blocks(&m, 100, write_log, 5);
	blocks(&m, 300, sync, 2);
	blocks(&m, 450, own, 3);
	blocks(&m, 600, begun, 2);
	make_switch(&m, 710 * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	read_all(&f, &m);
	add(&f, 11, 100, 390);
	add(&f, 11, 450, 520);
	add(&f, 11, 620, 700);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 5);
	for (size_t k = 0; k < 5; k++)
		buf_printf(&got, "%s<%s %d\n", function_of(&f, &f.c.v[k]), under_of(&f, &f.c.v[k]),
			   (int)(f.c.v[k].ns / 1000));
	cr_expect(strstr(buf_cstr(&got), "fsync<write_log 100\n"), "%s", buf_cstr(&got));
	cr_expect(strstr(buf_cstr(&got), "fsync<sync 90\n"), "%s", buf_cstr(&got));
	cr_expect(strstr(buf_cstr(&got), "\nfsync< 80\n"), "of a library alone: %s",
		  buf_cstr(&got));
	cr_expect(strstr(buf_cstr(&got), "\nwrite_log< 70\n"), "of no library: %s", buf_cstr(&got));
	buf_free(&got);
	done(&f);
}

/* Each span belongs to the cause with the largest total, not with the longest interval. */
Test(causes, span_is_classified_by_its_largest_cause)
{
	const uint64_t touch[] = { make_frame(1, 0x300) };
	struct fixture f = { 0 };
	struct make m;

	make_init(&m, NULL);
	name_all(&m);
	make_switch(&m, 1000 * 1000, 0, "swapper/0", 0, 0, "victim", 11);
	blocks(&m, 1060, touch, 1);
	blocks(&m, 1220, touch, 1);
	make_switch(&m, 2000 * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	read_all(&f, &m);
	/* ran 60, blocked 100, ran 60, ... blocked 10 */
	add(&f, 11, 1000, 1220);
	add(&f, 11, 1060, 1320);
	add(&f, 11, 1310, 1360);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 2);
	is(&f, 0, CAUSE_BLOCKED, "touch", 100 + 200 + 10);
	is(&f, 1, CAUSE_RAN, "", 120 + 60 + 40);
	cr_expect_eq(f.c.v[0].mostly, 1);
	cr_expect_eq(f.c.v[1].mostly, 2);
	done(&f);
}

/* Run-queue latency by who ran during that time, and time missing in the trace: all of it adds up. */
Test(causes, run_queue_latency_is_grouped_by_who_ran_and_adds_up)
{
	struct fixture f = { 0 };
	uint64_t sum = 0;
	struct make m;

	make_init(&m, NULL);
	name_all(&m);
	make_switch(&m, 100 * 1000, 0, "swapper/0", 0, 0, "victim", 11);
	make_switch(&m, 200 * 1000, 0, "victim", 11, 0x100, "hog", 20);
	make_switch(&m, 250 * 1000, 0, "hog", 20, 1, "pig", 21);
	make_switch(&m, 280 * 1000, 0, "pig", 21, 1, "victim", 11);
	make_switch(&m, 300 * 1000, 0, "victim", 11, 0x100, "pig", 21);
	make_switch(&m, 315 * 1000, 0, "pig", 21, 1, "victim", 11);
	make_switch(&m, 320 * 1000, 0, "victim", 11, 0x10, "swapper/0", 0);
	make_switch(&m, 500 * 1000, 0, "swapper/0", 0, 0, "pig", 21);
	read_all(&f, &m);
	add(&f, 11, 150, 400);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 4);
	is(&f, 0, CAUSE_ABSENT, "", 80);
	is(&f, 1, CAUSE_RAN, "", 50 + 20 + 5);
	is(&f, 2, CAUSE_RUNNABLE, "", 50);
	cr_expect_eq(f.c.v[2].tid, 20);
	/* also where it was short */
	is(&f, 3, CAUSE_RUNNABLE, "", 30 + 15);
	cr_expect_eq(f.c.v[3].tid, 21);
	for (size_t k = 0; k < f.c.cnt; k++)
		sum += f.c.v[k].ns;
	cr_expect_eq(sum, 250 * 1000);
	cr_expect_eq(f.c.ns, 250 * 1000);
	done(&f);
}

/*
 * From 100 on, victim is runnable while this many threads run, the first for the longest time, and then an
 * unknown thread.
 */
static void make_preemptors(struct make *m, uint32_t cnt)
{
	uint64_t us = 100;

	make_switch(m, us * 1000, 0, "victim", 11, 0x100, "hog", 100);
	for (uint32_t k = 0; k < cnt; k++) {
		us += cnt - k;
		make_switch(m, us * 1000, 0, "hog", 100 + k, 1, "hog", 100 + k + 1);
	}
	us += 7;
	/* not the thread that came last */
	make_switch(m, us * 1000, 0, "pig", 21, 1, "victim", 11);
	make_switch(m, (us + 10) * 1000, 0, "victim", 11, 1, "swapper/0", 0);
}

Test(causes, every_thread_that_ran_instead_has_a_row)
{
	struct fixture f = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_preemptors(&m, 9);
	read_all(&f, &m);
	add(&f, 11, 100, 100 + 45 + 7);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 10);
	for (uint32_t k = 0, row = 0; k < 9; k++, row++) {
		if (f.c.v[row].tid == TRACE_NONE)
			row++;
		is(&f, row, CAUSE_RUNNABLE, "", 9 - k);
		cr_expect_eq(f.c.v[row].tid, 100 + k);
	}
	cr_assert_eq(f.c.v[2].ns + f.c.v[3].ns, 2 * 7 * 1000);
	cr_expect_eq(f.c.v[2].tid == TRACE_NONE || f.c.v[3].tid == TRACE_NONE, true);
	done(&f);
}

/* A thread that does not fit into the list of one interval is still not unknown. */
Test(causes, threads_above_the_limit_are_summed_up_as_others)
{
	struct fixture f = { 0 };
	uint64_t named = 0, other = 0, unknown = 0;
	struct make m;

	make_init(&m, NULL);
	make_preemptors(&m, 70);
	read_all(&f, &m);
	add(&f, 11, 100, 100 + 70 * 71 / 2 + 7);
	causes_finish(&f.c);
	for (size_t k = 0; k < f.c.cnt; k++) {
		if (f.c.v[k].kind == CAUSE_OTHERS)
			other += f.c.v[k].ns;
		else if (f.c.v[k].tid == TRACE_NONE)
			unknown += f.c.v[k].ns;
		else
			named += f.c.v[k].ns;
	}
	cr_expect_eq(unknown, 7 * 1000);
	cr_expect_gt(other, 0);
	cr_expect_eq(named + other, 70 * 71 / 2 * 1000);
	cr_expect_eq(f.c.cnt, 64 + 2);
	done(&f);
}

/* Other switches of the CPU are not recorded: its own switches name the next task and the one before its return. */
Test(causes, unknown_preemptor_is_grouped_by_the_threads_own_switches)
{
	struct fixture f = { 0 };
	struct make m;
	uint64_t t = 100;

	make_init(&m, NULL);
	for (int k = 0; k < 4; k++, t += 100) {
		make_switch(&m, t * 1000, 0, k ? "pig" : "swapper/0", k ? 21 : 0, k ? 1 : 0,
			    "victim", 11);
		make_switch(&m, (t + 40) * 1000, 0, "victim", 11, 0x100, k == 1 ? "cat" : "hog",
			    k == 1 ? 22 : 20);
	}
	make_switch(&m, t * 1000, 0, "dog", 23, 1, "victim", 11);
	read_all(&f, &m);
	add(&f, 11, 100, t);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 4);
	is(&f, 0, CAUSE_RAN, "", 4 * 40);
	is(&f, 1, CAUSE_RUNNABLE, "", 2 * 60);
	cr_expect_eq(f.c.v[1].tid, TRACE_NONE);
	cr_expect_eq(f.c.v[1].own.replaced_by, 20);
	cr_expect_eq(f.c.v[1].own.ran_before_return, 21);
	is(&f, 2, CAUSE_RUNNABLE, "", 60);
	cr_expect_eq(f.c.v[2].own.replaced_by, 20);
	cr_expect_eq(f.c.v[2].own.ran_before_return, 23);
	is(&f, 3, CAUSE_RUNNABLE, "", 60);
	cr_expect_eq(f.c.v[3].own.replaced_by, 22);
	cr_expect_eq(f.c.v[3].own.ran_before_return, 21);
	done(&f);
}

/* A thread with lost switches, and a thread that is not in the trace. */
Test(causes, unknown_time_is_reported)
{
	struct fixture f = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 100 * 1000, 0, "swapper/0", 0, 0, "victim", 11);
	make_lost(&m, 200 * 1000, "ring_full", 1, 150 * 1000, 160 * 1000);
	make_switch(&m, 300 * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	read_all(&f, &m);
	add(&f, 11, 100, 300);
	add(&f, 99, 100, 200);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 2);
	is(&f, 0, CAUSE_UNKNOWN, "", 200);
	is(&f, 1, CAUSE_ABSENT, "", 100);
	done(&f);
}

/* It was on an excluded CPU, and came from there. */
Test(causes, time_on_excluded_cpus_is_separate_from_missing_time)
{
	static const char *const kv[] = { PROF_META_TARGET, "system", PROF_META_RECORDED_CPUS, "0",
					  NULL };
	struct fixture f = { 0 };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, 50 * 1000, kv);
	make_switch(&m, 100 * 1000, 0, "swapper/0", 0, 0, "other", 12);
	make_switch(&m, 200 * 1000, 0, "other", 12, 1, "victim", 11);
	make_switch(&m, 300 * 1000, 0, "victim", 11, 1, "swapper/0", 0);
	read_all(&f, &m);
	add(&f, 11, 100, 300);
	causes_finish(&f.c);
	cr_assert_eq(f.c.cnt, 2);
	is(&f, 0, CAUSE_RAN, "", 100);
	is(&f, 1, CAUSE_UNRECORDED, "", 100);
	done(&f);
}
