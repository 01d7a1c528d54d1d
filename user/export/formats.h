/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_FORMATS_H
#define D9_EXPORT_FORMATS_H

#include "export/exporter.h"

/* All formats in the order of the help; NULL ends. */
extern const struct exporter *const export_formats[];
/* By name; NULL: there is none. */
const struct exporter *export_find(const char *name);

extern const struct exporter export_chrome;
extern const struct exporter export_csv;
extern const struct exporter export_firefox;
extern const struct exporter export_folded;
extern const struct exporter export_html;
extern const struct exporter export_jsonl;
extern const struct exporter export_perf_script;
extern const struct exporter export_perfetto;
extern const struct exporter export_pprof;
extern const struct exporter export_speedscope;

#endif /* D9_EXPORT_FORMATS_H */
