// SPDX-License-Identifier: BSD-2-Clause
/*
 * output.c - a recording as files
 *
 * One file, or a set of them that take turns: NAME.0.bin, NAME.1.bin. A file of a set has .active behind its
 * name as long as it is written, and numbers go on behind those that lie there already, so that no two
 * recordings get into each other's files. Bytes are counted as they are written, packed.
 *
 * begin() and wish() are called by the drain, all else by the thread that writes. They share what is atomic.
 */
#include "record/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "record/sink.h"
#include "record/stream.h"
#include "record/writer.h"

#define SECOND_NS 1000000000ULL
#define PATIENCE_NS (5 * SECOND_NS) /* with who listens, at the start and at the end */

enum {
	WAITING_MAX = 64 << 20, /* bytes on their way to the thread */
	FLUSH_BYTES = 128 << 10, /* that wait in the packer at most, */
	FLUSH_NS = 200000000, /* and how long */
};

#define SET_SUFFIX ".bin"
#define ACTIVE_SUFFIX ".active"

struct output;

struct file {
	struct output *output;
	struct sink *sink; /* NULL: not opened yet */
	char *path; /* that it has when it is complete; NULL: the one it is opened by */
	struct pack *pack;
	size_t unflushed; /* bytes put into it since its last flush */
	uint64_t begun_ns;
	atomic_uint_fast64_t bytes; /* written */
};

struct output {
	struct output_cfg cfg;
	char *path; /* of the one file, or what those of the set begin with */
	uid_t uid;
	gid_t gid;
	uint64_t number; /* of the next file */
	struct file *first; /* opened, and not begun yet */
	struct file *newest; /* the drain's: the last one begun */
	sig_atomic_t asked;
	atomic_uint_fast64_t bytes; /* of all files */
	volatile bool give_up;

	/* the thread's */
	enum pack_pace pace;
	struct file **open;
	size_t open_cnt, open_cap;
	uint64_t flushed_ns;
	char **complete; /* paths, oldest first; where they are counted */
	size_t complete_cnt, complete_cap;
};

/* ---- names ------------------------------------------------------------------------------------------ */

/* What a set is called: the name without .bin, and without what packed files have behind it. */
static size_t stem_len(const char *path)
{
	static const char *const ends[] = { ".gz", ".zst", SET_SUFFIX };
	size_t len = strlen(path), i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !strncmp(path + len - n, ends[i], n) && path[len - n - 1] != '/')
			len -= n;
	}
	return len;
}

/* "/var/a.bin" becomes "/var/a.20260131235959.bin", or "/var/a.20260131235959" of a set. */
static char *base_path(const struct output_cfg *cfg)
{
	size_t stem = stem_len(cfg->path);
	struct buf out = { 0 };
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	if (!cfg->stamp && !cfg->set)
		return xstrdup(cfg->path);
	buf_add(&out, cfg->path, stem);
	if (cfg->stamp && localtime_r(&now, &tm) &&
	    strftime(stamp, sizeof(stamp), ".%Y%m%d%H%M%S", &tm))
		buf_addstr(&out, stamp);
	if (!cfg->set)
		buf_addstr(&out, cfg->path + stem);
	return buf_steal(&out);
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, slash - path);
}

/* The number in "NAME.7.bin" and what it may have behind that; false: it is none of the set. */
static bool number_of(const char *name, const char *stem, uint64_t *number)
{
	size_t len = strlen(stem), digits;
	char text[24] = { 0 };

	if (strncmp(name, stem, len) || name[len] != '.')
		return false;
	name += len + 1;
	digits = strspn(name, "0123456789");
	if (!digits || digits >= sizeof(text) || !str_starts(name + digits, SET_SUFFIX))
		return false;
	memcpy(text, name, digits);
	return !str_parse_u64(text, UINT64_MAX / 2, number);
}

/* One behind the largest that lies there. */
static uint64_t first_number(const char *base)
{
	const char *slash = strrchr(base, '/'), *stem = slash ? slash + 1 : base;
	char *path = directory_of(base);
	uint64_t next = 0, number;
	DIR *dir = opendir(path);
	struct dirent *ent;

	while (dir && (ent = readdir(dir)))
		if (number_of(ent->d_name, stem, &number) && number >= next)
			next = number + 1;
	if (dir)
		closedir(dir);
	free(path);
	return next;
}

/* ---- a file ----------------------------------------------------------------------------------------- */

static int write_packed(void *ctx, const void *data, size_t sz)
{
	struct file *f = ctx;
	int err = sink_write(f->sink, data, sz);

	if (!err) {
		f->bytes += sz;
		f->output->bytes += sz;
	}
	return err;
}

static struct file *file_new(struct output *o)
{
	struct file *f = xcalloc(1, sizeof(*f));
	struct buf path = { 0 };

	f->output = o;
	f->begun_ns = clock_mono_ns();
	if (o->cfg.set) {
		buf_printf(&path, "%s.%llu" SET_SUFFIX, o->path, (unsigned long long)o->number++);
		buf_addstr(&path, pack_suffix(o->cfg.pack));
		f->path = buf_steal(&path);
	}
	if (!o->cfg.packed)
		f->pack = pack_new(o->cfg.pack, o->cfg.level, write_packed, f);
	return f;
}

/* NAME.7.bin.active, also when it will be NAME.7.bin.gz. */
static int open_active(struct file *f)
{
	struct output *o = f->output;
	struct buf path = { 0 };
	int err;

	buf_add(&path, f->path, strlen(f->path) - strlen(pack_suffix(o->cfg.pack)));
	buf_addstr(&path, ACTIVE_SUFFIX);
	err = sink_open_seen(buf_cstr(&path), o->uid, o->gid, &f->sink);
	if (!err)
		sink_will_be(f->sink, f->path);
	buf_free(&path);
	return err;
}

static int open_stream(struct file *f)
{
	int fd, err = stream_connect(f->output->path, PATIENCE_NS, &fd);

	if (!err)
		f->sink = sink_take(fd, f->output->path);
	return err;
}

static int file_open(struct file *f)
{
	struct output *o = f->output;
	int err = f->path	     ? open_active(f) :
		  stream_is(o->path) ? open_stream(f) :
				       sink_open(o->path, o->uid, o->gid, &f->sink);

	if (err)
		return err;
	sink_wait_until(f->sink, &o->give_up);
	o->open = array_reserve(o->open, &o->open_cap, o->open_cnt + 1, sizeof(*o->open));
	o->open[o->open_cnt++] = f;
	return 0;
}

static int file_close(struct file *f)
{
	struct output *o = f->output;
	size_t i = 0;
	int err;

	while (i < o->open_cnt && o->open[i] != f)
		i++;
	if (i < o->open_cnt)
		memmove(&o->open[i], &o->open[i + 1], (--o->open_cnt - i) * sizeof(*o->open));
	err = f->sink ? sink_close_as(f->sink, f->path) : 0;
	pack_free(f->pack);
	free(f->path);
	free(f);
	return err;
}

/* Oldest first, as many as are too many together with those that are open. */
static void remove_old(struct output *o)
{
	size_t cnt = 0, keep, i;

	if (!o->cfg.max_files)
		return;
	keep = o->cfg.max_files > o->open_cnt ? o->cfg.max_files - o->open_cnt : 0;
	while (o->complete_cnt - cnt > keep) {
		if (unlink(o->complete[cnt]) && errno != ENOENT)
			log_warn("record: cannot remove %s: %s", o->complete[cnt], strerror(errno));
		free(o->complete[cnt++]);
	}
	for (i = cnt; i < o->complete_cnt && cnt; i++)
		o->complete[i - cnt] = o->complete[i];
	o->complete_cnt -= cnt;
}

static void note_complete(struct output *o, char *path)
{
	o->complete = array_reserve(o->complete, &o->complete_cap, o->complete_cnt + 1,
				    sizeof(*o->complete));
	o->complete[o->complete_cnt++] = path;
}

/* ---- the outlet ------------------------------------------------------------------------------------- */

static int output_begin(void *ctx, void **segment)
{
	struct output *o = ctx;

	o->newest = o->first ? o->first : file_new(o);
	o->newest->begun_ns = clock_mono_ns();
	o->first = NULL;
	*segment = o->newest;
	return 0;
}

static int file_flush(struct file *f)
{
	f->unflushed = 0;
	return f->pack ? pack_flush(f->pack) : 0;
}

static int flush_all(struct output *o)
{
	size_t i;
	int err = 0;

	for (i = 0; i < o->open_cnt && !err; i++)
		err = file_flush(o->open[i]);
	return err;
}

/* Before another file gets its first byte, all those before it end in whole frames. */
static int output_write(void *segment, const void *data, size_t sz)
{
	struct file *f = segment;
	int err = 0;

	if (!f->sink) {
		err = flush_all(f->output);
		if (!err)
			err = file_open(f);
		remove_old(f->output);
	}
	if (err)
		return err;
	if (!f->pack)
		return write_packed(f, data, sz);
	err = pack_set_pace(f->pack, f->output->pace);
	err = err ? err : pack_put(f->pack, data, sz);
	f->unflushed += sz;
	return !err && f->unflushed >= FLUSH_BYTES ? file_flush(f) : err;
}

/* Packing gives way before records are lost, and takes its time again when little waits. */
static void output_waits(void *ctx, unsigned int quarters)
{
	struct output *o = ctx;

	if (!quarters)
		o->pace = PACK_AS_ASKED;
	else if (quarters >= 3)
		o->pace = PACK_STORE;
	else if (o->pace == PACK_AS_ASKED)
		o->pace = PACK_QUICK;
}

static int output_idle(void *ctx)
{
	struct output *o = ctx;
	uint64_t now = clock_mono_ns();

	if (now - o->flushed_ns < FLUSH_NS)
		return 0;
	o->flushed_ns = now;
	return flush_all(o);
}

static int output_end(void *segment)
{
	struct file *f = segment;
	struct output *o = f->output;
	char *path = f->path ? xstrdup(f->path) : NULL;
	int err = f->pack && f->sink ? pack_end(f->pack) : 0;
	const bool good = f->sink && sink_is_good(f->sink);
	const int closed = file_close(f);

	if (path && good && !err && !closed)
		log_info("record: %s is complete", path);
	if (path && o->cfg.max_files)
		note_complete(o, path);
	else
		free(path);
	remove_old(o);
	return err ? err : closed;
}

static bool is_asked(struct output *o)
{
	sig_atomic_t asked = o->cfg.switch_asked ? *o->cfg.switch_asked : 0;
	bool yes = asked != o->asked;

	o->asked = asked;
	return yes;
}

static enum outlet_wish output_wish(void *ctx, uint64_t now_ns, uint64_t bytes)
{
	struct output *o = ctx;
	const struct output_cfg *cfg = &o->cfg;

	if (cfg->max_bytes && o->bytes >= cfg->max_bytes)
		return OUTLET_STOP;
	if (!cfg->set)
		return OUTLET_GO_ON;
	if (is_asked(o) || (cfg->switch_bytes && o->newest->bytes >= cfg->switch_bytes) ||
	    (cfg->switch_ns && now_ns - o->newest->begun_ns >= cfg->switch_ns))
		return OUTLET_NEXT;
	return OUTLET_GO_ON;
}

static int output_close(void *ctx)
{
	struct output *o = ctx;
	size_t i;

	if (o->first)
		file_close(o->first);
	for (i = 0; i < o->complete_cnt; i++)
		free(o->complete[i]);
	free(o->complete);
	free(o->open);
	free(o->path);
	free(o);
	return 0;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static int put_thread_before(struct output *o, struct outlet *out)
{
	const uint64_t names = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER | 1ULL << CAP_CHOWN;
	const struct writer_cfg cfg = {
		.nice = o->cfg.nice,
		.max = WAITING_MAX,
		.caps_start = names,
		.caps_keep = o->cfg.set ? names : 0,
		.stop = o->cfg.stop,
		.give_up = &o->give_up,
		.patience_ns = stream_is(o->path) ? PATIENCE_NS : 0,
	};
	const struct outlet inner = {
		.ctx = o,
		.many = o->cfg.set,
		.begin = output_begin,
		.write = output_write,
		.end = output_end,
		.wish = o->cfg.set || o->cfg.max_bytes ? output_wish : NULL,
		.waits = o->cfg.pack == PACK_NONE ? NULL : output_waits,
		.idle = o->cfg.pack == PACK_NONE ? NULL : output_idle,
		.close = output_close,
	};

	return writer_new(&cfg, &inner, out);
}

/* That it can be made is known now. */
static int take_back_first(struct output *o)
{
	int err = file_close(o->first);

	o->first = NULL;
	o->number--;
	return err;
}

int output_open(const struct output_cfg *cfg, uid_t uid, gid_t gid, struct outlet *out, char **name)
{
	struct output *o = xcalloc(1, sizeof(*o));
	char *told;
	int err;

	o->cfg = *cfg;
	o->path = base_path(cfg);
	o->uid = uid;
	o->gid = gid;
	o->asked = cfg->switch_asked ? *cfg->switch_asked : 0;
	if (cfg->set)
		o->number = first_number(o->path);
	told = xstrdup(o->path);
	o->first = file_new(o);
	err = file_open(o->first);
	if (!err && cfg->later)
		err = take_back_first(o);
	if (!err)
		err = put_thread_before(o, out);
	if (err) {
		output_close(o);
		free(told);
		return err;
	}
	*name = told;
	return 0;
}
