// SPDX-License-Identifier: BSD-2-Clause
/* The list of export formats. */
#include "export/formats.h"

#include <string.h>

#define ROW(name) &export_##name,
const struct exporter *const export_formats[] = { EXPORT_FORMATS(ROW) NULL };

const struct exporter *export_find(const char *name)
{
	for (const struct exporter *const *e = export_formats; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}
