// SPDX-License-Identifier: BSD-2-Clause
/*
 * inner_maps.c - puts maps into an array of maps, without the kernel's wait
 *
 * After an update of an array of maps, the kernel waits until no program uses the old inner map: tens of milliseconds
 * per update. Here there is no old map. So a thread updates all elements with one request (Linux 5.19) and waits, and
 * the caller goes on as soon as the elements are there.
 */
#include "record/capture/inner_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "kernel/privileges.h"

struct update {
	int outer_fd;
	uint32_t cnt;
	uint32_t *keys;
	int *fds;
	int err; /* valid if the thread has ended */
	bool ended;
	unsigned int users; /* the caller and the thread: the last one frees */
};

static void release(struct update *u)
{
	if (__atomic_sub_fetch(&u->users, 1, __ATOMIC_ACQ_REL))
		return;
	free(u->keys);
	free(u->fds);
	free(u);
}

static int put_each(const struct update *u)
{
	uint32_t i;

	for (i = 0; i < u->cnt; i++)
		if (bpf_map_update_elem(u->outer_fd, &u->keys[i], &u->fds[i], BPF_ANY))
			return -errno;
	return 0;
}

static int put_all(const struct update *u)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint32_t cnt = u->cnt;

	return bpf_map_update_batch(u->outer_fd, u->keys, u->fds, &cnt, &opts) ? put_each(u) : 0;
}

static void *run(void *ctx)
{
	struct update *u = ctx;

	privileges_drop_all_but(1ULL << CAP_BPF);
	u->err = put_all(u);
	__atomic_store_n(&u->ended, true, __ATOMIC_RELEASE);
	release(u);
	return NULL;
}

static bool has_all(const struct update *u)
{
	uint32_t id, i;

	for (i = 0; i < u->cnt; i++)
		if (bpf_map_lookup_elem(u->outer_fd, &u->keys[i], &id))
			return false;
	return true;
}

static int await(const struct update *u)
{
	const struct timespec step = { .tv_nsec = 50000 };

	while (!__atomic_load_n(&u->ended, __ATOMIC_ACQUIRE)) {
		if (has_all(u))
			return 0;
		nanosleep(&step, NULL);
	}
	return u->err;
}

static int start_thread(struct update *u)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, run, u);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ? -err : -pthread_detach(thread);
}

int inner_maps_put(int outer_fd, const uint32_t *keys, const int *fds, uint32_t cnt)
{
	struct update *u = xcalloc(1, sizeof(*u));
	int err;

	*u = (struct update){ .outer_fd = outer_fd, .cnt = cnt, .users = 2 };
	u->keys = xcalloc(cnt, sizeof(*keys));
	u->fds = xcalloc(cnt, sizeof(*fds));
	memcpy(u->keys, keys, cnt * sizeof(*keys));
	memcpy(u->fds, fds, cnt * sizeof(*fds));
	if (!start_thread(u)) {
		err = await(u);
	} else {
		err = put_all(u);
		release(u);
	}
	release(u);
	return err;
}
