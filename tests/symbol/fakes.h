/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SYMBOL_FAKES_H
#define D9_TESTS_SYMBOL_FAKES_H

/* Workers and openers made for a test: they speak the protocol, and read no file. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbol/sandbox/symproto.h"

/* Zeroed memory that all processes of a test share until it ends. */
static inline void *fakes_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert(p != MAP_FAILED);
	return p;
}

static inline void fakes_put(int sock, struct symproto_msg msg)
{
	struct buf b = { 0 };

	symproto_put(&b, &msg);
	if (symproto_send(sock, &b, -1, 0))
		_exit(0);
	buf_free(&b);
}

/* A worker's reply to a message, whose descriptor is closed. False: the worker ends. */
static inline bool fakes_begin(int sock, const struct symproto_msg *msg, int fd)
{
	if (fd >= 0)
		close(fd);
	if (msg->kind == SYMPROTO_CLOSE)
		return false;
	fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_WORKING, .id = msg->id });
	if (msg->kind == SYMPROTO_MODULE)
		fakes_put(sock, (struct symproto_msg){ .kind = SYMPROTO_OPENED, .id = msg->id });
	return true;
}

/* A received message; fd is -1, or owned by the callee. */
typedef void (*fakes_message_fn)(int sock, uint32_t role, const struct symproto_msg *msg, int fd);

/* The life of a worker. */
static inline void fakes_work(int sock, uint32_t role, fakes_message_fn message)
{
	char *packet = malloc(SYMPROTO_PACKET_MAX);
	struct symproto_msg msg;
	size_t pos;
	ssize_t n;
	int fd;

	while ((n = symproto_receive(sock, packet, &fd, 0)) > 0) {
		pos = 0;
		while (symproto_get(packet, n, &pos, SYMPROTO_TO_WORKER, &msg) == 1) {
			message(sock, role, &msg, fd);
			fd = -1;
		}
	}
	free(packet);
}

/* Called before an opener answers, and after it. */
typedef void (*fakes_request_fn)(const struct symproto_msg *msg);

/* The life of an opener: /dev/null for everything. answered may be NULL. */
static inline void fakes_open(int sock, fakes_request_fn asked, fakes_request_fn answered)
{
	char *packet = malloc(SYMPROTO_PACKET_MAX);
	int fd, null = open("/dev/null", O_RDONLY);
	struct symproto_msg msg;
	struct buf b = { 0 };
	size_t pos;
	ssize_t n;

	while ((n = symproto_receive(sock, packet, &fd, 0)) > 0) {
		pos = 0;
		if (symproto_get(packet, n, &pos, SYMPROTO_TO_OPENER, &msg) != 1)
			break;
		asked(&msg);
		buf_clear(&b);
		symproto_put(&b, &(struct symproto_msg){ .kind = SYMPROTO_RESULT, .id = msg.id });
		if (symproto_send(sock, &b, null, 0))
			break;
		if (answered)
			answered(&msg);
	}
	buf_free(&b);
	free(packet);
}

/* A fakes_request_fn for paths that hang. */
static inline void fakes_hang(const struct symproto_msg *msg)
{
	while (!strncmp(msg->text, "/hangs", 6))
		pause();
}

#endif /* D9_TESTS_SYMBOL_FAKES_H */
