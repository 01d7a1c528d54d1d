// SPDX-License-Identifier: BSD-2-Clause
/*
 * demo [--now] [SECONDS]
 *
 * The workload that tools/demo.sh records: for SECONDS (30) it does a bit of everything that a profile should
 * distinguish. Two "cruncher" threads sort and hash under one mutex and fight for it, a "ticker" thread sleeps
 * most of the time, and the main thread waits for them.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "stimulus.h"

enum { WORDS = 1 << 15 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared_sum;
static uint64_t deadline_ns;

static bool time_is_up(void)
{
	return stim_clock_ns(CLOCK_MONOTONIC) >= deadline_ns;
}

STIM_NOINLINE static void fill_words(uint32_t *words, uint32_t seed)
{
	for (int i = 0; i < WORDS; i++) {
		seed = seed * 1664525 + 1013904223;
		words[i] = seed >> 8;
	}
	STIM_KEEP(seed);
}

/* Inlined, so that a profile shows what debug information adds. */
static inline __attribute__((always_inline)) void sift_down(uint32_t *heap, int root, int end)
{
	for (int child; (child = 2 * root + 1) < end; root = child) {
		uint32_t tmp;

		if (child + 1 < end && heap[child] < heap[child + 1])
			child++;
		if (heap[root] >= heap[child])
			return;
		tmp = heap[root];
		heap[root] = heap[child];
		heap[child] = tmp;
	}
}

STIM_NOINLINE static void sort_words(uint32_t *words)
{
	for (int i = WORDS / 2 - 1; i >= 0; i--)
		sift_down(words, i, WORDS);
	for (int end = WORDS - 1; end > 0; end--) {
		uint32_t top = words[0];

		words[0] = words[end];
		words[end] = top;
		sift_down(words, 0, end);
	}
	STIM_KEEP(words);
}

STIM_NOINLINE static uint64_t hash_words(const uint32_t *words)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (int round = 0; round < 8; round++)
		for (int i = 0; i < WORDS; i++)
			h = (h ^ words[i]) * 0x100000001b3u;
	STIM_KEEP(h);
	return h;
}

static void *crunch(void *arg)
{
	uint32_t *words = malloc(WORDS * sizeof(*words));
	uint32_t seed = (uint32_t)(uintptr_t)arg;

	if (!words)
		exit(2);
	prctl(PR_SET_NAME, "cruncher");
	while (!time_is_up()) {
		fill_words(words, seed++);
		sort_words(words);
		pthread_mutex_lock(&lock);
		shared_sum += hash_words(words);
		pthread_mutex_unlock(&lock);
	}
	free(words);
	return NULL;
}

static void *tick(void *arg)
{
	struct timespec nap = { .tv_nsec = 5000000 };

	prctl(PR_SET_NAME, "ticker");
	while (!time_is_up())
		nanosleep(&nap, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	pthread_t threads[3];

	stim_start(now, "");
	deadline_ns = stim_clock_ns(CLOCK_MONOTONIC) + stim_arg(argc, argv, 1, 30) * 1000000000u;
	if (pthread_create(&threads[0], NULL, crunch, (void *)1) != 0 ||
	    pthread_create(&threads[1], NULL, crunch, (void *)1000000) != 0 ||
	    pthread_create(&threads[2], NULL, tick, NULL) != 0)
		return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("sum=%016llx\n", (unsigned long long)shared_sum);
	stim_done(now);
	return 0;
}
