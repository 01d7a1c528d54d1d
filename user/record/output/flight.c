// SPDX-License-Identifier: BSD-2-Clause
/*
 * flight.c - the last seconds of a recording, in memory
 *
 * Owns a list of segments, oldest first. They consist of reusable chunks of equal size, so memory use does not grow
 * over time. The oldest segment is dropped when the later ones cover the time to keep, or when the newest needs a
 * chunk. A snapshot only marks the existing segments. They are then written one by one at the speed of the files,
 * while new segments are added.
 *
 * A marked segment is written after its end, which may be queued after other data. If a snapshot owns all memory,
 * the drain is stopped, and data already in the queue uses memory beyond the limit.
 *
 * The drain begins segments. The writer thread fills and writes them. The lock is held for a copy at most.
 */
#include "record/output/flight.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sudo_user.h"
#include "record/output/output.h"
#include "record/output/writer.h"

#define MS_NS 1000000ULL

enum {
	CHUNK = 256 << 10,
	CHUNKS_MIN = 2 * FLIGHT_PARTS,
	WAITING_MAX = FLIGHT_WAITING_BYTES / 4, /* two buffers here, and two of the files */
};

struct chunk {
	struct chunk *next;
	size_t len;
	unsigned char data[];
};

enum { ROOM = CHUNK - sizeof(struct chunk) };

struct segment {
	struct segment *next;
	struct flight *flight;
	struct chunk *first, *last;
	size_t bytes;
	uint64_t begun_ns;
	struct compress *pack; /* NULL: bytes are stored uncompressed */
	bool ended; /* complete */
	bool dropped; /* no longer in the list */
	bool taken; /* marked by a snapshot */
	bool closes; /* the last segment of the snapshot */
};

struct flight {
	struct flight_cfg cfg;
	struct segment_ops files;
	void *file; /* of the current snapshot; NULL: none */
	pthread_mutex_t lock; /* protects all members below */
	struct segment *oldest, *newest;
	struct chunk *spare;
	size_t chunk_cnt, chunk_max;
	bool asked; /* a snapshot was requested: it owns all segments except the next */
	bool gave_up; /* writing the snapshot failed: nothing more is stored */
	bool any_dropped; /* since the last snapshot */
	uint64_t written_ns; /* end of the last snapshot; 0: none */
	uint64_t cut_short; /* segments dropped before they reached the age to keep */
};

/* ---- memory, with the lock held ------------------------------------------------------------------- */

static void spare_chunk(struct flight *f, struct chunk *c)
{
	if (f->chunk_cnt > f->chunk_max) {
		f->chunk_cnt--;
		free(c);
		return;
	}
	c->next = f->spare;
	f->spare = c;
}

static void free_chunks(struct flight *f, struct segment *s)
{
	struct chunk *c;

	while ((c = s->first)) {
		s->first = c->next;
		spare_chunk(f, c);
	}
	s->last = NULL;
}

static void segment_free(struct segment *s)
{
	compress_free(s->pack);
	free(s);
}

/* An unfinished segment ignores further writes. */
static void drop_oldest(struct flight *f)
{
	struct segment *s = f->oldest;

	f->oldest = s->next;
	f->any_dropped = true;
	free_chunks(f, s);
	s->dropped = true;
	if (s->ended)
		segment_free(s);
}

static bool may_drop(const struct flight *f)
{
	return f->oldest != f->newest && !f->oldest->taken;
}

static bool is_full(const struct flight *f)
{
	return !f->spare && f->chunk_cnt >= f->chunk_max;
}

/* The oldest segment waits for data that is still to come. */
static bool may_exceed(const struct flight *f)
{
	return f->gave_up || (f->oldest->taken && !f->oldest->ended);
}

/* NULL: existing data must be written first. */
static struct chunk *get_chunk(struct flight *f)
{
	struct chunk *c = NULL;

	if (is_full(f) && may_drop(f)) {
		drop_oldest(f);
		f->cut_short++;
	}
	if (f->spare) {
		c = f->spare;
		f->spare = c->next;
	} else if (!is_full(f) || may_exceed(f)) {
		c = xmalloc(CHUNK);
		f->chunk_cnt++;
	}
	if (c) {
		c->next = NULL;
		c->len = 0;
	}
	return c;
}

/* Returns the number of bytes that fit; 0 only if no chunk is available. */
static size_t put(struct segment *s, const void *data, size_t sz)
{
	struct flight *f = s->flight;
	struct chunk *c;

	if (s->dropped)
		return sz;
	if (!s->last || s->last->len == ROOM) {
		c = get_chunk(f);
		if (!c)
			return 0;
		if (s->dropped) {
			spare_chunk(f, c);
			return sz;
		}
		if (s->last)
			s->last->next = c;
		else
			s->first = c;
		s->last = c;
	}
	if (sz > ROOM - s->last->len)
		sz = ROOM - s->last->len;
	memcpy(s->last->data + s->last->len, data, sz);
	s->last->len += sz;
	s->bytes += sz;
	return sz;
}

/* ---- giving away, by the thread that writes -------------------------------------------------------- */

static bool is_given_up(const struct flight *f)
{
	return f->cfg.stop && *f->cfg.stop > 1;
}

/* False: there is no room now. */
static bool await_room(struct flight *f, bool wait)
{
	const struct timespec step = { .tv_nsec = MS_NS };

	while (f->files.has_room && !f->files.has_room(f->files.ctx)) {
		if (!wait || is_given_up(f))
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

/* False: no segment is ready. *c: the next chunk to write, or NULL; *closes: the snapshot is complete. */
static bool next_chunk(struct flight *f, struct chunk **c, bool *closes)
{
	struct segment *s;
	bool ready;

	*closes = false;
	pthread_mutex_lock(&f->lock);
	s = f->oldest;
	ready = s && s->taken && s->ended;
	if (ready) {
		*c = s->first;
		s->first = *c ? (*c)->next : NULL;
	}
	if (ready && !s->first) {
		*closes = s->closes;
		f->oldest = s->next;
		if (!f->oldest)
			f->newest = NULL;
		segment_free(s);
	}
	pthread_mutex_unlock(&f->lock);
	return ready;
}

static int end_file(struct flight *f)
{
	int err = f->file ? f->files.end(f->file) : 0;

	f->file = NULL;
	return err;
}

static int give_chunk(struct flight *f, struct chunk *c)
{
	int err = f->file ? 0 : f->files.begin(f->files.ctx, &f->file);

	if (!err)
		err = f->files.write(f->file, c->data, c->len);
	pthread_mutex_lock(&f->lock);
	spare_chunk(f, c);
	pthread_mutex_unlock(&f->lock);
	return err;
}

/* Writes the marked segments. Not @wait: only as much as there is room for. */
static int write_marked(struct flight *f, bool wait)
{
	struct chunk *c;
	bool closes;
	int err = 0;

	while (!err && await_room(f, wait) && next_chunk(f, &c, &closes)) {
		err = c ? give_chunk(f, c) : 0;
		if (!err && closes)
			err = end_file(f);
	}
	return err;
}

/* ---- the outlet ------------------------------------------------------------------------------------ */

/* The current frame is stored completely, so that each segment ends after a frame. */
static void give_up(struct flight *f)
{
	pthread_mutex_lock(&f->lock);
	f->gave_up = true;
	pthread_mutex_unlock(&f->lock);
}

static int store(void *ctx, const void *data, size_t sz)
{
	const struct timespec step = { .tv_nsec = MS_NS };
	struct segment *s = ctx;
	const unsigned char *p = data;
	int err = 0;
	size_t n;

	while (sz && !err) {
		pthread_mutex_lock(&s->flight->lock);
		n = put(s, p, sz);
		pthread_mutex_unlock(&s->flight->lock);
		p += n;
		sz -= n;
		if (n)
			continue;
		/* a complete snapshot owns all memory, and the files do not accept it */
		if (is_given_up(s->flight))
			give_up(s->flight);
		err = write_marked(s->flight, false);
		nanosleep(&step, NULL);
	}
	return err;
}

static bool has_given_up(struct flight *f)
{
	bool yes;

	pthread_mutex_lock(&f->lock);
	yes = f->gave_up;
	pthread_mutex_unlock(&f->lock);
	return yes;
}

/* With the lock held, like the next function. Marked segments stay until they are written. */
static void mark_all(struct flight *f)
{
	struct segment *s;

	for (s = f->oldest; s; s = s->next)
		s->taken = true;
}

static void begin_snapshot(struct flight *f)
{
	mark_all(f);
	if (f->newest)
		f->newest->closes = true;
	f->asked = false;
}

static void drop_old(struct flight *f, uint64_t now_ns)
{
	while (f->oldest && may_drop(f) && f->oldest->next->begun_ns + f->cfg.ns <= now_ns)
		drop_oldest(f);
}

static int flight_begin(void *ctx, void **segment)
{
	struct segment *s = xcalloc(1, sizeof(*s));
	struct flight *f = ctx;

	s->flight = f;
	s->begun_ns = clock_mono_ns();
	s->pack = compress_new(f->cfg.pack, f->cfg.level, store, s);
	pthread_mutex_lock(&f->lock);
	if (f->asked) {
		begin_snapshot(f);
		f->written_ns = s->begun_ns;
	} else {
		drop_old(f, s->begun_ns);
	}
	if (f->oldest)
		f->newest->next = s;
	else
		f->oldest = s;
	f->newest = s;
	pthread_mutex_unlock(&f->lock);
	*segment = s;
	return 0;
}

static int flight_write(void *segment, const void *data, size_t sz)
{
	struct segment *s = segment;
	int err = write_marked(s->flight, false);

	if (err || has_given_up(s->flight))
		return err;
	return s->pack ? compress_put(s->pack, data, sz) : store(s, data, sz);
}

static int flight_end(void *segment)
{
	struct segment *s = segment;
	struct flight *f = s->flight;
	int err = s->pack ? compress_end(s->pack) : 0;
	bool dropped;

	pthread_mutex_lock(&f->lock);
	s->ended = true;
	dropped = s->dropped;
	pthread_mutex_unlock(&f->lock);
	if (dropped)
		segment_free(s);
	return err ? err : write_marked(f, false);
}

static int flight_idle(void *ctx)
{
	return write_marked(ctx, false);
}

/* Segments are short, so dropping whole segments loses only a small part of the time to keep. */
static enum segment_request flight_request(void *ctx, uint64_t now_ns, uint64_t bytes)
{
	struct flight *f = ctx;
	bool next;

	pthread_mutex_lock(&f->lock);
	next = f->asked || now_ns >= f->newest->begun_ns + f->cfg.ns / FLIGHT_PARTS ||
	       f->newest->bytes >= f->cfg.bytes / FLIGHT_PARTS;
	pthread_mutex_unlock(&f->lock);
	return next ? SEGMENT_OPS_NEXT : SEGMENT_OPS_GO_ON;
}

static bool flight_has_room(void *ctx)
{
	struct flight *f = ctx;
	bool yes;

	pthread_mutex_lock(&f->lock);
	yes = !is_full(f) || may_drop(f) || f->oldest == f->newest;
	pthread_mutex_unlock(&f->lock);
	return yes;
}

static void free_all(struct flight *f)
{
	struct segment *s;
	struct chunk *c;

	while ((s = f->oldest)) {
		f->oldest = s->next;
		free_chunks(f, s);
		segment_free(s);
	}
	while ((c = f->spare)) {
		f->spare = c->next;
		free(c);
	}
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* All segments have ended, and no other thread is running. */
static int flight_close(void *ctx)
{
	struct flight *f = ctx;
	int err, ended, closed = 0;

	if (f->oldest)
		begin_snapshot(f);
	err = write_marked(f, true);
	ended = end_file(f);
	if (f->files.close)
		closed = f->files.close(f->files.ctx);
	if (f->cut_short)
		log_warn(
			"record: --flight: dropped the oldest data %llu times: the memory limit is too small "
			"for the requested time",
			(unsigned long long)f->cut_short);
	free_all(f);
	return err ? err : ended ? ended : closed;
}

/* ---- */

struct flight *flight_new(const struct flight_cfg *cfg, const struct segment_ops *files,
			  struct segment_ops *out)
{
	struct flight *f = xcalloc(1, sizeof(*f));
	pthread_mutexattr_t attr;

	f->cfg = *cfg;
	f->files = *files;
	f->chunk_max = cfg->bytes / CHUNK > CHUNKS_MIN ? cfg->bytes / CHUNK : CHUNKS_MIN;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&f->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	*out = (struct segment_ops){
		.ctx = f,
		.many = true,
		.begin = flight_begin,
		.write = flight_write,
		.end = flight_end,
		.request = flight_request,
		.has_room = flight_has_room,
		.idle = flight_idle,
		.close = flight_close,
	};
	return f;
}

int flight_open(const struct flight_cfg *cfg, const struct output_cfg *output,
		const struct sudo_user *user, struct segment_ops *out, struct flight **flight,
		char **name)
{
	const struct writer_cfg writer = { .nice = output->nice,
					   .realtime = output->realtime,
					   .max = WAITING_MAX,
					   .stop = cfg->stop };
	struct output_cfg files = *output;
	struct flight_cfg kept = *cfg;
	struct segment_ops to_files, keeps;
	char *label;
	int err;

	if (!cfg->ns)
		return output_open(output, user->uid, user->gid, out, name);
	kept.pack = output->pack;
	kept.level = output->level;
	files.set = files.later = files.packed = true;
	files.stop = cfg->stop;
	err = output_open(&files, user->uid, user->gid, &to_files, &label);
	if (err)
		return err;
	*flight = flight_new(&kept, &to_files, &keeps);
	err = writer_new(&writer, &keeps, out);
	if (err) {
		flight_close(*flight);
		free(label);
		return err;
	}
	*name = label;
	return 0;
}

bool flight_snapshot(struct flight *f, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct segment *s;
	bool hole;

	pthread_mutex_lock(&f->lock);
	/* segments of the last snapshot may still wait to be written */
	for (s = f->oldest; s && s->taken; s = s->next)
		;
	hole = f->any_dropped && f->written_ns && s;
	if (hole) {
		*from_ns = f->written_ns;
		*to_ns = s->begun_ns;
	}
	mark_all(f);
	f->any_dropped = false;
	f->asked = true;
	pthread_mutex_unlock(&f->lock);
	return hole;
}
