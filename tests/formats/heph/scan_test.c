// SPDX-License-Identifier: BSD-2-Clause
/* Finding packets, and recovering after damage. */
#include "tests/formats/heph/support.h"

#include "formats/heph/scan.h"

struct opened {
	struct foreign_mem mem;
	struct foreign_input in;
	struct heph_scan *scan;
};

static void open_scan(struct opened *o, const struct buf *b, bool follow)
{
	foreign_mem_input(&o->mem, b->data, b->len, &o->in);
	heph_scan_new(&o->in, follow, &o->scan);
}

static void assert_event(struct opened *o, uint64_t off, const char *desc)
{
	struct heph_item it;

	cr_assert_eq(heph_scan_next(o->scan, &it), 1);
	cr_assert_eq(it.kind, HEPH_EVENT);
	cr_assert_eq(it.off, off);
	cr_assert(it.event.desc.len == strlen(desc) &&
		  !memcmp(it.event.desc.ptr, desc, it.event.desc.len));
}

static void assert_damage(struct opened *o, enum heph_damage damage, uint64_t off, size_t sz)
{
	struct heph_item it;

	cr_assert_eq(heph_scan_next(o->scan, &it), 1);
	cr_assert_eq(it.kind, HEPH_DAMAGE);
	cr_assert_eq(it.damage, damage);
	cr_assert(it.fresh);
	cr_assert_eq(it.off, off);
	cr_assert_eq(it.sz, sz, "%zu", it.sz);
}

static void assert_end(struct opened *o)
{
	struct heph_item it;

	cr_assert_eq(heph_scan_next(o->scan, &it), 0);
	heph_scan_free(o->scan);
}

/*
 * A short write: the size reaches into the next packet, whose start looks like the rest of a text, so that the
 * truncated packet decodes. Only the bytes after it show the damage.
 */
static struct buf torn_inside_text(size_t missing)
{
	struct buf attrs = { 0 }, out = { 0 };

	put_text(&attrs, "name", "a text of more than twenty bytes");
	put_event(&out, 1, 0, 1, 2, "torn", &attrs);
	out.len -= missing;
	put_event(&out, 1, 1, 3, 4, "first behind", NULL);
	put_event(&out, 1, 2, 5, 6, "second behind", NULL);
	buf_free(&attrs);
	return out;
}

Test(heph_scan, finds_packets_inside_a_truncated_packet)
{
	struct buf b = torn_inside_text(20);
	size_t torn = b.len - 42 - 12 - 42 - 13;
	struct opened o;

	open_scan(&o, &b, false);
	assert_damage(&o, HEPH_CUT, 0, torn);
	assert_event(&o, torn, "first behind");
	assert_event(&o, torn + 54, "second behind");
	assert_end(&o);
	buf_free(&b);
}

Test(heph_scan, accepts_a_size_that_another_packet_follows)
{
	struct buf inner = { 0 }, attrs = { 0 }, b = { 0 };
	struct heph_attr a = { .name = str("trace"), .type = HEPH_STR };
	struct opened o;

	/* A whole trace as the text of an attribute. */
	put_event(&inner, 9, 9, 9, 9, "inside", NULL);
	a.text = (struct dial9_str){ inner.data, inner.len };
	heph_wire_put_attr(&attrs, &a);
	put_event(&b, 1, 0, 1, 2, "outside", &attrs);
	put_event(&b, 1, 1, 3, 4, "behind", NULL);
	open_scan(&o, &b, false);
	assert_event(&o, 0, "outside");
	assert_event(&o, b.len - 48, "behind");
	assert_end(&o);
	buf_free(&inner);
	buf_free(&attrs);
	buf_free(&b);
}

Test(heph_scan, keeps_the_good_attributes_before_a_bad_one)
{
	struct buf attrs = { 0 }, b = { 0 };
	struct heph_item it;
	struct opened o;

	put_u64(&attrs, "good", 5);
	buf_add(&attrs, "\0\3bad\x7f", 6);
	put_event(&b, 1, 0, 1, 2, "e", &attrs);
	open_scan(&o, &b, false);
	cr_assert_eq(heph_scan_next(o.scan, &it), 1);
	cr_assert_eq(it.kind, HEPH_EVENT);
	cr_assert_eq(it.fault.kind, HEPH_BAD_TYPE);
	cr_assert_eq(it.fault.type, 0x7f);
	assert_end(&o);
	buf_free(&attrs);
	buf_free(&b);
}

Test(heph_scan, ignores_sizes_of_invalid_packets)
{
	static const uint32_t sizes[] = { 0, 9, 41, HEPH_PACKET_MAX + 1, UINT32_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf b = { 0 };
		struct heph_item it;
		struct opened o;

		put_event(&b, 1, 0, 1, 2, "one", NULL);
		for (int k = 0; k < 4; k++)
			b.data[4 + k] = (char)(sizes[i] >> (24 - 8 * k));
		put_event(&b, 1, 1, 3, 4, "two", NULL);
		open_scan(&o, &b, false);
		cr_assert_eq(heph_scan_next(o.scan, &it), 1);
		cr_assert_eq(it.kind, HEPH_DAMAGE);
		cr_assert_eq(it.sz, 45);
		assert_event(&o, 45, "two");
		assert_end(&o);
		buf_free(&b);
	}
}

Test(heph_scan, returns_long_damage_in_fragments_each_byte_once)
{
	struct buf b = { 0 };
	uint64_t sum = 0;
	struct heph_item it;
	struct opened o;

	for (int i = 0; i < 300000; i++)
		buf_addch(&b, i % 3 ? 'x' : '\x75');
	put_event(&b, 1, 0, 1, 2, "found", NULL);
	open_scan(&o, &b, false);
	while (heph_scan_next(o.scan, &it) == 1 && it.kind == HEPH_DAMAGE) {
		cr_assert_eq(it.off, sum);
		cr_assert_eq(it.fresh, !sum);
		sum += it.sz;
	}
	cr_assert_eq(sum, 300000);
	cr_assert_eq(it.kind, HEPH_EVENT);
	assert_end(&o);
	buf_free(&b);
}

static ssize_t never_read(void *ctx, void *buf, size_t sz)
{
	struct foreign_mem *m = ctx;
	size_t n = m->sz - m->pos;

	cr_assert(n, "asked for more than the packet");
	memcpy(buf, m->data, n);
	m->pos += n;
	return (ssize_t)n;
}

Test(heph_scan, returns_a_packet_without_waiting_for_the_next)
{
	struct buf b = { 0 };
	struct heph_item it;
	struct opened o;

	put_event(&b, 1, 0, 1, 2, "now", NULL);
	foreign_mem_input(&o.mem, b.data, b.len, &o.in);
	o.in.read = never_read;
	heph_scan_new(&o.in, true, &o.scan);
	cr_assert_eq(heph_scan_next(o.scan, &it), 1);
	cr_assert_eq(it.kind, HEPH_EVENT);
	heph_scan_free(o.scan);
	buf_free(&b);
}

/*
 * Each packet claims all later packets, which is detected only at the very end: the next packet's fixed fields
 * look like text in it, again and again.
 */
Test(heph_scan, needs_linear_time_for_nested_packets, .timeout = 60)
{
	enum { UNIT = 49, CNT = 200000 };
	struct buf b = { 0 };
	struct heph_item it;
	struct opened o;
	uint64_t sum = 0;

	for (size_t i = 0; i < CNT; i++) {
		uint32_t claim = (uint32_t)((CNT - i) * UNIT);

		put_event(&b, 1, (uint32_t)i, 1, 2, "", NULL);
		for (int k = 0; k < 4; k++)
			b.data[b.len - 38 + k] = (char)(claim >> (24 - 8 * k));
		/* No name, a string of 44 bytes: two here and 42 there. */
		buf_add(&b, "\0\0\4\0\x2c\0\0", 7);
	}
	open_scan(&o, &b, false);
	while (heph_scan_next(o.scan, &it) == 1)
		sum += it.sz;
	cr_assert_eq(sum, b.len);
	heph_scan_free(o.scan);
	buf_free(&b);
}
