/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROBE_H
#define D9_RECORD_PROBE_H

#include <stddef.h>

/* What of BPF a recording cannot do without, tried out. 0, or -errno why it does not work. */
struct probe_bpf {
	int load; /* any program */
	int tp_btf; /* one at sched_switch, with the kernel's types */
	int cookie; /* bpf_get_attach_cookie: which tracepoint a program runs for */
	int kernel_stack; /* bpf_get_stack */
	int user_stack; /* bpf_task_pt_regs and bpf_probe_read_user */
	int ring; /* one of ring_bytes */
};

/* Loads a handful of programs that do nothing, attaches none, and leaves nothing behind. */
void probe_bpf(size_t ring_bytes, struct probe_bpf *out);

#endif
