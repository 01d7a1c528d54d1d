/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_BYTES_H
#define D9_FORMATS_PERFDATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The unread rest of a record or section. Each function returns false, and reads nothing, if there is less. */
struct perfdata_bytes {
	const uint8_t *p;
	size_t sz;
};

static inline bool perfdata_bytes_get(struct perfdata_bytes *b, void *to, size_t n)
{
	if (b->sz < n)
		return false;
	memcpy(to, b->p, n);
	b->p += n;
	b->sz -= n;
	return true;
}

static inline bool perfdata_bytes_u32(struct perfdata_bytes *b, uint32_t *v)
{
	return perfdata_bytes_get(b, v, sizeof(*v));
}

static inline bool perfdata_bytes_u64(struct perfdata_bytes *b, uint64_t *v)
{
	return perfdata_bytes_get(b, v, sizeof(*v));
}

/* The next n bytes, borrowed. */
static inline bool perfdata_bytes_take(struct perfdata_bytes *b, uint64_t n,
				       struct perfdata_bytes *out)
{
	if (b->sz < n)
		return false;
	*out = (struct perfdata_bytes){ b->p, (size_t)n };
	b->p += n;
	b->sz -= (size_t)n;
	return true;
}

/* cnt elements of elem_sz bytes each. */
static inline bool perfdata_bytes_array(struct perfdata_bytes *b, uint64_t cnt, size_t elem_sz,
					struct perfdata_bytes *out)
{
	return cnt <= b->sz / elem_sz && perfdata_bytes_take(b, cnt * elem_sz, out);
}

/* Text with its NUL, borrowed. */
static inline bool perfdata_bytes_text(struct perfdata_bytes *b, const char **out)
{
	size_t len = strnlen((const char *)b->p, b->sz);

	if (len == b->sz)
		return false;
	*out = (const char *)b->p;
	b->p += len + 1;
	b->sz -= len + 1;
	return true;
}

#endif /* D9_FORMATS_PERFDATA_BYTES_H */
