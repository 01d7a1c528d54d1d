/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_FEATURES_H
#define D9_RECORD_CAPTURE_CAPTURE_FEATURES_H

#include <stdbool.h>

struct capture_cfg;

/* What a recording does with a BPF program. */
struct capture_feature {
	const char *name; /* a noun phrase: what is missing without the program */
	/* Disables the feature. NULL: the user asked for it, or the recording would be empty */
	void (*leave_out)(struct capture_cfg *cfg);
	bool same; /* the recording has the same content without it, at a different cost */
	const char *option; /* the user's option that disables it, if leave_out is NULL */
};

/* At least the number of features that can be disabled. */
enum { CAPTURE_FEATURES = 16 };

/* NULL: not one of our programs. */
const struct capture_feature *capture_feature_of(const char *program);

/* Whether a recording of @cfg can omit it: false if an option names it, or if it is all that is recorded. */
bool capture_feature_is_optional(const struct capture_feature *f, const struct capture_cfg *cfg);

#endif
