// SPDX-License-Identifier: BSD-2-Clause
/*
 * HTTP requests by libcurl. Owns the limits: time, size of answers, protocols. Certificates are
 * always verified. Does not know what is sent, and never repeats a request.
 */
#include "ship/http_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ship/curl_library.h"
#include "ship/server_password.h"

#define CONNECT_TIMEOUT_S 10L
/* A connection without a byte for this long is dead. */
#define SILENCE_S 60L

struct http_client {
	struct curl_library lib;
	CURL *curl;
	struct curl_slist *headers, *gzip_headers;
	char *base;
	uint64_t body_max;
	const volatile sig_atomic_t *stop;
	bool (*gives_up)(void *ctx, uint64_t silent_ns);
	void *ctx;
	struct http_answer *answer; /* of the running request */
	bool has_headers; /* all of its headers are there */
	curl_off_t sent; /* of its body */
	uint64_t silent_since;
	bool gave_up;
	char error[CURL_ERROR_SIZE];
};

/* ---- callbacks -------------------------------------------------------------------------------- */

static size_t add_body(char *data, size_t size, size_t cnt, void *ctx)
{
	struct http_client *c = ctx;
	struct buf *body = &c->answer->body;

	if (size * cnt > c->body_max - body->len)
		return 0;
	buf_add(body, data, size * cnt);
	return size * cnt;
}

static size_t read_header(char *line, size_t size, size_t cnt, void *ctx)
{
	static const char name[] = "X-ClickHouse-Exception-Code:";
	struct http_client *c = ctx;
	char number[16] = "";
	size_t len = size * cnt;

	if (len >= 5 && !memcmp(line, "HTTP/", 5))
		c->has_headers = false; /* after an interim answer */
	else if (len && (*line == '\n' || (len == 2 && !memcmp(line, "\r\n", 2))))
		c->has_headers = true;
	if (len < sizeof(name) || strncasecmp(line, name, sizeof(name) - 1) != 0)
		return len;
	len -= sizeof(name) - 1;
	memcpy(number, line + sizeof(name) - 1, len < sizeof(number) ? len : sizeof(number) - 1);
	c->answer->exception = (int)strtol(number, NULL, 10) ?: -1;
	return size * cnt;
}

static int check_stop(void *ctx, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
		      curl_off_t up)
{
	struct http_client *c = ctx;
	const uint64_t now = clock_timer_ns();

	if (up != c->sent)
		c->silent_since = now;
	c->sent = up;
	c->gave_up = c->gives_up && c->gives_up(c->ctx, now - c->silent_since);
	return c->gave_up || (c->stop && *c->stop);
}

/* ---- life ------------------------------------------------------------------------------------- */

static bool set_limits(struct http_client *c, const struct http_client_opts *opts)
{
	const struct {
		CURLoption option;
		long value;
	} numbers[] = {
		{ CURLOPT_NOSIGNAL, 1 },
		{ CURLOPT_FOLLOWLOCATION, 0 },
		{ CURLOPT_SSL_VERIFYPEER, 1 },
		{ CURLOPT_SSL_VERIFYHOST, 2 },
		{ CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S },
		{ CURLOPT_LOW_SPEED_LIMIT, 1 },
		{ CURLOPT_LOW_SPEED_TIME, SILENCE_S },
		{ CURLOPT_TIMEOUT_MS, (long)(opts->timeout_ns / 1000000) },
		{ CURLOPT_POST, 1 },
		/* libcurl sends a request again by itself if a connection that it reuses breaks */
		{ CURLOPT_FRESH_CONNECT, 1 },
		{ CURLOPT_FORBID_REUSE, 1 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (c->lib.easy_setopt(c->curl, numbers[i].option, numbers[i].value))
			return false;
	return !c->lib.easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       (!opts->ca_file || !c->lib.easy_setopt(c->curl, CURLOPT_CAINFO, opts->ca_file));
}

static bool set_user(struct http_client *c, const struct http_client_opts *opts)
{
	if (!opts->user && !opts->password)
		return true;
	if (!opts->user && opts->bearer)
		return !c->lib.easy_setopt(c->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER) &&
		       !c->lib.easy_setopt(c->curl, CURLOPT_XOAUTH2_BEARER, opts->password);
	return !c->lib.easy_setopt(c->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_USERNAME, opts->user ?: "default") &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_PASSWORD, opts->password ?: "");
}

static bool set_callbacks(struct http_client *c)
{
	return !c->lib.easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, add_body) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_WRITEDATA, c) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, read_header) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_HEADERDATA, c) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, check_stop) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_XFERINFODATA, c) &&
	       !c->lib.easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
}

/* Without "Expect" a request takes one round trip, and fails at once if the server is gone. */
static struct curl_slist *make_headers(const struct curl_library *lib, const char *type, bool gzip)
{
	struct curl_slist *list = lib->slist_append(NULL, "Expect:");
	struct buf line = { 0 };

	buf_printf(&line, "Content-Type: %s", type ?: "application/octet-stream");
	list = lib->slist_append(list, buf_cstr(&line));
	buf_free(&line);
	return gzip ? lib->slist_append(list, "Content-Encoding: gzip") : list;
}

int http_client_new(const struct http_client_opts *opts, struct http_client **out)
{
	struct http_client *c = xcalloc(1, sizeof(*c));
	int err = curl_library_open(&c->lib);

	if (err) {
		free(c);
		return err;
	}
	c->base = xstrdup(opts->base);
	c->body_max = opts->body_max ?: HTTP_CLIENT_BODY_MAX;
	c->stop = opts->stop;
	c->gives_up = opts->gives_up;
	c->ctx = opts->ctx;
	c->headers = make_headers(&c->lib, opts->content_type, false);
	c->gzip_headers = make_headers(&c->lib, opts->content_type, true);
	c->curl = c->lib.easy_init();
	if (!c->curl || !c->headers || !c->gzip_headers || !set_limits(c, opts) ||
	    !set_user(c, opts) || !set_callbacks(c)) {
		log_error("cannot set up HTTP requests: libcurl has no http or https");
		http_client_free(c);
		return -ENOSYS;
	}
	*out = c;
	return 0;
}

void http_client_free(struct http_client *c)
{
	if (!c)
		return;
	c->lib.easy_cleanup(c->curl);
	c->lib.slist_free_all(c->headers);
	c->lib.slist_free_all(c->gzip_headers);
	curl_library_close(&c->lib);
	free(c->base);
	free(c);
}

void http_answer_fini(struct http_answer *a)
{
	buf_free(&a->body);
	buf_free(&a->error);
}

/* ---- requests --------------------------------------------------------------------------------- */

static int put_params(struct http_client *c, struct buf *url, const struct http_param *params,
		      size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		char *value =
			c->lib.easy_escape(c->curl, params[i].value, (int)strlen(params[i].value));

		if (!value)
			return -ENOMEM;
		buf_printf(url, "%c%s=%s", i ? '&' : '?', params[i].name, value);
		c->lib.free(value);
	}
	return 0;
}

static int error_of(CURLcode code)
{
	switch ((int)code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_ABORTED_BY_CALLBACK:
		return -EINTR;
	case CURLE_WRITE_ERROR:
		return -EMSGSIZE;
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return -ECONNREFUSED;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CONNECT_ERROR:
		return -EACCES;
	default:
		return -ECONNRESET;
	}
}

static void perform(struct http_client *c, struct http_answer *out)
{
	CURLcode code;

	c->sent = 0;
	c->silent_since = clock_timer_ns();
	c->gave_up = c->has_headers = false;
	code = c->lib.easy_perform(c->curl);
	out->err = c->gave_up ? -ETIMEDOUT : error_of(code);
	/* libcurl takes headers without an end for an answer without a body */
	if (!out->err && !c->has_headers) {
		out->err = -ECONNRESET;
		snprintf(c->error, sizeof(c->error), "the answer ends in its headers");
	}
	out->sent = out->err != -ECONNREFUSED && out->err != -EACCES;
	c->lib.easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &out->status);
	if (out->err == -EMSGSIZE)
		buf_printf(&out->error, "the answer is longer than %llu bytes",
			   (unsigned long long)c->body_max);
	else if (c->gave_up)
		buf_addstr(&out->error, "no answer in time");
	else if (out->err)
		buf_addstr(&out->error, *c->error ? c->error : c->lib.easy_strerror(code));
}

void http_client_post(struct http_client *c, const struct http_param *params, size_t param_cnt,
		      const struct buf *body, bool gzip, struct http_answer *out)
{
	struct buf url = { 0 };

	*out = (struct http_answer){ 0 };
	c->answer = out;
	c->error[0] = '\0';
	buf_addstr(&url, c->base);
	if (put_params(c, &url, params, param_cnt) ||
	    c->lib.easy_setopt(c->curl, CURLOPT_URL, buf_cstr(&url)) ||
	    c->lib.easy_setopt(c->curl, CURLOPT_HTTPHEADER, gzip ? c->gzip_headers : c->headers) ||
	    c->lib.easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len) ||
	    c->lib.easy_setopt(c->curl, CURLOPT_POSTFIELDS, body->data ?: "")) {
		out->err = -ENOMEM;
		buf_addstr(&out->error, "out of memory");
	} else {
		perform(c, out);
	}
	c->answer = NULL;
	buf_free(&url);
}

/* ---- URLs ------------------------------------------------------------------------------------- */

static char *url_part(const struct curl_library *lib, const CURLU *u, CURLUPart part,
		      unsigned int flags)
{
	char *text = NULL, *copy = NULL;

	if (!lib->url_get(u, part, &text, flags) && text)
		copy = xstrdup(text);
	lib->free(text);
	return copy;
}

static void report_bad_url(const char *command, const char *expected)
{
	log_error("%s: bad URL: expected %s", command, expected);
}

static int split_url(const char *command, const char *expected, const struct curl_library *lib,
		     CURLU *u, struct http_url *out)
{
	char *password = url_part(lib, u, CURLUPART_PASSWORD, 0),
	     *scheme = url_part(lib, u, CURLUPART_SCHEME, 0), *path, *query;
	int err = 0;

	if (password) {
		log_error("%s: the URL has a password, which others can see; use --password-file "
			  "or the environment variable " SERVER_PASSWORD_VARIABLE,
			  command);
		err = -EINVAL;
	}
	query = url_part(lib, u, CURLUPART_QUERY, 0);
	out->tls = scheme && !strcmp(scheme, "https");
	if (!err && (!scheme || query || (!out->tls && strcmp(scheme, "http") != 0))) {
		report_bad_url(command, expected);
		err = -EINVAL;
	}
	if (!err) {
		out->user = url_part(lib, u, CURLUPART_USER, CURLU_URLDECODE);
		path = url_part(lib, u, CURLUPART_PATH, CURLU_URLDECODE);
		out->path = xstrdup(path ? path + strspn(path, "/") : "");
		free(path);
		lib->url_set(u, CURLUPART_USER, NULL, 0);
		lib->url_set(u, CURLUPART_PATH, "/", 0);
		lib->url_set(u, CURLUPART_FRAGMENT, NULL, 0);
		out->base = url_part(lib, u, CURLUPART_URL, 0);
	}
	free(query);
	free(password);
	free(scheme);
	return err;
}

int http_url_parse_as(const char *command, const char *expected, const char *text,
		      struct http_url *out)
{
	struct curl_library lib;
	int err = curl_library_open(&lib);
	CURLU *u;

	*out = (struct http_url){ 0 };
	if (err)
		return err;
	u = lib.url();
	if (!u || lib.url_set(u, CURLUPART_URL, text, 0)) {
		report_bad_url(command, expected);
		err = -EINVAL;
	} else {
		err = split_url(command, expected, &lib, u, out);
	}
	lib.url_cleanup(u);
	curl_library_close(&lib);
	return err;
}

int http_url_parse(const char *command, const char *text, struct http_url *out)
{
	return http_url_parse_as(command, "http://USER@HOST:8123/DATABASE or https://...", text,
				 out);
}

void http_url_fini(struct http_url *u)
{
	free(u->base);
	free(u->user);
	free(u->path);
	*u = (struct http_url){ 0 };
}
