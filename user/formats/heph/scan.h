/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_SCAN_H
#define D9_FORMATS_HEPH_SCAN_H

#include "formats/foreign.h"
#include "formats/heph/wire.h"

/* Finds the packets in a file, and the next packet after damage. */
struct heph_scan;

enum heph_item_kind { HEPH_META, HEPH_EVENT, HEPH_DAMAGE };

enum heph_damage {
	HEPH_NO_PACKET, /* bytes that do not start one */
	HEPH_TRUNCATED, /* a packet that is shorter than its size field */
	HEPH_CUT, /* one whose inside says so, or in which not even the description fits */
};

struct heph_item {
	enum heph_item_kind kind;
	uint64_t off; /* in the file */
	const char *p; /* its bytes, borrowed until the next call */
	size_t sz;
	struct heph_meta meta; /* META */
	/*
	 * EVENT. With a fault the attributes in front of it are good, and so is the size. For
	 * HEPH_CUT: what the fixed fields say, if is_event.
	 */
	struct heph_event event;
	struct heph_fault fault;
	enum heph_damage damage; /* DAMAGE */
	bool fresh; /* DAMAGE: it starts here; otherwise these bytes go on the item before */
	bool is_event; /* HEPH_CUT: it has an event's fixed fields */
	uint32_t claimed; /* HEPH_TRUNCATED, HEPH_CUT: the size it gives itself */
};

/*
 * `in` must outlive the scanner. With follow, a packet is returned without waiting for bytes after
 * it; without follow, the bytes after a packet help to detect torn packets.
 */
void heph_scan_new(const struct foreign_input *in, bool follow, struct heph_scan **out);
void heph_scan_free(struct heph_scan *s);

/* 1 and an item, 0 at the end, or what read() failed with. All bytes are in one item each. */
int heph_scan_next(struct heph_scan *s, struct heph_item *out);

/* Magic and size: what a packet is known by. */
#define HEPH_START_SZ 8

/* True when the HEPH_START_SZ bytes at p may be the start of a packet. */
bool heph_scan_plausible(const char *p);

/* True for the one option that has a meaning, with a value of the right size. */
bool heph_scan_is_epoch(const struct heph_meta *m);

/* What a summary calls it; static. */
const char *heph_scan_damage_name(enum heph_damage damage);

#endif /* D9_FORMATS_HEPH_SCAN_H */
