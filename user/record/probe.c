// SPDX-License-Identifier: BSD-2-Clause
/*
 * probe.c - what of BPF this kernel offers to us, found out by asking for it
 *
 * A version number tells nothing about a kernel that was built without something, or that a
 * security module holds back. Each probe is the smallest program that needs the thing.
 */
#include "record/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

/* r0 = 0; exit */
static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static __attribute__((format(printf, 2, 0))) int print_nothing(enum libbpf_print_level level,
							       const char *fmt, va_list ap)
{
	return 0;
}

static int load(enum bpf_prog_type type, const struct bpf_prog_load_opts *opts)
{
	int fd = bpf_prog_load(type, "probe", "GPL", nothing, sizeof(nothing) / sizeof(nothing[0]),
			       opts);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int probe_tp_btf(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);

	if (id < 0)
		return id;
	opts.attach_btf_id = id;
	return load(BPF_PROG_TYPE_TRACING, &opts);
}

static int probe_helper(enum bpf_func_id helper)
{
	int ret = libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, helper, NULL);

	if (ret < 0)
		return ret;
	return ret ? 0 : -EOPNOTSUPP;
}

static int probe_ring(size_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, bytes, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

void probe_bpf(size_t ring_bytes, struct probe_bpf *out)
{
	libbpf_print_fn_t print = libbpf_set_print(print_nothing);

	out->load = load(BPF_PROG_TYPE_TRACEPOINT, NULL);
	out->tp_btf = probe_tp_btf();
	out->cookie = probe_helper(BPF_FUNC_get_attach_cookie);
	out->kernel_stack = probe_helper(BPF_FUNC_get_stack);
	out->user_stack = probe_helper(BPF_FUNC_task_pt_regs);
	if (!out->user_stack)
		out->user_stack = probe_helper(BPF_FUNC_probe_read_user);
	out->ring = probe_ring(ring_bytes);
	libbpf_set_print(print);
}
