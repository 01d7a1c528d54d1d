// SPDX-License-Identifier: BSD-2-Clause
/* Inputs that are read several times. Owns the copies of those that cannot be. */
#include "rewrite/copy/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"

#define BLOCK (1 << 16)

bool spool_is_regular(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       S_ISREG(st.st_mode);
}

bool spool_has_name(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode));
}

int spool_temp(const char *word)
{
	const int fd = file_temp();

	if (fd < 0)
		log_error("%s: cannot make a temporary file: %s (TMPDIR says where)", word,
			  strerror(-fd));
	return fd;
}

int spool_write(void *ctx, const void *data, size_t sz)
{
	const int *fd = ctx, err = file_write(*fd, data, sz);

	if (err)
		log_error("cannot write a temporary file: %s (TMPDIR says where)", strerror(-err));
	return err;
}

/* What is no trace is read no further than to know that. */
static int spool(const char *word, struct source *src, int temp)
{
	static const char magic[] = { 'T', 'R', 'C' };
	char *buf = xmalloc(BLOCK);
	bool first = true;
	int err = 0;
	ssize_t n;

	while (!err && (n = source_read(src, buf, BLOCK)) > 0) {
		err = file_write(temp, buf, (size_t)n);
		if (err)
			log_error("%s: cannot write a temporary file: %s (TMPDIR says where)", word,
				  strerror(-err));
		if (first &&
		    memcmp(buf, magic, (size_t)n < sizeof(magic) ? (size_t)n : sizeof(magic)))
			break;
		first = false;
	}
	free(buf);
	if (n < 0 && !err) {
		err = (int)n;
		log_error("cannot read %s: %s", source_name(src),
			  err == -EBADMSG ? "damaged compressed data" : strerror(-err));
	}
	return err;
}

/* As a file without a name; closes @src. */
static int copy(const char *word, struct source *src, struct source **out)
{
	int temp = spool_temp(word), err = temp < 0 ? temp : spool(word, src, temp);

	if (!err && source_is_cut(src))
		log_warn("%s: the %s data ends too early; everything before it is used",
			 source_name(src), source_packing(src));
	if (!err && lseek(temp, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = source_open_fd(temp, source_name(src), out);
	else if (temp >= 0)
		close(temp);
	source_close(src);
	return err;
}

int spool_open(const char *word, const char *path, struct source **out)
{
	struct source *src;
	int err = source_open(path, &src);

	if (err)
		return err;
	if (!source_is_regular(src) || source_fd(src) < 0)
		return copy(word, src, out);
	*out = src;
	return 0;
}
