// SPDX-License-Identifier: BSD-2-Clause
/* Containers and pods, from the paths of control groups. Text only. */
#include "query/cgroup_names.h"

#include <ctype.h>
#include <string.h>

enum { POD_LEN = 36 };

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c) && !isupper((unsigned char)c);
}

const char *cgroup_names_container(const char *path, size_t len)
{
	const char *found = NULL;

	for (size_t i = 0, n = 0; i <= len; i++) {
		if (i < len && is_hex(path[i])) {
			n++;
			continue;
		}
		if (n == CGROUP_NAMES_CONTAINER)
			found = path + i - n;
		n = 0;
	}
	return found;
}

/* 8-4-4-4-12 digits; systemd escapes the hyphens to underscores. */
static bool is_uid(const char *s)
{
	for (size_t i = 0; i < POD_LEN; i++) {
		const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (hyphen ? s[i] != '-' && s[i] != '_' : !is_hex(s[i]))
			return false;
	}
	return true;
}

bool cgroup_names_pod(struct buf *out, const char *path, size_t len)
{
	static const char mark[] = "pod";
	const size_t n = sizeof(mark) - 1;

	for (size_t i = 0; i + n + POD_LEN <= len; i++) {
		if (memcmp(path + i, mark, n) != 0 || !is_uid(path + i + n))
			continue;
		for (size_t k = 0; k < POD_LEN; k++)
			buf_addch(out, path[i + n + k] == '_' ? '-' : path[i + n + k]);
		return true;
	}
	return false;
}
