/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_READINESS_H
#define D9_SYMBOL_SANDBOX_READINESS_H

#include <stdbool.h>

/*
 * Whether a socket may have data. One epoll call then replaces a failing receive from each socket. A socket that is
 * not watched always may have data; so may a watched one at first.
 */
struct readiness {
	bool watched;
	bool empty; /* a receive found nothing, and no readiness_update() has reported it since */
};

/* Adds a socket to an epoll instance. *r must stay in place. If that fails, or @epoll_fd is -1, it is not watched. */
void readiness_watch(struct readiness *r, int epoll_fd, int fd);
/* Before the socket is closed. */
void readiness_unwatch(struct readiness *r, int epoll_fd, int fd);
/* Notes all readable sockets. */
void readiness_update(int epoll_fd);

static inline bool readiness_has_data(const struct readiness *r)
{
	return !r->empty;
}

/* A receive would have blocked. */
static inline void readiness_set_empty(struct readiness *r)
{
	r->empty = r->watched;
}

/* The socket may have data that no readiness_update() has reported yet. */
static inline void readiness_doubt(struct readiness *r)
{
	r->empty = false;
}

#endif
