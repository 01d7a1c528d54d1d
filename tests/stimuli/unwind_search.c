// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_search [--now] [ROUNDS]
 *
 * Sleeps ROUNDS (100) times in each of several functions in assembler without unwind information, which use the
 * stack like such functions: search_X, called by caller_X. The frame pointer has another value. Below the frame
 * of each caller are return addresses of earlier calls. A nap that is over before the thread sleeps is repeated.
 */
#include <sys/resource.h>

#include "stimulus.h"

enum { NAP_NS = 200000, TRACES = 20 };

static volatile unsigned long sink;

typedef void (*search_fn)(const struct timespec *nap);

#if defined(__x86_64__)

#define FUNCTION(name, ...)                                                                        \
	__asm__(".pushsection .text\n.type " #name ", @function\n" #name ":\n" __VA_ARGS__         \
		"\n.size " #name ", . - " #name "\n.popsection\n");                                \
	void name(const struct timespec *nap)
#define NAP "mov $35, %eax; xor %esi, %esi; syscall;"

FUNCTION(search_leaf, NAP "ret");
FUNCTION(search_pushes,
	 "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; mov $7, %ebp;" NAP
	 "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret");
FUNCTION(search_reserved,
	 "push %rbp; sub $0xd0, %rsp; mov %rsp, %rbp;" NAP "add $0xd0, %rsp; pop %rbp; ret");
FUNCTION(search_aligned,
	 "push %rbp; mov %rsp, %r9; mov %rsp, %rbp; and $-64, %rsp; sub $0x100, %rsp;" NAP
	 "mov %r9, %rsp; pop %rbp; ret");
FUNCTION(search_inner, "call search_leaf; ret");

/* Leaves return addresses, of calls of C code and of the functions above, below the stack pointer. */
STIM_NOINLINE static unsigned long leave_traces(unsigned int depth)
{
	const struct timespec never = { .tv_nsec = -1 };

	search_leaf(&never);
	return depth ? leave_traces(depth - 1) + sink : sink;
}

/* Each has a frame, and its own address in the trace. */
#define CALLER(shape)                                                                              \
	STIM_NOINLINE static void caller_##shape(const struct timespec *nap)                       \
	{                                                                                          \
		volatile unsigned long local = leave_traces(TRACES);                               \
                                                                                                   \
		search_##shape(nap);                                                               \
		sink += local;                                                                     \
	}

CALLER(leaf)
CALLER(pushes)
CALLER(reserved)
CALLER(aligned)
CALLER(inner)

static const search_fn callers[] = { caller_leaf,    caller_pushes, caller_reserved,
				     caller_aligned, caller_inner,  NULL };

#else
static const search_fn callers[] = { NULL };
#endif

static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 100), i;
	long before;

	stim_start(now, "");
	for (i = 0; i < rounds; i++)
		for (size_t k = 0; callers[k]; k++)
			for (before = sleeps(); sleeps() == before;)
				callers[k](&nap);
	stim_done(now);
	return 0;
}
