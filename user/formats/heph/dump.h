/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_DUMP_H
#define D9_FORMATS_HEPH_DUMP_H

#include "formats/foreign.h"

/* The dump and the info of struct foreign_format. */
int heph_dump(const struct foreign_input *in, const struct foreign_opts *opts, dial9_write_fn write,
	      void *ctx, struct foreign_notes *notes);
int heph_dump_info(const struct foreign_input *in, const struct foreign_opts *opts,
		   struct foreign_facts *facts, struct foreign_notes *notes);

#endif /* D9_FORMATS_HEPH_DUMP_H */
