/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_ANONYMIZER_H
#define D9_SHIP_ANONYMIZER_H

#include "base/buf.h"

/* The key that a directory gets if none is given. */
#define ANONYMIZER_KEY_NAME ".dial9-ship.key"

/* Replaces texts by hashes with a key: without the key a guess cannot be checked. */
struct anonymizer {
	uint64_t key[2];
};

/* How far a text identifies a machine. */
enum anonymizer_text {
	ANONYMIZER_PUBLIC, /* not at all */
	ANONYMIZER_PRIVATE, /* it names a host, program, service or file */
	ANONYMIZER_FUNCTION, /* a function, whose name may contain the path of a script */
};

/*
 * Reads a key of 32 hexadecimal digits from a file. @path NULL: ANONYMIZER_KEY_NAME in @dir, which gets a random key if it
 * is not there. 0, or -errno after one line.
 */
int anonymizer_read(int dir, const char *path, struct anonymizer *out);

/*
 * Appends a text as valid UTF-8; of a private one 16 hexadecimal digits, of a function the same in place of each path. An
 * empty text stays empty. @a NULL: nothing is private.
 */
void anonymizer_put(const struct anonymizer *a, enum anonymizer_text kind, const char *s,
		    size_t len, struct buf *out);

/* An id by content, so that a guess of the content cannot be checked either. @a NULL: unchanged. */
uint64_t anonymizer_id(const struct anonymizer *a, uint64_t id);

/* SipHash-2-4. */
uint64_t anonymizer_hash(const struct anonymizer *a, const void *p, size_t sz);

#endif /* D9_SHIP_ANONYMIZER_H */
