// SPDX-License-Identifier: BSD-2-Clause
/*
 * output.c - writes a recording to files
 *
 * One file, or a set of rotated files (file_set.c). Bytes are counted before they are written, after compression,
 * so a disk budget holds at any time. If there is no room, the writer thread waits: the drain then leaves records
 * in the rings, and losses are counted there.
 *
 * begin() and request() are called by the drain, all other functions by the writer thread. They share atomic members.
 */
#include "record/output/output.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/str.h"
#include "prof_events.h"
#include "record/output/file_set.h"
#include "record/output/stream.h"
#include "record/output/writer.h"

#define SECOND_NS 1000000000ULL
#define PATIENCE_NS (5 * SECOND_NS) /* for a reader, at the start and at the end */

enum {
	WAITING_MAX = 64 << 20, /* bytes queued to the thread */
	FLUSH_BYTES = 128 << 10, /* maximum of unflushed bytes in the compressor */
	FLUSH_NS = 200000000, /* maximum time between flushes */
};

#define SET_SUFFIX ".bin"

enum { RETRY_MS = 1000, LOOK_MS = 50, FILES_PER_BUDGET = 4 };

struct output;

struct file {
	struct output *output;
	struct out_file *sink; /* NULL: not opened yet */
	struct file_set_file member; /* of a set */
	struct compress *pack;
	unsigned char last
		[COMPRESS_TAIL_MAX]; /* of a compressed file: the SegmentEnd event, stored at the end */
	size_t last_sz; /* 0: not written yet */
	size_t unflushed; /* bytes added since its last flush */
	uint64_t flushed; /* bytes of the file up to the last flush */
	uint64_t begun_ns;
	bool is_begun;
	bool is_over; /* finished before its segment ended: further data is dropped */
	bool broken; /* writing failed; it is truncated to its last flush */
	atomic_uint_fast64_t bytes; /* written */
	atomic_uint_fast64_t put; /* into the compressor, if there is one */
};

struct output {
	struct output_cfg cfg;
	char *path; /* of the single file, or the beginning of the set's names */
	uid_t uid;
	gid_t gid;
	struct file_set *set; /* NULL: single file or stream */
	uint64_t file_max; /* bytes per file; 0: no limit */
	struct file *first; /* opened, but not begun */
	struct file *newest; /* the last one begun; used by the drain */
	bool reader_may_stop; /* a pipe or a socket takes the bytes */
	sig_atomic_t asked;
	atomic_uint_fast64_t bytes; /* of all files */
	atomic_uint_fast64_t put; /* uncompressed bytes in these */
	volatile bool give_up;

	/* used by the writer thread */
	bool started;
	enum compress_pace pace;
	struct file **open;
	size_t open_cnt, open_cap;
	const struct file *writing; /* its compressor is running */
	uint64_t flushed_ns;
	atomic_uint_fast64_t paused_ns; /* since when there is no room; 0: there is room */
};

/* ---- names ------------------------------------------------------------------------------------------ */

/* The base name of a set: without .bin and the suffix of compressed files. */
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

static char *stem_of(const char *path)
{
	return xstrndup(path, stem_len(path));
}

/* "20260131235959", or "" if the clock cannot be read. */
static void make_stamp(char *out, size_t sz)
{
	time_t now = time(NULL);
	struct tm tm;

	*out = 0;
	if (localtime_r(&now, &tm) && !strftime(out, sz, "%Y%m%d%H%M%S", &tm))
		*out = 0;
}

/* "/var/a.bin" becomes "/var/a.20260131235959.bin", or "/var/a.20260131235959" for a set. */
static char *base_path(const struct output_cfg *cfg, const char *stamp)
{
	size_t stem = stem_len(cfg->path);
	struct buf out = { 0 };

	if (!*stamp && !cfg->set)
		return xstrdup(cfg->path);
	buf_add(&out, cfg->path, stem);
	if (*stamp)
		buf_printf(&out, ".%s", stamp);
	if (!cfg->set)
		buf_addstr(&out, cfg->path + stem);
	return buf_steal(&out);
}

/* ---- room ------------------------------------------------------------------------------------------- */

static bool is_no_room(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

static uint64_t bytes_of_set(const struct output *o)
{
	uint64_t sum = file_set_bytes(o->set);

	for (size_t i = 0; i < o->open_cnt; i++)
		sum += o->open[i]->bytes;
	return sum;
}

static int pause_for_room(struct output *o, int err, const char *why)
{
	const struct timespec step = { .tv_nsec = LOOK_MS * 1000000L };

	if (!o->started)
		return err;
	if (!o->paused_ns) {
		o->paused_ns = clock_mono_ns();
		log_warn("record: cannot write %s: %s: the trace stays in memory until there is "
			 "room; above 64M, events are lost",
			 o->path, why);
	}
	for (int ms = 0; ms < RETRY_MS; ms += LOOK_MS) {
		if (o->give_up)
			return err;
		nanosleep(&step, NULL);
	}
	if (o->set)
		file_set_refresh(o->set);
	return 0;
}

static void note_room(struct output *o)
{
	if (!o->paused_ns)
		return;
	log_warn("record: there is room again for %s after %llu s", o->path,
		 (unsigned long long)((clock_mono_ns() - o->paused_ns) / SECOND_NS));
	o->paused_ns = 0;
}

static int file_finish(struct file *f);

/*
 * Unfinished files use up the budget or the disk. The oldest of them is finished early, and is the next to be
 * deleted. -ECANCELED: it is the file that is being written.
 */
static int end_oldest_early(struct output *o)
{
	struct file *oldest = o->open[0];

	return oldest == o->writing ? -ECANCELED : file_finish(oldest);
}

/* The file system is full. 0: try again. An out_file_full_fn. */
static int make_room(void *ctx, int err)
{
	struct output *o = ctx;

	if (o->cfg.on_full == OUTPUT_STOP)
		return err;
	if (o->cfg.on_full == OUTPUT_DROP_OLDEST && o->set) {
		if (file_set_drop_oldest(o->set))
			return 0;
		/* the last file continues: other data fills the disk */
		if (o->open_cnt > 1)
			return end_oldest_early(o);
	}
	return pause_for_room(o, err, strerror(-err));
}

static int report_too_small(const struct output *o)
{
	log_error("record: --disk-budget %llu is too small for one file of this recording",
		  (unsigned long long)o->cfg.disk_budget);
	return -EDQUOT;
}

static int keep_budget(struct output *o, size_t sz)
{
	int err = 0;

	while (!err && o->cfg.disk_budget && bytes_of_set(o) + sz > o->cfg.disk_budget) {
		if (o->cfg.on_full == OUTPUT_STOP) {
			log_error("record: --disk-budget is used up; the files read up to the last "
				  "flush");
			err = -EDQUOT;
		} else if (o->cfg.on_full == OUTPUT_PAUSE) {
			err = pause_for_room(o, -EDQUOT, "--disk-budget is used up");
		} else if (!file_set_drop_oldest(o->set)) {
			err = o->open_cnt > 1 ? end_oldest_early(o) : report_too_small(o);
		}
	}
	return err;
}

/* ---- a file ----------------------------------------------------------------------------------------- */

static int write_packed(void *ctx, const void *data, size_t sz)
{
	struct file *f = ctx;
	struct output *o = f->output;
	int err = keep_budget(o, sz);

	if (!err)
		err = out_file_write(f->sink, data, sz);
	if (!err) {
		f->bytes += sz;
		o->bytes += sz;
		note_room(o);
	}
	return err;
}

static struct file *file_new(struct output *o)
{
	struct file *f = xcalloc(1, sizeof(*f));

	f->output = o;
	f->begun_ns = clock_mono_ns();
	f->member.fd = -1;
	if (!o->cfg.packed)
		f->pack = compress_new(o->cfg.pack, o->cfg.level, write_packed, f);
	return f;
}

static char *finished_path(const struct file *f)
{
	const struct output *o = f->output;

	return file_set_path(o->set, f->member.number, compress_suffix(o->cfg.pack));
}

/* NAME.7.bin.active, also if it will be NAME.7.bin.gz. Messages use the final name. */
static int open_active(struct file *f)
{
	struct output *o = f->output;
	char *path;
	int err;

	do {
		err = file_set_create(o->set, &f->member);
	} while (is_no_room(err) && !make_room(o, err));
	if (err) {
		log_error("cannot create a file %s.N" SET_SUFFIX FILE_SET_ACTIVE ": %s%s", o->path,
			  strerror(-err), is_no_room(err) ? "" : "; choose another file with -o");
		return err;
	}
	path = finished_path(f);
	f->sink = out_file_adopt_file(f->member.fd, path);
	free(path);
	return 0;
}

static int open_stream(struct file *f)
{
	int fd, err = stream_connect(f->output->path, PATIENCE_NS, &fd);

	if (!err)
		f->sink = out_file_adopt(fd, f->output->path);
	return err;
}

static int file_open(struct file *f)
{
	struct output *o = f->output;
	int err = o->set ? open_active(f) :
		  stream_is(o->path) ?
			   open_stream(f) :
			   out_file_open_within(o->path, o->uid, o->gid, PATIENCE_NS, &f->sink);

	if (err)
		return err;
	out_file_wait_until(f->sink, &o->give_up);
	o->reader_may_stop = out_file_has_reader(f->sink);
	if (o->cfg.on_full != OUTPUT_STOP)
		out_file_set_full(f->sink, make_room, o);
	o->open = array_reserve(o->open, &o->open_cap, o->open_cnt + 1, sizeof(*o->open));
	o->open[o->open_cnt++] = f;
	return 0;
}

static void forget_open(struct output *o, const struct file *f)
{
	size_t i = 0;

	while (i < o->open_cnt && o->open[i] != f)
		i++;
	if (i < o->open_cnt)
		memmove(&o->open[i], &o->open[i + 1], (--o->open_cnt - i) * sizeof(*o->open));
}

/* Truncates the file to its last flush and ends the stream there. */
static void file_cut(struct file *f)
{
	unsigned char end[COMPRESS_ENDING_MAX];
	struct output *o = f->output;
	const uint64_t before = f->bytes;
	size_t n = f->pack && f->flushed ? compress_ending(f->pack, end) : 0;

	if (o->cfg.disk_budget && bytes_of_set(o) - before + f->flushed + n > o->cfg.disk_budget)
		n = 0;
	out_file_cut(f->sink, f->flushed, end, n);
	f->bytes = f->flushed + n;
	f->broken = true;
}

/* Gives it its finished name, or removes it if it is empty. */
static int name_finished(struct file *f)
{
	struct output *o = f->output;
	char *path;
	int err = 0;

	if (!f->bytes) {
		file_set_discard(o->set, &f->member);
		return 0;
	}
	do {
		err = file_set_finish(o->set, &f->member, compress_suffix(o->cfg.pack), f->bytes);
	} while (is_no_room(err) && !make_room(o, err));
	path = finished_path(f);
	if (err)
		log_error("cannot rename %s" FILE_SET_ACTIVE ": %s", path, strerror(-err));
	else if (out_file_is_good(f->sink))
		log_info("record: %s is complete", path);
	free(path);
	return err;
}

/* Ends the file as it is. Unflushed data is cut off. */
static int file_finish(struct file *f)
{
	struct output *o = f->output;
	int err = 0, closed;

	if (!f->sink)
		return 0;
	if (f->unflushed && !f->broken)
		file_cut(f);
	forget_open(o, f);
	if (o->set)
		err = name_finished(f);
	closed = out_file_close(f->sink);
	f->sink = NULL;
	f->is_over = true;
	return err ? err : closed;
}

static int file_close(struct file *f)
{
	int err = file_finish(f);

	compress_free(f->pack);
	free(f);
	return err;
}

/* Before another file begins, so that the limit is never exceeded. */
static void keep_max_files(struct output *o)
{
	while (o->set && o->cfg.max_files &&
	       file_set_cnt(o->set) + o->open_cnt > o->cfg.max_files &&
	       file_set_drop_oldest(o->set))
		;
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

static int file_pack(struct file *f, const void *data, size_t sz)
{
	struct output *o = f->output;
	int err = compress_set_pace(f->pack, o->pace);

	if (!err)
		err = compress_put(f->pack, data, sz);
	f->put += sz;
	o->put += sz;
	return err;
}

static int file_pack_last(struct file *f)
{
	const size_t sz = f->last_sz;

	f->last_sz = 0;
	return sz ? file_pack(f, f->last, sz) : 0;
}

/* The encoder writes the SegmentEnd event separately. */
static bool is_segment_end(const void *data, size_t sz)
{
	const uint64_t mark = htole64(PROF_SEGMENT_END_MARK);

	return sz >= PROF_SEGMENT_END_SIZE && sz <= COMPRESS_TAIL_MAX &&
	       !memcmp((const char *)data + sz - sizeof(mark), &mark, sizeof(mark));
}

/* SegmentEnd waits for the end of the file: a flush before it would compress it. */
static int file_put(struct file *f, const void *data, size_t sz)
{
	int err;

	f->unflushed += sz;
	if (!f->pack)
		return write_packed(f, data, sz);
	err = file_pack_last(f);
	if (err || !is_segment_end(data, sz))
		return err ? err : file_pack(f, data, sz);
	memcpy(f->last, data, sz);
	f->last_sz = sz;
	return 0;
}

static int file_flush(struct file *f)
{
	const struct file *outer = f->output->writing;
	int err;

	if (f->broken)
		return 0;
	f->output->writing = f;
	err = f->pack ? compress_flush(f->pack) : 0;
	f->output->writing = outer;
	if (err)
		return err;
	f->unflushed = f->last_sz;
	f->flushed = f->bytes;
	return 0;
}

/* Truncates a file after an error. -ECANCELED: it was finished early to free space. */
static int file_result(struct file *f, int err)
{
	if (!err || !f->sink)
		return err;
	file_cut(f);
	return err == -ECANCELED ? file_finish(f) : err;
}

static int flush_all(struct output *o)
{
	size_t i;
	int err = 0;

	/* any file may be finished early while another is flushed */
	for (i = o->open_cnt; i-- > 0 && !err;)
		if (i < o->open_cnt)
			err = file_result(o->open[i], file_flush(o->open[i]));
	return err;
}

/* Before another file gets its first byte, all earlier files are flushed to whole frames. */
static int file_begin(struct file *f)
{
	struct output *o = f->output;
	int err = flush_all(o);

	f->is_begun = o->started = true;
	if (!err && !f->sink)
		err = file_open(f);
	if (!err)
		keep_max_files(o);
	return err;
}

static int output_write(void *segment, const void *data, size_t sz)
{
	struct file *f = segment;
	struct output *o = f->output;
	int err = f->is_begun ? 0 : file_begin(f);

	if (err || f->is_over)
		return err;
	o->writing = f;
	err = file_put(f, data, sz);
	o->writing = NULL;
	if (!err && (!f->pack || f->unflushed >= FLUSH_BYTES))
		err = file_flush(f);
	return file_result(f, err);
}

/* Compression becomes faster before records are lost, and slower when the queue is short. */
static void output_waits(void *ctx, unsigned int quarters)
{
	struct output *o = ctx;

	if (!quarters)
		o->pace = COMPRESS_AS_ASKED;
	else if (quarters >= 3)
		o->pace = COMPRESS_STORE;
	else if (o->pace == COMPRESS_AS_ASKED)
		o->pace = COMPRESS_QUICK;
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
	int err = 0, closed;

	if (f->pack && f->sink && !f->broken) {
		o->writing = f;
		err = f->last_sz ? compress_end_with(f->pack, f->last, f->last_sz) :
				   compress_end(f->pack);
		o->writing = NULL;
		if (!err)
			f->unflushed = 0;
		err = file_result(f, err);
	}
	closed = file_close(f);
	/* files that waited for symbols may have exceeded the limit */
	keep_max_files(o);
	return err ? err : closed;
}

static bool is_asked(struct output *o)
{
	sig_atomic_t asked = o->cfg.switch_asked ? *o->cfg.switch_asked : 0;
	bool yes = asked != o->asked;

	o->asked = asked;
	return yes;
}

/* Compressed bytes per byte of the trace. */
static double ratio(const struct output *o)
{
	const uint64_t put = o->put, packed = o->bytes;

	return o->cfg.pack == COMPRESS_NONE || put < FLUSH_BYTES ? 1 : (double)packed / (double)put;
}

/* Estimates the final size of @bytes of a segment: pending bytes compress like earlier ones. */
static uint64_t expect_bytes(const struct output *o, uint64_t bytes)
{
	const struct file *f = o->newest;
	const uint64_t put = f->put, packed = f->bytes;

	if (o->cfg.pack == COMPRESS_NONE)
		return bytes > packed ? bytes : packed;
	return packed + (bytes > put ? (uint64_t)((double)(bytes - put) * ratio(o)) : 0);
}

static uint64_t output_left(void *ctx, uint64_t bytes)
{
	const struct output *o = ctx;
	const uint64_t expected = expect_bytes(o, bytes);

	return expected < o->file_max ? (uint64_t)((double)(o->file_max - expected) / ratio(o)) : 0;
}

static enum segment_request output_request(void *ctx, uint64_t now_ns, uint64_t bytes)
{
	struct output *o = ctx;
	const struct output_cfg *cfg = &o->cfg;

	if (cfg->max_bytes && o->bytes >= cfg->max_bytes)
		return SEGMENT_OPS_STOP;
	/* without room, another file would only repeat the head of this one */
	if (!cfg->set || o->paused_ns)
		return SEGMENT_OPS_GO_ON;
	if (is_asked(o) || (o->file_max && expect_bytes(o, bytes) >= o->file_max) ||
	    (cfg->switch_ns && now_ns - o->newest->begun_ns >= cfg->switch_ns))
		return SEGMENT_OPS_NEXT;
	return SEGMENT_OPS_GO_ON;
}

static int output_close(void *ctx)
{
	struct output *o = ctx;

	if (o->first)
		file_close(o->first);
	file_set_free(o->set);
	free(o->open);
	free(o->path);
	free(o);
	return 0;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static int put_thread_before(struct output *o, struct segment_ops *out)
{
	const uint64_t names = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER | 1ULL << CAP_CHOWN;
	const struct writer_cfg cfg = {
		.nice = o->cfg.nice,
		.realtime = o->cfg.realtime,
		.max = WAITING_MAX,
		.caps_start = names,
		.caps_keep = o->cfg.set ? names : 0,
		.stop = o->cfg.stop,
		.give_up = &o->give_up,
		.patience_ns =
			o->reader_may_stop || o->cfg.on_full != OUTPUT_STOP ? PATIENCE_NS : 0,
	};
	const struct segment_ops inner = {
		.ctx = o,
		.many = o->cfg.set,
		.ends = o->cfg.set && !o->cfg.packed,
		.begin = output_begin,
		.write = output_write,
		.end = output_end,
		.request = o->cfg.set || o->cfg.max_bytes ? output_request : NULL,
		.left = o->file_max ? output_left : NULL,
		.waits = o->cfg.pack == COMPRESS_NONE ? NULL : output_waits,
		.idle = o->cfg.pack == COMPRESS_NONE ? NULL : output_idle,
		.close = output_close,
	};

	return writer_new(&cfg, &inner, out);
}

/* Verifies that it can be created. */
static int discard_first(struct output *o)
{
	int err = file_close(o->first);

	o->first = NULL;
	return err;
}

/* Neither a file nor a set may have the name of a directory: readers would look inside it. */
static int check_path(const char *path)
{
	const size_t len = strlen(path);
	struct stat st;

	if (len && path[len - 1] != '/' && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		return 0;
	log_error("cannot write %s: %s; choose another file with -o", path, strerror(EISDIR));
	return -EISDIR;
}

static int open_set(struct output *o, const char *stamp)
{
	char *name = stem_of(o->cfg.path);
	const struct file_set_cfg cfg = {
		.name = name,
		.stamp = *stamp ? stamp : NULL,
		.uid = o->uid,
		.gid = o->gid,
	};
	const uint64_t max = o->cfg.disk_budget / FILES_PER_BUDGET;
	int err = check_path(o->cfg.path);

	if (!err)
		err = file_set_open(&cfg, &o->set);

	o->file_max = o->cfg.switch_bytes;
	if (max && (!o->file_max || max < o->file_max))
		o->file_max = max;
	free(name);
	return err;
}

static int open_first(struct output *o)
{
	int err;

	o->first = file_new(o);
	err = file_open(o->first);
	return !err && o->cfg.later ? discard_first(o) : err;
}

int output_open(const struct output_cfg *cfg, uid_t uid, gid_t gid, struct segment_ops *out,
		char **name)
{
	struct output *o = xcalloc(1, sizeof(*o));
	char stamp[32] = "", *label;
	int err;

	if (cfg->stamp)
		make_stamp(stamp, sizeof(stamp));
	o->cfg = *cfg;
	o->path = base_path(cfg, stamp);
	o->uid = uid;
	o->gid = gid;
	label = xstrdup(o->path);
	err = cfg->set ? open_set(o, stamp) : 0;
	if (!err)
		err = open_first(o);
	if (!err)
		err = put_thread_before(o, out);
	if (err) {
		output_close(o);
		free(label);
		return err;
	}
	*name = label;
	return 0;
}
