// SPDX-License-Identifier: BSD-2-Clause
/*
 * Callers that were compiled with an older or a newer header than this library's.
 *
 * Structs that callers fill begin with their size. A shorter struct comes from an older header, and
 * the rest counts as zero, which means the default. A longer struct comes from a newer header. Its
 * unknown bytes are zero if the caller does not use the new feature; otherwise the call fails,
 * because this library would ignore a request.
 */
#include "versioned.h"

#include <errno.h>
#include <string.h>

#include "dial9.h"

/* No struct will be longer; an uninitialised size must not cause a long read. */
#define SZ_MAX 4096

unsigned int dial9_version(void)
{
	return DIAL9_VERSION;
}

int versioned_copy(void *dst, size_t dst_sz, const void *src, size_t least)
{
	const unsigned char *bytes = src;
	size_t sz, i;

	memcpy(&sz, src, sizeof(sz));
	if (sz < least || sz > SZ_MAX)
		return -EINVAL;
	for (i = dst_sz; i < sz; i++)
		if (bytes[i])
			return -EINVAL;
	memset(dst, 0, dst_sz);
	memcpy(dst, src, sz < dst_sz ? sz : dst_sz);
	return 0;
}
