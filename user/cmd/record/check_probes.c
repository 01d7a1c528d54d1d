// SPDX-License-Identifier: BSD-2-Clause
/*
 * check_probes.c - requirements of a recording, one function each
 *
 * Everything is tried in the way in which the recorder does it, not guessed from a version. Each missing item is
 * reported with its effect and a command that fixes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "cmd/record/check.h"
#include "cmd/record/check_features.h"
#include "kernel/btf.h"
#include "kernel/cpus.h"
#include "kernel/denial.h"
#include "kernel/perf.h"
#include "kernel/perf_ring.h"
#include "kernel/privileges.h"
#include "kernel/realtime.h"
#include "kernel/tracefs/tracefs.h"
#include "record/capture/capture.h"
#include "record/capture/capture_cpus.h"
#include "record/capture/probe.h"

enum {
	RING_BYTES = 4 << 20, /* what record takes by default */
	SIDE_PAGE_KIB = 4, /* in front of each buffer of the side-band */
	HZ = 99,
	PARANOID_MAX = 2,
	PID_NS_INO = 0xeffffffc, /* of the namespace that the kernel starts with */
};

/* A number in a file of /proc/sys, or fallback. */
static int64_t read_number(const char *path, int64_t fallback)
{
	FILE *f = fopen(path, "re");
	int64_t v;

	if (!f)
		return fallback;
	if (fscanf(f, "%" SCNd64, &v) != 1)
		v = fallback;
	fclose(f);
	return v;
}

/* ---- privileges -------------------------------------------------------------------------------- */

static char *setcap_command(void)
{
	struct buf b = { 0 };
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	buf_addstr(&b, "sudo, or once: sudo " PRIVILEGES_SETCAP " ");
	buf_add(&b, n > 0 ? path : "dial9-prof", n > 0 ? (size_t)n : strlen("dial9-prof"));
	buf_cstr(&b);
	return buf_steal(&b);
}

static void probe_privileges(struct check *c, uint64_t caps)
{
	for (size_t i = 0; i < privilege_cnt; i++) {
		const struct privilege *p = &privileges[i];
		struct check_row *row;

		if (privileges_have(caps, p->cap)) {
			check_add(c, p->name, CHECK_GOOD, "%s", p->purpose);
			continue;
		}
		row = check_add(c, p->name,
				p->need == PRIVILEGE_REQUIRED ? CHECK_BAD : CHECK_LIMITED,
				"missing");
		row->costs = p->costs;
		row->mend = p->need == PRIVILEGE_USEFUL ? xstrdup("sudo") : setcap_command();
	}
}

static void probe_realtime(struct check *c, uint64_t caps)
{
	const char *why;

	if (!realtime_probe(1, &why)) {
		check_add(c, "real-time priority", CHECK_GOOD, "while buffers fill");
		return;
	}
	check_explain(check_add(c, "real-time priority", CHECK_LIMITED, "refused: %s", why),
		      "more may be lost when CPUs are overloaded",
		      privileges_have(caps, CAP_SYS_NICE) ? NULL : "sudo");
}

static void probe_namespace(struct check *c)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == PID_NS_INO) {
		check_add(c, "pid namespace", CHECK_GOOD, "host");
		return;
	}
	check_explain(check_add(c, "pid namespace", CHECK_LIMITED, "container"),
		      "-p, -t and COMMAND see other process IDs than the kernel; -a works",
		      "record on the host");
}

/* ---- kernel ------------------------------------------------------------------------------------ */

static void probe_btf(struct check *c, const char *btf)
{
	struct utsname uts;
	const char *release = uname(&uts) ? "?" : uts.release;

	if (btf || !access(KERNEL_BTF, R_OK)) {
		check_add(c, "kernel types (BTF)", CHECK_GOOD, "%s", release);
		return;
	}
	check_explain(
		check_add(c, "kernel types (BTF)", CHECK_BAD, "no " KERNEL_BTF " in Linux %s",
			  release),
		"nothing can be recorded",
		"use Linux 5.15 or later with CONFIG_DEBUG_INFO_BTF=y; if the file is hidden, "
		"give a copy: --btf FILE");
}

static void probe_tracefs(struct check *c)
{
	bool mounted;
	int fd, err;

	err = tracefs_open_quiet(&fd, &mounted);
	if (!err) {
		check_add(c, "tracefs", CHECK_GOOD,
			  mounted ? "mounted" : "mounted for the recorder only");
		close(fd);
		return;
	}
	check_explain(check_add(c, "tracefs", CHECK_BAD, "%s: %s",
				mounted ? "mounted" : "not mounted", strerror(-err)),
		      "nothing can be recorded",
		      mounted ? "sudo" : "sudo mount -t tracefs tracefs /sys/kernel/tracing");
}

static void probe_paranoid(struct check *c, uint64_t caps)
{
	int64_t level = read_number("/proc/sys/kernel/perf_event_paranoid", INT64_MIN);

	if (level == INT64_MIN)
		check_explain(
			check_add(c, "perf events", CHECK_BAD, "not supported by this kernel"),
			"nothing can be recorded", "a kernel built with CONFIG_PERF_EVENTS=y");
	else if (level > PARANOID_MAX && !(caps & 1ULL << CAP_SYS_ADMIN))
		check_explain(check_add(c, "perf events", CHECK_BAD,
					"perf_event_paranoid is %" PRId64, level),
			      "nothing can be recorded: this level requires CAP_SYS_ADMIN",
			      "sudo sysctl kernel.perf_event_paranoid=2");
	else
		check_add(c, "perf events", CHECK_GOOD, "perf_event_paranoid is %" PRId64, level);
}

static void probe_sampler(struct check *c, uint32_t cpu)
{
	const struct perf_sampler_cfg cfg = { .which = PERF_SAMPLER_AUTO, .hz = HZ };
	struct check_row *row;
	bool cycles = false;
	int fd = -1, err;

	err = perf_open_sampler(cpu, &cfg, &fd, &cycles);
	if (err) {
		row = check_add(c, "sampling clock", CHECK_LIMITED, "%s", perf_open_error(err));
		row->option = "--no-samples";
		check_explain(row, "no CPU samples; --no-samples records the rest",
			      err == -EACCES || err == -EPERM ? "sudo" : NULL);
		return;
	}
	close(fd);
	if (cycles)
		check_add(c, "sampling clock", CHECK_GOOD, "cycles");
	else
		check_explain(check_add(c, "sampling clock", CHECK_LIMITED,
					"cpu-clock: no cycle counter"),
			      "samples come from a timer; none while interrupts are off",
			      "pass the hardware counters to this virtual machine");
}

static void probe_kallsyms(struct check *c)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long addr = 0;
	int tries = 0;

	while (f && !addr && tries++ < 64 && fscanf(f, "%llx %*[^\n]", &addr) == 1)
		;
	if (f)
		fclose(f);
	if (addr)
		check_add(c, "kernel symbols", CHECK_GOOD, "/proc/kallsyms");
	else
		check_explain(
			check_add(c, "kernel symbols", CHECK_LIMITED,
				  f ? "/proc/kallsyms hides addresses (kptr_restrict is %" PRId64
				      ")" :
				      "no /proc/kallsyms (kptr_restrict is %" PRId64 ")",
				  read_number("/proc/sys/kernel/kptr_restrict", 0)),
			"kernel functions have no symbols",
			read_number("/proc/sys/kernel/kptr_restrict", 0) > 1 ?
				"sudo sysctl kernel.kptr_restrict=1" :
				"sudo");
}

/* ---- memory ------------------------------------------------------------------------------------ */

static int64_t available_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[256];
	int64_t v = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNd64, &v) == 1)
			break;
	if (f)
		fclose(f);
	return v;
}

static void probe_rings(struct check *c, size_t cpu_cnt, int err)
{
	int64_t need = (int64_t)cpu_cnt * (RING_BYTES / 1024), have = available_kib();

	if (err)
		check_explain(check_add(c, "ring memory", CHECK_BAD,
					"cannot allocate a 4 MiB ring buffer: %s", strerror(-err)),
			      "nothing can be recorded",
			      err == -EPERM ? "sudo" : "smaller ring buffers: -m 256K");
	else if (have >= 0 && have < 2 * need)
		check_explain(check_add(c, "ring memory", CHECK_LIMITED,
					"%" PRId64 " MiB needed, %" PRId64 " MiB free", need / 1024,
					have / 1024),
			      "recording may run out of memory", "smaller ring buffers: -m 256K");
	else
		check_add(c, "ring memory", CHECK_GOOD, "%" PRId64 " MiB for %zu CPUs", need / 1024,
			  cpu_cnt);
}

/* Rings of perf events are locked memory; users without CAP_IPC_LOCK have a limit. */
static void probe_locked(struct check *c, uint64_t caps, size_t cpu_cnt)
{
	uint64_t each = capture_side_bytes(cpu_cnt) / 1024 + SIDE_PAGE_KIB, may;
	char mend[64];
	struct rlimit lim;

	if (caps & 1ULL << CAP_IPC_LOCK || getrlimit(RLIMIT_MEMLOCK, &lim) ||
	    lim.rlim_cur == RLIM_INFINITY ||
	    read_number("/proc/sys/kernel/perf_event_paranoid", 2) < 0) {
		check_add(c, "locked memory", CHECK_GOOD, "no limit");
		return;
	}
	may = (uint64_t)read_number("/proc/sys/kernel/perf_event_mlock_kb", 516) * cpu_cnt +
	      lim.rlim_cur / 1024;
	if (may >= each * cpu_cnt) {
		check_add(c, "locked memory", CHECK_GOOD,
			  "%" PRIu64 " KiB allowed, %" PRIu64 " wanted", may, each * cpu_cnt);
		return;
	}
	snprintf(mend, sizeof(mend), "sudo sysctl kernel.perf_event_mlock_kb=%" PRIu64, each);
	check_explain(check_add(c, "locked memory", CHECK_LIMITED,
				"%" PRIu64 " KiB allowed, %" PRIu64 " wanted", may, each * cpu_cnt),
		      "smaller buffers for process metadata: many forks may lose some names", mend);
}

/* ---- BPF and what the helper processes are locked up with ------------------------------------------ */

/* All that needs BPF: what denies it keeps the rest from being tried. */
static void probe_programs(struct check *c, size_t cpu_cnt, const char *btf)
{
	int err = probe_bpf();
	struct denial_facts facts;

	denial_read(&facts);
	if (err || facts.confidential) {
		check_explain(check_add(c, "BPF programs", CHECK_BAD, "%s",
					err ? strerror(-err) : "denied"),
			      "nothing can be recorded",
			      err == -ENOSYS ? "a kernel built with CONFIG_BPF_SYSCALL=y" :
					       denial_text(&facts));
		return;
	}
	probe_rings(c, cpu_cnt, probe_ring(RING_BYTES));
	if (check_can_record(c))
		check_features(c, btf);
}

static void probe_sandbox(struct check *c)
{
#ifdef SYS_landlock_create_ruleset
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U /* the version */);
#else
	long abi = -1;
#endif

	if (abi > 0)
		check_add(c, "landlock", CHECK_GOOD, "version %ld", abi);
	else
		check_explain(
			check_add(c, "landlock", CHECK_LIMITED, "missing"),
			"weaker sandbox for the processes that read untrusted files",
			"add landlock to the front of the lsm= boot option (CONFIG_SECURITY_LANDLOCK=y)");
	if (!access("/proc/sys/kernel/seccomp/actions_avail", F_OK) ||
	    prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)
		check_add(c, "seccomp", CHECK_GOOD, "filters");
	else
		check_explain(check_add(c, "seccomp", CHECK_LIMITED, "missing"),
			      "weaker sandbox for the processes that read untrusted files",
			      "a kernel built with CONFIG_SECCOMP_FILTER=y");
}

void check_probe(struct check *c, const char *btf)
{
	uint64_t caps = 0;
	uint32_t *cpus = NULL;
	size_t cpu_cnt = 0;

	privileges_get(&caps);
	if (cpus_online(&cpus, &cpu_cnt))
		cpu_cnt = 0;
	probe_privileges(c, caps);
	probe_realtime(c, caps);
	probe_namespace(c);
	probe_btf(c, btf);
	probe_tracefs(c);
	probe_paranoid(c, caps);
	probe_sampler(c, cpu_cnt ? cpus[0] : 0);
	probe_kallsyms(c);
	probe_programs(c, cpu_cnt, btf);
	probe_locked(c, caps, cpu_cnt);
	probe_sandbox(c);
	free(cpus);
}
