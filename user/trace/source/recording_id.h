/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_SOURCE_RECORDING_ID_H
#define D9_TRACE_SOURCE_RECORDING_ID_H

#include <stdbool.h>
#include <stddef.h>

/* The recording that a file is part of: all its files begin with the same metadata. {0}: unknown. */
struct recording_id {
	void *data;
	size_t sz;
};

/* Of a regular file; unknown for everything else. Prints nothing. Free with recording_id_fini(). */
void recording_id_read(const char *path, struct recording_id *out);
void recording_id_fini(struct recording_id *id);
/* False if one is unknown. */
bool recording_id_is_same(const struct recording_id *a, const struct recording_id *b);

#endif /* D9_TRACE_SOURCE_RECORDING_ID_H */
