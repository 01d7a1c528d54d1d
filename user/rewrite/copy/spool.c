// SPDX-License-Identifier: BSD-2-Clause
/* Inputs that are read several times. Owns copies of inputs that are not regular files. */
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

bool spool_can_reopen(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

int spool_temp(const char *word)
{
	const int fd = file_temp();

	if (fd < 0)
		log_error("%s: cannot make a temporary file in %s: %s (TMPDIR sets its directory)",
			  word, file_temp_dir(), strerror(-fd));
	return fd;
}

int spool_write(void *ctx, const void *data, size_t sz)
{
	const int *fd = ctx, err = file_write(*fd, data, sz);

	if (err)
		log_error("cannot write a temporary file in %s: %s (TMPDIR sets its directory)",
			  file_temp_dir(), strerror(-err));
	return err;
}

int spool_copy(struct source *src, const struct cut_out *out, bool any, enum spool_found *found)
{
	static const char magic[] = { 'T', 'R', 'C', 0 };
	char *buf = xmalloc(BLOCK);
	ssize_t n = 1;
	int err = 0;

	*found = SPOOL_EMPTY;
	while (!err && *found != SPOOL_OTHER && (n = source_read(src, buf, BLOCK)) > 0) {
		if (*found == SPOOL_EMPTY)
			*found = memcmp(buf, magic,
					(size_t)n < sizeof(magic) ? (size_t)n : sizeof(magic)) ?
					 SPOOL_OTHER :
					 SPOOL_TRACE;
		if (!out || (*found == SPOOL_OTHER && !any))
			break;
		err = out->write(out->ctx, buf, (size_t)n);
	}
	free(buf);
	if (n >= 0)
		return err;
	log_error("cannot read %s%s: %s", *found == SPOOL_TRACE ? "the rest of " : "",
		  source_name(src), n == -EBADMSG ? "damaged compressed data" : strerror((int)-n));
	return -ENODATA;
}

/* Copies to a file without a name; closes @src. */
static int copy(const char *word, struct source *src, struct source **out)
{
	int temp = spool_temp(word), err = temp < 0 ? temp : 0;
	const struct cut_out to_temp = { spool_write, &temp };
	enum spool_found found = SPOOL_EMPTY;
	bool damaged = false;

	if (!err)
		err = spool_copy(src, &to_temp, true, &found);
	if (err == -ENODATA && found == SPOOL_TRACE) {
		damaged = true;
		err = 0;
	}
	if (!err && !damaged && source_is_cut(src))
		log_warn("%s: the %s data ends too early; everything before it is used",
			 source_name(src), source_packing(src));
	if (!err && lseek(temp, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = source_open_fd(temp, source_name(src), out);
	else if (temp >= 0)
		close(temp);
	if (!err && (damaged || source_is_damaged(src)))
		source_mark_damaged(*out);
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
