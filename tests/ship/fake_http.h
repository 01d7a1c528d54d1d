/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SHIP_FAKE_HTTP_H
#define D9_TESTS_SHIP_FAKE_HTTP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct fake_request {
	struct buf head; /* unescaped */
	struct buf body;
	size_t length; /* of the body, as the head says */
};

/* The server's side of HTTP: one thread, one connection at a time. */
struct fake_http {
	/* A request whose head was read; false: the connection is to be closed. */
	bool (*serve)(void *ctx, int fd, struct fake_request *r);
	void *ctx;
	int listener;
	unsigned int port;
	pthread_t thread;
	sem_t ready; /* the thread is in accept() */
	bool stopped;
};

void fake_http_start(struct fake_http *h, bool (*serve)(void *ctx, int fd, struct fake_request *r),
		     void *ctx);
/* Clients are gone by then. May be called twice. */
void fake_http_stop(struct fake_http *h);

/* For serve(): reads until the body, or another text, has @len bytes. */
bool fake_http_read(int fd, struct buf *b, size_t len);
/* @header: whole lines. */
void fake_http_answer(int fd, const char *status, const char *header, const char *body);
/* Appends what gzip packed. */
void fake_http_unpack(const void *data, size_t sz, struct buf *out);

#endif /* D9_TESTS_SHIP_FAKE_HTTP_H */
