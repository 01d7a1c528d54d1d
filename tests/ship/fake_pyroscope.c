// SPDX-License-Identifier: BSD-2-Clause
/* The fake server. Reads forms and profiles with code that shares nothing with what writes them. */
#include "tests/ship/fake_pyroscope.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/export/proto_read.h"
#include "tests/ship/fake_http.h"

#define PROFILES_MAX 1024

struct fake_pyroscope {
	struct fake_pyroscope_opts opts;
	struct fake_http http;
	pthread_mutex_t lock;
	struct fake_profile profiles[PROFILES_MAX];
	size_t profile_cnt;
	unsigned int requests;
	struct buf heads;
};

/* ---- profiles --------------------------------------------------------------------------------- */

/* Calls back for each field of a message. */
static void each_field(const uint8_t *p, const uint8_t *end, void *ctx,
		       void (*fn)(void *ctx, uint64_t field, const uint8_t *data, uint64_t v))
{
	while (p < end) {
		const uint64_t tag = proto_read_varint(&p, end);
		const uint64_t v = proto_read_varint(&p, end);

		cr_assert(!(tag & 7) || (tag & 7) == 2, "wire type %lu", tag & 7);
		cr_assert(!(tag & 7) || v <= (uint64_t)(end - p));
		fn(ctx, tag >> 3, (tag & 7) ? p : NULL, v);
		p += (tag & 7) ? v : 0;
	}
}

static void add_sample_field(void *ctx, uint64_t field, const uint8_t *data, uint64_t sz)
{
	struct fake_profile *f = ctx;
	const uint8_t *end = data + sz;

	/* the server would make a series of each value of a label */
	cr_expect_neq(field, 3, "a sample with a label");
	if (field != 2)
		return;
	f->count += proto_read_varint(&data, end);
	f->ns += proto_read_varint(&data, end);
	cr_expect_eq(data, end);
}

static void add_field(void *ctx, uint64_t field, const uint8_t *data, uint64_t v)
{
	struct fake_profile *f = ctx;

	if (field == 9)
		f->time_ns = v;
	if (field != 2)
		return;
	f->samples++;
	each_field(data, data + v, f, add_sample_field);
}

/* ---- forms ------------------------------------------------------------------------------------ */

static uint64_t number_of(const char *head, const char *name)
{
	const char *at = strstr(head, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The content of a field of a form. */
static void read_part(const struct fake_request *r, const char *name, const char **data,
		      size_t *len)
{
	char mark[101], start[128];
	const char *at, *end, *body_end = r->body.data + r->body.len;

	cr_assert_eq(sscanf(strstr(r->head.data, "boundary="), "boundary=%100[^\r\n]", mark), 1);
	snprintf(start, sizeof(start), "name=\"%s\"", name);
	at = memmem(r->body.data, r->body.len, start, strlen(start));
	cr_assert_not_null(at, "no field %s", name);
	at = memmem(at, (size_t)(body_end - at), "\r\n\r\n", 4);
	cr_assert_not_null(at);
	at += 4;
	snprintf(start, sizeof(start), "\r\n--%s", mark);
	end = memmem(at, (size_t)(body_end - at), start, strlen(start));
	cr_assert_not_null(end);
	*data = at;
	*len = (size_t)(end - at);
}

static void store(struct fake_pyroscope *f, const struct fake_request *r)
{
	struct fake_profile *p = &f->profiles[f->profile_cnt];
	const char *data;
	size_t len;

	cr_assert_lt(f->profile_cnt, PROFILES_MAX);
	cr_assert_null(strstr(r->head.data, "format="));
	cr_assert_eq(sscanf(strstr(r->head.data, "?name="), "?name=%511[^&]", p->name), 1);
	p->from = number_of(r->head.data, "&from=");
	p->until = number_of(r->head.data, "&until=");
	p->rate = number_of(r->head.data, "&sampleRate=");
	read_part(r, "profile", &data, &len);
	fake_http_unpack(data, len, &p->pprof);
	each_field((const uint8_t *)p->pprof.data, (const uint8_t *)p->pprof.data + p->pprof.len, p,
		   add_field);
	read_part(r, "sample_type_config", &data, &len);
	buf_add(&p->types, data, len);
	pthread_mutex_lock(&f->lock);
	f->profile_cnt++;
	pthread_mutex_unlock(&f->lock);
}

/* ---- requests --------------------------------------------------------------------------------- */

/* NULL: none. */
static const char *status_of(enum fake_pyroscope_fault fault, const char **body)
{
	*body = "";
	switch (fault) {
	case PROFILE_ERROR:
		return "500 Internal Server Error";
	case PROFILE_BUSY:
		return "429 Too Many Requests";
	case PROFILE_LIMIT:
		*body = "{\"code\":\"unknown\",\"message\":\"pushing failed resource_exhausted: "
			"ingestion rate limit\"}";
		return "422 Unprocessable Entity";
	case PROFILE_RING:
		*body = "{\"code\":\"unknown\",\"message\":\"pushing failed at least 1 live replicas "
			"required, could only find 0\"}";
		return "422 Unprocessable Entity";
	case PROFILE_OLD:
		*body = "{\"code\":\"unknown\",\"message\":\"pushing failed invalid_argument: "
			"profile with timestamp is outside of ingestion window\"}";
		return "422 Unprocessable Entity";
	case PROFILE_LABELS:
		*body = "{\"code\":\"unknown\",\"message\":\"pushing failed invalid_argument: "
			"profile with labels '{host=\\\"unavailable: canceled\\\", "
			"service_name=\\\"internal\\\"}' is outside of ingestion window\"}";
		return "422 Unprocessable Entity";
	case PROFILE_LARGE:
		return "413 Request Entity Too Large";
	case PROFILE_LONG:
		return "414 URI Too Long";
	case PROFILE_DENIED:
		return "401 Unauthorized";
	case PROFILE_PAGE:
		*body = "<html>please log in</html>";
		return "200 OK";
	case PROFILE_FINE:
		return "200 OK";
	case PROFILE_CUT:
	case PROFILE_EAT:
	case PROFILE_SILENT:
		break;
	}
	return NULL;
}

static bool serve(void *ctx, int fd, struct fake_request *r)
{
	struct fake_pyroscope *f = ctx;
	const enum fake_pyroscope_fault fault =
		f->opts.fault ? f->opts.fault(f->opts.ctx, f->requests) : PROFILE_FINE;
	const char *status, *body;

	pthread_mutex_lock(&f->lock);
	f->requests++;
	buf_add(&f->heads, r->head.data, r->head.len);
	pthread_mutex_unlock(&f->lock);
	if (!fake_http_read(fd, &r->body, fault == PROFILE_CUT ? r->length / 2 : r->length) ||
	    fault == PROFILE_CUT)
		return false;
	if (fault == PROFILE_FINE || fault == PROFILE_EAT)
		store(f, r);
	if (fault == PROFILE_SILENT)
		(void)!fake_http_read(fd, &r->body, r->length + 1);
	status = status_of(fault, &body);
	if (status)
		fake_http_answer(fd, status, "", body);
	return status;
}

/* ---- life ------------------------------------------------------------------------------------- */

struct fake_pyroscope *fake_pyroscope_start(const struct fake_pyroscope_opts *opts)
{
	struct fake_pyroscope *f = calloc(1, sizeof(*f));

	f->opts = *opts;
	pthread_mutex_init(&f->lock, NULL);
	fake_http_start(&f->http, serve, f);
	return f;
}

void fake_pyroscope_stop(struct fake_pyroscope *f)
{
	fake_http_stop(&f->http);
}

void fake_pyroscope_free(struct fake_pyroscope *f)
{
	fake_pyroscope_stop(f);
	for (size_t i = 0; i < f->profile_cnt; i++) {
		buf_free(&f->profiles[i].pprof);
		buf_free(&f->profiles[i].types);
	}
	buf_free(&f->heads);
	free(f);
}

unsigned int fake_pyroscope_port(const struct fake_pyroscope *f)
{
	return f->http.port;
}

const struct fake_profile *fake_pyroscope_profiles(struct fake_pyroscope *f, size_t *cnt)
{
	pthread_mutex_lock(&f->lock);
	*cnt = f->profile_cnt;
	pthread_mutex_unlock(&f->lock);
	return f->profiles;
}

unsigned int fake_pyroscope_requests(struct fake_pyroscope *f)
{
	return f->requests;
}

bool fake_pyroscope_saw(struct fake_pyroscope *f, const char *text)
{
	bool saw;

	pthread_mutex_lock(&f->lock);
	saw = f->heads.len && strstr(buf_cstr(&f->heads), text);
	pthread_mutex_unlock(&f->lock);
	return saw;
}
