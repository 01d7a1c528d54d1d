/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_PYROSCOPE_H
#define D9_SHIP_PYROSCOPE_H

#include "ship/attempts.h"
#include "ship/http_client.h"

/* A Pyroscope server, or another program that takes its requests. */
struct pyroscope;

struct pyroscope_opts {
	const struct http_url *url; /* borrowed during pyroscope_new() */
	const char *password, *ca_file; /* NULL: none; a password without a user is a token */
	uint64_t timeout_ns; /* of a request */
	const volatile sig_atomic_t *stop;
	struct attempts *attempts; /* borrowed */
};

/* Free with pyroscope_free(). 0 or -errno, after one line. */
int pyroscope_new(const struct pyroscope_opts *opts, struct pyroscope **out);
void pyroscope_free(struct pyroscope *p);

/* A profile to send. */
struct pyroscope_profile {
	const char *name; /* SERVICE{NAME=VALUE,...} */
	uint64_t from, until; /* s since 1970 */
	uint64_t sample_rate; /* Hz; 0: unknown */
	const char *types; /* what the server does with each type of sample, JSON */
	const struct buf *pprof; /* gzipped */
};

/*
 * Sends a profile until the server has it: at least once. 0; -EBADE: the server will not take this one, see
 * pyroscope_error(); -EINTR: stopped; -ETIMEDOUT: gave up; -EPROTO: the server refuses all. The last two after one line.
 */
int pyroscope_send(struct pyroscope *p, const struct pyroscope_profile *profile);
/* Why, in one line. Borrowed. */
const char *pyroscope_error(struct pyroscope *p);

/* Appends a text as the server accepts it in the name of a service: others become underscores, a long one is cut. */
void pyroscope_put_service(struct buf *out, const char *s, size_t len);
/* The same for the value of a label. */
void pyroscope_put_label(struct buf *out, const char *s, size_t len);
/* Whether the server accepts the name of a label. */
bool pyroscope_is_label_name(const char *s, size_t len);

#endif /* D9_SHIP_PYROSCOPE_H */
