/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FEATURES_H
#define D9_RECORD_CAPTURE_CAPTURE_FEATURES_H

#include <stdbool.h>

struct capture_cfg;

/* What a recording does with a BPF program. */
struct capture_feature {
	const char *name; /* a noun phrase: what is missing without the program */
	/* Makes the recording do without it. NULL: the user asked for it, or nothing is left without it */
	void (*leave_out)(struct capture_cfg *cfg);
	bool same; /* the recording has the same content without it, at another cost */
	const char *option; /* what the user does to do without it, if leave_out is NULL */
};

/* More than can be left out. */
enum { CAPTURE_FEATURES = 16 };

/* NULL: of no program of ours. */
const struct capture_feature *capture_feature_of(const char *program);

/* Whether a recording of @cfg can do without it: not what an option asks for by name, nor all that it has. */
bool capture_feature_is_optional(const struct capture_feature *f, const struct capture_cfg *cfg);

#endif
