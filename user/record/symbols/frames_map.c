// SPDX-License-Identifier: BSD-2-Clause
/* frames_map.c - keys and marks in the tables of frames */
#include <string.h>

#include "record/symbols/frames_impl.h"

char frames_mark_requested, frames_mark_answered;

/* The path starts after the last NUL. */
struct map frames_map_from_key(const uint8_t *key, size_t sz)
{
	const uint8_t *path = (const uint8_t *)memrchr(key, '\0', sz) + 1;
	struct map m = { .path = (const char *)path };
	struct frames_file file;

	memcpy(&file, key, sizeof(file));
	m.dev = file.dev;
	m.inode = file.inode;
	m.version = file.version;
	m.build_id_sz = path - key - 1 - sizeof(file);
	memcpy(m.build_id, key + sizeof(file), m.build_id_sz);
	m.build_id_known = true;
	return m;
}
