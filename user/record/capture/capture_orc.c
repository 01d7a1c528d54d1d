// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_orc.c - kernel stacks that are walked (bpf/orc.bpf.h): chooses the programs and finds the tables
 *
 * Stateless. Whether the rows of the tables have a supported layout is decided by the programs, which know it from
 * the kernel's types at load.
 */
#include "record/capture/capture_orc.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/btf.h"
#include "kernel/kallsyms.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"

enum {
	ROW_SIZE = 6,
	ROWS_MAX = 1 << 21, /* the limit of the programs' search */
	STRINGS_MAX = 64 << 20,
};

/*
 * The string section of the kernel's types, NUL-terminated; NULL: none. Searching the types with a library takes 20
 * ms, reading the names alone takes 5 ms.
 */
static char *read_names(size_t *sz)
{
	int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct btf_header head;
	char *names = NULL;
	size_t got = 0;
	ssize_t n = 1;

	if (fd < 0)
		return NULL;
	if (read(fd, &head, sizeof(head)) != sizeof(head) || head.magic != BTF_MAGIC ||
	    head.str_len > STRINGS_MAX)
		goto out;
	names = xmalloc(head.str_len + 1);
	while (got < head.str_len && n > 0) {
		n = pread(fd, names + got, head.str_len - got,
			  (off_t)head.hdr_len + head.str_off + got);
		if (n > 0)
			got += n;
	}
	names[got] = '\0';
	*sz = got;
out:
	close(fd);
	return names;
}

/* Without bpf_rdonly_cast() the program would be refused. It exists since 6.2; some vendors have added it before. */
static bool has_cast(void)
{
	static const char wanted[] = "\0bpf_rdonly_cast";
	unsigned int major, minor;
	struct utsname uts;
	size_t sz = 0;
	char *names;
	bool has;

	if (!uname(&uts) && sscanf(uts.release, "%u.%u", &major, &minor) == 2 &&
	    (major > 6 || (major == 6 && minor >= 2)))
		return true;
	names = read_names(&sz);
	has = names && memmem(names, sz + 1, wanted, sizeof(wanted));
	free(names);
	return has;
}

bool capture_orc_is_likely(void)
{
#if !defined(__x86_64__)
	log_info("record: no ORC tables on this architecture: bpf_get_stack() takes kernel "
		 "stacks");
	return false;
#endif
	if (has_cast())
		return true;
	log_info("record: this kernel has no bpf_rdonly_cast() (6.2): bpf_get_stack() takes kernel "
		 "stacks");
	return false;
}

static void choose(struct bpf_program *walks, struct bpf_program *asks, bool walk)
{
	bool wanted = bpf_program__autoload(asks);

	bpf_program__set_autoload(walks, wanted && walk);
	bpf_program__set_autoload(asks, wanted && !walk);
}

void capture_orc_choose(struct prof *s, bool walk)
{
	choose(s->progs.prof_sched_switch_orc, s->progs.prof_sched_switch,
	       walk && s->rodata->cfg_switch_stacks & PROF_STACKS_KERNEL);
	choose(s->progs.prof_sched_waking_orc, s->progs.prof_sched_waking,
	       walk && s->rodata->cfg_wakeup_stacks & PROF_STACKS_KERNEL);
	choose(s->progs.prof_off_cpu_switch_orc, s->progs.prof_off_cpu_switch,
	       walk && s->rodata->cfg_switch_stacks & PROF_STACKS_KERNEL);
	choose(s->progs.prof_sample_orc, s->progs.prof_sample, walk);
}

void capture_orc_begin(struct prof *skel, const struct prof_orc_tables *tables)
{
	struct prof_orc_tables *to = (struct prof_orc_tables *)&skel->bss->orc_tables;
	struct prof_orc_tables others = *tables;

	others.cnt = 0;
	*to = others;
	__atomic_store_n(&to->cnt, tables->cnt, __ATOMIC_RELEASE);
}

bool capture_orc_find(const struct kallsyms *k, struct prof_orc_tables *out)
{
	const uint64_t ips = kallsyms_mark(k, KALLSYMS_ORC_IPS);
	const uint64_t ips_end = kallsyms_mark(k, KALLSYMS_ORC_IPS_END);
	const uint64_t rows = kallsyms_mark(k, KALLSYMS_ORC_ROWS);
	const uint64_t rows_end = kallsyms_mark(k, KALLSYMS_ORC_ROWS_END);
	const uint64_t text = kallsyms_mark(k, KALLSYMS_STEXT);
	const uint64_t text_end = kallsyms_mark(k, KALLSYMS_ETEXT);
	const uint64_t cnt = (ips_end - ips) / sizeof(int32_t);

	if (!ips || !rows || !text || ips_end <= ips || text_end <= text || cnt > ROWS_MAX ||
	    rows_end - rows != cnt * ROW_SIZE) {
		log_info("record: no ORC tables in /proc/kallsyms: bpf_get_stack() takes kernel "
			 "stacks");
		return false;
	}
	*out = (struct prof_orc_tables){
		.cnt = cnt,
		.ips = ips,
		.rows = rows,
		.text = text,
		.text_sz = text_end - text,
		.hooks = { kallsyms_mark(k, KALLSYMS_RETHOOK),
			   kallsyms_mark(k, KALLSYMS_GRAPH_RETURN) },
	};
	return true;
}
