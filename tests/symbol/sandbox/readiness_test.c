// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/sandbox/readiness.h"

#include <criterion/criterion.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void set_up(int fds[2], int *epoll_fd)
{
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	*epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert_geq(*epoll_fd, 0);
}

Test(readiness, watched_socket_may_have_data_until_a_receive_finds_none)
{
	struct readiness r = { 0 };
	int fds[2], epoll_fd;

	set_up(fds, &epoll_fd);
	readiness_watch(&r, epoll_fd, fds[0]);
	cr_expect(readiness_has_data(&r));
	readiness_set_empty(&r);
	readiness_update(epoll_fd);
	cr_expect_not(readiness_has_data(&r));
	cr_assert_eq(send(fds[1], "x", 1, 0), 1);
	cr_expect_not(readiness_has_data(&r), "it is known from the next update on");
	readiness_update(epoll_fd);
	cr_expect(readiness_has_data(&r));
}

Test(readiness, unread_data_is_reported_again)
{
	struct readiness r = { 0 };
	int fds[2], epoll_fd;

	set_up(fds, &epoll_fd);
	readiness_watch(&r, epoll_fd, fds[0]);
	cr_assert_eq(send(fds[1], "x", 1, 0), 1);
	readiness_set_empty(&r);
	readiness_update(epoll_fd);
	cr_expect(readiness_has_data(&r));
	readiness_set_empty(&r);
	readiness_update(epoll_fd);
	cr_expect(readiness_has_data(&r));
}

Test(readiness, end_of_the_other_side_is_reported)
{
	struct readiness r = { 0 };
	int fds[2], epoll_fd;

	set_up(fds, &epoll_fd);
	readiness_watch(&r, epoll_fd, fds[0]);
	readiness_set_empty(&r);
	close(fds[1]);
	readiness_update(epoll_fd);
	cr_expect(readiness_has_data(&r));
}

Test(readiness, unwatched_socket_may_always_have_data)
{
	struct readiness r = { 0 };
	int fds[2], epoll_fd;

	set_up(fds, &epoll_fd);
	readiness_watch(&r, -1, fds[0]);
	readiness_set_empty(&r);
	cr_expect(readiness_has_data(&r));
	readiness_watch(&r, epoll_fd, fds[0]);
	readiness_set_empty(&r);
	cr_expect_not(readiness_has_data(&r));
	readiness_doubt(&r);
	cr_expect(readiness_has_data(&r));
	readiness_set_empty(&r);
	readiness_unwatch(&r, epoll_fd, fds[0]);
	cr_assert_eq(send(fds[1], "x", 1, 0), 1);
	readiness_update(epoll_fd);
	readiness_set_empty(&r);
	cr_expect(readiness_has_data(&r));
}
