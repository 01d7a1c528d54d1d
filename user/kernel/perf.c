/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_event_open for the cases that this program needs.
 *
 * Owns the attributes; keeps no descriptor. The cpu-clock sampler uses a fixed period, because
 * frequency mode recomputes its period at each wakeup and takes too many samples of short bursts.
 * Cycles have no fixed period in time, so they use frequency mode.
 */
#include "kernel/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/str.h"
#include "kernel/denial.h"

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int *fd)
{
	long ret;

	attr->size = sizeof(*attr);
	ret = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ret < 0)
		return -errno;
	*fd = (int)ret;
	return 0;
}

/*
 * The event only carries a program, which runs on all CPUs and for all tasks. So it is a counter, because the kernel
 * does not allow sampling of some events, and it is disabled, because counting has a cost. It belongs to a CPU:
 * with an event of a task, the kernel does more at each context switch, and the first such event waits for an RCU
 * grace period.
 */
int perf_open_tracepoint(uint32_t id, uint32_t cpu, int *fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.disabled = 1,
	};

	return open_event(&attr, -1, (int)cpu, fd);
}

static int open_clock(uint32_t cpu, const struct perf_sampler_cfg *cfg, bool cycles, int *fd)
{
	struct perf_event_attr attr = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.exclude_idle = !cfg->include_idle,
		.exclude_kernel = cfg->exclude_kernel,
		.exclude_user = cfg->exclude_user,
		.exclude_guest = 1,
	};

	if (cfg->period) {
		attr.sample_period = cfg->period;
	} else if (!cfg->hz) {
		return -EINVAL;
	} else if (cycles) {
		attr.freq = 1;
		attr.sample_freq = cfg->hz;
	} else {
		attr.sample_period = 1000000000ULL / cfg->hz;
	}
	return open_event(&attr, -1, (int)cpu, fd);
}

int perf_open_sampler(uint32_t cpu, const struct perf_sampler_cfg *cfg, int *fd, bool *is_cycles)
{
	bool cycles = cfg->which != PERF_SAMPLER_CPU_CLOCK;
	int err = open_clock(cpu, cfg, cycles, fd);

	if (cfg->which == PERF_SAMPLER_AUTO &&
	    (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP)) {
		cycles = false;
		err = open_clock(cpu, cfg, cycles, fd);
	}
	if (!err)
		*is_cycles = cycles;
	return err;
}

uint32_t perf_max_rate(void)
{
	static const char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	struct buf text = { 0 };
	uint64_t rate = 0;

	if (!file_read(AT_FDCWD, path, 32, &text)) {
		text.data[strcspn(text.data, "\n")] = '\0';
		str_parse_u64(text.data, UINT32_MAX, &rate);
	}
	buf_free(&text);
	return (uint32_t)rate;
}

int perf_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int perf_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

/* A ring of perf events is locked memory, which has a limit. */
static const char *denied(void)
{
	struct denial_facts facts;

	denial_read(&facts);
	if (denial_find(&facts) != DENIAL_NONE || facts.caps & 1ULL << CAP_IPC_LOCK)
		return denial_text(&facts);
	return "too much locked memory; raise \"ulimit -l\" or kernel.perf_event_mlock_kb";
}

const char *perf_open_error(int err)
{
	switch (err < 0 ? -err : err) {
	case EPERM:
	case EACCES:
		return denied();
	case EMFILE:
	case ENFILE:
		return "raise \"ulimit -n\", or record fewer events";
	case ENOMEM:
		return "raise \"ulimit -v\", or free memory";
	case ENODEV:
		return "no such CPU, or it is offline";
	case ENOENT:
		return "this kernel does not have the event";
	case EOPNOTSUPP:
		return "this machine has no such counter";
	case EBUSY:
		return "another program holds the counter";
	case EINVAL:
		return "the kernel refuses these settings (too old, or the rate is too high)";
	default:
		return strerror(err < 0 ? -err : err);
	}
}
