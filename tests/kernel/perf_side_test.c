// SPDX-License-Identifier: BSD-2-Clause
/* Side-band records, put together byte by byte after perf_event_open(2), whole and damaged. */
#include "kernel/perf_side.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct record {
	uint8_t bytes[512];
	size_t sz;
};

static void put(struct record *r, const void *p, size_t sz)
{
	memcpy(r->bytes + r->sz, p, sz);
	r->sz += sz;
}

static void put_u32(struct record *r, uint32_t v)
{
	put(r, &v, sizeof(v));
}

static void put_u64(struct record *r, uint64_t v)
{
	put(r, &v, sizeof(v));
}

static void put_header(struct record *r, uint32_t type, uint16_t misc)
{
	uint16_t sz = 0;

	r->sz = 0;
	put_u32(r, type);
	put(r, &misc, sizeof(misc));
	put(r, &sz, sizeof(sz));
}

/* A name padded to 8 bytes with at least one NUL. */
static void put_name(struct record *r, const char *name)
{
	char padded[256] = { 0 };

	strcpy(padded, name);
	put(r, padded, (strlen(name) / 8 + 1) * 8);
}

/* pid 100, tid 101, time 123456789, CPU 3; then the size goes into the header. */
static void put_trailer(struct record *r)
{
	uint16_t sz;

	put_u32(r, 100);
	put_u32(r, 101);
	put_u64(r, 123456789);
	put_u32(r, 3);
	put_u32(r, 0);
	sz = r->sz;
	memcpy(r->bytes + 6, &sz, sizeof(sz));
}

static void make_mmap2(struct record *r, uint16_t misc, const char *name)
{
	put_header(r, PERF_RECORD_MMAP2, misc);
	put_u32(r, 7);
	put_u32(r, 8);
	put_u64(r, 0x7f0000001000);
	put_u64(r, 0x2000);
	put_u64(r, 0x3000);
	if (misc & (1 << 14)) {
		const uint8_t id[24] = { 20, 0,	 0,  0,	 1,  2,	 3,  4,	 5,  6,	 7,  8,
					 9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

		put(r, id, sizeof(id));
	} else {
		put_u32(r, 0xfd);
		put_u32(r, 1);
		put_u64(r, 4711);
		put_u64(r, 0);
	}
	put_u32(r, 5);
	put_u32(r, 2);
	put_name(r, name);
	put_trailer(r);
}

static void make_task(struct record *r, uint32_t type)
{
	put_header(r, type, 0);
	put_u32(r, 20);
	put_u32(r, 10);
	put_u32(r, 21);
	put_u32(r, 11);
	put_u64(r, 99);
	put_trailer(r);
}

static void make_comm(struct record *r, uint16_t misc)
{
	put_header(r, PERF_RECORD_COMM, misc);
	put_u32(r, 7);
	put_u32(r, 8);
	put_name(r, "sh\n(1)");
	put_trailer(r);
}

static void make_ksymbol(struct record *r, uint16_t flags)
{
	uint16_t type = 1;

	put_header(r, PERF_RECORD_KSYMBOL, 0);
	put_u64(r, 0xffffffffc0001000);
	put_u32(r, 0x180);
	put(r, &type, sizeof(type));
	put(r, &flags, sizeof(flags));
	put_name(r, "bpf_prog_1234_x");
	put_trailer(r);
}

static void make_lost(struct record *r)
{
	put_header(r, PERF_RECORD_LOST, 0);
	put_u64(r, 55);
	put_u64(r, 1000);
	put_trailer(r);
}

/* Parses a copy that is exactly as large, so that a sanitizer detects a read one byte too far. */
static int parse(const struct record *r, size_t sz, struct perf_side *out)
{
	uint8_t *copy = malloc(sz ? sz : 1);
	int err;

	memcpy(copy, r->bytes, sz);
	err = perf_side_parse(copy, sz, out);
	if (!err) {
		cr_assert_leq(out->name_len, sz);
		out->name =
			out->name_len ? (const char *)r->bytes + (out->name - (char *)copy) : "";
	}
	free(copy);
	return err;
}

Test(perf_side, mmap_with_a_build_id)
{
	struct perf_side s;
	struct record r;

	make_mmap2(&r, 1 << 14, "/usr/lib/libc.so.6");
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_MMAP);
	cr_assert(s.pid == 7 && s.tid == 8 && s.cpu == 3 && s.time == 123456789);
	cr_assert(s.addr == 0x7f0000001000 && s.len == 0x2000 && s.pgoff == 0x3000);
	cr_assert(s.prot == 5 && s.flags == 2 && s.maj == 0 && s.ino == 0);
	cr_assert_eq(s.build_id_sz, 20);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(s.build_id[i], i + 1);
	cr_assert_str_eq(s.name, "/usr/lib/libc.so.6");
	cr_assert_eq(s.name_len, 18);
}

Test(perf_side, mmap_with_an_inode)
{
	struct perf_side s;
	struct record r;

	make_mmap2(&r, 0, "//anon");
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert(s.maj == 0xfd && s.min == 1 && s.ino == 4711 && s.build_id_sz == 0);
	cr_assert_str_eq(s.name, "//anon");
}

Test(perf_side, too_long_build_id_is_refused)
{
	struct perf_side s;
	struct record r;

	make_mmap2(&r, 1 << 14, "/x");
	r.bytes[8 + 32] = 21;
	cr_assert_eq(parse(&r, r.sz, &s), -EBADMSG);
}

Test(perf_side, fork_and_exit_have_child_and_parent)
{
	struct perf_side s;
	struct record r;

	make_task(&r, PERF_RECORD_FORK);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_FORK);
	cr_assert(s.pid == 20 && s.ppid == 10 && s.tid == 21 && s.ptid == 11);
	make_task(&r, PERF_RECORD_EXIT);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_EXIT);
}

Test(perf_side, comm_record_has_its_exec_flag)
{
	struct perf_side s;
	struct record r;

	make_comm(&r, PERF_RECORD_MISC_COMM_EXEC);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_COMM);
	cr_assert(s.comm_exec && s.pid == 7 && s.tid == 8);
	cr_assert_str_eq(s.name, "sh\n(1)");
	make_comm(&r, 0);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_not(s.comm_exec);
}

Test(perf_side, ksymbols_are_registered_and_unregistered)
{
	struct perf_side s;
	struct record r;

	make_ksymbol(&r, 0);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_KSYMBOL);
	cr_assert(s.addr == 0xffffffffc0001000 && s.len == 0x180 && !s.unregister);
	cr_assert_str_eq(s.name, "bpf_prog_1234_x");
	make_ksymbol(&r, 1);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert(s.unregister);
}

/*
 * As a 6.18 kernel wrote it with three other listeners on the CPU: the header says 152 bytes, the last 72 of
 * which are old contents of the ring.
 */
static const uint8_t stale_tail[] = {
	0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x98, 0x00, 0x18, 0x21, 0x02, 0xc0, 0xff, 0xff,
	0xff, 0xff, 0x14, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x62, 0x70, 0x66, 0x5f,
	0x70, 0x72, 0x6f, 0x67, 0x5f, 0x35, 0x39, 0x66, 0x34, 0x61, 0x39, 0x33, 0x31, 0x37,
	0x34, 0x34, 0x64, 0x63, 0x64, 0x63, 0x36, 0x5f, 0x74, 0x77, 0x6f, 0x00, 0x00, 0x00,
	0x21, 0x4c, 0x00, 0x00, 0x21, 0x4c, 0x00, 0x00, 0x73, 0x66, 0xba, 0xd2, 0x06, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xda, 0xbf, 0x85, 0x9f,
	0x4e, 0xe7, 0x0c, 0xb0, 0xc3, 0x03, 0x00, 0x4d, 0xcc, 0xf1, 0xae, 0x51, 0x05, 0x00,
	0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x2f, 0x75, 0x73, 0x72, 0x2f, 0x62, 0x69, 0x6e,
	0x2f, 0x74, 0x72, 0x75, 0x65, 0x00, 0x00, 0x00, 0x21, 0x4c, 0x00, 0x00, 0x21, 0x4c,
	0x00, 0x00, 0x47, 0x6d, 0xdb, 0xd0, 0x06, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x02, 0x40, 0x70, 0x00,
};

Test(perf_side, extra_bytes_of_a_ksymbol_record_are_not_read)
{
	struct record r = { .sz = sizeof(stale_tail) };
	struct perf_side s;

	memcpy(r.bytes, stale_tail, sizeof(stale_tail));
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_KSYMBOL);
	cr_expect_eq(s.time, 1128816862835);
	cr_expect(s.pid == 19489 && s.tid == 19489 && s.cpu == 0);
	cr_expect(s.addr == 0xffffffffc0022118 && s.len == 0x14 && !s.unregister);
	cr_expect_str_eq(s.name, "bpf_prog_59f4a931744dcdc6_two");
}

/* The same would be true of any type: the trailer is where the layout says. */
Test(perf_side, trailer_directly_follows_the_name)
{
	static const uint8_t stale[48] = { 0xff, 0xff, 0xff };
	struct record all[4];
	struct perf_side s;
	uint16_t sz;

	make_mmap2(&all[0], 0, "/usr/lib/seven77");
	make_comm(&all[1], 0);
	make_task(&all[2], PERF_RECORD_EXIT);
	make_lost(&all[3]);
	for (int i = 0; i < 4; i++) {
		put(&all[i], stale, sizeof(stale));
		sz = all[i].sz;
		memcpy(all[i].bytes + 6, &sz, sizeof(sz));
		cr_assert_eq(parse(&all[i], sz, &s), 0);
		cr_expect(s.time == 123456789 && s.cpu == 3, "record %d", i);
	}
}

Test(perf_side, record_without_room_for_its_trailer_is_refused)
{
	struct perf_side s;
	struct record r;
	uint16_t sz;

	make_ksymbol(&r, 0);
	sz = r.sz - 8;
	memcpy(r.bytes + 6, &sz, sizeof(sz));
	cr_assert_eq(parse(&r, sz, &s), -EBADMSG);
}

Test(perf_side, lost_records_are_counted)
{
	struct perf_side s;
	struct record r;

	make_lost(&r);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_LOST);
	cr_assert_eq(s.lost, 1000);
}

Test(perf_side, unknown_type_keeps_its_time)
{
	struct perf_side s;
	struct record r;

	put_header(&r, 999, 0);
	put_u64(&r, 1);
	put_trailer(&r);
	cr_assert_eq(parse(&r, r.sz, &s), 0);
	cr_assert_eq(s.type, PERF_SIDE_OTHER);
	cr_assert(s.time == 123456789 && s.pid == 100 && s.tid == 101);
}

Test(perf_side, truncated_records_are_never_read_past_their_end)
{
	struct record all[6];
	struct perf_side s;

	make_mmap2(&all[0], 1 << 14, "/usr/lib/x");
	make_mmap2(&all[1], 0, "/usr/lib/x");
	make_task(&all[2], PERF_RECORD_FORK);
	make_comm(&all[3], 0);
	make_ksymbol(&all[4], 0);
	make_lost(&all[5]);
	for (int i = 0; i < 6; i++) {
		for (uint16_t sz = 0; sz < all[i].sz; sz++) {
			struct record cut = all[i];

			/* A wrong size, then a right size for too few bytes. */
			cr_assert_eq(parse(&cut, sz, &s), -EBADMSG);
			memcpy(cut.bytes + 6, &sz, sizeof(sz));
			if (parse(&cut, sz, &s) == 0)
				cr_assert_leq(s.name_len, sz);
		}
	}
}

Test(perf_side, name_without_its_nul_is_refused)
{
	struct perf_side s;
	struct record r;

	make_comm(&r, 0);
	memset(r.bytes + 16, 'x', 8);
	cr_assert_eq(parse(&r, r.sz, &s), -EBADMSG);
}
