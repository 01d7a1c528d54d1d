// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notes of tracepoint fields, by formats of kernels: each rule, and next to it a field that looks the same and
 * is not.
 */
#include "record/tracepoint/field_notes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/kernel/tracefs/format_text.h"

/* One field, shown by @conversion ("%d [ns]"), has that kind and unit; NULL: unknown. */
static void expect(const char *system, const char *type, const char *name, int size, bool is_signed,
		   const char *conversion, const char *kind, const char *unit)
{
	char field[256], print_fmt[256];
	struct format_event *ev;
	struct field_note got;

	snprintf(field, sizeof(field), "\tfield:%s %s;\toffset:8;\tsize:%d;\tsigned:%d;\n", type,
		 name, size, is_signed);
	snprintf(print_fmt, sizeof(print_fmt), "\"x=%s\", REC->%s", conversion, name);
	ev = parse(system, "e", field, print_fmt);
	got = field_notes_of(ev, &ev->fields[0]);
	cr_expect(kind ? got.kind && !strcmp(got.kind, kind) : !got.kind, "%s %s: kind %s", type,
		  name, got.kind ? got.kind : "none");
	cr_expect(unit ? got.unit && !strcmp(got.unit, unit) : !got.unit, "%s %s: unit %s", type,
		  name, got.unit ? got.unit : "none");
	format_free(ev);
}

Test(field_notes, addresses_are_pointers_code_and_fields_that_hold_addresses)
{
	expect("timer", "void *", "timer", 8, false, "%p", "addr", NULL);
	expect("x", "const struct user_namespace *", "target_ns", 8, false, "%p", "addr", NULL);
	expect("x", "unsigned long", "function", 8, false, "%ps", "addr", NULL);
	expect("x", "unsigned long", "address", 8, false, "0x%lx", "addr", NULL);
	expect("x", "unsigned long", "caller_ip", 8, false, "%lx", "addr", NULL);
	expect("x", "unsigned long", "address", 8, false, "%lu", NULL, NULL);
	expect("iomap", "u64", "addr", 8, false, "0x%llx", NULL, NULL);
	expect("xfs", "xfs_daddr_t", "daddr", 8, true, "0x%llx", NULL, NULL);
	expect("x", "u32", "ip", 4, false, "0x%x", NULL, NULL);
}

Test(field_notes, pids_are_threads_only_if_that_is_certain)
{
	expect("sched", "pid_t", "pid", 4, true, "%d", "tid", NULL);
	expect("sched", "pid_t", "src_pid", 4, true, "%d", "tid", NULL);
	expect("sched", "pid_t", "tgid", 4, true, "%d", "pid", NULL);
	expect("sched", "pid_t", "ngid", 4, true, "%d", NULL, NULL);
	expect("oom", "int", "pid", 4, true, "%d", "pid", NULL);
	expect("syscalls", "pid_t", "pid", 8, false, "0x%08lx", "pid", NULL);
	expect("syscalls", "pid_t", "upid", 8, false, "0x%08lx", NULL, NULL);
	expect("neigh", "u32", "pid", 4, false, "%u", NULL, NULL);
	expect("x", "int", "pidfd", 4, true, "%d", NULL, NULL);
	expect("jbd2", "tid_t", "tid", 4, false, "%u", NULL, NULL);
}

Test(field_notes, cpus_are_recognized_by_name)
{
	expect("x", "int", "cpu", 4, true, "%d", "cpu", NULL);
	expect("x", "unsigned int", "prev_cpu", 4, false, "%u", "cpu", NULL);
	expect("x", "u32", "cpu_id", 4, false, "%u", "cpu", NULL);
	expect("x", "unsigned int", "vcpu_id", 4, false, "%u", NULL, NULL);
	expect("x", "unsigned *", "cpu", 8, false, "%p", "addr", NULL);
	expect("x", "unsigned int", "cpu_percent", 4, false, "%u", NULL, NULL);
}

Test(field_notes, units_are_found_after_the_number)
{
	expect("sched", "u64", "delay", 8, false, "%Lu [ns]", NULL, "ns");
	expect("x", "u64", "t", 8, false, "%lldns, y", NULL, "ns");
	expect("x", "u64", "t", 8, false, "%lluus", NULL, "us");
	expect("x", "u64", "t", 8, false, "%llu (bytes)", NULL, "bytes");
	expect("x", "u64", "t", 8, false, "%llukB", NULL, "KiB");
	expect("x", "u64", "t", 8, false, "%llu ns=", NULL, NULL);
	expect("x", "u64", "t", 8, false, "%llu nsx", NULL, NULL);
	expect("x", "u64", "t", 8, false, "%llu next", NULL, NULL);
	expect("x", "u64", "t", 8, false, "%llu", NULL, NULL);
}

Test(field_notes, units_are_found_in_names_of_wide_numbers)
{
	expect("x", "s64", "delta_ns", 8, true, "%lld", NULL, "ns");
	expect("x", "long", "value_nsec", 8, true, "%ld", NULL, "ns");
	expect("x", "u32", "rtt_us", 4, false, "%u", NULL, "us");
	expect("x", "unsigned long", "stall_ms", 8, false, "%lu", NULL, "ms");
	expect("x", "unsigned int", "bytes", 4, false, "%u", NULL, "bytes");
	expect("x", "size_t", "bytes_alloc", 8, false, "%zu", NULL, "bytes");
	expect("x", "u8", "arm_us", 1, false, "%u", NULL, NULL);
	expect("x", "u64", "ns", 8, false, "%llu", NULL, NULL);
	expect("x", "u64", "len", 8, false, "%llu", NULL, NULL);
	expect("x", "u64", "size", 8, false, "%llu", NULL, NULL);
}

Test(field_notes, some_events_are_known_by_name)
{
	struct field_note n = field_notes_known("power:cpu_frequency", "state");

	cr_expect(n.kind && !strcmp(n.kind, "gauge"));
	cr_expect(n.unit && !strcmp(n.unit, "kHz"));
	n = field_notes_known("power:cpu_idle", "state");
	cr_expect(!n.kind && !n.unit);
	n = field_notes_known("any:thing", "common_pid");
	cr_expect(n.kind && !strcmp(n.kind, "tid"));
	n = field_notes_known("NoTracepoint", "common_pid");
	cr_expect(!n.kind && !n.unit);
	n = field_notes_known("RecorderStats", "elapsed_ns");
	cr_expect(n.kind && !strcmp(n.kind, "counter") && n.unit && !strcmp(n.unit, "ns"));
}

/* A real format: the kernel's text for a switch. */
Test(field_notes, switch_has_threads_and_a_state)
{
	static const char *const want[] = { NULL, "tid", NULL, "state", NULL, "tid", NULL };
	struct format_event *ev = load("sched", "sched_switch");

	cr_assert_eq(ev->cnt, 7);
	for (size_t i = 0; i < 7; i++) {
		struct field_note got = field_notes_of(ev, &ev->fields[i]);

		cr_expect(want[i] ? got.kind && !strcmp(got.kind, want[i]) : !got.kind, "%s",
			  ev->fields[i].name);
		cr_expect_null(got.unit);
	}
	format_free(ev);
}
