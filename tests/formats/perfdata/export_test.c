// SPDX-License-Identifier: BSD-2-Clause
/* Records and header of a written file, read through the layouts that linux/perf_event.h documents. */
#include "events/emit.h"
#include "prof_events.h"
#include "tests/formats/perfdata/support.h"

#define USER ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

/* perf's struct perf_file_header, and the attributes of its events. */
struct section {
	uint64_t off, sz;
};

struct file_head {
	char magic[8];
	uint64_t sz, attr_sz;
	struct section attrs, data, types;
	uint64_t features[4];
};

struct file_attr {
	uint8_t attr[PERF_ATTR_SIZE_VER5];
	struct section ids;
};

/* struct sample_id of linux/perf_event.h, for the sample_type of all events. */
struct moment {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

struct mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint8_t build_id_sz, reserved[3], build_id[20];
	uint32_t prot, flags;
	char name[];
};

struct mmap1 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char name[];
};

struct comm {
	uint32_t pid, tid;
	char name[];
};

struct fork {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct lost {
	uint64_t id, lost;
};

struct sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

/* The kernel's events/sched/sched_switch/format: offsets 8, 24, 28, 32, 40, 56, 60. */
struct raw_switch {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};

_Static_assert(sizeof(struct raw_switch) == 64, "the kernel's sched_switch");

static struct buf export_buf(const struct buf *dial9, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf out = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;

	foreign_mem_input(&mem, dial9->data, dial9->len, &in);
	cr_assert_eq(perfdata_format.export(&in, &opts, add_to_buf, &out, notes), 0);
	buf_cstr(&out);
	return out;
}

static const struct file_head *head_of(const struct buf *file)
{
	const struct file_head *h = (const struct file_head *)file->data;

	cr_assert_geq(file->len, sizeof(*h));
	cr_assert(!memcmp(h->magic, "PERFILE2", 8));
	cr_assert_eq(h->sz, sizeof(*h));
	cr_assert_leq(h->data.off + h->data.sz, file->len);
	return h;
}

/* ---- records as lines -------------------------------------------------------------------------- */

static void print_sample(const uint8_t *p, size_t sz, struct buf *out)
{
	const struct sample *s = (const struct sample *)p;
	const uint64_t *v = (const uint64_t *)(p + sizeof(*s));
	const uint8_t *end = p + sz;
	uint64_t n;

	buf_printf(out, "SAMPLE %lu ip %lx %u/%u %lu cpu %u period %lu", s->id, s->ip, s->pid,
		   s->tid, s->time, s->cpu, s->period);
	/* the first event has chains and no raw bytes, in these tests the others raw bytes and no chains */
	if (s->id == 1) {
		for (n = *v++; n; n--)
			buf_printf(out, " %lx", *v++);
		cr_assert_eq((const uint8_t *)v, end);
	} else {
		buf_printf(out, " raw %u", *(const uint32_t *)v);
		cr_assert_eq(*(const uint32_t *)v + 4 + sizeof(*s), sz);
	}
	buf_addch(out, '\n');
}

static void print_record(const struct perf_event_header *h, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)(h + 1);
	const size_t sz = h->size - sizeof(*h);
	const struct moment *m = (const struct moment *)(p + sz - sizeof(*m));
	const struct mmap1 *m1 = (const struct mmap1 *)p;
	const struct mmap2 *m2 = (const struct mmap2 *)p;
	const struct comm *c = (const struct comm *)p;
	const struct fork *f = (const struct fork *)p;
	const struct lost *l = (const struct lost *)p;

	cr_assert_eq(h->size % 8, 0);
	if (h->type == PERF_RECORD_SAMPLE) {
		print_sample(p, sz, out);
		return;
	}
	if (h->type == PERF_RECORD_MMAP2)
		buf_printf(out, "MMAP2 %u/%u %lx+%lx @%lx id %u:%02x%02x prot %u %s", m2->pid,
			   m2->tid, m2->addr, m2->len, m2->pgoff, m2->build_id_sz, m2->build_id[0],
			   m2->build_id[1], m2->prot, m2->name);
	else if (h->type == PERF_RECORD_MMAP)
		buf_printf(out, "MMAP %d %lx+%lx @%lx %s", (int32_t)m1->pid, m1->addr, m1->len,
			   m1->pgoff, m1->name);
	else if (h->type == PERF_RECORD_COMM)
		buf_printf(out, "COMM %u/%u %s", c->pid, c->tid, c->name);
	else if (h->type == PERF_RECORD_FORK)
		buf_printf(out, "FORK %u/%u from %u/%u %lu", f->pid, f->tid, f->ppid, f->ptid,
			   f->time);
	else if (h->type == PERF_RECORD_EXIT)
		buf_printf(out, "EXIT %u/%u", f->pid, f->tid);
	else if (h->type == PERF_RECORD_LOST)
		buf_printf(out, "LOST %lu", l->lost);
	else
		buf_printf(out, "type %u", h->type);
	buf_printf(out, " | %u/%u %lu cpu %u id %lu\n", m->pid, m->tid, m->time, m->cpu, m->id);
}

static struct buf records_of(const struct buf *file)
{
	const struct file_head *head = head_of(file);
	struct buf out = { 0 };

	for (uint64_t at = 0; at < head->data.sz;) {
		/* aligned copies: the file's own offsets are multiples of 8 */
		const struct perf_event_header *h =
			(const struct perf_event_header *)(file->data + head->data.off + at);

		cr_assert_geq(h->size, sizeof(*h));
		print_record(h, &out);
		at += h->size;
	}
	buf_cstr(&out);
	return out;
}

/* ---- a trace ----------------------------------------------------------------------------------- */

struct maker {
	struct buf bytes;
	struct dial9_enc *enc;
	struct emit *emit;
};

static void begin(struct maker *m)
{
	struct dial9_enc_opts opts = {
		.sz = sizeof(opts), .write = add_to_buf, .ctx = &m->bytes, .level = DIAL9_LEVEL_3
	};
	const struct dial9_str kv[][2] = {
		{ own_text(PROF_META_HOST), own_text("box") },
		{ own_text(PROF_META_ARCH), own_text("x86_64") },
		{ own_text(PROF_META_CPUS), own_text("4") },
		{ own_text(PROF_META_COMMAND_LINE), own_text("dial9-prof -p 7") },
		{ own_text(PROF_META_SAMPLE_EVENT), own_text("cpu-clock") },
		{ own_text(PROF_META_SAMPLE_HZ), own_text("100") },
	};

	*m = (struct maker){ 0 };
	cr_assert_eq(dial9_enc_new(&opts, &m->enc), 0);
	cr_assert_eq(emit_new(m->enc, false, &m->emit), 0);
	emit_metadata(m->emit, 5, kv, sizeof(kv) / sizeof(kv[0]));
}

static void put_stack(struct maker *m, uint64_t ts, uint32_t pid, const uint64_t *frames,
		      size_t cnt)
{
	const struct emit_sample s = {
		.ts = ts, .tid = pid, .pid = pid, .cpu = 2, .frames = frames, .frame_cnt = cnt
	};

	cr_assert_eq(emit_sample(m->emit, &s), 0);
}

static void put_task(struct maker *m, uint64_t ts, uint32_t pid, uint32_t tid, uint32_t ppid,
		     const char *comm)
{
	const struct own_task t = { .pid = pid, .tid = tid, .ppid = ppid, .comm = own_text(comm) };

	cr_assert_eq(emit_task(m->emit, ts, &t), 0);
}

static void put_map(struct maker *m, uint64_t ts, uint32_t pid, uint64_t start, uint64_t off,
		    uint64_t id)
{
	const struct own_map map = {
		.pid = pid, .start = start, .end = start + 0x1000, .offset = off, .module_id = id
	};

	cr_assert_eq(emit_map(m->emit, ts, &map), 0);
}

static uint64_t frame(uint64_t module, uint64_t off)
{
	return module << PROF_FRAME_MODULE_SHIFT | off;
}

static struct buf finish(struct maker *m, struct foreign_notes *notes)
{
	struct buf file;

	emit_free(m->emit);
	cr_assert_eq(dial9_enc_flush(m->enc), 0);
	dial9_enc_free(m->enc);
	file = export_buf(&m->bytes, notes);
	buf_free(&m->bytes);
	return file;
}

static void check(struct maker *m, const char *want)
{
	struct foreign_notes notes = { 0 };
	struct buf file = finish(m, &notes), text = records_of(&file);

	assert_text(&text, want);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&file);
}

/* ---- tests ------------------------------------------------------------------------------------- */

/* The caller's call, 0x3200 in the file, is one byte before the return address 0x5201. */
Test(perfdata_export, frames_are_addresses_in_mappings_and_callers_return_addresses)
{
	const uint8_t id[20] = { 0xab, 0xcd };
	const uint64_t frames[] = { frame(1, 0x3120), frame(1, 0x3200) };
	struct maker m;

	begin(&m);
	emit_module(m.emit, 10, 1, "/bin/x", id, sizeof(id), PROF_MODULE_ELF);
	put_map(&m, 10, 7, 0x5000, 0x3000, 1);
	put_task(&m, 20, 7, 7, 3, "x");
	put_stack(&m, 50, 7, frames, 2);
	check(&m, "FORK 7/7 from 3/3 20 | 7/7 20 cpu 4294967295 id 1\n"
		  "COMM 7/7 x | 7/7 20 cpu 4294967295 id 1\n"
		  "MMAP2 7/7 5000+1000 @3000 id 20:abcd prot 5 /bin/x | 7/7 50 cpu 2 id 1\n"
		  "SAMPLE 1 ip 5120 7/7 50 cpu 2 period 10000000 fffffffffffffe00 5120 5201\n");
}

/* perf looks a name up when it reads an event; the trace has the thread and its mapping after the sample. */
Test(perfdata_export, names_and_mappings_come_before_the_event_that_needs_them)
{
	const uint64_t frames[] = { frame(1, 0x10) };
	struct maker m;

	begin(&m);
	emit_module(m.emit, 40, 1, "/bin/x", NULL, 0, PROF_MODULE_ELF);
	put_stack(&m, 50, 7, frames, 1);
	put_map(&m, 60, 7, 0x5000, 0, 1);
	put_task(&m, 60, 7, 7, 3, "late");
	check(&m, "FORK 7/7 from 3/3 50 | 7/7 50 cpu 2 id 1\n"
		  "COMM 7/7 late | 7/7 50 cpu 2 id 1\n"
		  "MMAP2 7/7 5000+1000 @0 id 0:0000 prot 5 /bin/x | 7/7 50 cpu 2 id 1\n"
		  "SAMPLE 1 ip 5010 7/7 50 cpu 2 period 10000000 fffffffffffffe00 5010\n");
}

/* Two files at one address, one after the other and back: perf must know the right one each time. */
Test(perfdata_export, a_replaced_mapping_is_written_again)
{
	const uint64_t a[] = { frame(1, 0x10) }, b[] = { frame(2, 0x20) };
	struct maker m;

	begin(&m);
	emit_module(m.emit, 10, 1, "/a", NULL, 0, PROF_MODULE_ELF);
	emit_module(m.emit, 10, 2, "/b", NULL, 0, PROF_MODULE_ELF);
	put_task(&m, 10, 7, 7, 3, "x");
	put_map(&m, 10, 7, 0x5000, 0, 1);
	put_map(&m, 20, 7, 0x5000, 0, 2);
	put_stack(&m, 30, 7, a, 1);
	put_stack(&m, 40, 7, b, 1);
	put_stack(&m, 50, 7, a, 1);
	put_stack(&m, 60, 7, a, 1);
	check(&m, "FORK 7/7 from 3/3 10 | 7/7 10 cpu 4294967295 id 1\n"
		  "COMM 7/7 x | 7/7 10 cpu 4294967295 id 1\n"
		  "MMAP2 7/7 5000+1000 @0 id 0:0000 prot 5 /a | 7/7 30 cpu 2 id 1\n"
		  "SAMPLE 1 ip 5010 7/7 30 cpu 2 period 10000000 fffffffffffffe00 5010\n"
		  "MMAP2 7/7 5000+1000 @0 id 0:0000 prot 5 /b | 7/7 40 cpu 2 id 1\n"
		  "SAMPLE 1 ip 5020 7/7 40 cpu 2 period 10000000 fffffffffffffe00 5020\n"
		  "MMAP2 7/7 5000+1000 @0 id 0:0000 prot 5 /a | 7/7 50 cpu 2 id 1\n"
		  "SAMPLE 1 ip 5010 7/7 50 cpu 2 period 10000000 fffffffffffffe00 5010\n"
		  "SAMPLE 1 ip 5010 7/7 60 cpu 2 period 10000000 fffffffffffffe00 5010\n");
}

/* A module without a mapping is put where nothing is: 0x100000000000, in pieces of 16 MiB. */
Test(perfdata_export, kernel_and_unmapped_modules_have_places)
{
	const uint64_t frames[] = { PROF_FRAME_KERNEL | frame(1, 0x100),
				    PROF_FRAME_KERNEL | frame(2, 0x1f), frame(3, 0x2000030) };
	struct maker m;

	begin(&m);
	emit_module(m.emit, 10, 1, "[kernel.kallsyms]", NULL, 0, PROF_MODULE_KERNEL);
	emit_module(m.emit, 10, 2, "[ext4]", NULL, 0, PROF_MODULE_KMOD);
	emit_module(m.emit, 10, 3, "/lib/x", NULL, 0, PROF_MODULE_ELF);
	put_task(&m, 10, 7, 7, 0, "x");
	put_stack(&m, 50, 7, frames, 3);
	check(&m,
	      "FORK 7/7 from 0/0 10 | 7/7 10 cpu 4294967295 id 1\n"
	      "COMM 7/7 x | 7/7 10 cpu 4294967295 id 1\n"
	      "MMAP -1 ffffffff81000000+3f000000 @ffffffff81000000 [kernel.kallsyms]_text | 7/7 50 cpu 2 id 1\n"
	      "MMAP -1 ffffa00000000000+10000000 @0 [ext4] | 7/7 50 cpu 2 id 1\n"
	      "MMAP2 7/7 100000000000+1000000 @2000000 id 0:0000 prot 5 /lib/x | 7/7 50 cpu 2 id 1\n"
	      "SAMPLE 1 ip ffffffff81000100 7/7 50 cpu 2 period 10000000 ffffffffffffff80 "
	      "ffffffff81000100 ffffa00000000020 fffffffffffffe00 100000000030\n");
}

Test(perfdata_export, threads_come_after_their_process_and_losses_are_kept)
{
	const uint64_t frames[] = { frame(0, 0x10) };
	struct maker m;

	begin(&m);
	put_task(&m, 10, 7, 7, 3, "main");
	put_task(&m, 20, 7, 9, 3, "helper");
	emit_lost(m.emit, 30, 1, PROF_LOST_RING_FULL, 12, 25, 30);
	put_stack(&m, 50, 7, frames, 1);
	check(&m, "FORK 7/7 from 3/3 10 | 7/7 10 cpu 4294967295 id 1\n"
		  "COMM 7/7 main | 7/7 10 cpu 4294967295 id 1\n"
		  "FORK 7/9 from 7/7 20 | 7/9 20 cpu 4294967295 id 1\n"
		  "COMM 7/9 helper | 7/9 20 cpu 4294967295 id 1\n"
		  "LOST 12 | 0/0 30 cpu 1 id 1\n"
		  "SAMPLE 1 ip 10 7/7 50 cpu 2 period 10000000 fffffffffffffe00 10\n");
}

static void put_switch(struct maker *m, struct dial9_schema *schema, uint64_t ts, int64_t state)
{
	dial9_enc_begin(m->enc, schema, ts);
	dial9_enc_put_u64(m->enc, 1);
	dial9_enc_put_u64(m->enc, 7);
	dial9_enc_put_str(m->enc, "caf\\xe9", 7);
	dial9_enc_put_i64(m->enc, 7);
	dial9_enc_put_i64(m->enc, 120);
	dial9_enc_put_i64(m->enc, state);
	dial9_enc_put_str(m->enc, "swapper/1", 9);
	dial9_enc_put_i64(m->enc, 0);
	dial9_enc_put_i64(m->enc, 120);
	cr_assert_eq(dial9_enc_end(m->enc), 0);
}

static struct dial9_schema *switch_schema(void)
{
	static const struct dial9_field fields[] = {
		{ "common_cpu", DIAL9_VARINT }, { "common_pid", DIAL9_VARINT },
		{ "prev_comm", DIAL9_STRING },	{ "prev_pid", DIAL9_I64 },
		{ "prev_prio", DIAL9_I64 },	{ "prev_state", DIAL9_I64 },
		{ "next_comm", DIAL9_STRING },	{ "next_pid", DIAL9_I64 },
		{ "next_prio", DIAL9_I64 },
	};
	struct dial9_schema *schema;

	cr_assert_eq(dial9_schema_new("sched:sched_switch", true, fields,
				      sizeof(fields) / sizeof(fields[0]), &schema),
		     0);
	return schema;
}

Test(perfdata_export, a_switch_has_the_layout_of_the_kernel)
{
	const char format[] = "name: sched_switch\nID: 1\nformat:\n";
	struct foreign_notes notes = { 0 };
	struct dial9_schema *schema = switch_schema();
	const struct file_head *head;
	struct perf_event_attr attr = { 0 };
	struct raw_switch raw;
	struct maker m;
	struct buf file;

	begin(&m);
	put_switch(&m, schema, 50, 2);
	file = finish(&m, &notes);
	head = head_of(&file);
	/* the one event, whose tracepoint has number 1 */
	cr_assert_eq(head->attr_sz, sizeof(struct file_attr));
	cr_assert_eq(head->attrs.sz, sizeof(struct file_attr));
	memcpy(&attr, file.data + head->attrs.off, PERF_ATTR_SIZE_VER5);
	cr_assert_eq(attr.type, PERF_TYPE_TRACEPOINT);
	cr_assert_eq(attr.config, 1);
	cr_assert_eq(attr.size, PERF_ATTR_SIZE_VER5);
	cr_assert(attr.sample_type & PERF_SAMPLE_RAW && attr.use_clockid && attr.clockid == 1);
	/* the bytes of the raw record are the last ones */
	memcpy(&raw, file.data + head->data.off + head->data.sz - sizeof(raw) - 4, sizeof(raw));
	cr_assert(raw.type == 1 && raw.pid == 7);
	cr_assert_str_eq(raw.prev_comm, "caf\xe9");
	cr_assert_str_eq(raw.next_comm, "swapper/1");
	cr_assert(raw.prev_pid == 7 && raw.prev_prio == 120 && raw.prev_state == 2);
	cr_assert(raw.next_pid == 0 && raw.next_prio == 120);
	cr_assert(memmem(file.data, file.len, format, sizeof(format) - 1));
	cr_assert_eq(head->features[0], 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 |
						1 << 7 | 1 << 11 | 1 << 12 | 1 << 21 | 1 << 23);
	dial9_schema_free(schema);
	foreign_notes_fini(&notes);
	buf_free(&file);
}

/* perf sched latency sums what the kernel reports as runtime, so switches alone give 0. */
Test(perfdata_export, missing_runtimes_of_perf_sched_latency_are_reported)
{
	static const struct dial9_field fields[] = { { "common_cpu", DIAL9_VARINT },
						     { "common_pid", DIAL9_VARINT },
						     { "runtime", DIAL9_VARINT } };
	struct dial9_schema *runtime;

	cr_assert_eq(dial9_schema_new("sched:sched_stat_runtime", true, fields, 3, &runtime), 0);
	for (uint64_t has_runtime = 0; has_runtime < 2; has_runtime++) {
		struct dial9_schema *schema = switch_schema();
		struct foreign_notes notes = { 0 };
		struct maker m;
		struct buf file;

		begin(&m);
		put_switch(&m, schema, 50, 2);
		if (has_runtime) {
			dial9_enc_begin(m.enc, runtime, 60);
			for (int i = 0; i < 3; i++)
				dial9_enc_put_u64(m.enc, 1);
			cr_assert_eq(dial9_enc_end(m.enc), 0);
		}
		file = finish(&m, &notes);
		cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, NULL), !has_runtime);
		dial9_schema_free(schema);
		foreign_notes_fini(&notes);
		buf_free(&file);
	}
	dial9_schema_free(runtime);
}

/* An event of an application becomes a tracepoint of the system "dial9", with a name of C. */
Test(perfdata_export, other_events_are_tracepoints)
{
	static const struct dial9_field fields[] = { { "took-ns", DIAL9_VARINT },
						     { "what", DIAL9_STRING },
						     { "map", DIAL9_STRING_MAP } };
	const uint8_t raw[32] = "\x1c\0\0\0"
				"\1\0\0\0"
				"\0\0\0\0"
				"\x4d\0\0\0\0\0\0\0"
				"\x14\0\6\0"
				"hello";
	const char format[] = "\tfield:u64 took_ns;\toffset:8;\tsize:8;\tsigned:0;\n"
			      "\tfield:__data_loc char[] what;\toffset:16;\tsize:4;\tsigned:0;\n";
	struct foreign_notes notes = { 0 };
	struct dial9_schema *schema;
	struct maker m;
	struct buf file;

	begin(&m);
	cr_assert_eq(dial9_schema_new("My span", true, fields, 3, &schema), 0);
	dial9_enc_begin(m.enc, schema, 50);
	dial9_enc_put_u64(m.enc, 77);
	dial9_enc_put_str(m.enc, "hello", 5);
	dial9_enc_put_map(m.enc, NULL, 0);
	cr_assert_eq(dial9_enc_end(m.enc), 0);
	file = finish(&m, &notes);
	/* 20 bytes of fields, "hello" with its NUL, and padding to a multiple of 8 with the size */
	cr_assert(!memcmp(file.data + head_of(&file)->data.off + head_of(&file)->data.sz - 32, raw,
			  sizeof(raw)));
	cr_assert(memmem(file.data, file.len, format, sizeof(format) - 1));
	cr_assert(memmem(file.data, file.len, "dial9:My_span", 13));
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 1);
	dial9_schema_free(schema);
	foreign_notes_fini(&notes);
	buf_free(&file);
}

/* An application may have several layouts of an event, whose values all fit into the field. */
Test(perfdata_export, a_field_has_room_for_the_values_of_all_layouts)
{
	static const struct dial9_field narrow[] = { { "took", DIAL9_U8 }, { "what", DIAL9_U16 } };
	static const struct dial9_field wide[] = { { "took", DIAL9_U32 },
						   { "what", DIAL9_STRING } };
	const char format[] = "\tfield:u32 took;\toffset:8;\tsize:4;\tsigned:0;\n";
	struct foreign_notes notes = { 0 };
	struct dial9_schema *schemas[2];
	uint32_t took;
	struct maker m;
	struct buf file;

	begin(&m);
	cr_assert_eq(dial9_schema_new("span", true, narrow, 2, &schemas[0]), 0);
	cr_assert_eq(dial9_schema_new("span", true, wide, 2, &schemas[1]), 0);
	dial9_enc_begin(m.enc, schemas[0], 50);
	dial9_enc_put_u64(m.enc, 7);
	dial9_enc_put_u64(m.enc, 8);
	cr_assert_eq(dial9_enc_end(m.enc), 0);
	dial9_enc_begin(m.enc, schemas[1], 51);
	dial9_enc_put_u64(m.enc, 70000);
	dial9_enc_put_str(m.enc, "hello", 5);
	cr_assert_eq(dial9_enc_end(m.enc), 0);
	file = finish(&m, &notes);
	cr_assert(memmem(file.data, file.len, format, sizeof(format) - 1));
	/* its record: size, common fields, took, what, and padding */
	memcpy(&took, file.data + head_of(&file)->data.off + head_of(&file)->data.sz - 12,
	       sizeof(took));
	cr_assert_eq(took, 70000, "%u", took);
	/* a text does not fit into a number */
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 1);
	dial9_schema_free(schemas[0]);
	dial9_schema_free(schemas[1]);
	foreign_notes_fini(&notes);
	buf_free(&file);
}

/* In a merge of recordings that overlap, the first part is the merge itself. */
Test(perfdata_export, a_merged_trace_has_the_events_of_its_recordings)
{
	static const struct dial9_field fields[] = { { PROF_F_PART, DIAL9_VARINT },
						     { "took", DIAL9_VARINT } };
	struct foreign_notes notes = { 0 };
	struct dial9_schema *schema;
	struct maker m;
	struct buf file;

	begin(&m);
	cr_assert_eq(emit_merged_part(m.emit, 40, 0, 0, 0), 0);
	cr_assert_eq(emit_merged_part(m.emit, 40, 1, 0, 0), 0);
	cr_assert_eq(dial9_schema_new("span", true, fields, 2, &schema), 0);
	for (uint64_t part = 0; part < 2; part++) {
		dial9_enc_begin(m.enc, schema, 50 + part);
		dial9_enc_put_u64(m.enc, part);
		dial9_enc_put_u64(m.enc, 77);
		cr_assert_eq(dial9_enc_end(m.enc), 0);
	}
	file = finish(&m, &notes);
	/* 48 bytes of fixed values, and 20 of the event with its size, padded */
	cr_assert_eq(head_of(&file)->data.sz, 2 * (8 + 40 + 24), "%lu", head_of(&file)->data.sz);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0);
	dial9_schema_free(schema);
	foreign_notes_fini(&notes);
	buf_free(&file);
}

/* perf takes a file whose records have no bytes for an unfinished file. */
Test(perfdata_export, a_trace_without_events_is_a_finished_file)
{
	struct foreign_notes notes = { 0 };
	struct maker m;
	struct buf file;

	begin(&m);
	file = finish(&m, &notes);
	cr_assert_eq(head_of(&file)->data.sz, 8);
	cr_assert_eq(head_of(&file)->attrs.sz, sizeof(struct file_attr));
	foreign_notes_fini(&notes);
	buf_free(&file);
}

Test(perfdata_export, a_trace_that_is_followed_is_refused)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3, .follow = true };
	struct foreign_notes notes = { 0 };
	struct buf out = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;

	quiet();
	foreign_mem_input(&mem, "", 0, &in);
	in.rewind = NULL;
	cr_assert_eq(perfdata_format.export(&in, &opts, add_to_buf, &out, &notes), -EINVAL);
	cr_assert_eq(out.len, 0);
}
