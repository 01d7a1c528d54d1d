// SPDX-License-Identifier: BSD-2-Clause
/* Hashes in place of texts. Owns the key and its file. Does not know which columns are private. */
#include "ship/anonymizer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/str.h"

#define KEY_DIGITS 32
#define KEY_FILE_MAX 4096

/* ---- SipHash-2-4 ------------------------------------------------------------------------------ */

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void mix(uint64_t v[4], unsigned int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t word_of(const unsigned char *p, size_t sz)
{
	uint64_t word = 0;

	for (size_t i = 0; i < sz; i++)
		word |= (uint64_t)p[i] << (8 * i);
	return word;
}

static void add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v, 2);
	v[0] ^= word;
}

uint64_t anonymizer_hash(const struct anonymizer *a, const void *p, size_t sz)
{
	uint64_t v[4] = { a->key[0] ^ 0x736f6d6570736575, a->key[1] ^ 0x646f72616e646f6d,
			  a->key[0] ^ 0x6c7967656e657261, a->key[1] ^ 0x7465646279746573 };
	const unsigned char *at = p;

	for (size_t left = sz; left >= 8; left -= 8, at += 8)
		add_word(v, word_of(at, 8));
	add_word(v, word_of(at, sz % 8) | (uint64_t)sz << 56);
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t anonymizer_id(const struct anonymizer *a, uint64_t id)
{
	return a && id ? anonymizer_hash(a, &id, sizeof(id)) : id;
}

/* ---- texts ------------------------------------------------------------------------------------ */

static void put_hash(const struct anonymizer *a, const char *s, size_t len, struct buf *out)
{
	if (len)
		buf_printf(out, "%016" PRIx64, anonymizer_hash(a, s, len));
}

/* Whether a path begins at @s: a slash at the start of a word. "a/b.(*T).F" is a name of Go, "operator/" one of C++. */
static bool begins_path(const char *s, size_t i, size_t len)
{
	const bool at_word = !i || strchr(" :(<[{\"'`=,;@~*^+", s[i - 1]) != NULL;

	return s[i] == '/' && at_word && i + 1 < len && !strchr(" (),<>", s[i + 1]);
}

/* The number of a line. */
static bool is_line(const char *s, size_t i, size_t len)
{
	const size_t first = ++i;

	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return i > first && (i == len || strchr(":), >]}\"'`", s[i]));
}

/*
 * The end of a path: the colon before a line, what closes what was opened before the path, or the end of the text. Names of
 * files have spaces and brackets.
 */
static size_t end_of_path(const char *s, size_t from, size_t len)
{
	static const char opening[] = "(<[{\"'`", closing[] = ")>]}\"'`";
	const char *opened = from ? strchr(opening, s[from - 1]) : NULL;
	size_t end = from, last;

	while (end < len && !(s[end] == ':' && is_line(s, end, len)))
		end++;
	if (!opened || end < len)
		return end;
	for (last = len; last > from + 1 && s[last - 1] != closing[opened - opening];)
		last--;
	return last > from + 1 ? last - 1 : len;
}

static void put_function(const struct anonymizer *a, const char *s, size_t len, struct buf *out)
{
	size_t from = 0, i = 0;

	while (i < len) {
		size_t end;

		if (!begins_path(s, i, len)) {
			i++;
			continue;
		}
		str_escape_utf8(out, s + from, i - from);
		end = end_of_path(s, i, len);
		put_hash(a, s + i, end - i, out);
		from = i = end;
	}
	str_escape_utf8(out, s + from, len - from);
}

void anonymizer_put(const struct anonymizer *a, enum anonymizer_text kind, const char *s,
		    size_t len, struct buf *out)
{
	if (a && kind == ANONYMIZER_PRIVATE)
		put_hash(a, s, len, out);
	else if (a && kind == ANONYMIZER_FUNCTION)
		put_function(a, s, len, out);
	else
		str_escape_utf8(out, s, len);
}

/* ---- the key ---------------------------------------------------------------------------------- */

static int parse(struct buf *text, const char *path, struct anonymizer *out)
{
	const char *s = buf_cstr(text);
	const size_t len = strcspn(s, "\r\n");

	if (len == KEY_DIGITS && strspn(s, "0123456789abcdefABCDEF") == len &&
	    sscanf(s, "%16" SCNx64 "%16" SCNx64, &out->key[0], &out->key[1]) == 2)
		return 0;
	log_error("ship: %s has no key: expected %d hexadecimal digits; make one with openssl "
		  "rand -hex 16",
		  path, KEY_DIGITS);
	return -EINVAL;
}

/* Complete or not there: a key that changes would give one host two names. */
static int make_key(int dir)
{
	static const char temporary[] = ANONYMIZER_KEY_NAME ".tmp";
	unsigned char bytes[KEY_DIGITS / 2];
	struct buf text = { 0 };
	int err, fd;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	str_hex(&text, bytes, sizeof(bytes));
	buf_addch(&text, '\n');
	err = file_write(fd, text.data, text.len);
	if (!err && (fsync(fd) || renameat(dir, temporary, dir, ANONYMIZER_KEY_NAME) || fsync(dir)))
		err = -errno;
	close(fd);
	explicit_bzero(text.data, text.len);
	buf_free(&text);
	return err;
}

int anonymizer_read(int dir, const char *path, struct anonymizer *out)
{
	const char *name = path ?: ANONYMIZER_KEY_NAME;
	struct buf text = { 0 };
	int err = file_read(path ? AT_FDCWD : dir, name, KEY_FILE_MAX, &text);

	if (err == -ENOENT && !path) {
		err = make_key(dir);
		if (!err)
			err = file_read(dir, name, KEY_FILE_MAX, &text);
	}
	if (err)
		log_error("ship: cannot read or create the key %s: %s", name, strerror(-err));
	else
		err = parse(&text, name, out);
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_free(&text);
	return err;
}
