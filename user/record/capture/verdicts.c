// SPDX-License-Identifier: BSD-2-Clause
/*
 * verdicts.c - the verifier's results by program and constants
 *
 * The objects that a program refers to are read from its relocated instructions. A verdict's key is a hash of the
 * referenced constants and map sizes.
 */
#include "record/capture/verdicts.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"

enum { PROC_MAPS_MAX = 64, VARS_MAX = 64 };

#define FACTOR 0x9e3779b97f4a7c15ULL /* makes the order of two hashes count */

/* Bits: the nth map of the object, the nth variable of its constants. */
struct references {
	char *program;
	uint64_t maps, vars;
	bool all; /* too many for the bits: all constants count */
};

struct verdict {
	size_t references; /* index */
	uint64_t key;
	uint32_t insns;
};

struct verdicts {
	struct references *refs;
	size_t ref_cnt, ref_cap;
	struct verdict *v;
	size_t cnt, cap;
};

struct verdicts *verdicts_new(void)
{
	return xcalloc(1, sizeof(struct verdicts));
}

void verdicts_free(struct verdicts *v)
{
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->ref_cnt; i++)
		free(v->refs[i].program);
	free(v->refs);
	free(v->v);
	free(v);
}

/* The constants described by the object's types, in order. */
static const struct btf_var_secinfo *variables(const struct prof *skel, size_t *cnt)
{
	const struct btf *btf = bpf_object__btf(skel->obj);
	const int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	*cnt = t ? btf_vlen(t) : 0;
	return t ? btf_var_secinfos(t) : NULL;
}

static void refer_to_constant(const struct prof *skel, uint32_t off, struct references *r)
{
	size_t cnt, i;
	const struct btf_var_secinfo *vars = variables(skel, &cnt);

	for (i = 0; i < cnt && i < VARS_MAX; i++)
		if (off >= vars[i].offset && off - vars[i].offset < vars[i].size) {
			r->vars |= 1ULL << i;
			return;
		}
	r->all = true;
}

static void refer(const struct prof *skel, const struct bpf_insn *insn, struct references *r)
{
	const struct bpf_map *map;
	int i = 0;

	bpf_object__for_each_map(map, skel->obj) {
		if (bpf_map__fd(map) == insn->imm && i < PROC_MAPS_MAX)
			r->maps |= 1ULL << i;
		r->all |= ++i > PROC_MAPS_MAX;
	}
	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE && bpf_map__fd(skel->maps.rodata) == insn->imm)
		refer_to_constant(skel, insn[1].imm, r);
}

static struct references read_references(const struct prof *skel, const struct bpf_program *prog)
{
	struct references r = { .program = xstrdup(bpf_program__name(prog)) };
	const struct bpf_insn *insns = bpf_program__insns(prog);
	size_t cnt = bpf_program__insn_cnt(prog), i;

	for (i = 0; i + 1 < cnt; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (insns[i].src_reg == BPF_PSEUDO_MAP_FD ||
		    insns[i].src_reg == BPF_PSEUDO_MAP_VALUE)
			refer(skel, &insns[i], &r);
		i++;
	}
	return r;
}

static uint64_t make_key(const struct references *r, const struct prof *skel)
{
	size_t cnt, i;
	const struct btf_var_secinfo *vars = variables(skel, &cnt);
	const struct bpf_map *map;
	uint64_t key = r->all ? hash_bytes(skel->rodata, sizeof(*skel->rodata)) : 0;

	for (i = 0; i < cnt && i < VARS_MAX; i++)
		if (r->vars >> i & 1)
			key = FACTOR * key +
			      hash_bytes((const char *)skel->rodata + vars[i].offset, vars[i].size);
	i = 0;
	bpf_object__for_each_map(map, skel->obj) {
		const uint32_t size = bpf_map__max_entries(map);

		if (i >= PROC_MAPS_MAX || r->maps >> i & 1)
			key = FACTOR * key + hash_bytes(&size, sizeof(size));
		i++;
	}
	return key;
}

static const struct references *find_references(const struct verdicts *v, const char *program)
{
	size_t i;

	for (i = 0; i < v->ref_cnt; i++)
		if (!strcmp(v->refs[i].program, program))
			return &v->refs[i];
	return NULL;
}

void verdicts_add(struct verdicts *v, const struct prof *skel, const struct bpf_program *prog,
		  uint32_t insns)
{
	const struct references *r = find_references(v, bpf_program__name(prog));

	if (!r) {
		v->refs = array_reserve(v->refs, &v->ref_cap, v->ref_cnt + 1, sizeof(*v->refs));
		v->refs[v->ref_cnt] = read_references(skel, prog);
		r = &v->refs[v->ref_cnt++];
	}
	v->v = array_reserve(v->v, &v->cap, v->cnt + 1, sizeof(*v->v));
	v->v[v->cnt++] = (struct verdict){
		.references = (size_t)(r - v->refs),
		.key = make_key(r, skel),
		.insns = insns,
	};
}

int64_t verdicts_find(const struct verdicts *v, const struct prof *skel,
		      const struct bpf_program *prog)
{
	const struct references *r = find_references(v, bpf_program__name(prog));
	uint64_t key;
	size_t i;

	if (!r)
		return -1;
	key = make_key(r, skel);
	for (i = 0; i < v->cnt; i++)
		if (v->v[i].references == (size_t)(r - v->refs) && v->v[i].key == key)
			return v->v[i].insns;
	return -1;
}
