// SPDX-License-Identifier: BSD-2-Clause
/* Files to send: opened, identified by their content, and read once for what holds for all of their rows. */
#include "ship/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "profile/sums/content_ids.h"

/* Of the start and the end of a file, for its id. */
#define ID_BYTES (64u << 10)

static int hash_piece(int fd, off_t at, uint64_t id[2])
{
	char *bytes = xmalloc(ID_BYTES);
	const ssize_t n = pread(fd, bytes, ID_BYTES, at);
	const int err = n < 0 ? -errno : 0;

	if (n > 0) {
		id[0] = content_ids_hash(id[0], bytes, (size_t)n);
		/* a second one, over the first one's results */
		for (ssize_t i = 0; i < n; i += 64) {
			const size_t sz = n - i < 64 ? (size_t)(n - i) : 64;
			const uint64_t word =
				content_ids_hash(CONTENT_IDS_HASH ^ id[1], bytes + i, sz);

			id[1] = content_ids_hash(id[1], &word, sizeof(word));
		}
	}
	free(bytes);
	return err;
}

int trace_file_id(int fd, uint64_t id[2])
{
	struct stat st;
	uint64_t sz;
	int err;

	if (fstat(fd, &st))
		return -errno;
	sz = (uint64_t)st.st_size;
	id[0] = content_ids_hash(CONTENT_IDS_HASH, &sz, sizeof(sz));
	id[1] = ~id[0];
	err = hash_piece(fd, 0, id);
	return err || sz <= ID_BYTES ? err : hash_piece(fd, (off_t)(sz - ID_BYTES), id);
}

static int open_again(void *ctx, struct source **out)
{
	const struct trace_file *t = ctx;
	const int fd = file_reopen(t->fd);

	if (fd < 0) {
		log_error("ship: cannot read %s again: %s", t->path, strerror(-fd));
		return fd;
	}
	return source_open_fd(fd, t->path, out);
}

static int read_trace(struct trace_file *t)
{
	struct source *src;
	struct reader *r;
	int err = open_again(t, &src);

	if (!err)
		err = reader_new(src, READER_ONE_PASS, &r);
	return err ?: trace_inputs_add(&t->traces, r, &(struct trace_input_again){ open_again, t });
}

/* The host of all recordings in the file, as rows have it; NULL: there are several. */
static char *host_of(const struct trace_input *in, const struct anonymizer *a)
{
	const struct trace_input_part *parts = in->parts;
	struct buf host = { 0 };

	for (size_t i = 1; i < in->part_cnt; i++)
		if (!parts[i].host != !parts[0].host ||
		    (parts[0].host && strcmp(parts[i].host, parts[0].host) != 0))
			return NULL;
	if (parts[0].host)
		anonymizer_put(a, ANONYMIZER_PRIVATE, parts[0].host, parts[0].host_len, &host);
	return buf_steal(&host);
}

static void find_times(struct trace_file *t)
{
	const struct trace_input *in = t->trace;
	int64_t wall;

	t->first_wall = INT64_MAX;
	t->last_wall = INT64_MIN;
	for (uint32_t i = 0; i < in->part_cnt; i++) {
		const struct trace_input_part *p = &in->parts[i];

		if (p->any && trace_input_wall(in, i, p->first_ts, &wall))
			t->first_wall = wall < t->first_wall ? wall : t->first_wall;
		if (p->any && trace_input_wall(in, i, p->last_ts, &wall))
			t->last_wall = wall > t->last_wall ? wall : t->last_wall;
	}
	t->has_wall = t->first_wall != INT64_MAX;
}

/* What this machine lacks is not the file's fault. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOSPC;
}

int trace_file_open(struct trace_file *t, int fd, const char *path,
		    const struct anonymizer *anonymizer, const volatile sig_atomic_t *stop)
{
	int err;

	*t = (struct trace_file){ .path = path, .fd = fd, .traces = { .stop = stop } };
	err = read_trace(t);
	if (err)
		return err == -EINTR || is_shortage(err) ? err : -EBADMSG;
	t->trace = t->traces.v[0];
	t->host = host_of(t->trace, anonymizer);
	find_times(t);
	return 0;
}

void trace_file_close(struct trace_file *t)
{
	trace_inputs_fini(&t->traces);
	free(t->host);
}
