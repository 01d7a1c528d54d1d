// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_naps NAPS
 *
 * Falls asleep again and again in one function and on one CPU, with the same stack pointer and frame pointer,
 * but not always by the same calls: naps_enter > naps_0 > naps_1 > naps_2 > naps_leaf, and each calls the next
 * from two places, and the last sleeps at two places. A child does the same at the same time, at the same
 * addresses.
 *
 * Before "ready" come "leaf_WAY=ADDRESS", "root=ADDRESS" and "site_LEVEL_WAY=ADDRESS" (return addresses less
 * one). For each line that it reads, it naps NAPS times in each of the two processes, and prints for each nap
 * "nap=TID FROM_NS TO_NS WAYS", then "done". Bits 0 to 2 of WAYS: which call naps_0 to naps_2 made; bit 3: rbx
 * is the frame pointer of naps_2 instead of naps_leaf's; bit 4: which place it sleeps at. In the first and the
 * last nap all are 0. All frames except the frame of naps_enter have the return address at rbp + 8. naps_enter
 * has its own KiB of code, like naps_leaf.
 */
#include <sched.h>
#include <sys/wait.h>

#include "stimulus.h"

enum { NAPS_MAX = 10000, LEVELS = 3, WAYS = 32 };

struct nap {
	uint64_t from_ns, to_ns;
	uint32_t ways;
};

extern const char naps_leaf_0[], naps_leaf_1[], naps_root[], naps_site_0_0[], naps_site_0_1[],
	naps_site_1_0[], naps_site_1_1[], naps_site_2_0[], naps_site_2_1[];
void naps_enter(uint32_t ways);

static struct nap naps[NAPS_MAX];

/* clang-format off */
__asm__(
"	.macro LEVEL n next\n"
"naps_\\n:\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push naps_count(%rip)\n" /* any value */
"	test $1 << \\n, %edi\n"
"	jne 1f\n"
"	call \\next\n"
"	.globl naps_site_\\n\\()_0, naps_site_\\n\\()_1\n"
"naps_site_\\n\\()_0:\n"
"	jmp 2f\n"
"1:	call \\next\n"
"naps_site_\\n\\()_1:\n"
"2:	leave\n"
"	ret\n"
"	.endm\n"

"	.text\n"
"	LEVEL 0 naps_1\n"
"	LEVEL 1 naps_2\n"
"	LEVEL 2 naps_leaf\n"
"	.balign 1024\n"
"naps_leaf:\n"
"	push %rbp\n"
"	mov %rsp, %rbp\n"
"	push %rbx\n"
"	incq naps_count(%rip)\n"
"	mov %rbp, %rbx\n"
"	test $8, %edi\n"
"	je 1f\n"
"	mov (%rbp), %rbx\n"
"1:	mov $35, %eax\n" /* nanosleep(2) */
"	test $16, %edi\n"
"	lea naps_time(%rip), %rdi\n"
"	mov $0, %esi\n"
"	jne 1f\n"
"	syscall\n"
"	.globl naps_leaf_0, naps_leaf_1\n"
"naps_leaf_0:\n"
"	jmp 2f\n"
"1:	syscall\n"
"naps_leaf_1:\n"
"	nop\n" /* the other way never has this address */
"2:	pop %rbx\n"
"	pop %rbp\n"
"	ret\n"
"	.balign 1024\n"
"	.globl naps_enter\n"
"naps_enter:\n"
"	push %rbp\n"
"	call naps_0\n"
"	.globl naps_root\n"
"naps_root:\n"
"	pop %rbp\n"
"	ret\n"
"	.balign 1024\n"
"	.data\n"
"naps_count: .quad 0\n"
"naps_time: .quad 0, 50000\n"
"	.text\n");
/* clang-format on */

/* Most naps are like the one before, also if others ran in between. */
static void nap(unsigned long cnt, unsigned int seed)
{
	uint32_t ways = 0;

	for (unsigned long i = 0; i < cnt; i++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 30 == 0)
			ways = seed >> 12 & (WAYS - 1);
		if (i == 0 || i == cnt - 1)
			ways = 0;
		naps[i].ways = ways;
		naps[i].from_ns = stim_clock_ns(CLOCK_MONOTONIC);
		naps_enter(ways);
		naps[i].to_ns = stim_clock_ns(CLOCK_MONOTONIC);
	}
}

static void print(unsigned long cnt)
{
	for (unsigned long i = 0; i < cnt; i++)
		printf("nap=%d %lu %lu %u\n", getpid(), naps[i].from_ns, naps[i].to_ns,
		       naps[i].ways);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const char *const sites[LEVELS][2] = { { naps_site_0_0, naps_site_0_1 },
						      { naps_site_1_0, naps_site_1_1 },
						      { naps_site_2_0, naps_site_2_1 } };
	unsigned long cnt = stim_arg(argc, argv, 1, 100);
	cpu_set_t cpus;
	int status;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (cnt > NAPS_MAX || sched_setaffinity(0, sizeof(cpus), &cpus))
		return 2;
	printf("leaf_0=%#lx\nleaf_1=%#lx\nroot=%#lx\n", (uintptr_t)naps_leaf_0,
	       (uintptr_t)naps_leaf_1, (uintptr_t)naps_root - 1);
	for (int i = 0; i < 2 * LEVELS; i++)
		printf("site_%d_%d=%#lx\n", i / 2, i % 2, (uintptr_t)sites[i / 2][i % 2] - 1);
	stim_start(false, "");
	do {
		pid_t pid = fork();

		nap(cnt, pid ? 1 : 2);
		if (!pid) {
			print(cnt);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 2;
		print(cnt);
		printf("done\n");
		fflush(stdout);
	} while (stim_wait_line());
	return 0;
}
