// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_jit MS: runs code that it writes, at addresses that it maps and unmaps all the time.
 *
 * Call chain: jit_leaf < code written here, with a frame pointer < jit_run < jit_work < main or jit_thread. One
 * thread does so with a few thousand mappings, so that lists of them are long; one at one address, with a file
 * there in between that is not run.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "stimulus.h"

enum { PAGE = 4096, PLACES = 3000, HELD = 2000 };

static volatile bool over;
static unsigned long long mapped[2];

STIM_NOINLINE unsigned long jit_leaf(unsigned long seed)
{
	volatile unsigned char room[200];

	room[0] = 1;
	for (int i = 0; i < 4000; i++)
		seed = seed * 6364136223846793005u + room[0];
	return seed;
}

/* push rbp; mov rbp, rsp; sub rsp, 32; mov rax, jit_leaf; call rax; leave; ret */
static void write_code(unsigned char *at)
{
	static const unsigned char head[] = { 0x55, 0x48, 0x89, 0xe5, 0x48,
					      0x83, 0xec, 0x20, 0x48, 0xb8 };
	static const unsigned char tail[] = { 0xff, 0xd0, 0xc9, 0xc3 };
	unsigned long (*leaf)(unsigned long) = jit_leaf;

	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), &leaf, sizeof(leaf));
	memcpy(at + sizeof(head) + sizeof(leaf), tail, sizeof(tail));
}

STIM_NOINLINE unsigned long jit_run(void *code, unsigned long seed)
{
	unsigned long (*fn)(unsigned long);
	volatile unsigned char room[72];

	room[1] = 2;
	memcpy(&fn, &code, sizeof(fn));
	return fn(seed) + room[1];
}

static void *map_code(void *at, int more)
{
	unsigned char *code =
		mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

	if (code == MAP_FAILED)
		exit(2);
	write_code(code);
	if (mprotect(code, PAGE, PROT_READ | PROT_EXEC))
		exit(2);
	return code;
}

STIM_NOINLINE void jit_work(int kind)
{
	char *area = mmap(NULL, 2UL * PLACES * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), places = kind ? 1 : PLACES;
	unsigned long i, seed = 1;

	if (area == MAP_FAILED || file < 0)
		exit(2);
	for (i = 0; !over; i++) {
		char *at = area + 2UL * PAGE * (i % places);

		seed = jit_run(map_code(at, MAP_FIXED), seed);
		mapped[kind]++;
		if (kind && i % 3 == 0 &&
		    mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) ==
			    MAP_FAILED)
			exit(2);
		if (!kind && i >= HELD)
			munmap(area + 2UL * PAGE * ((i - HELD) % places), PAGE);
	}
	STIM_KEEP(seed);
}

STIM_NOINLINE static void *jit_thread(void *ctx)
{
	jit_work(1);
	return ctx;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	pthread_t thread, watch;
	extern void *jit_watch(void *ms);

	if (argc != 2)
		return 1;
	stim_start(now, "");
	if (pthread_create(&watch, NULL, jit_watch, argv[1]) ||
	    pthread_create(&thread, NULL, jit_thread, NULL))
		return 2;
	jit_work(0);
	pthread_join(thread, NULL);
	pthread_join(watch, NULL);
	printf("mapped=%llu\n", mapped[0] + mapped[1]);
	stim_done(now);
	return 0;
}

void *jit_watch(void *ms)
{
	long left = atol(ms);
	const struct timespec ts = { left / 1000, left % 1000 * 1000000 };

	nanosleep(&ts, NULL);
	over = true;
	return NULL;
}
