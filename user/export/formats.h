/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_FORMATS_H
#define D9_EXPORT_FORMATS_H

#include "export/exporter.h"

/*
 * The formats in the order of the help: FORMAT(NAME). A row declares export_NAME, which user/export/NAME.c or a folder
 * of that name defines; help, completions and fuzzers list it. The name is the exporter's .name with _ for each dash.
 */
/* clang-format off */
#define EXPORT_FORMATS(FORMAT) \
	FORMAT(html) \
	FORMAT(folded) \
	FORMAT(perfetto) \
	FORMAT(perf_script) \
	FORMAT(pprof) \
	FORMAT(speedscope) \
	FORMAT(chrome) \
	FORMAT(firefox) \
	FORMAT(jsonl) \
	FORMAT(csv) \
	FORMAT(parquet)
/* clang-format on */

#define EXPORT_DECLARE(name) extern const struct exporter export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)

#define EXPORT_COUNT(name) +1
enum { EXPORT_FORMAT_CNT = EXPORT_FORMATS(EXPORT_COUNT) };

/* All formats in the order of the help; NULL ends. */
extern const struct exporter *const export_formats[];
/* By name; NULL: unknown. */
const struct exporter *export_find(const char *name);

#endif /* D9_EXPORT_FORMATS_H */
