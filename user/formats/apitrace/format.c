// SPDX-License-Identifier: BSD-2-Clause
/*
 * apitrace's row in the table of formats, and how a file is known to be one.
 *
 * Two of the containers say no more than "gzip" or "zstd", and brotli says nothing at all, so a file is
 * recognised by what is inside: the first bytes must decompress to a version that there is, and what
 * follows it in a stream of that version.
 */
#include "formats/apitrace/apitrace.h"

#include "formats/apitrace/stream.h"

/* Enough for a version and the first property. */
#define PEEK 64

/* How the stream of each version begins. */
static bool plausible(const uint8_t *p, size_t n)
{
	if (!n || p[0] > APITRACE_VERSION)
		return false;
	if (n == 1)
		return true;
	/* Versions without threads: the first call is the id of its signature, then its name. */
	if (p[0] < 4 && p[1] == APITRACE_EVENT_ENTER && n > 3)
		return p[3];
	if (p[0] < 6)
		return p[1] <= APITRACE_EVENT_LEAVE;
	return p[1] <= p[0];
}

static int detect(const void *head, size_t sz, bool whole)
{
	enum container_kind kind = container_detect(head, sz);
	struct container *box;
	struct foreign_input in;
	struct foreign_mem mem;
	uint8_t peek[PEEK];
	ssize_t n;

	if (sz < 2)
		return 0;
	foreign_mem_input(&mem, head, sz, &in);
	if (container_open(&in, NULL, NULL, &box))
		return 0;
	n = container_read(box, peek, sizeof(peek));
	container_close(box);
	if (kind == CONTAINER_SNAPPY)
		return n > 0 && plausible(peek, (size_t)n) ? 90 : sz == 2 && whole ? 60 : 40;
	if (n <= 0 || !plausible(peek, (size_t)n))
		return 0;
	return kind == CONTAINER_BROTLI ? 30 : 80;
}

const struct foreign_format apitrace_format = {
	.name = "apitrace",
	.title = "apitrace trace",
	.detect = detect,
	.import = apitrace_import,
	.export = apitrace_export,
	.dump = apitrace_dump,
	.info = apitrace_info,
};
