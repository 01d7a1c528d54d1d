// SPDX-License-Identifier: BSD-2-Clause
/*
 * probe.c - whether this kernel allows BPF at all, by trying it
 *
 * A version number does not show which options a kernel was built with, or what a security module denies.
 */
#include "record/capture/probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

static int make(enum bpf_map_type type, uint32_t item, uint32_t cnt)
{
	int fd = bpf_map_create(type, "probe", item, item, cnt, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int probe_bpf(void)
{
	return make(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), 1);
}

int probe_ring(size_t bytes)
{
	return make(BPF_MAP_TYPE_RINGBUF, 0, (uint32_t)bytes);
}
