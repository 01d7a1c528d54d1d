// SPDX-License-Identifier: BSD-2-Clause
/*
 * sideband_reader.c - reads metadata records ahead of the drain
 *
 * A record gets its time a moment before it is in its ring. The records of a process may lie in several rings, and
 * applying them out of order would result in wrong mappings. So records of the last moment wait for the next pass.
 * Their names are copied: the drain may pass them, and then the kernel overwrites them.
 */
#include "record/unwind_maps/sideband_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "kernel/perf_ring.h"

enum { MOMENT_NS = 30000 };

struct source {
	struct perf_ring *ring;
	bool has_next;
	struct perf_side next;
	struct buf name; /* of a waiting record */
};

struct sideband_reader {
	struct source *sources;
	size_t cnt;
	int epoll_fd;
};

int sideband_reader_new(struct perf_ring **sides, size_t cnt, struct sideband_reader **out)
{
	struct sideband_reader *l = xcalloc(1, sizeof(*l));
	int err = 0;
	size_t i;

	l->cnt = cnt;
	l->sources = xcalloc(cnt + 1, sizeof(*l->sources));
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		err = -errno;
	for (i = 0; i < cnt && !err; i++) {
		struct epoll_event ev = { .events = EPOLLIN };

		l->sources[i].ring = sides[i];
		if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, perf_ring_fd(sides[i]), &ev))
			err = -errno;
	}
	if (err)
		sideband_reader_free(l);
	else
		*out = l;
	return err;
}

void sideband_reader_free(struct sideband_reader *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->cnt; i++)
		buf_free(&l->sources[i].name);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l->sources);
	free(l);
}

int sideband_reader_fd(const struct sideband_reader *l)
{
	return l->epoll_fd;
}

static bool refill(struct source *s)
{
	int got;

	if (s->has_next)
		return true;
	got = perf_ring_peek(s->ring, &s->next);
	if (got < 0)
		s->next = (struct perf_side){ .type = PERF_SIDE_DAMAGED, .name = "" };
	s->has_next = got != 0;
	return s->has_next;
}

static void keep_names(struct sideband_reader *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		struct source *s = &l->sources[i];

		if (!s->has_next || s->next.name == s->name.data)
			continue;
		buf_clear(&s->name);
		buf_add(&s->name, s->next.name, s->next.name_len);
		s->next.name = buf_cstr(&s->name);
	}
}

size_t sideband_reader_pass(struct sideband_reader *l, size_t max,
			    void (*fn)(void *ctx, const struct perf_side *side), void *ctx,
			    bool *more)
{
	uint64_t until = clock_mono_ns() - MOMENT_NS;
	struct source *first = NULL;
	size_t n, i;

	for (n = 0; n < max; n++) {
		first = NULL;
		for (i = 0; i < l->cnt; i++)
			if (refill(&l->sources[i]) &&
			    (!first || l->sources[i].next.time < first->next.time))
				first = &l->sources[i];
		if (!first || first->next.time > until)
			break;
		first->has_next = false;
		fn(ctx, &first->next);
	}
	keep_names(l);
	*more = n == max || first;
	return n;
}

void sideband_reader_pass_held(struct sideband_reader *l, uint64_t until,
			       void (*fn)(void *ctx, const struct perf_side *side), void *ctx)
{
	struct source *first;
	size_t i;

	do {
		first = NULL;
		for (i = 0; i < l->cnt; i++) {
			struct source *s = &l->sources[i];

			if (s->has_next && s->next.time <= until &&
			    (!first || s->next.time < first->next.time))
				first = s;
		}
		if (first) {
			first->has_next = false;
			fn(ctx, &first->next);
		}
	} while (first);
}
