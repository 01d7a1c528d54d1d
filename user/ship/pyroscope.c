// SPDX-License-Identifier: BSD-2-Clause
/*
 * Profiles to the path /ingest of a Pyroscope server. Owns the form of a request, which names are valid, and what answers
 * mean. Does not know traces.
 */
#include "ship/pyroscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"

/* Of an error's text in messages. */
#define ERROR_MAX 300
/* Bytes of a service: servers take values of labels up to 2,048 bytes, and proxies URLs up to 8 KiB. */
#define SERVICE_MAX 1000

struct pyroscope {
	struct http_client *http;
	struct attempts *attempts;
	struct buf boundary; /* between the parts of a form */
	struct buf error;
};

enum result {
	TAKEN,
	PASSING, /* an error that may pass */
	BAD_PROFILE, /* this one will not be taken */
	REFUSED, /* nothing will: rights, not Pyroscope */
};

/* Of an error of the server. */
struct kind {
	const char *name;
	bool passes;
};

/* ---- life ------------------------------------------------------------------------------------- */

/* Random: a name in a trace must not contain it. */
static int make_boundary(struct buf *out)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
		log_error("ship: cannot get random numbers: %s", strerror(errno));
		return -EIO;
	}
	str_hex(out, bytes, sizeof(bytes));
	return 0;
}

static void put_address(struct buf *out, const struct http_url *url)
{
	size_t len = strlen(url->path);

	while (len && url->path[len - 1] == '/')
		len--;
	buf_addstr(out, url->base);
	buf_add(out, url->path, len);
	buf_addstr(out, len ? "/ingest" : "ingest");
}

int pyroscope_new(const struct pyroscope_opts *opts, struct pyroscope **out)
{
	struct pyroscope *p = xcalloc(1, sizeof(*p));
	struct buf address = { 0 }, type = { 0 };
	int err = make_boundary(&p->boundary);

	p->attempts = opts->attempts;
	put_address(&address, opts->url);
	buf_printf(&type, "multipart/form-data; boundary=%s", buf_cstr(&p->boundary));
	if (!err)
		err = http_client_new(&(struct http_client_opts){ .base = buf_cstr(&address),
								  .user = opts->url->user,
								  .password = opts->password,
								  .bearer = true,
								  .content_type = buf_cstr(&type),
								  .ca_file = opts->ca_file,
								  .timeout_ns = opts->timeout_ns,
								  .stop = opts->stop,
								  .gives_up = attempts_is_silent,
								  .ctx = opts->attempts },
				      &p->http);
	buf_free(&address);
	buf_free(&type);
	if (err)
		pyroscope_free(p);
	else
		*out = p;
	return err;
}

void pyroscope_free(struct pyroscope *p)
{
	if (!p)
		return;
	http_client_free(p->http);
	buf_free(&p->boundary);
	buf_free(&p->error);
	free(p);
}

const char *pyroscope_error(struct pyroscope *p)
{
	return buf_cstr(&p->error);
}

/* ---- names ------------------------------------------------------------------------------------ */

static bool is_in_label_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

bool pyroscope_is_label_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_in_label_name(s[i]))
			return false;
	return len > 0;
}

void pyroscope_put_service(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len && i < SERVICE_MAX; i++)
		buf_addch(out, is_in_label_name(s[i]) || s[i] == '-' || s[i] == '/' ? s[i] : '_');
}

void pyroscope_put_label(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_addch(out,
			  s[i] >= ' ' && s[i] < 0x7f && s[i] != ',' && s[i] != '}' ? s[i] : '_');
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* The kind of an error that begins here, with a colon after it, or as the value of a JSON key. */
static const struct kind *kind_at(const char *s)
{
	static const struct kind kinds[] = {
		{ "resource_exhausted", true }, { "unavailable", true },
		{ "deadline_exceeded", true },	{ "aborted", true },
		{ "canceled", true },		{ "internal", true },
		{ "invalid_argument", false },	{ "failed_precondition", false },
		{ "out_of_range", false },	{ "not_found", false },
		{ "already_exists", false },	{ "permission_denied", false },
		{ "unauthenticated", false },	{ "unimplemented", false },
		{ "data_loss", false },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t len = strlen(kinds[i].name);

		if (!strncmp(s, kinds[i].name, len) && (s[len] == ':' || s[len] == '"'))
			return &kinds[i];
	}
	return NULL;
}

/*
 * A current server answers most errors with the same status, and has the kind in the text. The first one counts: names of
 * services and values of labels come after it, and may be the same words.
 */
static bool passes(struct buf *body)
{
	const char *s = buf_cstr(body);

	for (const char *at = s; *at; at++) {
		const bool begins = at == s || at[-1] == ' ' || at[-1] == '"';
		const struct kind *kind = begins ? kind_at(at) : NULL;

		if (kind)
			return kind->passes;
	}
	/* errors of a profile have a kind; without one, the server cannot reach others that store it */
	return strstr(s, "pushing ");
}

static enum result judge_status(struct http_answer *a)
{
	if (a->status >= 500 || a->status == 408 || a->status == 429)
		return PASSING;
	if (a->status == 400 || a->status == 413 || a->status == 414 || a->status == 422 ||
	    a->status == 431)
		return passes(&a->body) ? PASSING : BAD_PROFILE;
	return REFUSED;
}

static enum result judge(struct pyroscope *p, struct http_answer *a)
{
	size_t len = a->body.len ? strcspn(a->body.data, "\r\n") : 0;

	buf_clear(&p->error);
	if (a->err) {
		buf_add(&p->error, a->error.data, a->error.len);
		return PASSING;
	}
	/* a page of a proxy is no success */
	if (a->status >= 200 && a->status < 300 && (!a->body.len || a->body.data[0] != '<'))
		return TAKEN;
	if (a->status >= 200 && a->status < 300)
		buf_addstr(&p->error, "the answer is not one of Pyroscope: ");
	else
		buf_printf(&p->error, "status %ld: ", a->status);
	str_printable(&p->error, a->body.data ?: "", len < ERROR_MAX ? len : ERROR_MAX);
	return a->status < 300 ? PASSING : judge_status(a);
}

/* ---- requests --------------------------------------------------------------------------------- */

static void put_part(const struct pyroscope *p, struct buf *out, const char *name, const char *file,
		     const char *data, size_t len)
{
	buf_printf(out,
		   "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
		   "Content-Type: application/octet-stream\r\n\r\n",
		   p->boundary.data, name, file);
	buf_add(out, data, len);
	buf_addstr(out, "\r\n");
}

static void put_form(const struct pyroscope *p, const struct pyroscope_profile *profile,
		     struct buf *out)
{
	put_part(p, out, "profile", "profile.pprof", profile->pprof->data, profile->pprof->len);
	put_part(p, out, "sample_type_config", "sample_type_config.json", profile->types,
		 strlen(profile->types));
	buf_printf(out, "--%s--\r\n", p->boundary.data);
}

/* A parameter "format" would make a current server read the form itself as a profile. */
static enum result post(struct pyroscope *p, const struct pyroscope_profile *profile,
			const struct buf *form)
{
	char from[24], until[24], rate[24];
	const struct http_param params[] = {
		{ "name", profile->name },   { "from", from },	     { "until", until },
		{ "spyName", "dial9-prof" }, { "sampleRate", rate },
	};
	struct http_answer a;
	enum result result;

	snprintf(from, sizeof(from), "%" PRIu64, profile->from);
	snprintf(until, sizeof(until), "%" PRIu64, profile->until);
	snprintf(rate, sizeof(rate), "%" PRIu64, profile->sample_rate);
	http_client_post(p->http, params, profile->sample_rate ? 5 : 4, form, false, &a);
	result = judge(p, &a);
	http_answer_fini(&a);
	return result;
}

int pyroscope_send(struct pyroscope *p, const struct pyroscope_profile *profile)
{
	struct buf form = { 0 };
	enum result result;
	int err = 0;

	put_form(p, profile, &form);
	do {
		result = post(p, profile, &form);
		if (result == PASSING)
			err = attempts_fail(p->attempts, pyroscope_error(p));
	} while (result == PASSING && !err);
	buf_free(&form);
	if (result == PASSING)
		return err;
	if (result == REFUSED)
		return attempts_refuse(p->attempts, pyroscope_error(p));
	attempts_succeed(p->attempts);
	return result == BAD_PROFILE ? -EBADE : 0;
}
