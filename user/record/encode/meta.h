/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_META_H
#define D9_RECORD_ENCODE_META_H

#include <stddef.h>

enum { META_USER_MAX = 64, META_KEY_MAX = 64, META_VALUE_MAX = 4096 };

/* What somebody wants to be said of a recording. */
struct meta_user {
	char key[META_KEY_MAX + 1];
	const char *value; /* borrowed */
};

/*
 * "KEY=VALUE", both UTF-8, the key neither empty nor one that the recorder uses itself nor among the cnt that
 * are known. Returns 0, or -EINVAL with *why, static, saying what is wrong.
 */
int meta_parse(const char *text, const struct meta_user *known, size_t cnt, struct meta_user *out,
	       const char **why);

#endif
