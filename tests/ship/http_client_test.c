// SPDX-License-Identifier: BSD-2-Clause
/* The parts of URLs, and answers that are cut. The tests of ship send requests. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ship/http_client.h"

Test(http_client, parts_of_a_url)
{
	struct http_url u;

	cr_assert_eq(http_url_parse("ship", "https://me%40x@ch1:8443/fleet", &u), 0);
	cr_expect_str_eq(u.base, "https://ch1:8443/");
	cr_expect_str_eq(u.user, "me@x");
	cr_expect_str_eq(u.path, "fleet");
	cr_expect(u.tls);
	http_url_fini(&u);
	cr_assert_eq(http_url_parse("ship", "http://[::1]:8123", &u), 0);
	cr_expect_str_eq(u.base, "http://[::1]:8123/");
	cr_expect_null(u.user);
	cr_expect_str_eq(u.path, "");
	cr_expect_not(u.tls);
	http_url_fini(&u);
}

Test(http_client, bad_urls)
{
	static const char *const bad[] = { "",
					   "ch1:8123/fleet",
					   "ftp://ch1/",
					   "file:///etc/passwd",
					   "http://me:secret@ch1/",
					   "http://ch1/?x=1" };
	struct http_url u;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(http_url_parse("ship", bad[i], &u), -EINVAL, "%s", bad[i]);
		http_url_fini(&u);
	}
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* A server that gives the first bytes of an answer, and closes. */
struct cut_server {
	pthread_t thread;
	int fd;
	const char *answer;
	size_t len;
};

static void *serve_once(void *ctx)
{
	const struct cut_server *s = ctx;
	char request[4096];
	size_t len = 0;
	ssize_t n = 1;
	int fd = accept(s->fd, NULL, NULL);

	while (n > 0 && !memmem(request, len, "\r\n\r\nbody", 8)) {
		n = read(fd, request + len, sizeof(request) - len);
		len += n > 0 ? (size_t)n : 0;
	}
	while ((n = write(fd, s->answer, s->len)) < 0 && errno == EINTR)
		;
	shutdown(fd, SHUT_WR);
	while (read(fd, request, sizeof(request)) > 0)
		;
	close(fd);
	return NULL;
}

static unsigned int listen_once(struct cut_server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);

	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(s->fd, 1), 0);
	cr_assert_eq(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
	cr_assert_eq(pthread_create(&s->thread, NULL, serve_once, s), 0);
	return ntohs(at.sin_port);
}

static void ask_cut(const char *answer, size_t len, struct http_answer *out)
{
	struct cut_server s = { .answer = answer, .len = len };
	struct buf body = { 0 };
	struct http_client *c;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", listen_once(&s));
	cr_assert_eq(http_client_new(&(struct http_client_opts){ .base = url,
								 .timeout_ns = 20000000000ULL },
				     &c),
		     0);
	buf_addstr(&body, "body");
	http_client_post(c, NULL, 0, &body, false, out);
	pthread_join(s.thread, NULL);
	close(s.fd);
	http_client_free(c);
	buf_free(&body);
}

Test(http_client, part_of_an_answer_is_no_answer)
{
	/* the last one is whole before its last byte */
	static const char *const answers[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	};
	struct http_answer got;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const size_t whole = strlen(answers[i]);

		for (size_t len = 0; len < whole - (i == 2); len++) {
			ask_cut(answers[i], len, &got);
			cr_expect_eq(got.err, -ECONNRESET, "%zu bytes of answer %zu: %d", len, i,
				     got.err);
			http_answer_fini(&got);
		}
		ask_cut(answers[i], whole, &got);
		cr_expect_eq(got.err, 0);
		cr_expect_eq(got.status, 200);
		cr_expect_str_eq(buf_cstr(&got.body), "abc");
		http_answer_fini(&got);
	}
}

Test(http_client, header_lines_may_end_without_a_carriage_return)
{
	static const char *const answers[] = {
		"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\nabc",
	};
	struct http_answer got;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		ask_cut(answers[i], strlen(answers[i]), &got);
		cr_expect_eq(got.err, 0, "answer %zu: %d", i, got.err);
		cr_expect_eq(got.status, 200);
		cr_expect_str_eq(buf_cstr(&got.body), "abc");
		http_answer_fini(&got);
	}
}
