/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmlinux.h - the kernel types that the BPF programs touch, and no others
 *
 * CO-RE relocates accesses by name, so only the names of types and members have to be right here:
 * offsets, order and what is left out are found in the running kernel's BTF when the programs load.
 * tools/gen-vmlinux.sh writes the full header of the running kernel where one is wanted to look at.
 */
#ifndef D9_VMLINUX_H
#define D9_VMLINUX_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false = 0, true = 1 };
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_F_MMAPABLE = 1 << 10,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct thread_info {
	__u32 cpu;
};

struct hrtimer {
	__u8 is_soft;
};

struct mm_struct;

struct signal_struct {
	atomic_t live;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int cpu;
	unsigned int on_cpu; /* unsigned: loads fit the one byte that Linux 7.2 has, too */
	unsigned int on_rq;
	int prio;
	struct mm_struct *mm;
	int exit_state;
	unsigned int in_execve : 1;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	const struct cred *real_cred;
	struct css_set *cgroups;
	char comm[16];
};

struct bpf_iter__task {
	struct task_struct *task;
};

#include "ptregs.h"

#pragma clang attribute pop

struct bpf_perf_event_data;

#endif
