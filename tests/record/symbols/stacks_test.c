// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses to frames: packed by module and offset, announced once, the same wherever a module is
 * mapped, and still right from the cache when mappings change under it.
 */
#include "record/symbols/stacks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "events/emit.h"
#include "kernel/kallsyms.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "prof_events.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "tests/record/support.h"

#define PID NO_SUCH_TID
#define OTHER (NO_SUCH_TID + 100)

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
	rig_task(&rig, PID, PID, "main");
	rig_task(&rig, OTHER, OTHER, "other");
}

static void teardown(void)
{
	rig_fini(&rig);
}

static uint64_t packed(uint64_t module, uint64_t off)
{
	return module << 40 | off;
}

static const uint64_t *resolve_rec(const struct rec_parts *parts, size_t *cnt)
{
	static struct prof_rec *rec;

	free(rec);
	rec = support_rec(parts);
	return stacks_resolve(rig.stacks, rec, tasks_process(rig.tasks, parts->pid), cnt, NULL);
}

static const uint64_t *resolve_user(uint32_t pid, const uint64_t *user, size_t user_cnt)
{
	const uint64_t *frames;
	size_t cnt;

	frames = resolve_rec(&(struct rec_parts){ .kind = PROF_REC_SAMPLE,
						  .pid = pid,
						  .ustack = user,
						  .ustack_cnt = user_cnt },
			     &cnt);
	cr_assert_eq(cnt, user_cnt);
	return frames;
}

static uint64_t user_frame(uint32_t pid, uint64_t addr)
{
	return resolve_user(pid, &addr, 1)[0];
}

/* ---- user code -------------------------------------------------------------------------------------- */

Test(frames, leaf_is_exact_and_callers_are_one_before_their_return_address, .init = setup,
     .fini = teardown)
{
	const uint64_t user[] = { 0x401234, 0x401300, 0x401000 };
	const uint64_t *frames;

	rig_map(&rig, PID, 0x400000, 0x401000, 0, "/bin/first");
	rig_map(&rig, PID, 0x401000, 0x402000, 0x3000, "/bin/x");
	frames = resolve_user(PID, user, 3);
	cr_expect_eq(frames[0], packed(1, 0x3234));
	cr_expect_eq(frames[1], packed(1, 0x32ff));
	cr_expect_eq(frames[2], packed(2, 0xfff), "the call was the last instruction in front");
}

Test(frames, id_of_a_stack_is_kept_until_its_frames_change, .init = setup, .fini = teardown)
{
	const uint64_t user[] = { 0x401234 };
	struct prof_rec *rec = support_rec(&(struct rec_parts){
		.kind = PROF_REC_SAMPLE, .pid = PID, .ustack = user, .ustack_cnt = 1 });
	struct process *proc = tasks_process(rig.tasks, PID);
	struct emit_stack_id *id;
	size_t cnt;

	rig_map(&rig, PID, 0x401000, 0x402000, 0x3000, "/bin/x");
	stacks_resolve(rig.stacks, rec, proc, &cnt, &id);
	cr_expect_not(id->known);
	*id = (struct emit_stack_id){ .segment = 1, .id = 7, .known = true };
	stacks_resolve(rig.stacks, rec, proc, &cnt, &id);
	cr_expect(id->known && id->id == 7 && id->segment == 1);
	rig_map(&rig, PID, 0x401000, 0x402000, 0x3000, "/bin/y");
	stacks_resolve(rig.stacks, rec, proc, &cnt, &id);
	cr_expect_not(id->known, "the same addresses, other code");
	free(rec);
}

/* The frame of a stack of one frame with this id, in the form of prof_unwind.h or an address. */
static uint64_t frame_with_id(uint32_t pid, uint64_t frame, uint64_t raw_id)
{
	const uint64_t words[] = { frame, raw_id };
	struct prof_rec *rec = support_rec(&(struct rec_parts){ .kind = PROF_REC_TRACEPOINT,
								.flags = PROF_REC_NUMBERED,
								.pid = pid,
								.ustack = words,
								.ustack_cnt = 2 });
	uint64_t packed;
	size_t cnt;

	rec->ustack_cnt--;
	packed = stacks_resolve(rig.stacks, rec, tasks_process(rig.tasks, pid), &cnt, NULL)[0];
	cr_assert_eq(cnt, 1);
	free(rec);
	return packed;
}

Test(frames, id_of_raw_frames_is_one_of_a_program_and_its_mappings, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x401000, 0x402000, 0x3000, "/bin/x");
	rig_map(&rig, OTHER, 0x401000, 0x402000, 0x5000, "/bin/y");
	cr_expect_eq(frame_with_id(PID, 0x401234, 77), packed(1, 0x3234));
	cr_expect_eq(frame_with_id(PID, 0x401234, 77), packed(1, 0x3234));
	cr_expect_eq(frame_with_id(OTHER, 0x401234, 77), packed(2, 0x5234));
	cr_expect_eq(frame_with_id(PID, 0x401236, 78), packed(1, 0x3236));
	cr_expect_eq(frame_with_id(PID, 0x401234, 78 + 1), packed(1, 0x3234));
	cr_expect_eq(frame_with_id(PID, 0x401234, 77), packed(1, 0x3234));
	rig_map(&rig, PID, 0x401000, 0x402000, 0x7000, "/bin/z");
	cr_expect_eq(frame_with_id(PID, 0x401234, 77), packed(3, 0x7234));
}

Test(frames, module_and_mapping_are_announced_once_at_their_first_frame, .init = setup,
     .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0x1000, "/bin/x");
	rig_map(&rig, PID, 0x500000, 0x502000, 0, "/lib/never-hit");
	user_frame(PID, 0x400010);
	user_frame(PID, 0x400020);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "0 ModuleEvent module_id=1 path=\"/bin/x\" build_id=<abcd> kind=0\n"
			 "0 ProcMapsEntry pid=5000000 start=4194304 end=4202496 offset=4096 "
			 "module_id=1\n");
}

Test(frames, file_has_the_same_frames_wherever_it_is_mapped, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0x1000, "/lib/x");
	rig_map(&rig, OTHER, 0x7f0000400000, 0x7f0000402000, 0x1000, "/lib/x");
	cr_expect_eq(user_frame(PID, 0x400042), packed(1, 0x1042));
	rig_text(&rig, "");
	cr_expect_eq(user_frame(OTHER, 0x7f0000400042), packed(1, 0x1042));
	cr_expect_str_eq(rig_text(&rig, ""), "0 ProcMapsEntry pid=5000100 start=139637980921856 "
					     "end=139637980930048 offset=4096 module_id=1\n");
}

static uint64_t leaf_of(uint32_t pid, uint32_t tid, uint64_t addr)
{
	size_t cnt;

	return resolve_rec(&(struct rec_parts){ .kind = PROF_REC_SAMPLE,
						.pid = pid,
						.tid = tid,
						.ustack = &addr,
						.ustack_cnt = 1 },
			   &cnt)[0];
}

Test(frames, last_stack_of_a_thread_is_never_used_for_another_stack, .init = setup,
     .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0, "/bin/first");
	rig_map(&rig, OTHER, 0x400000, 0x402000, 0, "/bin/second");
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(leaf_of(PID, PID, 0x400042), packed(1, 0x42));
		cr_expect_eq(leaf_of(OTHER, PID, 0x400042), packed(2, 0x42), "another process");
		cr_expect_eq(leaf_of(PID, PID, 0x400050), packed(1, 0x50), "another address");
	}
}

Test(frames, path_with_another_build_id_is_another_module, .init = setup, .fini = teardown)
{
	const char *path = "/bin/x";

	rig_map(&rig, PID, 0x400000, 0x402000, 0, path);
	tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						   .pid = OTHER,
						   .addr = 0x400000,
						   .len = 0x2000,
						   .prot = 5,
						   .build_id = { 0x12 },
						   .build_id_sz = 1,
						   .name = path,
						   .name_len = strlen(path) });
	cr_expect_eq(user_frame(PID, 0x400000), packed(1, 0));
	cr_expect_eq(user_frame(OTHER, 0x400000), packed(2, 0));
}

Test(frames, each_anonymous_mapping_is_a_module_and_the_vdso_is_one_module, .init = setup,
     .fini = teardown)
{
	rig_map(&rig, PID, 0x10000, 0x11000, 0x77, "//anon");
	rig_map(&rig, PID, 0x20000, 0x21000, 0, "//anon");
	rig_map(&rig, PID, 0x30000, 0x31000, 0, "[vdso]");
	rig_map(&rig, OTHER, 0x40000, 0x41000, 0, "[vdso]");
	cr_expect_eq(user_frame(PID, 0x10005), packed(1, 5),
		     "what the kernel calls offset is none");
	cr_expect_eq(user_frame(PID, 0x20005), packed(2, 5));
	cr_expect_eq(user_frame(PID, 0x30005), packed(3, 5));
	cr_expect_eq(user_frame(OTHER, 0x40005), packed(3, 5));
	cr_expect_str_eq(rig_text(&rig, "ModuleEvent"),
			 "0 ModuleEvent module_id=1 path=\"[anon]\" build_id=<abcd> kind=5\n"
			 "0 ModuleEvent module_id=2 path=\"[anon]\" build_id=<abcd> kind=5\n"
			 "0 ModuleEvent module_id=3 path=\"[vdso]\" build_id=<abcd> kind=4\n");
}

Test(frames, unmapped_address_is_reduced_to_its_low_bits, .init = setup, .fini = teardown)
{
	const uint64_t user[] = { 0x7fff12345678, 0 };
	const uint64_t *frames = resolve_user(PID, user, 2);

	cr_expect_eq(frames[0], 0xff12345678);
	cr_expect_eq(frames[1], 0xffffffffff, "one before 0");
	cr_expect_eq(user_frame(NO_SUCH_TID + 5, 0x1234), 0x1234, "a process nobody knows");
	cr_expect_str_eq(rig_text(&rig, ""), "");
}

Test(frames, offset_that_does_not_fit_has_no_module, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 1ULL << 40, "/bin/x");
	cr_expect_eq(user_frame(PID, 0x400001), 0x400001);
	rig_map(&rig, PID, 0x600000, 0x602000, UINT64_MAX, "/bin/y");
	cr_expect_eq(user_frame(PID, 0x600000), 0x600000);
}

/* ---- the kernel ------------------------------------------------------------------------------------- */

static const char kallsyms_text[] = "ffffffff81000000 T _stext\n"
				    "ffffffff81000100 T do_work\n"
				    "ffffffff81000200 T __traceiter_sched_switch\n"
				    "ffffffff81000300 T schedule\n"
				    "ffffffff81001000 T _etext\n"
				    "ffffffffc0000000 t mod_fn\t[xfs]\n"
				    "ffffffffc0001000 t bpf_prog_0123456789abcdef_x\t[bpf]\n";
static const char modules_text[] = "xfs 4096 0 - Live 0xffffffffc0000000\n";

static struct kallsyms *kallsyms;

static void kernel_setup(void)
{
	setup();
	cr_assert_eq(kallsyms_parse(kallsyms_text, strlen(kallsyms_text), modules_text,
				    strlen(modules_text), &kallsyms),
		     0);
	frames_set_kallsyms(rig.frames, kallsyms);
}

static void kernel_teardown(void)
{
	teardown();
	kallsyms_free(kallsyms);
}

static const uint64_t *resolve_kernel(uint8_t kind, const uint64_t *kernel, size_t kernel_cnt,
				      size_t *cnt)
{
	return resolve_rec(
		&(struct rec_parts){
			.kind = kind, .pid = PID, .kstack = kernel, .kstack_cnt = kernel_cnt },
		cnt);
}

Test(frames, kernel_code_is_a_module_with_symbols, .init = kernel_setup, .fini = kernel_teardown)
{
	const uint64_t kernel[] = { 0xffffffff81000110, 0xffffffff81000350, 0xffffffffc0000010,
				    0xffffffffc0001010 };
	const uint64_t *frames;
	const char *text;
	size_t cnt;

	frames = resolve_kernel(PROF_REC_SAMPLE, kernel, 4, &cnt);
	cr_assert_eq(cnt, 4);
	cr_expect_eq(frames[0], PROF_FRAME_KERNEL | packed(1, 0x110));
	cr_expect_eq(frames[1], PROF_FRAME_KERNEL | packed(1, 0x34f));
	cr_expect_eq(frames[2], PROF_FRAME_KERNEL | packed(2, 0xf));
	cr_expect_eq(frames[3], PROF_FRAME_KERNEL | packed(3, 0xf));
	text = rig_text(&rig, "SymbolTableEntry");
	cr_expect_not_null(strstr(text, "addr=9223373136366403856 size=256 "
					"symbol_name=\"do_work\" inline_depth=0 source_file=\"\" "
					"source_line=0 base_addr=9223373136366403840\n"),
			   "%s", text);
	cr_expect_not_null(strstr(text, "symbol_name=\"mod_fn\""));
	cr_expect_not_null(strstr(text, "symbol_name=\"bpf_prog_0123456789abcdef_x\""));
	resolve_kernel(PROF_REC_TRACEPOINT, kernel, 4, &cnt);
	resolve_kernel(PROF_REC_SAMPLE, kernel, 4, &cnt);
	text = rig_text(&rig, "");
	cr_expect_null(strstr(text, "ModuleEvent"), "announced again: %s", text);
	cr_expect_null(strstr(text, "mod_fn"), "named again: %s", text);
}

Test(frames, kernel_modules_have_their_kind, .init = kernel_setup, .fini = kernel_teardown)
{
	const uint64_t kernel[] = { 0xffffffffc0000010, 0xffffffffc0001010 };
	size_t cnt;

	resolve_kernel(PROF_REC_SAMPLE, kernel, 2, &cnt);
	cr_expect_str_eq(rig_text(&rig, "ModuleEvent"),
			 "0 ModuleEvent module_id=1 path=\"[xfs]\" build_id=<> kind=2\n"
			 "0 ModuleEvent module_id=2 path=\"bpf_prog_0123456789abcdef_x\" "
			 "build_id=<> kind=3\n");
}

Test(frames, tracing_functions_are_removed_from_the_stack_of_a_switch, .init = kernel_setup,
     .fini = kernel_teardown)
{
	const uint64_t kernel[] = { 0xffffffff81000210, 0xffffffff81000350, 0xffffffff81000110,
				    0xffffffff81000220 };
	const uint64_t user[] = { 0x1000 };
	const uint64_t *frames;
	size_t cnt;

	frames = resolve_rec(&(struct rec_parts){ .kind = PROF_REC_TRACEPOINT,
						  .pid = PID,
						  .kstack = kernel,
						  .kstack_cnt = 4,
						  .ustack = user,
						  .ustack_cnt = 1 },
			     &cnt);
	cr_assert_eq(cnt, 4, "the leaf is gone, but not what looks like it further up");
	cr_expect_eq(frames[0], PROF_FRAME_KERNEL | packed(1, 0x34f));
	cr_expect_eq(frames[1], PROF_FRAME_KERNEL | packed(1, 0x10f));
	cr_expect_eq(frames[2], PROF_FRAME_KERNEL | packed(1, 0x21f));
	cr_expect_eq(frames[3], 0x1000);
	frames = resolve_kernel(PROF_REC_SAMPLE, kernel, 4, &cnt);
	cr_assert_eq(cnt, 4, "a sample may hit it for good");
	cr_expect_eq(frames[0], PROF_FRAME_KERNEL | packed(1, 0x210));
}

Test(frames, kernel_address_in_no_module_is_reduced_to_its_low_bits, .init = kernel_setup,
     .fini = kernel_teardown)
{
	const uint64_t kernel[] = { 0xffffffffa0001234 };
	size_t cnt;

	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, kernel, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | 0xffa0001234);
	cr_expect_str_eq(rig_text(&rig, ""), "");
}

static void ksymbol(uint64_t addr, uint32_t len, const char *name, bool gone)
{
	frames_side(rig.frames, &(struct perf_side){ .type = PERF_SIDE_KSYMBOL,
						     .addr = addr,
						     .len = len,
						     .unregister = gone,
						     .name = name,
						     .name_len = strlen(name) });
}

Test(frames, bpf_image_loaded_during_the_recording_has_a_symbol, .init = kernel_setup,
     .fini = kernel_teardown)
{
	const uint64_t inside[] = { 0xffffffffa0001010 }, outside[] = { 0xffffffffa0001100 };
	size_t cnt;

	ksymbol(0xffffffffa0001000, 0x100, "bpf_prog_aaaa_new", false);
	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, inside, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | packed(1, 0x10));
	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, outside, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | 0xffa0001100);
	cr_expect_str_eq(rig_text(&rig, ""),
			 "0 ModuleEvent module_id=1 path=\"bpf_prog_aaaa_new\" build_id=<> kind=3\n"
			 "0 SymbolTableEntry addr=9223373136366403600 size=256 "
			 "symbol_name=\"bpf_prog_aaaa_new\" inline_depth=0 source_file=\"\" "
			 "source_line=0 base_addr=9223373136366403584\n");
}

Test(frames, address_reused_by_another_image_gets_its_symbol, .init = kernel_setup,
     .fini = kernel_teardown)
{
	const uint64_t kernel[] = { 0xffffffffa0001010 };
	size_t cnt;

	ksymbol(0xffffffffa0001000, 0x100, "bpf_prog_aaaa_old", false);
	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, kernel, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | packed(1, 0x10));
	ksymbol(0xffffffffa0001000, 0x100, "bpf_prog_aaaa_old", true);
	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, kernel, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | 0xffa0001010, "gone, also from the cache");
	ksymbol(0xffffffffa0001000, 0x100, "bpf_prog_bbbb_new", false);
	cr_expect_eq(resolve_kernel(PROF_REC_SAMPLE, kernel, 1, &cnt)[0],
		     PROF_FRAME_KERNEL | packed(2, 0x10));
	cr_expect_not_null(strstr(rig_text(&rig, "SymbolTableEntry"), "bpf_prog_bbbb_new"));
}

/* ---- the cache -------------------------------------------------------------------------------------- */

Test(stacks, repeated_stack_gives_the_same_frames_and_writes_nothing, .init = setup,
     .fini = teardown)
{
	uint64_t user[127], first[127];
	size_t i;

	rig_map(&rig, PID, 0x400000, 0x500000, 0, "/bin/x");
	for (i = 0; i < 127; i++)
		user[i] = 0x400000 + i * 0x11;
	memcpy(first, resolve_user(PID, user, 127), sizeof(first));
	rig_text(&rig, "");
	cr_expect_arr_eq(resolve_user(PID, user, 127), first, sizeof(first));
	cr_expect_str_eq(rig_text(&rig, ""), "");
}

Test(stacks, cached_stacks_use_a_new_mapping, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0, "/lib/old");
	cr_expect_eq(user_frame(PID, 0x400010), packed(1, 0x10));
	rig_map(&rig, PID, 0x400000, 0x401000, 0x5000, "/lib/new");
	cr_expect_eq(user_frame(PID, 0x400010), packed(2, 0x5010));
	cr_expect_eq(user_frame(PID, 0x401010), packed(1, 0x1010));
}

Test(stacks, exec_clears_the_stacks_of_the_old_program, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0, "/bin/old");
	cr_expect_eq(user_frame(PID, 0x400010), packed(1, 0x10));
	tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_COMM,
						   .pid = PID,
						   .tid = PID,
						   .comm_exec = true,
						   .name = "new",
						   .name_len = 3 });
	cr_expect_eq(user_frame(PID, 0x400010), 0x400010);
	rig_map(&rig, PID, 0x400000, 0x402000, 0, "/bin/new");
	cr_expect_eq(user_frame(PID, 0x400010), packed(2, 0x10));
}

Test(stacks, same_addresses_in_two_processes_are_two_stacks, .init = setup, .fini = teardown)
{
	rig_map(&rig, PID, 0x400000, 0x402000, 0, "/bin/a");
	rig_map(&rig, OTHER, 0x400000, 0x402000, 0, "/bin/b");
	cr_expect_eq(user_frame(PID, 0x400010), packed(1, 0x10));
	cr_expect_eq(user_frame(OTHER, 0x400010), packed(2, 0x10));
	cr_expect_eq(user_frame(PID, 0x400010), packed(1, 0x10));
}

Test(stacks, sample_leaf_and_switch_leaf_are_resolved_differently, .init = setup, .fini = teardown)
{
	const uint64_t addr[] = { 0xffffffff81000010 };
	const uint64_t *frames;
	size_t cnt;

	frames = resolve_rec(
		&(struct rec_parts){
			.kind = PROF_REC_SAMPLE, .pid = PID, .kstack = addr, .kstack_cnt = 1 },
		&cnt);
	cr_expect_eq(frames[0], PROF_FRAME_KERNEL | 0xff81000010);
	frames = resolve_rec(
		&(struct rec_parts){
			.kind = PROF_REC_TRACEPOINT, .pid = PID, .kstack = addr, .kstack_cnt = 1 },
		&cnt);
	cr_expect_eq(frames[0], PROF_FRAME_KERNEL | 0xff8100000f);
	frames = resolve_rec(
		&(struct rec_parts){
			.kind = PROF_REC_SAMPLE, .pid = PID, .ustack = addr, .ustack_cnt = 1 },
		&cnt);
	cr_expect_eq(frames[0], 0xff81000010, "user code has no kernel bit");
}

/* Many more stacks than slots, of all lengths, in random order: each against its own arithmetic. */
Test(stacks, frames_are_right_for_any_use_of_slots, .init = setup, .fini = teardown)
{
	unsigned int seed = 3;
	uint64_t user[127];
	int round;

	rig_map(&rig, PID, 0x400000, 0x40400000, 0, "/bin/x");
	for (round = 0; round < 60000; round++) {
		size_t cnt = rand_r(&seed) % 127 + 1, i;
		uint64_t base = 0x400001 + rand_r(&seed) % 300 * 0x100000;
		const uint64_t *frames;

		for (i = 0; i < cnt; i++)
			user[i] = base + i * 16;
		frames = resolve_user(PID, user, cnt);
		for (i = 0; i < cnt; i++)
			cr_assert_eq(frames[i], packed(1, user[i] - 0x400000 - (i > 0)));
	}
}

Test(stacks, empty_stack_has_no_frames, .init = setup, .fini = teardown)
{
	size_t cnt = 9;

	resolve_rec(&(struct rec_parts){ .kind = PROF_REC_SAMPLE, .pid = PID }, &cnt);
	cr_expect_eq(cnt, 0);
}
