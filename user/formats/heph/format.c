// SPDX-License-Identifier: BSD-2-Clause
/*
 * Heph traces: the row in the table of formats, and how a file is known to be one.
 *
 * A file has no header; its first packet begins with a magic of 32 bits, which nothing else begins
 * with. A damaged start is no reason not to know a trace, so a packet further in counts as well,
 * for less.
 */
#include <string.h>

#include "formats/foreign.h"
#include "formats/heph/heph.h"
#include "formats/heph/scan.h"

#define SURE 100
#define LIKELY 60
#define MAYBE 30

/* How sure the bytes from p on make that a packet starts there. */
static int weigh(const char *p, size_t sz)
{
	uint32_t size;

	if (sz < HEPH_MAGIC_SZ || !heph_wire_magic(p))
		return 0;
	if (sz < HEPH_START_SZ)
		return MAYBE;
	if (!heph_scan_plausible(p))
		return 0;
	size = heph_wire_u32(p + 4);
	/* The next magic is as good as proof. */
	if (size + HEPH_MAGIC_SZ <= sz && heph_wire_magic(p + size))
		return SURE;
	return LIKELY;
}

static int detect(const void *head, size_t sz, bool whole)
{
	const char *p = head;
	int best = 0;

	if (sz >= HEPH_MAGIC_SZ && heph_wire_magic(p))
		return SURE;
	for (size_t i = 1; i + HEPH_MAGIC_SZ <= sz && best < SURE; i++) {
		int now = weigh(p + i, sz - i);

		best = now > best ? now : best;
	}
	return best == SURE ? LIKELY : best / 2;
}

const struct foreign_format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.detect = detect,
	.import = heph_import,
	.export = heph_export,
	.dump = heph_dump,
	.info = heph_info,
};
