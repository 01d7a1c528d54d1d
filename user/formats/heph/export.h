/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_EXPORT_H
#define D9_FORMATS_HEPH_EXPORT_H

#include "formats/foreign.h"

/* The export of struct foreign_format. */
int heph_export(const struct foreign_input *in, const struct foreign_opts *opts,
		dial9_write_fn write, void *ctx, struct foreign_notes *notes);

#endif /* D9_FORMATS_HEPH_EXPORT_H */
