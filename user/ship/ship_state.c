// SPDX-License-Identifier: BSD-2-Clause
/*
 * The state that survives a crash. Owns its file: lines of text, appended and synced one by one, and written again when a
 * file is done. A torn last line is ignored: its batch is then asked for at the server.
 */
#include "ship/ship_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hmap.h"
#include "base/log.h"
#include "ship/ship_tables.h"

#define HEADER "dial9-ship"
#define TEMPORARY SHIP_STATE_NAME ".tmp"
/* Drops that are reported together, at most. */
#define DROPS_MAX 10000
/* A state has a line for each batch of one file; a larger one is not ours. */
#define STATE_MAX (16u << 20)

struct ship_state {
	int dir, lock;
	int fd; /* appends; -1: to be written again */
	uint64_t current[2], done[2]; /* ids of files */
	bool has_current, has_done;
	struct hmap acked; /* batches of the current file */
	struct ship_state_drop *drops;
	size_t drop_cnt, drop_cap;
	size_t batched; /* of them, the first ones, are reported together; 0: not begun */
};

static bool is_equal(bool has, const uint64_t a[2], const uint64_t b[2])
{
	return has && a[0] == b[0] && a[1] == b[1];
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void add_drop(struct ship_state *s, const struct ship_state_drop *drop)
{
	s->drops = array_reserve(s->drops, &s->drop_cap, s->drop_cnt + 1, sizeof(*s->drops));
	s->drops[s->drop_cnt] = *drop;
	s->drops[s->drop_cnt++].name = xstrdup(drop->name);
}

static void set_current(struct ship_state *s, const uint64_t id[2])
{
	if (is_equal(s->has_current, s->current, id))
		return;
	hmap_fini(&s->acked);
	memset(&s->acked, 0, sizeof(s->acked));
	memcpy(s->current, id, sizeof(s->current));
	s->has_current = true;
}

static void read_line(struct ship_state *s, char *line)
{
	struct ship_state_drop drop;
	uint64_t id[2], batch;
	int name = 0;

	if (sscanf(line, "file %16" SCNx64 "%16" SCNx64, &id[0], &id[1]) == 2) {
		set_current(s, id);
	} else if (sscanf(line, "done %16" SCNx64 "%16" SCNx64, &id[0], &id[1]) == 2) {
		memcpy(s->done, id, sizeof(s->done));
		s->has_done = true;
	} else if (sscanf(line, "ack %16" SCNx64, &batch) == 1) {
		hmap_set(&s->acked, batch, s);
	} else if (sscanf(line, "drop %" SCNu64 " %" SCNu64 " %n", &drop.bytes, &drop.wall,
			  &name) == 2 &&
		   name && line[name]) {
		drop.name = line + name;
		add_drop(s, &drop);
	} else if (sscanf(line, "batch %" SCNu64, &batch) == 1 && batch <= s->drop_cnt) {
		s->batched = batch;
	}
}

static int parse(struct ship_state *s, struct buf *text, const char *path)
{
	char *line = text->data, *end;
	int version = 0;

	if (!text->len)
		return 0;
	if (sscanf(line, HEADER " %d", &version) != 1) {
		log_error("ship: %s/%s is not a state of dial9-prof ship; delete it", path,
			  SHIP_STATE_NAME);
		return -EINVAL;
	}
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		read_line(s, line);
	}
	if (version == SHIP_TABLES_VERSION || (version < SHIP_TABLES_VERSION && !s->has_current))
		return 0;
	log_error("ship: %s/%s is from another version, which sent a part of a file; run that "
		  "version with --once, or delete the file: rows may then be twice at the server",
		  path, SHIP_STATE_NAME);
	return -EINVAL;
}

static int lock(struct ship_state *s, const char *path)
{
	s->lock = openat(s->dir, SHIP_STATE_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0) {
		const int err = -errno;

		log_error("ship: cannot create %s/%s: %s", path, SHIP_STATE_LOCK, strerror(-err));
		return err;
	}
	if (!flock(s->lock, LOCK_EX | LOCK_NB))
		return 0;
	log_error("ship: another dial9-prof ship uses %s", path);
	return -EBUSY;
}

int ship_state_open(int dir, const char *path, struct ship_state **out)
{
	struct ship_state *s = xcalloc(1, sizeof(*s));
	struct buf text = { 0 };
	int err;

	s->dir = dir;
	s->fd = -1;
	err = lock(s, path);
	if (!err) {
		err = file_read(dir, SHIP_STATE_NAME, STATE_MAX, &text);
		if (err == -ENOENT)
			err = 0;
		else if (err)
			log_error("ship: cannot read %s/%s: %s", path, SHIP_STATE_NAME,
				  strerror(-err));
		else
			err = parse(s, &text, path);
	}
	buf_free(&text);
	if (err) {
		ship_state_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void ship_state_close(struct ship_state *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->lock >= 0)
		close(s->lock);
	hmap_fini(&s->acked);
	for (size_t i = 0; i < s->drop_cnt; i++)
		free(s->drops[i].name);
	free(s->drops);
	free(s);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void put_id(struct buf *out, const char *word, const uint64_t id[2])
{
	buf_printf(out, "%s %016" PRIx64 "%016" PRIx64 "\n", word, id[0], id[1]);
}

static void put_drop(struct buf *out, const struct ship_state_drop *d)
{
	buf_printf(out, "drop %" PRIu64 " %" PRIu64 " %s\n", d->bytes, d->wall, d->name);
}

static void put_batched(struct buf *out, size_t cnt)
{
	buf_printf(out, "batch %zu\n", cnt);
}

static void put_all(const struct ship_state *s, struct buf *out)
{
	size_t pos = 0;
	uint64_t batch;
	void *value;

	buf_printf(out, HEADER " %d\n", SHIP_TABLES_VERSION);
	for (size_t i = 0; i < s->drop_cnt; i++)
		put_drop(out, &s->drops[i]);
	if (s->batched)
		put_batched(out, s->batched);
	if (s->has_done)
		put_id(out, "done", s->done);
	if (!s->has_current)
		return;
	put_id(out, "file", s->current);
	while (hmap_next(&s->acked, &pos, &batch, &value))
		buf_printf(out, "ack %016" PRIx64 "\n", batch);
}

static int write_anew(struct ship_state *s)
{
	struct buf text = { 0 };
	int err, fd;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	fd = openat(s->dir, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	put_all(s, &text);
	err = file_write(fd, text.data, text.len);
	buf_free(&text);
	if (!err &&
	    (fsync(fd) || renameat(s->dir, TEMPORARY, s->dir, SHIP_STATE_NAME) || fsync(s->dir)))
		err = -errno;
	if (err) {
		close(fd);
		unlinkat(s->dir, TEMPORARY, 0);
		return err;
	}
	s->fd = fd;
	return 0;
}

/* Adds a line, or writes everything if the file is not complete. */
static int append(struct ship_state *s, const struct buf *line)
{
	int err;

	if (s->fd < 0)
		return write_anew(s);
	err = file_write(s->fd, line->data, line->len);
	if (!err && fdatasync(s->fd))
		err = -errno;
	if (err) {
		close(s->fd);
		s->fd = -1;
	}
	return err;
}

bool ship_state_is_done(const struct ship_state *s, const uint64_t id[2])
{
	return is_equal(s->has_done, s->done, id);
}

bool ship_state_is_acked(const struct ship_state *s, const uint64_t id[2], uint64_t batch)
{
	return is_equal(s->has_current, s->current, id) && hmap_get(&s->acked, batch);
}

int ship_state_ack(struct ship_state *s, const uint64_t id[2], uint64_t batch)
{
	struct buf line = { 0 };
	int err;

	if (!is_equal(s->has_current, s->current, id)) {
		set_current(s, id);
		put_id(&line, "file", id);
	}
	hmap_set(&s->acked, batch, s);
	buf_printf(&line, "ack %016" PRIx64 "\n", batch);
	err = append(s, &line);
	buf_free(&line);
	return err;
}

int ship_state_done(struct ship_state *s, const uint64_t id[2])
{
	memcpy(s->done, id, sizeof(s->done));
	s->has_done = true;
	s->has_current = false;
	hmap_fini(&s->acked);
	memset(&s->acked, 0, sizeof(s->acked));
	return write_anew(s);
}

int ship_state_drop(struct ship_state *s, const struct ship_state_drop *drop)
{
	struct buf line = { 0 };
	int err;

	add_drop(s, drop);
	put_drop(&line, drop);
	err = append(s, &line);
	buf_free(&line);
	return err;
}

int ship_state_keep(struct ship_state *s)
{
	free(s->drops[--s->drop_cnt].name);
	return write_anew(s);
}

size_t ship_state_batch_drops(struct ship_state *s)
{
	const size_t cnt = s->drop_cnt < DROPS_MAX ? s->drop_cnt : DROPS_MAX;
	struct buf line = { 0 };

	if (s->batched || !cnt)
		return s->batched;
	s->batched = cnt;
	put_batched(&line, cnt);
	if (append(s, &line))
		s->batched = 0;
	buf_free(&line);
	return s->batched ?: 1;
}

int ship_state_forget_drops(struct ship_state *s, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(s->drops[i].name);
	memmove(s->drops, s->drops + cnt, (s->drop_cnt - cnt) * sizeof(*s->drops));
	s->drop_cnt -= cnt;
	s->batched = 0;
	return write_anew(s);
}

const struct ship_state_drop *ship_state_drops(const struct ship_state *s, size_t *cnt)
{
	*cnt = s->drop_cnt;
	return s->drops;
}
