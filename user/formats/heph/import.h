/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_IMPORT_H
#define D9_FORMATS_HEPH_IMPORT_H

#include "formats/foreign.h"

/* The import of struct foreign_format. */
int heph_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		struct dial9_enc *enc, struct foreign_notes *notes);

#endif /* D9_FORMATS_HEPH_IMPORT_H */
