// SPDX-License-Identifier: BSD-2-Clause
/* The constants that programs are loaded with. */
#include "record/capture/capture_configure.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/mman.h>

#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/capture/capture_field_extract.h"
#include "record/capture/capture_rings.h"
#include "record/capture/capture_unwind.h"
#include "record/tracepoint/eventset.h"

enum { LOW_STACK = 0x10000000, STACK_SZ = 1 << 18 };

static struct prof *configured(uint32_t call_graph)
{
	static const struct eventset no_events = { .hot = { -1, -1, -1, -1, -1, -1 } };
	const struct capture_cfg cfg = {
		.events = &no_events,
		.call_graph = call_graph,
		.ring_bytes = 1 << 16,
	};
	struct capture_rings rings = { 0 };
	struct capture_field_extract extracts = { 0 };
	const struct capture_configure how = {
		.cfg = &cfg,
		.cpu_cnt = 1,
		.rings = &rings,
		.extracts = &extracts,
	};
	struct prof *skel = prof__open();

	cr_assert_not_null(skel);
	cr_assert_eq(capture_configure(skel, &how), 0);
	capture_field_extract_fini(&extracts);
	return skel;
}

static void expect_code_mask(uint32_t call_graph)
{
	struct prof *skel = configured(call_graph);

	cr_expect_eq(skel->rodata->cfg_call_graph, call_graph);
	cr_expect_eq(skel->rodata->cfg_code_mask, capture_unwind_code_mask());
	prof__destroy(skel);
}

Test(capture_configure, pointer_authentication_bits_are_removed_in_every_call_graph)
{
	expect_code_mask(PROF_CALL_GRAPH_AUTO);
	expect_code_mask(PROF_CALL_GRAPH_FP);
}

static void *read_mask(void *mask)
{
	*(uint64_t *)mask = capture_unwind_code_mask();
	return NULL;
}

Test(capture_configure, code_mask_covers_the_whole_address_space_in_any_thread)
{
	void *stack = mmap((void *)LOW_STACK, STACK_SZ, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	uint64_t mask = 0;
	pthread_attr_t attr;
	pthread_t thread;

	cr_assert_neq(stack, MAP_FAILED);
	cr_assert_eq(pthread_attr_init(&attr), 0);
	cr_assert_eq(pthread_attr_setstack(&attr, stack, STACK_SZ), 0);
	cr_assert_eq(pthread_create(&thread, &attr, read_mask, &mask), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK_SZ);
	cr_expect_eq((uintptr_t)read_mask & ~mask, 0);
	cr_expect_eq((uintptr_t)__builtin_frame_address(0) & ~mask, 0, "%#llx",
		     (unsigned long long)mask);
	cr_expect_eq(mask & (mask + 1), 0, "bits from the lowest on");
}
