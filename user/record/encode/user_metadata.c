// SPDX-License-Identifier: BSD-2-Clause
/* user_metadata.c - metadata that users add to a recording; keys of the recorder are refused. */
#include "record/encode/user_metadata.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "dial9.h"
#include "prof_events.h"

static const char *const own[] = {
#include "meta_keys.h"
};

static bool is_own(const char *key)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(key, own[i]))
			return true;
	return false;
}

int user_metadata_parse(const char *text, const struct user_metadata_entry *known, size_t cnt,
			struct user_metadata_entry *out, const char **why)
{
	const char *eq = strchr(text, '=');
	size_t len = strlen(text), key_len = eq ? (size_t)(eq - text) : 0;
	struct user_metadata_entry m = { .key = "" };

	*why = NULL;
	if (!key_len || key_len > USER_METADATA_KEY_MAX ||
	    len - key_len - 1 > USER_METADATA_VALUE_MAX) {
		*why = "expected KEY=VALUE, of up to 64 and 4096 bytes";
	} else if (dial9_utf8_valid_len(text, len) != len) {
		*why = "expected UTF-8";
	} else {
		memcpy(m.key, text, key_len);
		m.value = eq + 1;
		for (size_t i = 0; i < cnt; i++)
			if (!strcmp(m.key, known[i].key))
				*why = "the key is given twice";
		if (is_own(m.key))
			*why = "this key belongs to the recorder";
	}
	if (*why)
		return -EINVAL;
	*out = m;
	return 0;
}
