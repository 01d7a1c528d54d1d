// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of perf record: the row in the table of formats, and how a file is known to be one.
 */
#include <string.h>

#include "formats/foreign.h"
#include "formats/perfdata/file.h"
#include "formats/perfdata/perfdata.h"

static int detect(const void *head, size_t sz, bool whole)
{
	(void)whole;
	return sz >= PERFDATA_MAGIC_SZ &&
			       (!memcmp(head, PERFDATA_MAGIC, PERFDATA_MAGIC_SZ) ||
				!memcmp(head, PERFDATA_MAGIC_SWAPPED, PERFDATA_MAGIC_SZ)) ?
		       100 :
		       0;
}

const struct foreign_format perfdata_format = {
	.name = "perf-data",
	.title = "perf.data",
	.detect = detect,
	.import = perfdata_import,
	.export = perfdata_export,
	.dump = perfdata_dump,
	.info = perfdata_info,
};
