// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the bytes of a trace. Owns the file descriptor and the decompressor's state. Does not know
 * dial9, so that `dump`, the trace reader and tests can all put a decoder on top.
 *
 * Compression is detected by the first bytes instead of the name, because traces also arrive
 * through pipes. These bytes are read into the source's buffer; after that, a plain file is read
 * directly into the caller's buffer. A gzip input may have several members, such as concatenated
 * rotated segments. The end of input is never final: a caller that follows a growing file simply
 * reads again, so the decompressor keeps its state. The pieces of a set (set_walk.c) are read like
 * one file.
 */
#include "trace/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "trace/source/set_walk.h"

#define SOURCE_BUF_SIZE (64 * 1024)
#define KEPT_MAX (64 << 20)
#define GZIP_MAGIC "\x1f\x8b"
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"
#define ZSTD_BLOCK_HEADER 3 /* bytes */

enum source_mode { SOURCE_UNKNOWN, SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };

struct source {
	int fd;
	bool regular;
	bool marked; /* source_mark_damaged() */
	off_t start; /* standard input may have been partly read before */
	bool in_member; /* inside a member whose end was not read */
	struct set_walk *walk; /* NULL: one file */
	struct set_piece piece; /* the current piece */
	uint64_t piece_at, before; /* bytes returned of the current piece, and of those before it */
	bool caching; /* the bytes of the set are cached, */
	bool cache_complete; /* all of them are in the cache, */
	bool from_cache; /* reading from the cache */
	uint8_t *kept;
	size_t kept_len, kept_cap, kept_at;
	enum source_mode mode;
	bool any; /* some byte was returned */
	const volatile sig_atomic_t *stop; /* NULL: none */
	int failed; /* an error after the last good bytes, for the next call */
	char *name;
	z_stream z;
	ZSTD_DCtx *zstd;
	size_t zstd_hint; /* input up to the end of a block, and the header of the next one */
	size_t pos, len; /* unread part of buf */
	uint8_t buf[SOURCE_BUF_SIZE];
};

static int check_fd(int fd, const char *name, bool *regular)
{
	struct stat st;
	int err;

	if (fstat(fd, &st)) {
		err = -errno;
		log_error("cannot read %s: %s", name, strerror(-err));
		return err;
	}
	if (S_ISDIR(st.st_mode)) {
		if (!faccessat(fd, "data.0", F_OK, 0))
			log_error("cannot read %s: it is a directory of perf record --threads; use "
				  "dial9-prof convert %s -o FILE to convert it to dial9",
				  name, name);
		else
			log_error("cannot read %s: it is a directory (name a trace file in it)",
				  name);
		return -EISDIR;
	}
	if (isatty(fd)) {
		log_error("cannot read %s: it is a terminal (name a trace file, or pipe one in)",
			  name);
		return -ENOTTY;
	}
	*regular = S_ISREG(st.st_mode);
	return 0;
}

int source_open_fd(int fd, const char *name, struct source **out)
{
	bool regular = false;
	struct source *src;
	int err;

	err = check_fd(fd, name, &regular);
	if (err) {
		close(fd);
		return err;
	}
	src = xcalloc(1, sizeof(*src));
	src->fd = fd;
	src->regular = regular;
	src->start = regular ? lseek(fd, 0, SEEK_CUR) : 0;
	src->name = xstrdup(name);
	*out = src;
	return 0;
}

static const struct set_walk_ops file_ops = {
	source_open_fd,	  source_read,	   source_close,   source_is_cut,
	source_is_packed, source_is_empty, source_packing,
};

/* A set of files; without a descriptor until the first of them is read. */
static void open_set(const char *path, struct source_set *set, struct source **out)
{
	struct source *src = xcalloc(1, sizeof(*src));

	src->fd = -1;
	src->regular = true;
	src->name = xstrdup(path);
	src->walk = set_walk_new(set, &file_ops);
	*out = src;
}

void source_open_files(const char *name, const char *const *paths, size_t cnt, bool again,
		       struct source **out)
{
	struct source_set set;

	source_set_of(paths, cnt, again, &set);
	open_set(name, &set, out);
}

static int open_path(const char *path, bool again, struct source **out)
{
	struct source_set set;
	int fd, err;

	if (strcmp(path, "-")) {
		err = source_set_find(path, again, &set);
		if (err)
			return err;
		if (set.cnt) {
			open_set(path, &set, out);
			return 0;
		}
	}
	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		path = "standard input";
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0) {
		err = -errno;
		log_error("cannot open %s: %s%s", *path ? path : "''", strerror(-err),
			  err == -ENOENT && !strcmp(path, SOURCE_DEFAULT_FILE) ?
				  " (record one first: sudo dial9-prof -p PID)" :
			  err == -EACCES ?
				  " (only the user who recorded a trace can read it; try sudo)" :
				  "");
		return err;
	}
	return source_open_fd(fd, path, out);
}

int source_open(const char *path, struct source **out)
{
	return open_path(path, false, out);
}

int source_open_again(const char *path, struct source **out)
{
	return open_path(path, true, out);
}

static void end_unpacking(struct source *src)
{
	if (src->mode == SOURCE_GZIP)
		inflateEnd(&src->z);
	ZSTD_freeDCtx(src->zstd);
	src->zstd = NULL;
	src->mode = SOURCE_UNKNOWN;
}

void source_close(struct source *src)
{
	if (!src)
		return;
	end_unpacking(src);
	set_walk_free(src->walk);
	if (src->fd >= 0)
		close(src->fd);
	free(src->kept);
	free(src->name);
	free(src);
}

void source_stop_on(struct source *src, const volatile sig_atomic_t *stop)
{
	src->stop = stop;
}

static bool is_stopped(const struct source *src)
{
	return src->stop && *src->stop;
}

static ssize_t read_retry(const struct source *src, void *buf, size_t sz)
{
	ssize_t n;

	do {
		n = read(src->fd, buf, sz);
	} while (n < 0 && errno == EINTR && !is_stopped(src));
	return n < 0 ? -errno : n;
}

/* Appends to the unread bytes in the buffer; 1 got some, 0 end for now, -errno. */
static int fill(struct source *src)
{
	ssize_t n;

	if (src->pos == src->len)
		src->pos = src->len = 0;
	n = read_retry(src, src->buf + src->len, sizeof(src->buf) - src->len);
	if (n <= 0)
		return (int)n;
	src->len += (size_t)n;
	return 1;
}

static bool begins_with(const struct source *src, const char *magic)
{
	size_t n = src->len - src->pos, sz = strlen(magic);

	return n >= sz && !memcmp(src->buf + src->pos, magic, sz);
}

/* Whether more bytes are needed to compare. */
static bool may_begin_with(const struct source *src, const char *magic)
{
	size_t n = src->len - src->pos;

	return n < strlen(magic) && !memcmp(src->buf + src->pos, magic, n);
}

/*
 * Pipes may return single bytes, so read until there are enough or no more. 1 if the mode is known,
 * 0 if there is nothing yet, -errno.
 */
static int detect(struct source *src)
{
	int ret;

	while (may_begin_with(src, GZIP_MAGIC) || may_begin_with(src, ZSTD_MAGIC)) {
		ret = fill(src);
		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
	}
	if (src->pos == src->len)
		return 0;
	if (begins_with(src, GZIP_MAGIC)) {
		memset(&src->z, 0, sizeof(src->z));
		if (inflateInit2(&src->z, 16 + MAX_WBITS) != Z_OK)
			return -ENOMEM;
		src->mode = SOURCE_GZIP;
	} else if (begins_with(src, ZSTD_MAGIC)) {
		src->zstd = ZSTD_createDCtx();
		if (!src->zstd)
			return -ENOMEM;
		src->zstd_hint = 1;
		src->mode = SOURCE_ZSTD;
	} else {
		src->mode = SOURCE_PLAIN;
	}
	return 1;
}

static ssize_t read_plain(struct source *src, void *buf, size_t sz)
{
	size_t have = src->len - src->pos;

	if (!have)
		return read_retry(src, buf, sz);
	if (sz > have)
		sz = have;
	memcpy(buf, src->buf + src->pos, sz);
	src->pos += sz;
	return (ssize_t)sz;
}

/* One call of inflate on the buffer; bytes produced, or -errno. */
static ssize_t inflate_some(struct source *src, void *buf, size_t sz)
{
	int ret;

	src->z.next_in = src->buf + src->pos;
	src->z.avail_in = (uInt)(src->len - src->pos);
	src->z.next_out = buf;
	src->z.avail_out = (uInt)sz;
	src->in_member = true;
	ret = inflate(&src->z, Z_NO_FLUSH);
	src->pos = src->len - src->z.avail_in;
	if (ret == Z_STREAM_END) {
		src->in_member = false;
		if (inflateReset(&src->z) != Z_OK)
			return -EBADMSG;
	} else if (ret == Z_MEM_ERROR) {
		return -ENOMEM;
	} else if (ret != Z_OK && ret != Z_BUF_ERROR) {
		src->failed = -EBADMSG;
	}
	if (src->failed && src->z.avail_out == sz)
		return src->failed;
	return (ssize_t)(sz - src->z.avail_out);
}

/*
 * The same for zstd, which by default refuses windows above 128 MiB. When a call fails, zstd does
 * not report what the same call decoded. So that only the damaged block is lost, a call gets no
 * more than one block, or the header of one.
 */
static ssize_t unzstd_some(struct source *src, void *buf, size_t sz)
{
	const size_t have = src->len - src->pos, hint = src->zstd_hint;
	const size_t want = hint > ZSTD_BLOCK_HEADER ? hint - ZSTD_BLOCK_HEADER : hint;
	ZSTD_inBuffer in = { src->buf + src->pos, want < have ? want : have, 0 };
	ZSTD_outBuffer out = { buf, sz, 0 };
	size_t left;

	src->in_member = true;
	left = ZSTD_decompressStream(src->zstd, &out, &in);
	src->pos += in.pos;
	if (ZSTD_isError(left))
		src->failed = -EBADMSG;
	else if (!left)
		src->in_member = false;
	src->zstd_hint = left ? left : 1;
	if (src->failed && !out.pos)
		return src->failed;
	return (ssize_t)out.pos;
}

static ssize_t read_packed(struct source *src, void *buf, size_t sz)
{
	ssize_t n;

	if (src->failed)
		return src->failed;
	if (sz > UINT32_MAX / 2)
		sz = UINT32_MAX / 2;
	for (;;) {
		/* zstd may still hold output, so call it without input, too */
		if (src->in_member || src->pos < src->len) {
			n = src->zstd ? unzstd_some(src, buf, sz) : inflate_some(src, buf, sz);
			if (n)
				return n;
		}
		if (src->pos < src->len)
			continue;
		n = fill(src);
		if (n <= 0)
			return n;
	}
}

/* Resets the decompressor. */
static void start_member(struct source *src)
{
	end_unpacking(src);
	src->in_member = false;
	src->failed = 0;
	src->pos = src->len = 0;
}

/*
 * After the end of a piece: the next one, which may use another compression. 1, or 0 if there is
 * none.
 */
static int next_piece(struct source *src)
{
	struct set_piece next;

	if (!src->walk || !set_walk_next(src->walk, &next))
		return 0;
	if (src->fd >= 0)
		close(src->fd);
	src->before += src->piece_at;
	src->piece_at = 0;
	src->piece = next;
	src->fd = next.fd;
	start_member(src);
	return 1;
}

static ssize_t read_file(struct source *src, void *buf, size_t sz)
{
	int ret;

	if (src->mode == SOURCE_UNKNOWN) {
		ret = detect(src);
		if (ret <= 0)
			return ret;
	}
	return src->mode == SOURCE_PLAIN ? read_plain(src, buf, sz) : read_packed(src, buf, sz);
}

/* Reads the good part of the current piece. */
static ssize_t read_piece(struct source *src, void *buf, size_t sz)
{
	const bool bytes = src->fd < 0;
	const uint64_t left = (bytes ? src->piece.sz : src->piece.limit) - src->piece_at;
	ssize_t n;

	sz = left < sz ? (size_t)left : sz;
	if (!sz)
		return 0;
	if (bytes)
		memcpy(buf, (const char *)src->piece.data + src->piece_at, sz);
	n = bytes ? (ssize_t)sz : read_file(src, buf, sz);
	src->piece_at += n > 0 ? (uint64_t)n : 0;
	return n;
}

static void cache_bytes(struct source *src, const void *buf, ssize_t n)
{
	src->cache_complete = !n;
	if (src->piece.names_only)
		return;
	src->caching = n >= 0 && src->kept_len + (size_t)n <= KEPT_MAX;
	if (!src->caching) {
		free(src->kept);
		src->kept = NULL;
		src->kept_len = src->kept_cap = 0;
	}
	if (!src->caching || !n)
		return;
	src->kept = array_reserve(src->kept, &src->kept_cap, src->kept_len + (size_t)n, 1);
	memcpy(src->kept + src->kept_len, buf, (size_t)n);
	src->kept_len += (size_t)n;
}

static ssize_t read_cached(struct source *src, void *buf, size_t sz)
{
	const size_t left = src->kept_len - src->kept_at;

	sz = sz < left ? sz : left;
	memcpy(buf, src->kept + src->kept_at, sz);
	src->kept_at += sz;
	return (ssize_t)sz;
}

ssize_t source_read(void *ctx, void *buf, size_t sz)
{
	struct source *src = ctx;
	ssize_t n;

	if (!sz)
		return 0;
	if (is_stopped(src))
		return -EINTR;
	if (src->from_cache)
		return read_cached(src, buf, sz);
	do {
		n = src->walk ? read_piece(src, buf, sz) : read_file(src, buf, sz);
	} while (!n && next_piece(src));
	if (src->caching)
		cache_bytes(src, buf, n);
	src->any |= n > 0;
	return n;
}

const char *source_place(const struct source *src, uint64_t *before)
{
	*before = src->before;
	return src->piece.path ? src->piece.path : src->name;
}

uint64_t source_first_number(const struct source *src)
{
	return src->walk ? set_walk_first(src->walk) : 0;
}

bool source_has_holes(const struct source *src)
{
	return src->walk && set_walk_has_holes(src->walk);
}

bool source_is_damaged(const struct source *src)
{
	return src->marked || (src->walk && set_walk_is_damaged(src->walk));
}

void source_mark_damaged(struct source *src)
{
	src->marked = true;
}

int source_missing(struct source_set *set, source_put_fn put, void *ctx)
{
	struct set_walk *w = set_walk_new(set, &file_ops);
	struct set_piece piece;
	int err = 0;

	while (!err && set_walk_next(w, &piece))
		if (piece.fd >= 0)
			close(piece.fd);
		else
			err = put(ctx, piece.data, piece.sz);
	set_walk_free(w);
	return err;
}

const char *source_name(const struct source *src)
{
	return src->name;
}

bool source_is_regular(const struct source *src)
{
	return src->regular;
}

int source_fd(const struct source *src)
{
	return src->walk ? -1 : src->fd;
}

bool source_restrict(struct source *src, uint64_t from_ns, uint64_t to_ns)
{
	src->caching = src->walk && set_walk_restrict(src->walk, from_ns, to_ns);
	return src->caching;
}

int source_rewind(struct source *src)
{
	src->kept_at = 0;
	src->from_cache = src->caching && src->cache_complete;
	if (src->from_cache)
		return 0;
	src->kept_len = 0;
	if (src->walk) {
		if (src->fd >= 0)
			close(src->fd);
		src->fd = -1;
		src->piece = (struct set_piece){ .fd = -1 };
		src->piece_at = src->before = 0;
		set_walk_rewind(src->walk);
	} else if (lseek(src->fd, src->start, SEEK_SET) < 0) {
		return -errno;
	}
	start_member(src);
	src->any = false;
	return 0;
}

bool source_is_cut(const struct source *src)
{
	return src->in_member;
}

bool source_is_packed(const struct source *src)
{
	return src->mode == SOURCE_GZIP || src->mode == SOURCE_ZSTD;
}

const char *source_packing(const struct source *src)
{
	return src->mode == SOURCE_ZSTD ? "zstd" : "gzip";
}

bool source_is_empty(const struct source *src)
{
	return !src->any && !src->failed && !source_is_cut(src);
}

bool source_print_perf_data(const struct source *src)
{
	static const char magic[] = "PERFILE2";
	char head[sizeof(magic) - 1];

	if (!src->regular || src->fd < 0 ||
	    pread(src->fd, head, sizeof(head), src->start) != sizeof(head) ||
	    memcmp(head, magic, sizeof(head)) != 0)
		return false;
	log_error(
		"%s is a perf.data file; use dial9-prof convert %s -o FILE to convert it to dial9",
		src->name, strcmp(src->name, "standard input") ? src->name : "-");
	return true;
}

void source_print_empty(const char *name)
{
	log_error("%s is empty (was anything recorded?)", name);
}
