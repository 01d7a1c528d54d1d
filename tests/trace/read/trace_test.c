// SPDX-License-Identifier: BSD-2-Clause
/* From dial9 bytes to events with threads, stacks and names. */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/buf.h"
#include "tests/support/make_trace.h"
#include "tests/support/read_bytes.h"
#include "trace/read/trace.h"

/* Opens the trace, learning names. */
struct fixture {
	struct make m;
	struct bytes bytes;
	struct names *names;
	struct trace *t;
};

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	make_init(&f->m, NULL);
}

static void open_trace(struct fixture *f)
{
	struct trace_opts opts = { .read = read_bytes, .ctx = &f->bytes, .learn = true };

	f->bytes.data = dial9_enc_data(f->m.enc, &f->bytes.sz);
	cr_assert_eq(names_new(&f->names), 0);
	opts.names = f->names;
	cr_assert_eq(trace_new(&opts, &f->t), 0);
}

static void finish(struct fixture *f)
{
	trace_free(f->t);
	names_free(f->names);
	make_fini(&f->m);
}

/* The next event of @kind. */
static void next(struct fixture *f, enum trace_kind kind, struct trace_event *ev)
{
	do {
		cr_assert_eq(trace_next(f->t, ev), 1);
	} while (ev->kind != kind);
}

static const char *comm(struct fixture *f, const struct trace_event *ev)
{
	return names_str(f->names, ev->comm, NULL);
}

Test(trace, events_have_thread_cpu_and_stack)
{
	const uint64_t frames[] = { make_frame(7, 0x1010), make_frame(7, 0x2020) };
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_module(&f.m, 5, 7, "/bin/thing", PROF_MODULE_ELF);
	make_task(&f.m, 6, 10, 11, "worker");
	make_sample(&f.m, 100, 10, 11, PROF_SOURCE_SAMPLE, 3, frames, 2);
	make_switch(&f.m, 200, 1, "worker", 11, 1, "swapper/1", 0);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &ev);
	cr_assert_eq(ev.ts, 100);
	cr_assert_eq(ev.pid, 10);
	cr_assert_eq(ev.tid, 11);
	cr_assert_eq(ev.cpu, 3);
	cr_assert_str_eq(comm(&f, &ev), "worker");
	cr_assert_eq(ev.frame_cnt, 2);
	cr_assert_eq(names_frame_addr(f.names, ev.frames[1]), frames[1]);
	cr_assert_str_eq(names_str(f.names,
				   names_module(f.names, names_frame_module(ev.frames[0]))->path,
				   NULL),
			 "/bin/thing");
	next(&f, TRACE_SCHED_SWITCH, &ev);
	cr_assert_eq(ev.tid, 11);
	cr_assert_eq(ev.pid, 10);
	cr_assert_eq(ev.cpu, 1);
	cr_assert_eq(trace_next(f.t, &ev), 0);
	finish(&f);
}

Test(trace, last_task_event_before_an_event_names_its_thread)
{
	const uint64_t frame = 0x1000;
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_task(&f.m, 1, 5, 5, "sh");
	make_sample(&f.m, 10, 5, 5, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	make_task(&f.m, 20, 5, 5, "ls");
	make_sample(&f.m, 30, 5, 5, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &ev);
	cr_assert_str_eq(comm(&f, &ev), "sh");
	next(&f, TRACE_SAMPLE, &ev);
	cr_assert_str_eq(comm(&f, &ev), "ls");
	finish(&f);
}

Test(trace, switch_names_unannounced_threads)
{
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_switch(&f.m, 10, 0, "known", 5, 0, "stranger", 99);
	make_waking(&f.m, 20, 0, 99, "known", 5);
	open_trace(&f);
	next(&f, TRACE_SCHED_WAKING, &ev);
	cr_assert_str_eq(comm(&f, &ev), "stranger");
	cr_assert_eq(ev.pid, TRACE_NONE);
	finish(&f);
}

Test(trace, last_symbol_for_an_address_and_depth_wins)
{
	const struct names_symbol *sym;
	struct trace_event ev;
	struct fixture f;
	uint64_t at = make_frame(7, 0x1010);

	begin(&f);
	make_module(&f.m, 5, 7, "/bin/thing", PROF_MODULE_ELF);
	make_symbol(&f.m, 6, at, 0, make_frame(7, 0x1000), "outer", "", 0);
	make_symbol(&f.m, 7, at, 1, make_frame(7, 0x1000), "inner", "a.c", 9);
	make_symbol(&f.m, 8, at, 0, make_frame(7, 0x1000), "outer", "a.c", 20);
	make_sample(&f.m, 9, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &ev);
	sym = names_symbol(f.names, ev.frames[0]);
	cr_assert_not_null(sym);
	cr_assert_eq(sym->cnt, 2);
	cr_assert_str_eq(names_str(f.names, sym->frames[0].name, NULL), "outer");
	cr_assert_eq(sym->frames[0].line, 20);
	cr_assert_str_eq(names_str(f.names, sym->frames[1].name, NULL), "inner");
	cr_assert_eq(ev.frames[0] - sym->frames[0].base, 0x10);
	finish(&f);
}

/* Two recordings in one file both have a module 1, and they are not the same. */
Test(trace, module_ids_are_valid_only_in_their_segment)
{
	struct trace_event a, b, c;
	struct fixture f;
	uint64_t at = make_frame(1, 0x10), fa, fb;

	begin(&f);
	make_module(&f.m, 1, 1, "/bin/first", PROF_MODULE_ELF);
	make_symbol(&f.m, 1, at, 0, at, "of_first", "", 0);
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	dial9_enc_reset(f.m.enc);
	make_module(&f.m, 1, 1, "/bin/second", PROF_MODULE_ELF);
	make_symbol(&f.m, 1, at, 0, at, "of_second", "", 0);
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	dial9_enc_reset(f.m.enc);
	make_module(&f.m, 1, 9, "/bin/first", PROF_MODULE_ELF);
	at = make_frame(9, 0x10);
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &a);
	fa = a.frames[0];
	next(&f, TRACE_SAMPLE, &b);
	fb = b.frames[0];
	next(&f, TRACE_SAMPLE, &c);
	cr_assert_neq(fa, fb);
	cr_assert_eq(c.frames[0], fa, "the same module under another id");
	cr_assert_str_eq(names_str(f.names, names_symbol(f.names, fa)->frames[0].name, NULL),
			 "of_first");
	cr_assert_str_eq(names_str(f.names, names_symbol(f.names, fb)->frames[0].name, NULL),
			 "of_second");
	finish(&f);
}

/* Two modules of one path; the same offset has a name in each. Whether both samples got one frame. */
static bool one_of_two(const char *build_id, enum prof_module_kind kind, const char *first,
		       const char *second)
{
	uint64_t at[] = { make_frame(7, 0x10), make_frame(8, 0x10) };
	struct trace_event a, b;
	struct fixture f;
	uint64_t frame;
	bool one;

	begin(&f);
	for (uint32_t i = 0; i < 2; i++) {
		make_module_with(&f.m, 1, 7 + i, "/x", build_id, kind);
		make_symbol(&f.m, 1, at[i], 0, at[i], i ? "g" : "f", "", 0);
	}
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at[0], 1);
	make_sample(&f.m, 3, 1, 1, PROF_SOURCE_SAMPLE, 0, &at[1], 1);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &a);
	frame = a.frames[0];
	next(&f, TRACE_SAMPLE, &b);
	one = frame == b.frames[0];
	cr_expect_str_eq(names_str(f.names, names_symbol(f.names, frame)->frames[0].name, NULL),
			 first);
	cr_expect_str_eq(names_str(f.names, names_symbol(f.names, b.frames[0])->frames[0].name,
				   NULL),
			 second);
	finish(&f);
	return one;
}

Test(trace, modules_without_content_keep_their_own_names)
{
	cr_expect_not(one_of_two("", PROF_MODULE_ANON, "f", "g"));
	cr_expect_not(one_of_two("", PROF_MODULE_ELF, "f", "g"));
	cr_expect(one_of_two("1234", PROF_MODULE_ELF, "g", "g"), "the last name counts for both");
}

Test(trace, id_of_an_earlier_segment_is_no_module)
{
	const uint64_t at = make_frame(1, 0x10);
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_module(&f.m, 1, 1, "/bin/first", PROF_MODULE_ELF);
	dial9_enc_reset(f.m.enc);
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &ev);
	cr_assert_not(names_module(f.names, names_frame_module(ev.frames[0]))->announced);
	cr_assert_eq(names_frame_addr(f.names, ev.frames[0]), at);
	finish(&f);
}

Test(trace, switch_does_not_override_a_recorded_task)
{
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_task(&f.m, 1, 10, 11, "told");
	make_switch(&f.m, 2, 0, "stale", 11, 0, "b", 6);
	open_trace(&f);
	next(&f, TRACE_SCHED_SWITCH, &ev);
	cr_assert_str_eq(comm(&f, &ev), "told");
	cr_assert_eq(ev.pid, 10);
	finish(&f);
}

Test(trace, plain_addresses_of_other_writers_are_unchanged)
{
	const uint64_t raw[] = { 0xffffffff81a28b97, 0x55dc0d63cc08, 0x10 };
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_symbol(&f.m, 1, raw[1], 0, 0, "turn", "", 0);
	make_sample(&f.m, 2, 1, 1, PROF_SOURCE_SAMPLE, 0, raw, 3);
	dial9_enc_reset(f.m.enc);
	make_sample(&f.m, 3, 1, 1, PROF_SOURCE_SAMPLE, 0, raw, 3);
	open_trace(&f);
	for (int i = 0; i < 2; i++) {
		next(&f, TRACE_SAMPLE, &ev);
		for (int k = 0; k < 3; k++)
			cr_assert_eq(names_frame_addr(f.names, ev.frames[k]), raw[k]);
		cr_assert_not_null(names_symbol(f.names, ev.frames[1]));
		cr_assert_null(names_symbol(f.names, ev.frames[0]));
	}
	finish(&f);
}

Test(trace, rows_of_the_print_fmt_give_field_texts)
{
	struct trace_event ev;
	struct buf b = { 0 };
	struct fixture f;

	begin(&f);
	make_prev_state(&f.m, 1);
	make_switch(&f.m, 2, 0, "a", 5, 0x100, "b", 6);
	open_trace(&f);
	next(&f, TRACE_SCHED_SWITCH, &ev);
	cr_assert(trace_field_text(f.t, &ev, 5, &b));
	cr_assert_str_eq(buf_cstr(&b), "R+");
	cr_assert_not(trace_field_text(f.t, &ev, 4, &b), "prev_prio has no rows");
	buf_free(&b);
	finish(&f);
}

Test(trace, metadata_and_clock_are_stored)
{
	const char *const kv[] = { "host", "box", "sample_hz", "99", NULL };
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_metadata(&f.m, 1, kv);
	make_clock(&f.m, 1000, 1700000000000000000);
	open_trace(&f);
	while (trace_next(f.t, &ev) == 1)
		;
	cr_assert_str_eq(names_meta(f.names, 0, "host"), "box");
	cr_assert_str_eq(names_meta(f.names, 0, "sample_hz"), "99");
	cr_assert_null(names_meta(f.names, 0, "nothing"));
	cr_assert(names_part(f.names, 0)->synced);
	cr_assert_eq(names_part(f.names, 0)->mono, 1000);
	cr_assert_eq(names_part(f.names, 0)->real, 1700000000000000000);
	finish(&f);
}

/* Fields of the right name and the wrong type, and invalid ids, are just unknown. */
Test(trace, values_of_wrong_types_are_unknown)
{
	static const struct dial9_field fields[] = { { "tid", DIAL9_STRING },
						     { "callchain", DIAL9_F64 },
						     { "pid", DIAL9_BYTES } };
	struct dial9_schema *s;
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	cr_assert_eq(dial9_schema_new("CpuSampleEvent", true, fields, 3, &s), 0);
	dial9_enc_begin(f.m.enc, s, 1);
	make_str(&f.m, "five");
	dial9_enc_put_f64(f.m.enc, 1.5);
	dial9_enc_put_bytes(f.m.enc, "x", 1);
	make_end(&f.m);
	open_trace(&f);
	next(&f, TRACE_SAMPLE, &ev);
	cr_assert_eq(ev.tid, TRACE_NONE);
	cr_assert_eq(ev.pid, TRACE_NONE);
	cr_assert_null(ev.frames);
	dial9_schema_free(s);
	finish(&f);
}

/* Another writer's types for the fields that are known by name. */
Test(trace, numbers_of_a_role_are_read_from_any_integer_type)
{
	static const struct dial9_field fields[] = {
		{ "tid", DIAL9_I64 },
		{ "pid", DIAL9_BOOL },
		{ "cpu", DIAL9_U16 },
		{ "value", DIAL9_STRING },
		{ "count", DIAL9_U32 | DIAL9_OPTIONAL },
	};
	struct trace_event ev;
	struct dial9_schema *s;
	struct fixture f;
	uint64_t v;

	begin(&f);
	cr_assert_eq(dial9_schema_new("Theirs", true, fields, 5, &s), 0);
	cr_assert_eq(dial9_enc_begin(f.m.enc, s, 7), 0);
	dial9_enc_put_i64(f.m.enc, -2);
	dial9_enc_put_bool(f.m.enc, true);
	dial9_enc_put_u64(f.m.enc, 515);
	dial9_enc_put_str(f.m.enc, "12", 2);
	dial9_enc_put_none(f.m.enc);
	cr_assert_eq(dial9_enc_end(f.m.enc), 0);
	open_trace(&f);
	next(&f, TRACE_OTHER, &ev);
	cr_assert(trace_u64(&ev, ROLE_TID, &v));
	cr_assert_eq((int64_t)v, -2);
	cr_assert(trace_u64(&ev, ROLE_PID, &v));
	cr_assert_eq(v, 1);
	cr_assert(trace_u64(&ev, ROLE_CPU, &v));
	cr_assert_eq(v, 515);
	cr_assert_not(trace_u64(&ev, ROLE_VALUE, &v), "a text is no number");
	cr_assert_not(trace_u64(&ev, ROLE_COUNT, &v), "absent");
	cr_assert_not(trace_u64(&ev, ROLE_FLAGS, &v), "no such field");
	cr_assert_eq(trace_u64_or(&ev, ROLE_VALUE, 9), 9);
	cr_assert_eq(trace_u64_or(&ev, ROLE_CPU, 9), 515);
	dial9_schema_free(s);
	finish(&f);
}

/* Rows may refer to any field, also to one without a number: those are for the printer of values. */
Test(trace, rows_for_fields_without_a_number_are_skipped)
{
	static const struct dial9_field fields[] = {
		{ "text", DIAL9_STRING }, { "flag", DIAL9_BOOL },
		{ "ratio", DIAL9_F64 },	  { "map", DIAL9_STRING_MAP },
		{ "wide", DIAL9_I64 },	  { "gone", DIAL9_U8 | DIAL9_OPTIONAL },
		{ "byte", DIAL9_U8 }
	};
	struct trace_event ev;
	struct buf b = { 0 };
	struct dial9_schema *s;
	struct fixture f;
	size_t i;

	begin(&f);
	cr_assert_eq(dial9_schema_new("a:b", true, fields, 7, &s), 0);
	for (i = 0; i < 7; i++)
		make_tpsym(&f.m, 1, "a:b", fields[i].name, PROF_TP_SYMBOL, 1, "one");
	cr_assert_eq(dial9_enc_begin(f.m.enc, s, 7), 0);
	dial9_enc_put_str(f.m.enc, "1", 1);
	dial9_enc_put_bool(f.m.enc, true);
	dial9_enc_put_f64(f.m.enc, 1.0);
	dial9_enc_put_map(f.m.enc, NULL, 0);
	dial9_enc_put_i64(f.m.enc, 1);
	dial9_enc_put_none(f.m.enc);
	dial9_enc_put_u64(f.m.enc, 1);
	cr_assert_eq(dial9_enc_end(f.m.enc), 0);
	open_trace(&f);
	next(&f, TRACE_OTHER, &ev);
	for (i = 0; i < 7; i++) {
		buf_clear(&b);
		cr_assert_eq(trace_field_text(f.t, &ev, i, &b), i == 4 || i == 6, "%s",
			     fields[i].name);
		cr_assert_str_eq(buf_cstr(&b), i == 4 || i == 6 ? "one" : "");
	}
	buf_free(&b);
	dial9_schema_free(s);
	finish(&f);
}

/* Ids are 23 bits, and 0 is none. */
Test(trace, module_ids_must_fit_into_frames)
{
	struct trace_event ev;
	struct fixture f;
	size_t before;

	begin(&f);
	make_module(&f.m, 1, 0, "/zero", PROF_MODULE_ELF);
	make_module(&f.m, 1, PROF_FRAME_MODULE_MAX + 1, "/beyond", PROF_MODULE_ELF);
	make_module(&f.m, 1, PROF_FRAME_MODULE_MAX, "/last", PROF_MODULE_ELF);
	open_trace(&f);
	before = f.names->module_cnt;
	while (trace_next(f.t, &ev) == 1)
		;
	cr_expect_eq(f.names->module_cnt, before + 1);
	cr_expect_str_eq(names_str(f.names, names_module(f.names, (uint32_t)before)->path, NULL),
			 "/last");
	finish(&f);
}

Test(trace, too_long_build_ids_are_ignored)
{
	static const char id[NAMES_BUILD_ID_MAX + 1] = "0123456789abcdef0123456789abcdef";
	struct trace_event ev;
	struct fixture f;
	uint32_t i;

	begin(&f);
	for (i = 0; i < 2; i++) {
		dial9_enc_begin(f.m.enc, f.m.module, 1);
		dial9_enc_put_u64(f.m.enc, i + 1);
		make_str(&f.m, i ? "/longer" : "/longest");
		dial9_enc_put_bytes(f.m.enc, id, NAMES_BUILD_ID_MAX + i);
		dial9_enc_put_u64(f.m.enc, PROF_MODULE_ELF);
		make_end(&f.m);
	}
	open_trace(&f);
	while (trace_next(f.t, &ev) == 1)
		;
	cr_expect_eq(names_module(f.names, 1)->build_id_sz, NAMES_BUILD_ID_MAX);
	cr_expect_eq(memcmp(names_module(f.names, 1)->build_id, id, NAMES_BUILD_ID_MAX), 0);
	cr_expect_eq(names_module(f.names, 2)->build_id_sz, 0);
	finish(&f);
}

/* A symbol with these numbers at address 0x10; NULL if it was ignored. */
static const struct names_symbol *symbol_of(struct fixture *f, const char *name, uint64_t size,
					    uint64_t depth, uint64_t line)
{
	struct trace_event ev;

	begin(f);
	dial9_enc_begin(f->m.enc, f->m.symbol, 1);
	dial9_enc_put_u64(f->m.enc, 0x10);
	dial9_enc_put_u64(f->m.enc, size);
	make_str(&f->m, name);
	dial9_enc_put_u64(f->m.enc, depth);
	make_str(&f->m, "x.c");
	dial9_enc_put_u64(f->m.enc, line);
	dial9_enc_put_u64(f->m.enc, 0);
	make_end(&f->m);
	open_trace(f);
	cr_assert_eq(trace_next(f->t, &ev), 1);
	return names_symbol(f->names, 0x10);
}

Test(trace, symbols_out_of_bounds_are_ignored)
{
	static const struct {
		const char *name;
		uint64_t size, depth, line;
		uint32_t cnt; /* frames */
		bool label;
		uint32_t want_line;
	} cases[] = {
		{ "f", 64, 0, 7, 1, false, 7 },
		{ "f", 64, 2, UINT32_MAX, 3, false, UINT32_MAX },
		{ "f", 64, 0, 1ULL << 32, 1, false, 0 },
		{ "f", 64, NAMES_DEPTH_MAX - 1, 1, NAMES_DEPTH_MAX, false, 1 },
		{ "f", 64, NAMES_DEPTH_MAX, 1, 0, false, 0 },
		{ "", 64, 0, 1, 0, false, 0 },
		{ "[x]", 0, 0, 1, 1, true, 1 },
		{ "[x]", 64, 0, 1, 1, false, 1 },
		{ "[x]", 0, 1, 1, 2, false, 1 },
		{ "x", 0, 0, 1, 1, false, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct names_symbol *sym;
		struct fixture f;

		sym = symbol_of(&f, cases[i].name, cases[i].size, cases[i].depth, cases[i].line);
		cr_expect_eq(sym ? sym->cnt : 0, cases[i].cnt, "case %zu", i);
		if (sym && cases[i].cnt == sym->cnt) {
			const struct names_frame *last = &sym->frames[sym->cnt - 1];

			cr_expect_eq(last->label, cases[i].label, "case %zu", i);
			cr_expect_eq(last->line, cases[i].want_line, "case %zu", i);
			cr_expect_eq(last->size, cases[i].size);
			cr_expect_eq(last->base, NAMES_BASE_UNKNOWN);
			cr_expect_str_eq(names_str(f.names, last->file, NULL), "x.c");
		}
		finish(&f);
	}
}

Test(trace, idle_thread_has_no_process_and_one_name)
{
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	make_switch(&f.m, 10, 3, "swapper/3", 0, 0, "a", 5);
	make_sample(&f.m, 20, 0, 0, PROF_SOURCE_SAMPLE, 3, NULL, 0);
	open_trace(&f);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(trace_next(f.t, &ev), 1);
		cr_expect(ev.tid == 0 && ev.pid == 0 && ev.cpu == 3);
		cr_expect_str_eq(comm(&f, &ev), "swapper");
	}
	cr_expect_null(trace_task(f.t, 0));
	finish(&f);
}

/* Only a thread id: missing fields are unknown, or have the defaults of older versions. */
Test(trace, sample_with_few_fields_is_a_clock_sample)
{
	static const struct dial9_field fields[] = { { "tid", DIAL9_U32 },
						     { "thread_name", DIAL9_STRING } };
	struct trace_event ev;
	struct dial9_schema *s;
	struct fixture f;

	begin(&f);
	cr_assert_eq(dial9_schema_new("CpuSampleEvent", false, fields, 2, &s), 0);
	for (uint64_t tid = 5; tid <= UINT32_MAX; tid += UINT32_MAX - 5) {
		dial9_enc_begin(f.m.enc, s, 0);
		dial9_enc_put_u64(f.m.enc, tid);
		make_str(&f.m, "self");
		make_end(&f.m);
	}
	open_trace(&f);
	cr_assert_eq(trace_next(f.t, &ev), 1);
	cr_expect_eq(ev.tid, 5);
	cr_expect_eq(ev.pid, TRACE_NONE);
	cr_expect_eq(ev.cpu, TRACE_NONE);
	cr_expect_str_eq(comm(&f, &ev), "self", "what it calls itself, as nobody else named it");
	cr_expect(!ev.has_ts && ev.ts == 0);
	cr_expect_eq(ev.source, PROF_SOURCE_SAMPLE);
	cr_expect_eq(ev.flags, 0);
	cr_expect_eq(ev.user_end, PROF_END_NOT_WALKED);
	cr_assert_eq(trace_next(f.t, &ev), 1);
	cr_expect_eq(ev.tid, TRACE_NONE);
	cr_expect_eq(trace_next(f.t, &ev), 0);
	dial9_schema_free(s);
	finish(&f);
}

Test(trace, bytes_of_events_and_of_the_rest_add_up)
{
	struct trace_event ev;
	struct fixture f;
	uint64_t sum = 0, last = 0;

	begin(&f);
	make_task(&f.m, 1, 5, 5, "sh");
	make_switch(&f.m, 10, 3, "swapper/3", 0, 0, "a", 5);
	make_switch(&f.m, 20, 3, "a", 5, 0, "b", 6);
	open_trace(&f);
	while (trace_next(f.t, &ev) == 1) {
		cr_expect_geq(ev.offset, last);
		cr_expect_eq(ev.offset + ev.bytes, trace_consumed(f.t));
		last = ev.offset + ev.bytes;
		sum += ev.bytes;
	}
	cr_expect_eq(last, f.bytes.sz);
	cr_expect_eq(trace_overhead_bytes(f.t), f.bytes.sz - sum);
	finish(&f);
}

/* Our segments begin with our metadata: a segment without them belongs to another program, from its header on. */
Test(trace, segment_of_another_writer_is_a_separate_recording)
{
	const char *const kv[] = { "start_realtime_ns", "1700000000000000000", "host", "box",
				   NULL };
	struct trace_event ev;
	struct fixture f;
	size_t header;

	begin(&f);
	make_metadata(&f.m, 1, kv);
	make_switch(&f.m, 10, 0, "a", 5, 0, "b", 6);
	dial9_enc_data(f.m.enc, &header);
	cr_assert_eq(dial9_enc_reset(f.m.enc), 0);
	make_switch(&f.m, 20, 0, "b", 6, 0, "a", 5);
	open_trace(&f);
	next(&f, TRACE_SCHED_SWITCH, &ev);
	cr_expect_eq(ev.part, 0);
	next(&f, TRACE_SCHED_SWITCH, &ev);
	cr_expect_eq(ev.part, 1);
	cr_expect_eq(names_part(f.names, 1)->begin, header);
	cr_expect_eq(names_part(f.names, 1)->events, 1);
	finish(&f);
}

Test(trace, skipped_events_count_in_their_recordings)
{
	const char *const kv[] = { "start_realtime_ns", "1700000000000000000", "host", "box",
				   NULL };
	const unsigned int quiet = TRACE_KINDS_TRACEPOINT & ~(1u << TRACE_SCHED_WAKING);
	struct trace_event ev;
	struct fixture f;
	size_t header;

	begin(&f);
	make_metadata(&f.m, 1, kv);
	make_waking(&f.m, 5, 0, 0, "a", 5);
	make_switch(&f.m, 10, 0, "a", 5, 0, "b", 6);
	make_switch(&f.m, 30, 0, "b", 6, 0, "a", 5);
	make_sample(&f.m, 25, 5, 5, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	dial9_enc_data(f.m.enc, &header);
	cr_assert_eq(dial9_enc_reset(f.m.enc), 0);
	make_switch(&f.m, 20, 0, "b", 6, 0, "a", 5);
	make_sample(&f.m, 40, 5, 5, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	make_switch(&f.m, 50, 0, "b", 6, 0, "a", 5);
	open_trace(&f);
	next(&f, TRACE_SCHED_WAKING, &ev);
	trace_skip_kinds(f.t, quiet);
	cr_assert_eq(trace_next(f.t, &ev), 1);
	cr_expect_eq(ev.kind, TRACE_SAMPLE);
	cr_expect_eq(ev.part, 0);
	cr_expect_eq(ev.tid, 5);
	cr_assert_eq(trace_next(f.t, &ev), 1);
	cr_expect_eq(ev.kind, TRACE_SAMPLE);
	cr_expect_eq(ev.part, 1);
	cr_assert_eq(trace_next(f.t, &ev), 0);
	cr_expect_eq(names_part(f.names, 1)->begin, header);
	cr_expect_eq(names_part(f.names, 0)->events, 5);
	cr_expect_eq(names_part(f.names, 1)->events, 3);
	cr_expect_eq(trace_skipped(f.t, 0).cnt, 2);
	cr_expect_eq(trace_skipped(f.t, 0).first_ts, 10);
	cr_expect_eq(trace_skipped(f.t, 0).last_ts, 30);
	cr_expect_eq(trace_skipped(f.t, 1).cnt, 2);
	cr_expect_eq(trace_skipped(f.t, 1).first_ts, 20);
	cr_expect_eq(trace_skipped(f.t, 1).last_ts, 50);
	cr_expect_eq(trace_skipped(f.t, 2).cnt, 0);
	finish(&f);
}

Test(trace, thread_named_only_by_its_samples_has_that_name)
{
	struct dial9_schema *named =
		MAKE_SCHEMA("CpuSampleEvent", { "tid", DIAL9_U32 }, { "pid", DIAL9_U32 },
			    { "thread_name", DIAL9_POOLED_STRING });
	struct trace_event ev;
	struct fixture f;

	begin(&f);
	for (uint32_t tid = 5; tid <= 6; tid++) {
		cr_assert_eq(dial9_enc_begin(f.m.enc, named, 10 * tid), 0);
		dial9_enc_put_u64(f.m.enc, tid);
		dial9_enc_put_u64(f.m.enc, 4);
		make_str(&f.m, "tokio-rt-worker");
		make_end(&f.m);
		if (tid == 5)
			make_task(&f.m, 55, 4, 6, "main");
	}
	make_waking(&f.m, 70, 0, 5, "", 9);
	make_waking(&f.m, 80, 0, 6, "", 9);
	open_trace(&f);
	next(&f, TRACE_SCHED_WAKING, &ev);
	cr_expect_str_eq(comm(&f, &ev), "tokio-rt-worker");
	cr_expect_eq(ev.pid, 4);
	next(&f, TRACE_SCHED_WAKING, &ev);
	cr_expect_str_eq(comm(&f, &ev), "main");
	dial9_schema_free(named);
	finish(&f);
}
