// SPDX-License-Identifier: BSD-2-Clause
/* The recorder's annotations of fields, read back from the bytes. */
#include "record/tracepoint/annotate.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/kernel/tracefs/format_text.h"
#include "tests/record/annotate_check.h"

#define assert_note(f, event, field, key, want)                                                    \
	do {                                                                                       \
		struct dial9_str got_ = output(f, event, field, key, false);                       \
		cr_expect(got_.len == strlen(want) && !memcmp(got_.ptr, want, got_.len),           \
			  "%s.%s: '%.*s'", event, field, (int)got_.len, got_.ptr);                 \
	} while (0)

Test(annotate, switch_is_annotated_in_both_its_layouts)
{
	static const char state[] = "&0xff=\nzero=R\n|0x1=S\n|0x2=D\n|0x4=T\n|0x8=t\n|0x10=X\n"
				    "|0x20=Z\n|0x40=P\n|0x80=I\n&0x100=\nnonzero=+";
	struct fixture f = { 0 };

	add(&f, load("sched", "sched_switch"));
	write_all(&f);
	assert_note(&f, "sched:sched_switch", "common_cpu", "kind", "cpu");
	assert_note(&f, "sched:sched_switch", "common_pid", "kind", "tid");
	assert_note(&f, "sched:sched_switch", "next_pid", "kind", "tid");
	assert_note(&f, "sched:sched_switch", "prev_state", "kind", "state");
	assert_note(&f, "sched:sched_switch", "prev_state", "enum", state);
	assert_note(&f, "sched:sched_switch", "prev_comm", "kind", "");
	cr_expect_eq(output(&f, "sched:sched_switch", "prev_state", "enum", true).len,
		     sizeof(state) - 1);
	done(&f);
}

Test(annotate, own_events_of_the_recorder_are_annotated)
{
	struct fixture f = { 0 };

	write_all(&f);
	assert_note(&f, "RecorderStats", "elapsed_ns", "unit", "ns");
	assert_note(&f, "RecorderStats", "elapsed_ns", "kind", "counter");
	assert_note(&f, "RecorderStats", "rss_bytes", "unit", "bytes");
	assert_note(&f, "RecorderStats", "rss_bytes", "kind", "gauge");
	assert_note(&f, "RecorderStats", "closed", "kind", "");
	assert_note(&f, "TaskEvent", "tid", "kind", "tid");
	assert_note(&f, "CpuSampleEvent", "callchain", "kind", "addr");
	assert_note(&f, "CpuSampleEvent", "source", "enum",
		    "0=sample\n1=switch_out\n2=waking\n3=event");
	assert_note(&f, "ModuleEvent", "kind", "enum",
		    "0=elf\n1=kernel\n2=kmod\n3=bpf\n4=vdso\n5=anon");
	cr_expect(!strncmp(output(&f, "CpuSampleEvent", "user_end", "enum", false).ptr,
			   "&0x1f=\n0=not_walked\n1=complete\n", 31));
	/* one frame per schema, and none for schemas without annotations */
	cr_expect_eq(f.schemas, f.frames);
	cr_expect_eq(f.schemas, 14);
	done(&f);
}

Test(annotate, wakeups_are_annotated_with_their_context)
{
	struct fixture f = { 0 };

	add(&f, load("sched", "sched_waking"));
	write_all(&f);
	cr_expect(!strncmp(output(&f, "sched:sched_waking", "context", "enum", false).ptr,
			   "0=unknown\n1=task\n2=softirq\n", 26));
	assert_note(&f, "sched:sched_waking", "target_cpu", "kind", "cpu");
	done(&f);
}

Test(annotate, code_addresses_have_a_kind_but_no_symbols_yet)
{
	struct fixture f = { 0 };

	add(&f, load("timer", "hrtimer_start"));
	write_all(&f);
	assert_note(&f, "timer:hrtimer_start", "function", "kind", "addr");
	assert_note(&f, "timer:hrtimer_start", "function", "enum", "");
	assert_note(&f, "timer:hrtimer_start", "hrtimer", "kind", "addr");
	assert_note(&f, "timer:hrtimer_start", "hrtimer", "enum", "hex");
	done(&f);
}

Test(annotate, field_with_a_name_that_no_line_can_hold_has_no_enum)
{
	struct fixture f = { 0 };
	struct format_event *ev = load("irq", "softirq_raise");

	cr_assert_gt(ev->symbol_cnt, 2);
	free(ev->symbols[1].name);
	ev->symbols[1].name = xstrdup("two\nlines");
	add(&f, ev);
	write_all(&f);
	assert_note(&f, "irq:softirq_raise", "vec", "enum", "");
	done(&f);
}

Test(annotate, level_3_has_no_annotations)
{
	struct eventset none = { 0 };
	struct dial9_enc *enc;
	struct emit *emit;

	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(emit_new(enc, false, &emit), 0);
	cr_expect_eq(annotate_all(enc, emit, &none), -ENOTSUP);
	cr_expect_eq(dial9_enc_bytes(enc), 5);
	emit_free(emit);
	dial9_enc_free(enc);
}

Test(annotate, lines_of_each_enum_equal_its_rows)
{
	static const char *const events[][2] = {
		{ "block", "block_rq_issue" },
		{ "irq", "softirq_raise" },
		{ "jbd2", "jbd2_run_stats" },
		{ "kmem", "mm_page_alloc" },
		{ "kvm", "kvm_exit" },
		{ "raw_syscalls", "sys_enter" },
		{ "sched", "sched_switch" },
		{ "signal", "signal_generate" },
		{ "syscalls", "sys_enter_openat" },
		{ "tcp", "tcp_probe" },
		{ "timer", "timer_start" },
		{ "btrfs", "btrfs_space_reservation" },
	};
	size_t rows = 0;

	for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++)
		rows += check_rows(load(events[e][0], events[e][1]));
	cr_expect_gt(rows, 400, "%zu", rows);
}
