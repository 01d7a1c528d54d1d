// SPDX-License-Identifier: BSD-2-Clause
/* Maps are in an array of maps when the request returns. */
#include "record/capture/inner_maps.h"

#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { MAPS = 64 };

static int outer, rings[MAPS];
static uint32_t keys[MAPS];

__attribute__((constructor)) static void need_root(void)
{
	if (!geteuid())
		return;
	puts("needs root");
	fflush(stdout);
	_exit(77);
}

static void make_maps(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	const uint32_t bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < MAPS; i++) {
		keys[i] = i;
		rings[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);
		cr_assert_geq(rings[i], 0);
	}
	opts.inner_map_fd = (uint32_t)rings[0];
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", 4, 4, MAPS, &opts);
	cr_assert_geq(outer, 0);
}

static uint32_t id_of(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t sz = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(fd, &info, &sz), 0);
	return info.id;
}

TestSuite(inner_maps, .init = make_maps);

Test(inner_maps, all_maps_are_inserted_when_the_request_returns)
{
	uint32_t id;

	cr_assert_eq(inner_maps_put(outer, keys, rings, MAPS), 0);
	for (uint32_t i = 0; i < MAPS; i++) {
		cr_assert_eq(bpf_map_lookup_elem(outer, &i, &id), 0, "%u", i);
		cr_expect_eq(id, id_of(rings[i]), "%u", i);
	}
}

Test(inner_maps, other_elements_stay_empty)
{
	const uint32_t key = 5, other = 6;
	uint32_t id;

	cr_assert_eq(inner_maps_put(outer, &key, &rings[9], 1), 0);
	cr_assert_eq(bpf_map_lookup_elem(outer, &key, &id), 0);
	cr_expect_eq(id, id_of(rings[9]));
	cr_expect_eq(bpf_map_lookup_elem(outer, &other, &id), -ENOENT);
}

Test(inner_maps, invalid_index_and_invalid_map_descriptor_are_errors)
{
	const uint32_t beyond = MAPS, key = 0;
	const int file = STDIN_FILENO;

	cr_expect_eq(inner_maps_put(outer, &beyond, rings, 1), -E2BIG);
	cr_expect_lt(inner_maps_put(outer, &key, &file, 1), 0);
}
