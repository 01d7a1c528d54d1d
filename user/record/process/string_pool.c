// SPDX-License-Identifier: BSD-2-Clause
/*
 * string_pool.c - strings that are stored once, with reference counts
 *
 * Hostile programs can create any number of strings, so unreferenced strings are freed: the number of references
 * precedes each string. A hash table with chains doubles when it fills up, and never shrinks.
 */
#include "record/process/string_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { SLOTS_MIN = 256 };

struct text {
	struct text *next;
	uint64_t hash;
	size_t refs;
	size_t len;
	char s[];
};

struct string_pool {
	struct text **slots;
	size_t slot_cnt; /* a power of two */
	size_t cnt;
	size_t bytes;
};

struct string_pool *string_pool_new(void)
{
	struct string_pool *t = xcalloc(1, sizeof(*t));

	t->slot_cnt = SLOTS_MIN;
	t->slots = xcalloc(t->slot_cnt, sizeof(struct text *));
	return t;
}

void string_pool_free(struct string_pool *t)
{
	struct text *text, *next;
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->slot_cnt; i++)
		for (text = t->slots[i]; text; text = next) {
			next = text->next;
			free(text);
		}
	free(t->slots);
	free(t);
}

static struct text *text_of(const char *s)
{
	return (struct text *)(s - offsetof(struct text, s));
}

static void grow(struct string_pool *t)
{
	size_t cnt = t->slot_cnt * 2, i;
	struct text **slots = xcalloc(cnt, sizeof(struct text *)), *text, *next;

	for (i = 0; i < t->slot_cnt; i++)
		for (text = t->slots[i]; text; text = next) {
			next = text->next;
			text->next = slots[text->hash & (cnt - 1)];
			slots[text->hash & (cnt - 1)] = text;
		}
	free(t->slots);
	t->slots = slots;
	t->slot_cnt = cnt;
}

static struct text *text_new(struct string_pool *t, uint64_t hash, const char *s, size_t len)
{
	struct text *text = xmalloc(sizeof(*text) + len + 1);
	struct text **slot;

	if (t->cnt >= t->slot_cnt)
		grow(t);
	slot = &t->slots[hash & (t->slot_cnt - 1)];
	*text = (struct text){ .next = *slot, .hash = hash, .len = len };
	memcpy(text->s, s, len);
	text->s[len] = '\0';
	*slot = text;
	t->cnt++;
	t->bytes += sizeof(*text) + len + 1;
	return text;
}

const char *string_pool_get(struct string_pool *t, const char *s, size_t len)
{
	struct text *text;
	uint64_t hash;

	len = strnlen(s, len);
	if (!len)
		return "";
	hash = hash_bytes(s, len);
	text = t->slots[hash & (t->slot_cnt - 1)];
	while (text && (text->hash != hash || text->len != len || memcmp(text->s, s, len)))
		text = text->next;
	if (!text)
		text = text_new(t, hash, s, len);
	text->refs++;
	return text->s;
}

const char *string_pool_ref(const char *text)
{
	if (*text)
		text_of(text)->refs++;
	return text;
}

void string_pool_unref(struct string_pool *t, const char *s)
{
	struct text **at, *text;

	if (!*s)
		return;
	text = text_of(s);
	if (--text->refs)
		return;
	at = &t->slots[text->hash & (t->slot_cnt - 1)];
	while (*at != text)
		at = &(*at)->next;
	*at = text->next;
	t->cnt--;
	t->bytes -= sizeof(*text) + text->len + 1;
	free(text);
}

size_t string_pool_memory(const struct string_pool *t)
{
	return t->bytes + t->slot_cnt * sizeof(struct text *);
}
