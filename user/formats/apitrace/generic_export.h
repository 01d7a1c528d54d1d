/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_GENERIC_EXPORT_H
#define D9_FORMATS_APITRACE_GENERIC_EXPORT_H

#include "formats/foreign.h"

/*
 * Any dial9 trace as an apitrace trace of version 6: see generic_export.c. The conditions are those of
 * foreign_format.export.
 */
int apitrace_generic_export(const struct foreign_input *in, dial9_write_fn write, void *ctx,
			    struct foreign_notes *notes);

#endif /* D9_FORMATS_APITRACE_GENERIC_EXPORT_H */
