/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SHIP_FAKE_PYROSCOPE_H
#define D9_TESTS_SHIP_FAKE_PYROSCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * A server that takes forms at /ingest as Pyroscope does, and keeps what is in them. It can fail in every known way, at the
 * request of a given number.
 */
struct fake_pyroscope;

enum fake_pyroscope_fault {
	PROFILE_FINE,
	PROFILE_ERROR, /* status 500, nothing stored */
	PROFILE_BUSY, /* status 429 */
	PROFILE_LIMIT, /* status 422, for a limit of the rate */
	PROFILE_RING, /* status 422 without a kind of error, while other servers that it needs restart */
	PROFILE_OLD, /* status 422, for the time of the profile */
	PROFILE_LABELS, /* the same, with labels in the text that have the names of errors */
	PROFILE_LARGE, /* status 413 */
	PROFILE_LONG, /* status 414, of a proxy: the name is too long */
	PROFILE_DENIED, /* status 401 */
	PROFILE_PAGE, /* status 200 with a page of a proxy, nothing stored */
	PROFILE_CUT, /* closes after half of the body, nothing stored */
	PROFILE_EAT, /* stores, and closes without an answer */
	PROFILE_SILENT, /* neither answers nor closes before the client does, nothing stored */
};

struct fake_pyroscope_opts {
	/* For each request, from 0, after its head was read. May end another process. NULL: fine */
	enum fake_pyroscope_fault (*fault)(void *ctx, unsigned int request);
	void *ctx;
};

/* A profile that was stored. */
struct fake_profile {
	char name[512]; /* with labels */
	uint64_t from, until, rate;
	struct buf pprof; /* unpacked */
	struct buf types; /* sample_type_config */
	uint64_t time_ns; /* in the profile */
	uint64_t samples, count, ns; /* sums over its samples */
};

struct fake_pyroscope *fake_pyroscope_start(const struct fake_pyroscope_opts *opts);
/* Stops it, and leaves its profiles. */
void fake_pyroscope_stop(struct fake_pyroscope *f);
void fake_pyroscope_free(struct fake_pyroscope *f);
unsigned int fake_pyroscope_port(const struct fake_pyroscope *f);

/* After its clients are gone. */
const struct fake_profile *fake_pyroscope_profiles(struct fake_pyroscope *f, size_t *cnt);
unsigned int fake_pyroscope_requests(struct fake_pyroscope *f);
/* Whether a request had this text in its head. */
bool fake_pyroscope_saw(struct fake_pyroscope *f, const char *text);

#endif /* D9_TESTS_SHIP_FAKE_PYROSCOPE_H */
