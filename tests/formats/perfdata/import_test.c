// SPDX-License-Identifier: BSD-2-Clause
/* Records become the events that arithmetic says: frames, order, losses. */
#include "prof_events.h"
#include "tests/formats/perfdata/support.h"

#define META "SegmentMetadataEvent *\n"
#define USER ((uint64_t)PERF_CONTEXT_USER)

static struct buf start(void)
{
	struct buf file = { 0 };

	put_pipe_header(&file);
	put_attr(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_TYPE, 1);
	return file;
}

static void check(struct buf *file, const char *want)
{
	struct foreign_notes notes = { 0 };
	struct buf text = import_text(file, &notes);

	assert_text(&text, want);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 0);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(file);
}

/* 0x5120 is 0x120 into the mapping, and 0x3120 in the file. The caller's call is one byte before 0x5201. */
Test(perfdata_import, frames_are_offsets_in_files_and_callers_calls)
{
	const uint64_t chain[] = { USER, 0x5120, 0x5201, 0x9000 };
	struct buf file = start();

	put_mmap2(&file, 7, 0, 0x5000, 0x1000, 0x3000, "/bin/x");
	put_comm(&file, 0, 7, 0, "x");
	put_sample(&file, 1, 7, 50, chain, 4);
	check(&file, "50 " META "50 TaskEvent 7 7 0 x /bin/x \n"
		     "50 ModuleEvent 1 /bin/x 0 bytes 0\n"
		     "50 ProcMapsEntry 7 20480 24576 12288 1\n"
		     "50 CpuSampleEvent 255 7 0 - 10000003120,10000003200,8fff 3 7 0 13\n");
}

/* start_kernel() is in .init.text, 0x2780b10 after _text here; perf's mapping ends at _etext. */
Test(perfdata_import, boot_code_of_the_kernel_is_in_the_kernel)
{
	const uint64_t text = 0xffffffff81000000, module = 0xffffffff83000000,
		       chain[] = { PERF_CONTEXT_KERNEL, text + 0x100, text + 0x2780b11,
				   module + 0x21, 0xffffffffc0000011 };
	struct buf file = start();

	put_kernel_mmap(&file, text, 0x1276f48, "[kernel.kallsyms]_text");
	put_kernel_mmap(&file, module, 0x1000, "[near]");
	put_sample(&file, 1, 7, 50, chain, 5);
	check(&file,
	      "50 " META "50 ModuleEvent 1 [kernel.kallsyms] 0 bytes 1\n"
	      "50 ModuleEvent 2 [near] 0 bytes 2\n"
	      "50 CpuSampleEvent 255 7 0 - 8000010000000100,8000010002780b10,8000020000000020,800000ffc0000010 3 7 0 0\n");
}

/* The second CPU's records come after the first's, and are older. */
Test(perfdata_import, records_are_in_order_of_time_across_rounds)
{
	const uint64_t chain[] = { USER, 0x10 };
	struct foreign_notes notes = { 0 };
	struct buf file = start(), text;

	put_sample(&file, 1, 7, 30, chain, 2);
	put_sample(&file, 1, 7, 50, chain, 2);
	put_sample(&file, 1, 7, 20, chain, 2);
	put_round(&file);
	put_sample(&file, 1, 7, 70, chain, 2);
	put_sample(&file, 1, 7, 40, chain, 2);
	put_round(&file);
	put_round(&file);
	put_sample(&file, 1, 7, 60, chain, 2);
	text = import_text(&file, &notes);
	assert_text(&text, "20 " META "20 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "30 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "40 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "50 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "70 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "60 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "records out of order of time"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&file);
}

/* A child has its parent's mappings until it runs another program. */
Test(perfdata_import, a_child_has_the_mappings_of_its_parent_until_exec)
{
	const uint64_t chain[] = { USER, 0x5001 };
	struct buf file = start();

	put_mmap2(&file, 7, 10, 0x5000, 0x1000, 0, "/bin/x");
	put_fork(&file, 8, 7, 20);
	put_sample(&file, 1, 8, 30, chain, 2);
	put_comm(&file, PERF_RECORD_MISC_COMM_EXEC, 8, 40, "y");
	put_sample(&file, 1, 8, 50, chain, 2);
	check(&file, "10 " META "20 TaskEvent 8 8 7  /bin/x \n"
		     "30 ModuleEvent 1 /bin/x 0 bytes 0\n"
		     "30 ProcMapsEntry 8 20480 24576 0 1\n"
		     "30 CpuSampleEvent 255 8 0 - 10000000001 3 8 0 13\n"
		     "40 TaskEvent 8 8 7 y  \n"
		     "50 CpuSampleEvent 255 8 0 - 5001 3 8 0 13\n");
}

/* The middle of /bin/x, mapped from 0x5000 to 0x8000, is replaced: what is above keeps its file offset. */
Test(perfdata_import, mapping_replaces_overlapped_mappings)
{
	const uint64_t below[] = { USER, 0x5001 }, in[] = { USER, 0x6001 },
		       above[] = { USER, 0x7001 };
	struct buf file = start();

	put_mmap2(&file, 7, 10, 0x5000, 0x3000, 0, "/bin/x");
	put_mmap2(&file, 7, 20, 0x6000, 0x1000, 0x9000, "/bin/y");
	put_sample(&file, 1, 7, 30, above, 2);
	put_sample(&file, 1, 7, 31, in, 2);
	put_sample(&file, 1, 7, 32, below, 2);
	check(&file, "10 " META "30 ModuleEvent 1 /bin/x 0 bytes 0\n"
		     "30 ProcMapsEntry 7 28672 32768 8192 1\n"
		     "30 CpuSampleEvent 255 7 0 - 10000002001 3 7 0 13\n"
		     "31 ModuleEvent 2 /bin/y 0 bytes 0\n"
		     "31 ProcMapsEntry 7 24576 28672 36864 2\n"
		     "31 CpuSampleEvent 255 7 0 - 20000009001 3 7 0 13\n"
		     "32 ProcMapsEntry 7 20480 24576 0 1\n"
		     "32 CpuSampleEvent 255 7 0 - 10000000001 3 7 0 13\n");
}

Test(perfdata_import, a_loss_is_after_the_last_record_of_its_cpu)
{
	const uint64_t chain[] = { USER, 0x10 };
	struct foreign_notes notes = { 0 };
	struct buf file = start(), body = { 0 }, text;

	put_sample(&file, 1, 7, 30, chain, 2);
	put_u64(&body, 1);
	put_u64(&body, 12);
	put_trailer(&body, 7, 90, 3, 1);
	put_record(&file, PERF_RECORD_LOST, 0, &body);
	text = import_text(&file, &notes);
	assert_text(&text, "30 " META "30 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"
			   "90 LostEvents 3 ring_full 12 30 90\n");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DROPPED, NULL), 12);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&body);
	buf_free(&file);
}

/* Page faults are no CPU samples, although they have the same stacks. */
Test(perfdata_import, samples_of_other_events_keep_their_name_and_period)
{
	const uint64_t chain[] = { USER, 0x10 };
	struct buf file = start();

	put_attr(&file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, SAMPLE_TYPE, 2);
	put_sample(&file, 2, 7, 30, chain, 2);
	put_sample(&file, 1, 7, 40, chain, 2);
	check(&file, "30 " META "30 perf:type1-config2 3 7 1000000 -\n"
		     "30 CpuSampleEvent 255 7 3 - 10 3 7 0 13\n"
		     "40 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n");
}

/* Whether the metadata of a recording of that event alone has the key. */
static bool has_meta(const struct perf_event_attr *attr, const char *key)
{
	const uint64_t chain[] = { USER, 0x10 };
	const struct foreign_opts opts = { .level = DIAL9_LEVEL_4 };
	struct foreign_notes notes = { 0 };
	struct buf file = { 0 }, out = { 0 };
	bool has;

	put_pipe_header(&file);
	put_attr_struct(&file, attr, 1);
	put_sample(&file, 1, 7, 30, chain, 2);
	cr_assert_eq(import_one(&perfdata_format, &file, &opts, &out, &notes), 0);
	has = memmem(out.data, out.len, key, strlen(key));
	foreign_notes_fini(&notes);
	buf_free(&file);
	buf_free(&out);
	return has;
}

/* perf record -e page-faults counts at a frequency too: it says nothing about CPU time. */
Test(perfdata_import, only_samples_of_clocks_and_cycles_have_a_rate)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		bool freq, hz, period;
	} cases[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true, false, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, false, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, true, false, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, true, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, true, true, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, true, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, false, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct perf_event_attr attr = { .type = cases[i].type,
						      .size = sizeof(attr),
						      .config = cases[i].config,
						      .sample_freq = 4000,
						      .freq = cases[i].freq,
						      .sample_type = SAMPLE_TYPE,
						      .sample_id_all = 1 };

		cr_assert(has_meta(&attr, PROF_META_SAMPLE_EVENT), "%zu", i);
		cr_assert_eq(has_meta(&attr, PROF_META_SAMPLE_HZ), cases[i].hz, "%zu", i);
		cr_assert_eq(has_meta(&attr, PROF_META_SAMPLE_PERIOD_NS), cases[i].period, "%zu",
			     i);
	}
}

Test(perfdata_import, damaged_records_are_counted_and_the_others_stay)
{
	const uint64_t chain[] = { USER, 0x10 };
	struct foreign_notes notes = { 0 };
	struct buf file = start(), body = { 0 }, text;

	/* a callchain of 2^60 frames, a sample without a thread, and a name without an end */
	for (int i = 0; i < 8; i++)
		put_u64(&body, i ? 1ULL << 60 : 1);
	put_record(&file, PERF_RECORD_SAMPLE, 0, &body);
	put_sample(&file, 99, 7, 20, chain, 2);
	put_sample(&file, 1, 7, 30, chain, 2);
	put_u64(&body, 7);
	put_u64(&body, UINT64_MAX);
	put_record(&file, PERF_RECORD_COMM, 0, &body);
	text = import_text(&file, &notes);
	cr_assert(strstr(text.data, "30 CpuSampleEvent 255 7 0 - 10 3 7 0 13\n"));
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "damaged samples"), 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "damaged records"), 1);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&body);
	buf_free(&file);
}
