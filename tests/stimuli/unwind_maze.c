// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_maze SECONDS SEED LOG
 *
 * Known stacks in code that is mapped and unmapped: three libraries (this file again, with MAZE_LETTER) of
 * functions maze_X_0 to maze_X_7 that call each other in this order, with other frames in each library. They
 * are opened and closed, mapped over each other at one address, inherited by forks, and run by children that
 * are killed, that lose the code they run, or that exec.
 *
 * Call chain: maze_X_7 < ... < maze_X_0 < maze_call_X < maze_phase < maze_dlopen or maze_over or maze_again <
 * maze_work < maze_thread, maze_child or main. maze_lose is a signal handler.
 *
 * LOG receives a struct maze_phase for each call of a library, except from killed processes.
 */
#include "unwind_maze.h"

#include "stimulus.h"

#define JOIN_(a, b, c) maze_##a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)

#ifdef MAZE_LETTER

/* Needs no other code: it may run at an address without relocation. */
enum { maze_size_a = 40, maze_size_b = 344, maze_size_c = 1208 };
#define STEP_SIZE JOIN(size, _, MAZE_LETTER)

/* A frame of a size that is known only at run time is found by a frame pointer. */
#define STEP(access, k, next)                                                                      \
	STIM_NOINLINE access unsigned long JOIN(MAZE_LETTER, _, k)(unsigned long seed)             \
	{                                                                                          \
		volatile unsigned char room[STEP_SIZE + 24 * k];                                   \
		volatile unsigned char *more = room;                                               \
                                                                                                   \
		__asm__ volatile("" : "=m"(room));                                                 \
		if (k & 1)                                                                         \
			more = __builtin_alloca(8 + (seed & 63));                                  \
		more[0] = 2;                                                                       \
		for (unsigned int i = 0; i < 600; i++)                                             \
			seed = seed * 6364136223846793005u + room[i % sizeof(room)];               \
		seed = next;                                                                       \
		for (unsigned int i = 0; i < 200; i++)                                             \
			seed = seed * 31 + room[i % sizeof(room)];                                 \
		return seed + more[0];                                                             \
	}

/* Some calls leave the CPU at the same address as others, with other callers or in other code. */
static inline unsigned long maze_nap(unsigned long seed)
{
#ifdef __x86_64__
	static const long time[2] = { 0, 20000 };
	long ret = 35; /* nanosleep(2) */

	if (!(seed >> 33 & 7))
		__asm__ volatile("syscall"
				 : "+a"(ret)
				 : "D"(time), "S"(0L)
				 : "rcx", "r11", "memory");
#endif
	return seed;
}

STEP(static, 7, maze_nap(seed))
STEP(static, 6, JOIN(MAZE_LETTER, _, 7)(seed + 6))
STEP(static, 5, JOIN(MAZE_LETTER, _, 6)(seed + 5))
STEP(static, 4, JOIN(MAZE_LETTER, _, 5)(seed + 4))
STEP(static, 3, JOIN(MAZE_LETTER, _, 4)(seed + 3))
STEP(static, 2, JOIN(MAZE_LETTER, _, 3)(seed + 2))
STEP(static, 1, JOIN(MAZE_LETTER, _, 2)(seed + 1))
STEP(, 0, JOIN(MAZE_LETTER, _, 1)(seed))

#else

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { THREADS = 4, REGION = 1 << 16, PASSES = 24 };

typedef unsigned long (*step_fn)(unsigned long seed);

struct library {
	char path[256];
	int fd;
	off_t off; /* of its code in the file */
	size_t sz;
	size_t entry; /* of maze_X_0 in its code */
};

static struct library libraries[MAZE_LETTERS];
static const char *self, *log_path;
static int log_fd;
static uint64_t end_ns;
static volatile unsigned long sink;

/* What one thread works with. */
struct worker {
	unsigned int seed;
	char *region; /* libraries are mapped here one over the other */
	unsigned int letter; /* of the current one */
};

static char *lost; /* what maze_lose() unmaps */

static unsigned int dice(struct worker *w, unsigned int sides)
{
	w->seed = w->seed * 1664525 + 1013904223;
	return (w->seed >> 12) % sides;
}

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(2);
}

#define CALL(x)                                                                                    \
	STIM_NOINLINE static unsigned long maze_call_##x(step_fn fn)                               \
	{                                                                                          \
		unsigned long sum = 0;                                                             \
                                                                                                   \
		__asm__ volatile("# " #x); /* or they are merged */                                \
		for (int i = 0; i < PASSES; i++)                                                   \
			sum += fn(sum + i);                                                        \
		return sum;                                                                        \
	}

CALL(a)
CALL(b)
CALL(c)

STIM_NOINLINE static unsigned long maze_phase(unsigned int letter, step_fn fn)
{
	static unsigned long (*const calls[])(step_fn) = { maze_call_a, maze_call_b, maze_call_c };
	struct maze_phase phase = { .tid = (uint32_t)syscall(SYS_gettid), .letter = 'a' + letter };

	phase.from_ns = stim_clock_ns(CLOCK_MONOTONIC);
	sink += calls[letter](fn);
	phase.to_ns = stim_clock_ns(CLOCK_MONOTONIC);
	check(write(log_fd, &phase, sizeof(phase)) == sizeof(phase), log_path);
	return phase.to_ns;
}

STIM_NOINLINE static unsigned long maze_dlopen(struct worker *w, unsigned int letter)
{
	char name[16];
	void *lib = dlopen(libraries[letter].path, RTLD_NOW | RTLD_LOCAL), *entry;
	unsigned long end;

	check(lib, "dlopen");
	snprintf(name, sizeof(name), "maze_%c_0", 'a' + letter);
	entry = dlsym(lib, name);
	check(entry, name);
	end = maze_phase(letter, (step_fn)(uintptr_t)entry);
	dlclose(lib);
	return end;
}

static void map_over(struct worker *w, unsigned int letter)
{
	const struct library *l = &libraries[letter];

	check(mmap(w->region, l->sz, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, l->fd,
		   l->off) == w->region,
	      "mmap");
	w->letter = letter;
}

/* maze_X_0 of the current library. */
static step_fn in_region(const struct worker *w)
{
	return (step_fn)(uintptr_t)(w->region + libraries[w->letter].entry);
}

STIM_NOINLINE static unsigned long maze_again(struct worker *w)
{
	return maze_phase(w->letter, in_region(w)) + 1;
}

STIM_NOINLINE static unsigned long maze_over(struct worker *w, unsigned int letter)
{
	map_over(w, letter);
	return maze_phase(letter, in_region(w)) + 1;
}

/* The code below is unmapped when it returns. */
STIM_NOINLINE static void maze_lose(int sig)
{
	munmap(lost, REGION);
	for (volatile int i = 0; i < 2000000; i++)
		;
}

static void lose_soon(struct worker *w)
{
	const struct itimerval once = { .it_value.tv_usec = 100 + dice(w, 3000) };

	lost = w->region;
	signal(SIGALRM, maze_lose);
	setitimer(ITIMER_REAL, &once, NULL);
}

static void exec_brief(struct worker *w)
{
	char seed[16];

	snprintf(seed, sizeof(seed), "%u", w->seed);
	execl(self, "unwind_maze", "brief", seed, log_path, (char *)NULL);
	_exit(2);
}

STIM_NOINLINE static void maze_child(struct worker *w)
{
	unsigned int end = dice(w, 4);

	if (end == 0)
		lose_soon(w);
	if (dice(w, 2))
		sink += maze_over(w, dice(w, MAZE_LETTERS));
	sink += maze_again(w);
	if (end == 1)
		exec_brief(w);
	while (end != 2)
		sink += maze_again(w);
	_exit(0);
}

static void run_child(struct worker *w)
{
	unsigned int us = dice(w, 6000);
	int status;
	pid_t pid = fork();

	check(pid >= 0, "fork");
	w->seed++;
	if (!pid)
		maze_child(w);
	usleep(us);
	kill(pid, SIGKILL);
	check(waitpid(pid, &status, 0) == pid, "waitpid");
}

static void run_brief(struct worker *w)
{
	char seed[16];
	char *argv[] = { "unwind_maze", "brief", seed, (char *)log_path, NULL };
	int status;
	pid_t pid;

	snprintf(seed, sizeof(seed), "%u", w->seed);
	check(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0, self);
	check(waitpid(pid, &status, 0) == pid && status == 0, "brief");
}

STIM_NOINLINE static unsigned long maze_work(struct worker *w)
{
	unsigned int letter = dice(w, MAZE_LETTERS);

	switch (dice(w, 8)) {
	case 0:
		run_child(w);
		return 1;
	case 1:
		run_brief(w);
		return 2;
	case 2:
	case 3:
		return maze_dlopen(w, letter) + 1;
	case 4:
		return maze_again(w) + 1;
	default:
		return maze_over(w, letter) + 1;
	}
}

static void worker_init(struct worker *w, unsigned int seed)
{
	w->seed = seed;
	w->region = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(w->region != MAP_FAILED, "mmap");
	map_over(w, 0);
}

static void *maze_thread(void *arg)
{
	struct worker w;

	worker_init(&w, (unsigned int)(uintptr_t)arg);
	while (stim_clock_ns(CLOCK_MONOTONIC) < end_ns)
		sink += maze_work(&w);
	return NULL;
}

/* Where its code is, and maze_X_0 in it. */
static void find_library(struct library *l, unsigned int letter)
{
	char name[16];
	struct link_map *map;
	void *lib, *entry;
	Elf64_Phdr ph;
	Elf64_Ehdr eh;

	snprintf(l->path, sizeof(l->path), "%s_%c.so", self, 'a' + letter);
	l->fd = open(l->path, O_RDONLY | O_CLOEXEC);
	lib = dlopen(l->path, RTLD_NOW);
	check(l->fd >= 0 && lib && !dlinfo(lib, RTLD_DI_LINKMAP, &map), l->path);
	snprintf(name, sizeof(name), "maze_%c_0", 'a' + letter);
	entry = dlsym(lib, name);
	check(pread(l->fd, &eh, sizeof(eh), 0) == sizeof(eh), l->path);
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		check(pread(l->fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) == sizeof(ph),
		      l->path);
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		l->off = ph.p_offset;
		l->sz = ph.p_filesz;
		l->entry = (uintptr_t)entry - map->l_addr - ph.p_vaddr;
	}
	check(l->sz && l->sz <= REGION, "code");
	dlclose(lib);
}

int main(int argc, char **argv)
{
	bool brief = argc == 4 && !strcmp(argv[1], "brief");
	const struct rlimit none = { 0 };
	unsigned int seed = stim_arg(argc, argv, 2, 1);
	pthread_t threads[THREADS];
	static char path[256];
	struct worker w;

	check(argc == 4 && readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "arguments");
	self = path;
	log_path = argv[3];
	log_fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	check(log_fd >= 0, log_path);
	setrlimit(RLIMIT_CORE, &none);
	for (unsigned int i = 0; i < MAZE_LETTERS; i++)
		find_library(&libraries[i], i);
	if (brief) {
		worker_init(&w, seed);
		sink += dice(&w, 2) ? maze_over(&w, dice(&w, MAZE_LETTERS)) :
				      maze_dlopen(&w, dice(&w, MAZE_LETTERS));
		return 0;
	}
	stim_start(false, "");
	end_ns = stim_clock_ns(CLOCK_MONOTONIC) + stim_arg(argc, argv, 1, 5) * 1000000000u;
	for (unsigned int i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, maze_thread,
				      (void *)(uintptr_t)(seed + i)),
		      "pthread_create");
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	stim_done(false);
	return 0;
}

#endif
