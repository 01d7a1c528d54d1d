// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_unwind.c - the memory for unwinding stacks, shared with the programs
 *
 * Mapped arrays; this file does not use their content. Tables lie in chunks. Each chunk is a separate map that is
 * made when tables need it, since the kernel allocates the memory of a map at once.
 */
#include "record/capture/capture_unwind.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/inner_maps.h"

enum {
	BLOCK_SZ = 4 * PROF_UNWIND_BLOCK_WORDS,
	CHUNK_SZ = BLOCK_SZ * PROF_UNWIND_CHUNK_BLOCKS,
};

/*
 * The main stack lies in the upper half of the address space, so its addresses have the maximum number of bits.
 * AT_RANDOM points to it in all threads.
 */
uint64_t capture_unwind_code_mask(void)
{
	return UINT64_MAX >> __builtin_clzll(getauxval(AT_RANDOM) | 1);
}

int capture_unwind_size(struct prof *skel, const struct capture_unwind_cfg *cfg)
{
	int err = 0;

	if (cfg->proc_cnt & (cfg->proc_cnt - 1) || cfg->known_cnt & (cfg->known_cnt - 1) ||
	    cfg->chunk_cnt > PROF_UNWIND_CHUNKS_MAX || cfg->map_cnt > PROF_UNWIND_MAPS_MAX)
		return -EINVAL;
	if (cfg->module_cnt)
		err = bpf_map__set_max_entries(skel->maps.unwind_modules, cfg->module_cnt);
	if (!err && cfg->map_cnt)
		err = bpf_map__set_max_entries(skel->maps.unwind_maps, cfg->map_cnt);
	if (!err && cfg->proc_cnt >= PROF_UNWIND_PROC_PROBES) {
		skel->rodata->cfg_unwind_procs = cfg->proc_cnt;
		err = bpf_map__set_max_entries(skel->maps.unwind_procs, cfg->proc_cnt);
	}
	if (!err && cfg->known_cnt) {
		skel->rodata->cfg_unwind_knowns = cfg->known_cnt;
		err = bpf_map__set_max_entries(skel->maps.unwind_knowns, cfg->known_cnt);
	}
	if (!err && cfg->chunk_cnt)
		err = bpf_map__set_max_entries(skel->maps.unwind_chunks, cfg->chunk_cnt);
	return err;
}

static size_t mapped_size(size_t sz)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (sz + page - 1) / page * page;
}

static int map_fd(int fd, size_t sz, void **out)
{
	void *p = mmap(NULL, mapped_size(sz), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

static int map_array(const struct bpf_map *map, void **out, uint32_t *cnt)
{
	*cnt = bpf_map__max_entries(map);
	return map_fd(bpf_map__fd(map), (size_t)*cnt * bpf_map__value_size(map), out);
}

int capture_unwind_init(const struct prof *skel, struct capture_unwind *u)
{
	int err;

	*u = (struct capture_unwind){ .chunks_fd = bpf_map__fd(skel->maps.unwind_chunks) };
	u->generation = (uint32_t *)&skel->bss->unwind_generation;
	u->condemned = (uint64_t *)skel->bss->unwind_condemned;
	u->list_generation = (uint32_t *)&skel->bss->unwind_list_generation;
	u->cnt.chunk_cnt = bpf_map__max_entries(skel->maps.unwind_chunks);
	u->chunks = xcalloc(u->cnt.chunk_cnt, sizeof(*u->chunks));
	err = map_array(skel->maps.unwind_modules, (void **)&u->modules, &u->cnt.module_cnt);
	if (!err)
		err = map_array(skel->maps.unwind_maps, (void **)&u->maps, &u->cnt.map_cnt);
	if (!err)
		err = map_array(skel->maps.unwind_procs, (void **)&u->procs, &u->cnt.proc_cnt);
	if (err)
		capture_unwind_fini(u);
	return err;
}

static void unmap(void *mem, size_t sz)
{
	if (mem)
		munmap(mem, mapped_size(sz));
}

void capture_unwind_fini(struct capture_unwind *u)
{
	uint32_t i;

	for (i = 0; u->chunks && i < u->cnt.chunk_cnt; i++)
		unmap(u->chunks[i], CHUNK_SZ);
	free(u->chunks);
	unmap(u->modules, u->cnt.module_cnt * sizeof(*u->modules));
	unmap(u->maps, u->cnt.map_cnt * sizeof(*u->maps));
	unmap(u->procs, u->cnt.proc_cnt * sizeof(*u->procs));
	*u = (struct capture_unwind){ 0 };
}

/* Mapped before programs can reach it, so that a chunk exists for both or for neither. */
static int make_chunk(struct capture_unwind *u, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	void *mem;
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_chunk", sizeof(uint32_t), BLOCK_SZ,
			    PROF_UNWIND_CHUNK_BLOCKS, &opts);
	if (fd < 0)
		return -errno;
	err = map_fd(fd, CHUNK_SZ, &mem);
	if (!err) {
		err = inner_maps_put(u->chunks_fd, &i, &fd, 1);
		if (err)
			unmap(mem, CHUNK_SZ);
		else
			u->chunks[i] = mem;
	}
	close(fd);
	return err;
}

int capture_unwind_chunk(struct capture_unwind *u, uint32_t i, void **mem)
{
	int err = 0;

	if (i >= u->cnt.chunk_cnt)
		return -EINVAL;
	if (!u->chunks[i])
		err = make_chunk(u, i);
	if (!err)
		*mem = u->chunks[i];
	return err;
}
