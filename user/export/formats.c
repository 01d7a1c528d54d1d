// SPDX-License-Identifier: BSD-2-Clause
/* Which formats there are to export to. */
#include "export/formats.h"

#include <string.h>

const struct exporter *const export_formats[] = {
	&export_html, /* the first that people try */
	&export_folded, &export_perfetto, &export_perf_script, &export_pprof, &export_speedscope,
	&export_chrome, &export_firefox,  &export_jsonl,       &export_csv,   NULL,
};

const struct exporter *export_find(const char *name)
{
	for (const struct exporter *const *e = export_formats; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}
