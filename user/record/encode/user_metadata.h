/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_USER_METADATA_H
#define D9_RECORD_ENCODE_USER_METADATA_H

#include <stddef.h>

enum { USER_METADATA_MAX = 64, USER_METADATA_KEY_MAX = 64, USER_METADATA_VALUE_MAX = 4096 };

/* Metadata that the user adds. */
struct user_metadata_entry {
	char key[USER_METADATA_KEY_MAX + 1];
	const char *value; /* borrowed */
};

/*
 * Parses "KEY=VALUE", both UTF-8. The key must not be empty, used by the recorder, or among the cnt known ones.
 * Returns 0, or -EINVAL with a static description in *why.
 */
int user_metadata_parse(const char *text, const struct user_metadata_entry *known, size_t cnt,
			struct user_metadata_entry *out, const char **why);

#endif
