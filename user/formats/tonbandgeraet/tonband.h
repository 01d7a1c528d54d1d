/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_TONBAND_H
#define D9_FORMATS_TONBANDGERAET_TONBAND_H

#include "formats/foreign.h"

/* The functions of tonband_format; see struct foreign_format. */
int tonband_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		   struct dial9_enc *enc, struct foreign_notes *notes);
int tonband_export(const struct foreign_input *in, const struct foreign_opts *opts,
		   dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int tonband_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		 dial9_write_fn write, void *ctx, struct foreign_notes *notes);
int tonband_info(const struct foreign_input *in, const struct foreign_opts *opts,
		 struct foreign_facts *facts, struct foreign_notes *notes);

/*
 * Names that import and export share. Every event is "tband.<its name>", with a `core` field and its
 * own fields under their own names. Two optional fields are last: `ts`, the original timestamp, if it
 * cannot be computed from the time in ns; `bytes`, the original bytes of text that is not UTF-8.
 */
#define TONBAND_PREFIX "tband."
#define TONBAND_INVALID "tband.invalid" /* a frame that could not be read: frame, ended, error */
#define TONBAND_DROPPED "tband.dropped" /* derived: events dropped since the last such event */
#define TONBAND_META_EVENT "SegmentMetadataEvent"
#define TONBAND_META_FORMAT "format"
#define TONBAND_META_FORMAT_NAME "tonbandgeraet"
#define TONBAND_META_NS_PER_TS "tband.ns_per_ts"
#define TONBAND_META_CORE "tband.core" /* with one input: the core of FILE@CORE */

#define TONBAND_FIELD_CORE "core"
#define TONBAND_FIELD_TICKS "ts"
#define TONBAND_FIELD_BYTES "bytes"
#define TONBAND_FIELD_FRAME "frame"
#define TONBAND_FIELD_ENDED "ended"

#endif /* D9_FORMATS_TONBANDGERAET_TONBAND_H */
