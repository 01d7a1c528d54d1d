// SPDX-License-Identifier: BSD-2-Clause
/*
 * import.c - perf.data to dial9
 *
 * Owns the way of a record: from the file into the order of time, and from there to what it says about tasks, mappings
 * and events. The metadata comes first, at the time of the first record.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mix.h"
#include "base/str.h"
#include "formats/perfdata/file.h"
#include "formats/perfdata/order.h"
#include "formats/perfdata/perfdata.h"
#include "formats/perfdata/sample_events.h"

#define KERNEL "[kernel.kallsyms]"
#define KSYMBOL_UNREGISTER 1

enum {
	QUEUE_MAX = 256 << 20, /* bytes that wait for their turn */
	PROT_EXEC_BIT = 4,
	META_MAX = 16,
	IMAGE_REST = 64 << 20, /* of the kernel, after its .text */
};

/* x86-64: modules are from here on */
#define MODULES_START 0xffffffffc0000000

struct importer {
	struct perfdata_file *file;
	const struct perfdata_header *header;
	struct foreign_notes *notes;
	struct emit *emit;
	struct perfdata_modules *modules;
	struct perfdata_tasks *tasks;
	struct perfdata_samples *samples;
	struct perfdata_order *order;
	struct hmap cpu_times; /* CPU -> time of its last record */
	bool begun;
	uint64_t first_ts;
};

/* ---- metadata ---------------------------------------------------------------------------------- */

struct meta {
	struct dial9_str kv[META_MAX][2];
	struct buf texts[META_MAX];
	size_t cnt;
};

static void add_meta(struct meta *m, const char *key, const char *value)
{
	struct buf *text = &m->texts[m->cnt];

	if (!value || m->cnt >= META_MAX)
		return;
	str_escape_utf8(text, value, strlen(value));
	m->kv[m->cnt][0] = own_text(key);
	m->kv[m->cnt++][1] = (struct dial9_str){ buf_cstr(text), text->len };
}

static void add_meta_u64(struct meta *m, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	add_meta(m, key, v ? text : NULL);
}

static const char *clock_name(const struct perfdata_header *h)
{
	static const struct {
		int32_t id;
		const char *name;
	} clocks[] = {
		{ CLOCK_REALTIME, "CLOCK_REALTIME" },
		{ CLOCK_MONOTONIC, "CLOCK_MONOTONIC" },
		{ CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW" },
		{ CLOCK_BOOTTIME, "CLOCK_BOOTTIME" },
		{ CLOCK_TAI, "CLOCK_TAI" },
	};

	if (!h->event_cnt || !h->events[0].attr.use_clockid)
		return "perf's own (sched_clock)";
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (clocks[i].id == h->events[0].attr.clockid)
			return clocks[i].name;
	return "unknown";
}

static void add_sampling(struct meta *m, const struct perfdata_header *h)
{
	const struct perfdata_event *ev = perfdata_samples_cpu_event(h);
	struct buf name = { 0 };

	if (!ev)
		return;
	perfdata_samples_name(ev, &name);
	add_meta(m, PROF_META_SAMPLE_EVENT, buf_cstr(&name));
	buf_free(&name);
	/* other events, such as page faults, have no rate per CPU time */
	if (!perfdata_samples_have_time(ev))
		return;
	if (ev->attr.freq)
		add_meta_u64(m, PROF_META_SAMPLE_HZ, ev->attr.sample_freq);
	else
		add_meta_u64(m, PROF_META_SAMPLE_PERIOD_NS, ev->attr.sample_period);
}

/* Wall-clock time of a time in the file. */
static uint64_t wall_time(const struct perfdata_header *h, uint64_t ts)
{
	return h->wall_ns + (ts - h->clock_ns);
}

static void note_clock(struct importer *im)
{
	const struct perfdata_header *h = im->header;

	if (!h->event_cnt || perfdata_header_is_monotonic(h))
		return;
	foreign_note(im->notes, FOREIGN_NOTE_HINT, 1,
		     "times are not on CLOCK_MONOTONIC, the clock of dial9 traces; record with "
		     "perf record -k CLOCK_MONOTONIC to merge them",
		     "clock: %s", clock_name(h));
}

static int begin(struct importer *im, uint64_t ts)
{
	const struct perfdata_header *h = im->header;
	struct meta m = { .cnt = 0 };
	int err;

	im->begun = true;
	im->first_ts = ts;
	note_clock(im);
	add_meta(&m, PROF_META_HOST, h->host);
	add_meta(&m, PROF_META_KERNEL, h->release);
	add_meta(&m, PROF_META_ARCH, h->arch);
	add_meta_u64(&m, PROF_META_CPUS, h->cpus);
	add_meta(&m, PROF_META_COMMAND_LINE, h->command_line);
	add_meta(&m, "perf_version", h->version);
	add_meta(&m, PROF_META_CLOCK, clock_name(h));
	add_sampling(&m, h);
	if (h->has_clock_data)
		add_meta_u64(&m, PROF_META_START_REALTIME_NS, wall_time(h, ts));
	err = emit_metadata(im->emit, ts, m.kv, m.cnt);
	if (!err && h->has_clock_data)
		err = emit_clock_sync(im->emit, ts, wall_time(h, ts));
	for (size_t i = 0; i < m.cnt; i++)
		buf_free(&m.texts[i]);
	return err;
}

/* ---- tasks and mappings ------------------------------------------------------------------------ */

/* Returned for a record whose bytes do not fit its type; it is noted by the caller. */
enum { DAMAGED = 1 };

static int import_comm(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	const char *comm;
	uint32_t pid, tid;

	if (!perfdata_bytes_u32(&b, &pid) || !perfdata_bytes_u32(&b, &tid) ||
	    !perfdata_bytes_text(&b, &comm))
		return DAMAGED;
	return perfdata_tasks_comm(im->tasks, ts, pid, tid, comm,
				   r->misc & PERF_RECORD_MISC_COMM_EXEC);
}

static int import_fork(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	/* perf lists what was there before as forks without mappings, which follow */
	struct perfdata_fork f = { .bare = r->misc & PERF_RECORD_MISC_FORK_EXEC };

	if (!perfdata_bytes_u32(&b, &f.pid) || !perfdata_bytes_u32(&b, &f.ppid) ||
	    !perfdata_bytes_u32(&b, &f.tid) || !perfdata_bytes_u32(&b, &f.ptid))
		return DAMAGED;
	return perfdata_tasks_fork(im->tasks, ts, &f);
}

static bool starts_with_any(const char *path, const char *const *starts)
{
	for (; *starts; starts++)
		if (str_starts(path, *starts))
			return true;
	return false;
}

static enum prof_module_kind user_kind(const char *path, bool has_build_id)
{
	static const char *const anonymous[] = { "//anon",  "/anon_hugepage", "/dev/zero",
						 "/memfd:", "/SYSV",	      NULL };

	if (!strcmp(path, "[vdso]"))
		return PROF_MODULE_VDSO;
	if (*path != '/' || (starts_with_any(path, anonymous) && !has_build_id))
		return PROF_MODULE_ANON;
	return PROF_MODULE_ELF;
}

static int add_user_map(struct importer *im, uint64_t ts, struct perfdata_mmap *m)
{
	const struct perfdata_build_id *id = perfdata_header_build_id(im->header, m->code.path);

	if (!m->code.build_id_sz && id) {
		m->code.build_id = id->id;
		m->code.build_id_sz = id->sz;
	}
	m->code.kind = user_kind(m->code.path, m->code.build_id_sz);
	if (m->code.kind == PROF_MODULE_ANON) {
		/* each is a module, with offsets from its start */
		m->code.place = hash_u64(m->start + hash_u64(m->pid));
		m->off = 0;
		if (!*m->code.path || !strcmp(m->code.path, "//anon"))
			m->code.path = "[anon]";
	}
	return perfdata_tasks_mmap(im->tasks, ts, m);
}

/* "/lib/modules/6.1/kernel/fs/a-b.ko.xz": "[a_b]", as the kernel lists its symbols. */
static void kernel_module_name(const char *path, struct buf *out)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = strstr(name, ".ko");

	if (*name == '[') {
		buf_addstr(out, name);
		return;
	}
	buf_addch(out, '[');
	buf_add(out, name, end ? (size_t)(end - name) : strlen(name));
	buf_addch(out, ']');
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] == '-')
			out->data[i] = '_';
}

/*
 * perf's mapping of the kernel ends with .text. Code that runs at boot only, such as start_kernel(), is in .init.text
 * after that. Mappings of modules and BPF programs, which come later, replace their range.
 */
static void extend_image(struct perfdata_mmap *m)
{
	const uint64_t end = m->start + m->sz;
	uint64_t limit = end + IMAGE_REST;

	if (end < m->start || limit < end)
		return;
	if (end <= MODULES_START && limit > MODULES_START)
		limit = MODULES_START;
	m->sz = limit - m->start;
}

static int add_kernel_map(struct importer *im, uint64_t ts, struct perfdata_mmap *m)
{
	bool image = str_starts(m->code.path, KERNEL);
	const struct perfdata_build_id *id =
		perfdata_header_build_id(im->header, image ? KERNEL : m->code.path);
	struct buf name = { 0 };
	int err;

	/* perf was not allowed to see its addresses */
	if (!m->start)
		return 0;
	if (image)
		buf_addstr(&name, KERNEL);
	else
		kernel_module_name(m->code.path, &name);
	if (!m->code.build_id_sz && id) {
		m->code.build_id = id->id;
		m->code.build_id_sz = id->sz;
	}
	m->code.path = buf_cstr(&name);
	m->code.kind = image ? PROF_MODULE_KERNEL : PROF_MODULE_KMOD;
	m->pid = UINT32_MAX;
	m->off = 0;
	if (image)
		extend_image(m);
	err = perfdata_tasks_mmap(im->tasks, ts, m);
	buf_free(&name);
	return err;
}

static int add_map(struct importer *im, const struct perfdata_record *r, uint64_t ts,
		   struct perfdata_mmap *m)
{
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return add_kernel_map(im, ts, m);
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return 0;
	default:
		return add_user_map(im, ts, m);
	}
}

static bool get_mmap_start(struct perfdata_bytes *b, struct perfdata_mmap *m)
{
	uint32_t tid;

	return perfdata_bytes_u32(b, &m->pid) && perfdata_bytes_u32(b, &tid) &&
	       perfdata_bytes_u64(b, &m->start) && perfdata_bytes_u64(b, &m->sz) &&
	       perfdata_bytes_u64(b, &m->off);
}

static int import_mmap(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct perfdata_mmap m = { .sz = 0 };

	if (!get_mmap_start(&b, &m) || !perfdata_bytes_text(&b, &m.code.path))
		return DAMAGED;
	return r->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : add_map(im, r, ts, &m);
}

static int import_mmap2(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz }, file;
	struct perfdata_mmap m = { .sz = 0 };
	uint32_t prot, flags, major, minor;

	/* device, inode and its generation; or the size of a build-id, 3 unused bytes and the build-id */
	if (!get_mmap_start(&b, &m) || !perfdata_bytes_take(&b, 24, &file) ||
	    !perfdata_bytes_u32(&b, &prot) || !perfdata_bytes_u32(&b, &flags) ||
	    !perfdata_bytes_text(&b, &m.code.path))
		return DAMAGED;
	if (r->misc & PERFDATA_MISC_MMAP_BUILD_ID && file.p[0] <= PERFDATA_BUILD_ID_MAX) {
		m.code.build_id = file.p + 4;
		m.code.build_id_sz = file.p[0];
	} else if (!(r->misc & PERFDATA_MISC_MMAP_BUILD_ID)) {
		perfdata_bytes_u32(&file, &major);
		perfdata_bytes_u32(&file, &minor);
		perfdata_bytes_u64(&file, &m.code.inode);
		m.code.dev = major << 20 | (minor & 0xfffff);
	}
	return prot & PROT_EXEC_BIT ? add_map(im, r, ts, &m) : 0;
}

static int import_ksymbol(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct perfdata_mmap m = { .pid = UINT32_MAX, .code = { .kind = PROF_MODULE_BPF } };
	uint16_t type, flags;
	uint32_t len;

	if (!perfdata_bytes_u64(&b, &m.start) || !perfdata_bytes_u32(&b, &len) ||
	    !perfdata_bytes_get(&b, &type, sizeof(type)) ||
	    !perfdata_bytes_get(&b, &flags, sizeof(flags)) ||
	    !perfdata_bytes_text(&b, &m.code.path))
		return DAMAGED;
	m.sz = len;
	if (!(flags & KSYMBOL_UNREGISTER))
		return perfdata_tasks_mmap(im->tasks, ts, &m);
	perfdata_tasks_munmap(im->tasks, m.start);
	return 0;
}

/* ---- loss -------------------------------------------------------------------------------------- */

/* A CPU's records were lost after its record before this one. */
static int write_loss(struct importer *im, const struct perfdata_sample *s, uint64_t ts,
		      const char *kind, uint64_t cnt)
{
	bool has_cpu = s->has & PERF_SAMPLE_CPU;
	uint64_t since = has_cpu ? (uintptr_t)hmap_get(&im->cpu_times, s->cpu) : 0;

	return emit_lost(im->emit, ts, has_cpu ? s->cpu : PROF_LOST_ANY_CPU, kind, cnt,
			 since ? since : im->first_ts, ts);
}

static int import_lost(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct perfdata_sample s;
	uint64_t id, cnt;

	if (!perfdata_bytes_u64(&b, &id) || !perfdata_bytes_u64(&b, &cnt))
		return DAMAGED;
	perfdata_sample_common(im->header, r, &s);
	foreign_note(im->notes, FOREIGN_NOTE_DROPPED, cnt, "records: perf's buffers were full",
		     NULL);
	return write_loss(im, &s, ts, PROF_LOST_RING_FULL, cnt);
}

/* Of the kernel. perf adds sums without a time, of records that LOST counts. */
static int import_lost_samples(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct perfdata_sample s;
	uint64_t cnt;

	if (!perfdata_bytes_u64(&b, &cnt))
		return DAMAGED;
	perfdata_sample_common(im->header, r, &s);
	if (!s.time)
		return 0;
	foreign_note(im->notes, FOREIGN_NOTE_DROPPED, cnt, "samples", NULL);
	return write_loss(im, &s, ts, PROF_LOST_SAMPLE_RING_FULL, cnt);
}

/* ---- records ----------------------------------------------------------------------------------- */

static int import_record(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return perfdata_samples_write(im->samples, r, ts);
	case PERF_RECORD_MMAP:
		return import_mmap(im, r, ts);
	case PERF_RECORD_MMAP2:
		return import_mmap2(im, r, ts);
	case PERF_RECORD_COMM:
		return import_comm(im, r, ts);
	case PERF_RECORD_FORK:
		return import_fork(im, r, ts);
	case PERF_RECORD_KSYMBOL:
		return import_ksymbol(im, r, ts);
	case PERF_RECORD_LOST:
		return import_lost(im, r, ts);
	case PERF_RECORD_LOST_SAMPLES:
		return import_lost_samples(im, r, ts);
	case PERF_RECORD_THROTTLE:
		foreign_note(im->notes, FOREIGN_NOTE_DROPPED, 1,
			     "samples of an event after its limit per second was reached", NULL);
		return 0;
	default:
		return 0;
	}
}

/* Where a later loss of the same CPU cannot have been. */
static void remember_cpu(struct importer *im, const struct perfdata_record *r, uint64_t ts)
{
	struct perfdata_sample s;

	perfdata_sample_common(im->header, r, &s);
	if (s.has & PERF_SAMPLE_CPU && s.time && ts)
		hmap_set(&im->cpu_times, s.cpu, (void *)(uintptr_t)ts);
}

static int deliver(void *ctx, const struct perfdata_record *r, uint64_t ts)
{
	struct importer *im = ctx;
	int err = im->begun ? 0 : begin(im, ts);

	if (!err)
		err = import_record(im, r, ts);
	if (err == DAMAGED) {
		foreign_note(im->notes, FOREIGN_NOTE_DAMAGED, 1, "damaged records",
			     "type %" PRIu32 " at byte %" PRIu64, r->type, r->off);
		err = 0;
	}
	remember_cpu(im, r, ts);
	return err;
}

static int read_records(struct importer *im)
{
	struct perfdata_record r;
	struct perfdata_sample s;
	int ret, err = 0;

	while (!err && (ret = perfdata_file_next(im->file, &r)) > 0) {
		if (r.type == PERFDATA_FINISHED_ROUND) {
			err = perfdata_order_round(im->order);
		} else if (r.type == PERFDATA_AUXTRACE) {
			foreign_note(im->notes, FOREIGN_NOTE_NOT_KEPT, 1, "AUX traces", NULL);
		} else if (r.type < PERFDATA_HEADER_ATTR) {
			perfdata_sample_common(im->header, &r, &s);
			err = perfdata_order_add(im->order, &r, s.time);
		}
	}
	return err ? err : ret;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static int init(struct importer *im, const struct foreign_opts *opts, struct dial9_enc *enc)
{
	struct perfdata_samples_cfg cfg;
	int err = emit_new(enc, opts->level >= DIAL9_LEVEL_4, &im->emit);

	if (err)
		return err;
	perfdata_modules_new(im->emit, &im->modules);
	perfdata_tasks_new(im->emit, im->modules, &im->tasks);
	cfg = (struct perfdata_samples_cfg){ .header = im->header,
					     .tasks = im->tasks,
					     .enc = enc,
					     .emit = im->emit,
					     .notes = im->notes,
					     .unwind = opts->unwind };
	perfdata_samples_new(&cfg, &im->samples);
	perfdata_order_new(QUEUE_MAX, deliver, im, &im->order);
	return 0;
}

static void fini(struct importer *im)
{
	perfdata_order_free(im->order);
	perfdata_samples_free(im->samples);
	perfdata_tasks_free(im->tasks);
	perfdata_modules_free(im->modules);
	emit_free(im->emit);
	perfdata_file_free(im->file);
	hmap_fini(&im->cpu_times);
}

int perfdata_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		    struct dial9_enc *enc, struct foreign_notes *notes)
{
	struct importer im = { .notes = notes };
	int err;

	err = perfdata_file_open(in, cnt, notes, &im.file);
	if (err)
		return err;
	im.header = perfdata_file_header(im.file);
	err = init(&im, opts, enc);
	if (!err)
		err = read_records(&im);
	if (!err)
		err = perfdata_order_finish(im.order);
	if (!err && !im.begun)
		err = begin(&im, 0);
	if (!err && perfdata_order_late(im.order))
		foreign_note(notes, FOREIGN_NOTE_HINT, perfdata_order_late(im.order),
			     "records out of order of time", NULL);
	fini(&im);
	return err;
}
