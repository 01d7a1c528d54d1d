/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_HTTP_CLIENT_H
#define D9_SHIP_HTTP_CLIENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Requests to one server, each with a connection of its own. */
struct http_client;

struct http_client_opts {
	const char *base; /* http(s)://host:port/path, without user */
	const char *user, *password; /* NULL: none */
	bool bearer; /* without a user: the password is a token */
	const char *content_type; /* NULL: application/octet-stream */
	const char *ca_file; /* NULL: the system's */
	uint64_t timeout_ns; /* of a whole request */
	uint64_t body_max; /* bytes of an answer; 0: HTTP_CLIENT_BODY_MAX */
	const volatile sig_atomic_t *stop; /* not 0: the running request ends */
	/*
	 * Asked during a request, at least once a second, with the time since it began or the server took a byte: true ends
	 * it with -ETIMEDOUT. NULL: never
	 */
	bool (*gives_up)(void *ctx, uint64_t silent_ns);
	void *ctx;
};

/* Free with http_client_free(). 0 or -errno, after one line. */
int http_client_new(const struct http_client_opts *opts, struct http_client **out);
void http_client_free(struct http_client *c);

/* An answer, or the reason why there is none. */
struct http_answer {
	int err; /* 0: the server answered; -errno: it did not, or not completely */
	bool sent; /* a request may have reached the server */
	long status;
	int exception; /* of X-ClickHouse-Exception-Code; 0: none */
	struct buf body; /* more than body_max is an error */
	struct buf error; /* of err: text for a message */
};

#define HTTP_CLIENT_BODY_MAX (1u << 20)

void http_answer_fini(struct http_answer *a);

/* One NAME=VALUE of a URL; VALUE is escaped. */
struct http_param {
	const char *name, *value;
};

/*
 * Sends @body with POST, and waits for the whole answer. @gzip: the body is compressed. Redirects are not followed. @out is
 * set in any case, and freed with http_answer_fini().
 */
void http_client_post(struct http_client *c, const struct http_param *params, size_t param_cnt,
		      const struct buf *body, bool gzip, struct http_answer *out);

/* The parts of http(s)://user@host:port/path. */
struct http_url {
	char *base, *user, *path; /* user NULL: none; path without leading slashes */
	bool tls;
};

/*
 * -EINVAL after one line, which begins with @command: not such a URL, or it has a password. Free with http_url_fini().
 * @expected: the form of a URL, for that line.
 */
int http_url_parse_as(const char *command, const char *expected, const char *text,
		      struct http_url *out);
/* The same, for a URL of a database. */
int http_url_parse(const char *command, const char *text, struct http_url *out);
void http_url_fini(struct http_url *u);

#endif /* D9_SHIP_HTTP_CLIENT_H */
