// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of a server, good or bad, on loopback: received files are in the cache, requests for missing ones end
 * in time.
 */
#include "symbol/elf/debuginfod.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tests/support/debug_server.h"
#include "tests/symbol/support.h"

TestSuite(debuginfod, .timeout = 60);

#define SECOND 1000000000ull

static const uint8_t id[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
			      0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67 };
#define HEX "0123456789abcdef0123456789abcdef01234567"

static volatile sig_atomic_t stop;

static void use_cache(void)
{
	char path[128];

	if (!debuginfod_available())
		cr_skip("libdebuginfod is not there");
	snprintf(path, sizeof(path), "%s/cache", scratch());
	shell("rm -rf %s", path);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	stop = 0;
}

static bool is_cached(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/cache/" HEX "/%s", scratch(), name);
	return !stat(path, &st) && st.st_size > 0;
}

/* Requests debug information from such a server. */
static int fetch_from(enum debug_server_way way, struct debuginfod *d)
{
	struct debug_server server;
	uint64_t begin = clock_mono_ns(), ns;
	int err;

	debug_server_start(&server, way, stimulus("c-gcc"));
	d->urls = server.url;
	d->stop = &stop;
	err = debuginfod_fetch(d, DEBUGINFOD_DEBUGINFO, id, sizeof(id));
	ns = clock_mono_ns() - begin;
	cr_expect_lt(ns, 20 * SECOND, "way %d took %llu ms", way, (unsigned long long)ns / 1000000);
	cr_expect_gt(*server.asked, 0, "way %d", way);
	debug_server_stop(&server);
	return err;
}

Test(debuginfod, file_of_a_server_is_stored_in_the_cache)
{
	struct debuginfod d = { .timeout_ns = 10 * SECOND };
	struct debug_server server;

	use_cache();
	cr_assert_eq(fetch_from(DEBUG_SERVER_FILE, &d), 0);
	cr_expect(is_cached("debuginfo"));
	shell("cmp %s %s/cache/" HEX "/debuginfo", stimulus("c-gcc"), scratch());
	debug_server_start(&server, DEBUG_SERVER_FILE, stimulus("c-gcc"));
	d.urls = server.url;
	/* and is not requested again */
	cr_expect_eq(debuginfod_fetch(&d, DEBUGINFOD_DEBUGINFO, id, sizeof(id)), 0);
	cr_expect_eq(*server.asked, 0);
	cr_expect_eq(debuginfod_fetch(&d, DEBUGINFOD_EXECUTABLE, id, sizeof(id)), 0);
	cr_expect_eq(*server.asked, 1);
	cr_expect(is_cached("executable"));
	debug_server_stop(&server);
}

Test(debuginfod, file_that_no_server_has_is_not_found)
{
	struct debuginfod d = { .timeout_ns = 10 * SECOND };

	use_cache();
	cr_expect_eq(fetch_from(DEBUG_SERVER_NOTHING, &d), -ENOENT);
	cr_expect(!is_cached("debuginfo"));
}

Test(debuginfod, silent_or_slow_server_is_given_up)
{
	const enum debug_server_way ways[] = { DEBUG_SERVER_SILENT, DEBUG_SERVER_SLOW };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct debuginfod d = { .timeout_ns = SECOND };

		use_cache();
		cr_expect_eq(fetch_from(ways[i], &d), -ETIMEDOUT, "way %d", ways[i]);
		cr_expect(!is_cached("debuginfo"));
	}
}

Test(debuginfod, file_size_is_limited)
{
	const enum debug_server_way ways[] = { DEBUG_SERVER_ENDLESS, DEBUG_SERVER_HUGE };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct debuginfod d = { .timeout_ns = 20 * SECOND, .bytes_max = 1 << 20 };

		use_cache();
		cr_expect_eq(fetch_from(ways[i], &d), -EFBIG, "way %d", ways[i]);
		cr_expect(!is_cached("debuginfo"));
	}
}

Test(debuginfod, invalid_response_is_an_error)
{
	const enum debug_server_way ways[] = { DEBUG_SERVER_CUT, DEBUG_SERVER_GARBAGE,
					       DEBUG_SERVER_HANGS_UP };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct debuginfod d = { .timeout_ns = 5 * SECOND };

		use_cache();
		cr_expect_lt(fetch_from(ways[i], &d), 0, "way %d", ways[i]);
		cr_expect(!is_cached("debuginfo"));
	}
}

/* The library also reports progress before it has asked the server. */
static void stop_it(void *ctx, uint64_t done, uint64_t all)
{
	if (done)
		stop = 1;
}

Test(debuginfod, download_ends_on_request)
{
	struct debuginfod d = { .timeout_ns = 50 * SECOND, .tell = stop_it };

	use_cache();
	cr_expect_eq(fetch_from(DEBUG_SERVER_ENDLESS, &d), -EINTR);
	cr_expect(!is_cached("debuginfo"));
}

Test(debuginfod, cache_is_shared_with_other_clients)
{
	static const struct {
		const char *path, *xdg, *home, *want;
	} cases[] = {
		{ "/a", "/b", "/c", "/a" },
		{ NULL, "/b", "/c", "/b/debuginfod_client" },
		{ NULL, NULL, "/c", "/c/.cache/debuginfod_client" },
		{ "", "", "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = { 0 };
		int err;

		cases[i].path ? setenv("DEBUGINFOD_CACHE_PATH", cases[i].path, 1) :
				unsetenv("DEBUGINFOD_CACHE_PATH");
		cases[i].xdg ? setenv("XDG_CACHE_HOME", cases[i].xdg, 1) :
			       unsetenv("XDG_CACHE_HOME");
		setenv("HOME", cases[i].home ? cases[i].home : "", 1);
		err = debuginfod_cache(&out);
		cr_expect_eq(err, cases[i].want ? 0 : -ENOENT, "case %zu", i);
		cr_expect_str_eq(buf_cstr(&out), cases[i].want ? cases[i].want : "", "case %zu", i);
		buf_free(&out);
	}
}
