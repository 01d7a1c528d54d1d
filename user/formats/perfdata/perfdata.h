/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_PERFDATA_H
#define D9_FORMATS_PERFDATA_PERFDATA_H

#include "formats/foreign.h"

/* The functions of perfdata_format; see struct foreign_format. */
int perfdata_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		    struct dial9_enc *enc, struct foreign_notes *notes);
int perfdata_export(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int perfdata_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		  dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int perfdata_info(const struct foreign_input *in, const struct foreign_opts *opts,
		  struct foreign_facts *facts, struct foreign_notes *notes);

#endif /* D9_FORMATS_PERFDATA_PERFDATA_H */
