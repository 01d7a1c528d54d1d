// SPDX-License-Identifier: BSD-2-Clause
/*
 * readiness.c - which sockets have data, by one epoll call
 *
 * Level-triggered: data that arrives after the call, or is left unread, is reported by the next one.
 */
#include "symbol/sandbox/readiness.h"

#include <stddef.h>
#include <sys/epoll.h>

enum { EVENTS_MAX = 64 };

void readiness_watch(struct readiness *r, int epoll_fd, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = r };

	r->empty = false;
	r->watched = epoll_fd >= 0 && !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

void readiness_unwatch(struct readiness *r, int epoll_fd, int fd)
{
	if (r->watched)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	*r = (struct readiness){ 0 };
}

void readiness_update(int epoll_fd)
{
	struct epoll_event events[EVENTS_MAX];
	int n, i;

	n = epoll_fd >= 0 ? epoll_wait(epoll_fd, events, EVENTS_MAX, 0) : 0;
	for (i = 0; i < n; i++)
		((struct readiness *)events[i].data.ptr)->empty = false;
}
