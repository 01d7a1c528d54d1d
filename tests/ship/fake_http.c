// SPDX-License-Identifier: BSD-2-Clause
/* Requests over a socket, read with no more than what the tests' clients send. */
#include "tests/ship/fake_http.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

/* ---- requests --------------------------------------------------------------------------------- */

static void unescape(struct buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++) {
		unsigned int c = (unsigned char)b->data[i];

		if (c == '%' && sscanf(b->data + i + 1, "%2x", &c) == 1)
			i += 2;
		b->data[to++] = (char)c;
	}
	b->len = to;
	b->data[to] = '\0';
}

bool fake_http_read(int fd, struct buf *b, size_t len)
{
	while (b->len < len) {
		const size_t want = len - b->len;
		ssize_t n = read(fd, buf_reserve(b, want), want);

		if (n <= 0)
			return false;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
	}
	return true;
}

static bool read_head(int fd, struct fake_request *r)
{
	const char *at;

	do {
		if (!fake_http_read(fd, &r->head, r->head.len + 1))
			return false;
	} while (r->head.len < 4 || memcmp(r->head.data + r->head.len - 4, "\r\n\r\n", 4) != 0);
	at = strcasestr(r->head.data, "\r\nContent-Length: ");
	r->length = at ? strtoull(at + strlen("\r\nContent-Length: "), NULL, 10) : 0;
	unescape(&r->head);
	return true;
}

void fake_http_answer(int fd, const char *status, const char *header, const char *body)
{
	struct buf out = { 0 };

	buf_printf(&out, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", status, header,
		   strlen(body), body);
	(void)!send(fd, out.data, out.len, MSG_NOSIGNAL);
	buf_free(&out);
}

void fake_http_unpack(const void *data, size_t sz, struct buf *out)
{
	char piece[4096];
	z_stream z = { .next_in = (Bytef *)data, .avail_in = (uInt)sz };
	int ret = Z_OK;

	inflateInit2(&z, 15 + 16);
	while (ret == Z_OK) {
		z.next_out = (Bytef *)piece;
		z.avail_out = sizeof(piece);
		ret = inflate(&z, Z_NO_FLUSH);
		buf_add(out, piece, sizeof(piece) - z.avail_out);
	}
	inflateEnd(&z);
}

/* ---- life ------------------------------------------------------------------------------------- */

static bool serve_one(struct fake_http *h, int fd)
{
	struct fake_request r = { 0 };
	const bool more = read_head(fd, &r) && h->serve(h->ctx, fd, &r);

	buf_free(&r.head);
	buf_free(&r.body);
	return more;
}

static void *serve_all(void *ctx)
{
	struct fake_http *h = ctx;
	int fd;

	sem_post(&h->ready);
	while ((fd = accept(h->listener, NULL, NULL)) >= 0) {
		while (serve_one(h, fd))
			;
		close(fd);
	}
	return NULL;
}

void fake_http_start(struct fake_http *h, bool (*serve)(void *ctx, int fd, struct fake_request *r),
		     void *ctx)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	*h = (struct fake_http){ .serve = serve, .ctx = ctx };
	h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(h->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(h->listener, 8), 0);
	cr_assert_eq(getsockname(h->listener, (struct sockaddr *)&at, &len), 0);
	h->port = ntohs(at.sin_port);
	cr_assert_eq(sem_init(&h->ready, 0, 0), 0);
	cr_assert_eq(pthread_create(&h->thread, NULL, serve_all, h), 0);
	/* A thread that starts holds locks of the allocator, which a child of fork() would wait for. */
	cr_assert_eq(sem_wait(&h->ready), 0);
}

void fake_http_stop(struct fake_http *h)
{
	if (h->stopped)
		return;
	shutdown(h->listener, SHUT_RDWR);
	pthread_join(h->thread, NULL);
	close(h->listener);
	sem_destroy(&h->ready);
	h->stopped = true;
}
