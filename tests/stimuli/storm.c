// SPDX-License-Identifier: BSD-2-Clause
/*
 * storm [--now] [FORKS [BPF]]
 *
 * Until its input ends, all at once and each at a rate that a machine survives:
 *
 *	FORKS (2000, also the maximum) processes per second that end at once: bare, renamed, with an
 *	executable mapping, with a renamed thread, or as another program
 *	BPF (1, 5 at most) programs loaded and freed per second
 *	code generated at run time, with a map for profilers that grows
 *	a process that renames itself 500 times a second
 *
 * Then it prints how many processes ended: "forks=N".
 *
 * Do not raise the limit of BPF: a storm of loads and frees has halted kernels.
 */
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "badelf.h"
#include "stimulus.h"

enum { FORKS_MAX = 2000, BPF_MAX = 5, RENAMES = 500, NAMES = 300, JIT_SIZE = 1 << 20 };

static unsigned long *forks; /* shared with the process that counts them */

/* Returns each time the next of `rate` per second is due; delays are not made up for. */
static void pace(unsigned long rate, uint64_t *next_ns)
{
	uint64_t now = stim_clock_ns(CLOCK_MONOTONIC);
	struct timespec at;

	if (*next_ns < now)
		*next_ns = now;
	at.tv_sec = *next_ns / 1000000000;
	at.tv_nsec = *next_ns % 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	*next_ns += 1000000000 / rate;
}

static void rename_self(unsigned long i)
{
	char name[16];

	snprintf(name, sizeof(name), "storm-%lu", i % NAMES);
	prctl(PR_SET_NAME, name);
}

static void *renamed_thread(void *arg)
{
	rename_self((uintptr_t)arg);
	return NULL;
}

static void live_short(unsigned long i)
{
	pthread_t thread;
	void *page;

	switch (i % 5) {
	case 1:
		rename_self(i);
		break;
	case 2:
		page = mmap(NULL, BADELF_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		munmap(page, BADELF_PAGE);
		break;
	case 3:
		if (!pthread_create(&thread, NULL, renamed_thread, (void *)(uintptr_t)i))
			pthread_join(thread, NULL);
		break;
	case 4:
		if (i % 25 == 4)
			execl("/bin/true", "true", (char *)NULL);
		break;
	default:
		break;
	}
	_exit(0);
}

static void fork_role(unsigned long rate)
{
	uint64_t next = 0;
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	for (unsigned long i = 0;; i++) {
		pace(rate, &next);
		pid = fork();
		if (pid == 0)
			live_short(i);
		if (pid > 0)
			++*forks;
	}
}

static void bpf_role(unsigned long rate)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	uint64_t next = 0;
	int fd;

	for (unsigned long i = 0;; i++) {
		pace(rate, &next);
		memset(&attr, 0, sizeof(attr));
		attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
		attr.insns = (uintptr_t)code;
		attr.insn_cnt = sizeof(code) / sizeof(code[0]);
		attr.license = (uintptr_t) "BSD";
		snprintf(attr.prog_name, sizeof(attr.prog_name), "storm_%lu", i % 1000);
		fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
		if (fd >= 0)
			close(fd);
	}
}

/* One page of code more each time, called for a millisecond. */
static void jit_role(unsigned long rate)
{
	uint8_t *code = mmap(NULL, JIT_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	uint64_t next = 0, until;
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	if (code == MAP_FAILED || !map)
		err(2, "%s", path);
	for (unsigned long i = 0;; i++) {
		uint8_t *at = code + i * BADELF_PAGE % JIT_SIZE;
		void (*run)(void);

		pace(rate, &next);
#if defined(__x86_64__)
		memset(at, 0x90, BADELF_PAGE); /* nop */
		at[BADELF_PAGE - 1] = 0xc3; /* ret */
#else
		for (int k = 0; k < BADELF_PAGE; k += 4)
			memcpy(at + k, &(uint32_t){ k < BADELF_PAGE - 4 ? 0xd503201f : 0xd65f03c0 },
			       4);
		__builtin___clear_cache((char *)at, (char *)at + BADELF_PAGE);
#endif
		if (i < JIT_SIZE / BADELF_PAGE) {
			fprintf(map, "%lx %x made_%lu\n", (unsigned long)at, BADELF_PAGE, i);
			fflush(map);
		}
		memcpy(&run, &at, sizeof(run));
		until = stim_clock_ns(CLOCK_MONOTONIC) + 1000000;
		while (stim_clock_ns(CLOCK_MONOTONIC) < until)
			run();
	}
}

static void rename_role(unsigned long rate)
{
	uint64_t next = 0;

	for (unsigned long i = 0;; i++) {
		pace(rate, &next);
		rename_self(i);
	}
}

static pid_t start(void (*role)(unsigned long), unsigned long rate)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			role(rate);
		_exit(2);
	}
	return pid;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rate = stim_arg(argc, argv, 1, FORKS_MAX);
	unsigned long bpf = stim_arg(argc, argv, 2, 1);
	struct pollfd input = { .fd = 0, .events = POLLIN };
	pid_t roles[4];
	char path[64];

	if (!rate || rate > FORKS_MAX || !bpf || bpf > BPF_MAX)
		return 2;
	forks = mmap(NULL, sizeof(*forks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	stim_start(now, "");
	roles[0] = start(fork_role, rate);
	roles[1] = start(bpf_role, bpf);
	roles[2] = start(jit_role, 50);
	roles[3] = start(rename_role, RENAMES);
	poll(&input, 1, -1);
	for (int i = 0; i < 4; i++) {
		kill(roles[i], SIGKILL);
		waitpid(roles[i], NULL, 0);
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", roles[2]);
	unlink(path);
	printf("forks=%lu\n", *forks);
	stim_done(true);
	return 0;
}
