/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_QUERY_VALUE_H
#define D9_QUERY_QUERY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum query_type {
	QUERY_NULL,
	QUERY_INTEGER,
	QUERY_REAL,
	QUERY_TEXT,
	QUERY_BLOB,
	QUERY_NUMBER, /* a number that the types above cannot hold, as text; only rows of a server have it */
};

/* A value of a table or a result. Text and bytes are borrowed during the call, or until the next value of the scan. */
struct query_value {
	enum query_type type;
	int64_t integer;
	double real;
	const char *data;
	size_t sz;
	/* Only of tables: */
	bool lasts; /* the text is valid while the traces are */
	uint32_t string; /* 1 + number of the text in the names of the trace; 0: it has none */
};

static inline void query_value_integer(struct query_value *v, int64_t n)
{
	v->type = QUERY_INTEGER;
	v->integer = n;
}

/* Text or bytes that the next value replaces; NULL for NULL. */
static inline void query_value_bytes(struct query_value *v, enum query_type type, const char *data,
				     size_t sz)
{
	if (!data)
		return;
	v->type = type;
	v->data = data;
	v->sz = sz;
}

/* Text that lasts; NULL for NULL. */
static inline void query_value_text(struct query_value *v, const char *text, size_t len)
{
	query_value_bytes(v, QUERY_TEXT, text, len);
	v->lasts = true;
}

/* The same; NULL for NULL. */
static inline void query_value_word(struct query_value *v, const char *word)
{
	if (word)
		query_value_text(v, word, strlen(word));
}

#endif /* D9_QUERY_QUERY_VALUE_H */
