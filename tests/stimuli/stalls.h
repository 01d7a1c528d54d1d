/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four ways in which a thread stalls, for 20 ms of the CPU time of a thread whose TID is known:
 *
 *	mutex	a lock that "holder" has
 *	hog	"hog" takes the thread's CPU
 *	fault	a page that "pager" has yet to provide (userfaultfd)
 *	read	a pipe that "writer" has yet to write to
 *
 * The stalled thread has its own CPU by real-time priority: only hog has a higher one. The others run
 * elsewhere. No thread sleeps.
 */
#ifndef D9_STIMULI_STALLS_H
#define D9_STIMULI_STALLS_H

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "stimulus.h"

enum { ROUNDS_MAX = 8, STALL_NS = 20000000 };
enum kind { MUTEX, HOG, FAULT, READ, KINDS };

static const char *const kind_names[KINDS] = { "mutex", "hog", "fault", "read" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t holder_go, holder_has, hog_go, writer_go;
static int pipe_ends[2], uffd, stalled_cpu;
static char *pages; /* one for each round, all of them missing */
static size_t page_sz;
static unsigned long rounds; /* each round has one stall of each kind */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void burn(uint64_t ns)
{
	const uint64_t end = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void set_priority(int priority)
{
	const struct sched_param p = { .sched_priority = priority };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) != 0)
		die("SCHED_FIFO");
}

/* On the CPU of the stalled thread, or on all other CPUs if there are others. */
static void pin(bool other_cpus)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	if (other_cpus && CPU_COUNT(&set) > 1)
		CPU_CLR(stalled_cpu, &set);
	if (!other_cpus) {
		CPU_ZERO(&set);
		CPU_SET(stalled_cpu, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void await(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

/* ---- the four helpers -------------------------------------------------------------------------- */

static void hold(void)
{
	await(&holder_go);
	pthread_mutex_lock(&lock);
	sem_post(&holder_has);
	burn(STALL_NS);
	pthread_mutex_unlock(&lock);
}

static void occupy_cpu(void)
{
	await(&hog_go);
	burn(STALL_NS);
}

static void provide_page(void)
{
	struct uffd_msg msg;
	struct uffdio_copy copy = { .len = page_sz };

	if (read(uffd, &msg, sizeof(msg)) != sizeof(msg) || msg.event != UFFD_EVENT_PAGEFAULT)
		die("userfaultfd");
	burn(STALL_NS);
	copy.dst = msg.arg.pagefault.address & ~(uint64_t)(page_sz - 1);
	copy.src = (uint64_t)(uintptr_t)kind_names & ~(uint64_t)(page_sz - 1);
	if (ioctl(uffd, UFFDIO_COPY, &copy))
		die("UFFDIO_COPY");
}

static void write_late(void)
{
	await(&writer_go);
	burn(STALL_NS);
	if (write(pipe_ends[1], "x", 1) != 1)
		die("write");
}

struct helper {
	const char *name;
	void (*once)(void);
	int priority; /* 0: an ordinary thread on another CPU than the stalled thread; else one on its CPU */
	atomic_long tid;
};

static struct helper helpers[KINDS] = {
	[MUTEX] = { .name = "holder", .once = hold },
	[HOG] = { .name = "hog", .once = occupy_cpu, .priority = 2 },
	[FAULT] = { .name = "pager", .once = provide_page },
	[READ] = { .name = "writer", .once = write_late },
};

static void *help(void *arg)
{
	struct helper *h = arg;

	prctl(PR_SET_NAME, h->name);
	pin(!h->priority);
	if (h->priority)
		set_priority(h->priority);
	atomic_store(&h->tid, syscall(SYS_gettid));
	for (unsigned long k = 0; k < rounds; k++)
		h->once();
	return NULL;
}

/* ---- the stalled thread ------------------------------------------------------------------------ */

/* The setup of its thread. */
static void have_the_cpu(const char *name)
{
	prctl(PR_SET_NAME, name);
	pin(false);
	set_priority(1);
}

STIM_NOINLINE static void stall_on_mutex(void)
{
	sem_post(&holder_go);
	await(&holder_has);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

STIM_NOINLINE static void stall_by_hog(void)
{
	sem_post(&hog_go);
}

STIM_NOINLINE static void stall_on_page(unsigned long round)
{
	STIM_KEEP(*(volatile char *)(pages + round * page_sz));
}

STIM_NOINLINE static void stall_on_read(void)
{
	char byte;

	sem_post(&writer_go);
	if (read(pipe_ends[0], &byte, 1) != 1)
		die("read");
}

static void stall(enum kind kind, unsigned long round)
{
	if (kind == MUTEX)
		stall_on_mutex();
	else if (kind == HOG)
		stall_by_hog();
	else if (kind == FAULT)
		stall_on_page(round);
	else
		stall_on_read();
}

/* ---- all of them ------------------------------------------------------------------------------- */

static void prepare_stalls(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	page_sz = (size_t)sysconf(_SC_PAGESIZE);
	stalled_cpu = sched_getcpu();
	if (pipe(pipe_ends))
		die("pipe");
	sem_init(&holder_go, 0, 0);
	sem_init(&holder_has, 0, 0);
	sem_init(&hog_go, 0, 0);
	sem_init(&writer_go, 0, 0);
	pages = mmap(NULL, rounds * page_sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (pages == MAP_FAILED)
		die("mmap");
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uint64_t)(uintptr_t)pages;
	reg.range.len = rounds * page_sz;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
}

static long tid_of(atomic_long *tid)
{
	while (!atomic_load(tid))
		sched_yield();
	return atomic_load(tid);
}

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) != 0)
		die("pthread_create");
	return thread;
}

/* Appends " holder=TID" and so on to @extra, of @sz bytes. */
static void start_helpers(pthread_t threads[KINDS], char *extra, size_t sz)
{
	size_t len = strlen(extra);

	for (int k = 0; k < KINDS; k++)
		threads[k] = start(help, &helpers[k]);
	for (int k = 0; k < KINDS; k++)
		len += (size_t)snprintf(extra + len, sz - len, " %s=%ld", helpers[k].name,
					tid_of(&helpers[k].tid));
}

/* "mutex0_from=NS mutex0_to=NS" */
static void print_times(const char *name, unsigned long round, const uint64_t times[2])
{
	printf("%s%lu_from=%llu %s%lu_to=%llu\n", name, round, (unsigned long long)times[0], name,
	       round, (unsigned long long)times[1]);
}

#endif
