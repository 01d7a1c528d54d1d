/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_APITRACE_H
#define D9_FORMATS_APITRACE_APITRACE_H

#include "formats/foreign.h"

/* The functions of apitrace_format; see struct foreign_format. */
int apitrace_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		  dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int apitrace_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		    struct dial9_enc *enc, struct foreign_notes *notes);
int apitrace_export(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes);
/* The export of a trace that did not come from apitrace: see generic_export.c. */
int apitrace_generic_export(const struct foreign_input *in, dial9_write_fn write, void *ctx,
			    struct foreign_notes *notes);
int apitrace_info(const struct foreign_input *in, const struct foreign_opts *opts,
		  struct foreign_facts *facts, struct foreign_notes *notes);

#endif /* D9_FORMATS_APITRACE_APITRACE_H */
