/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_REPLAY_H
#define D9_FORMATS_HEPH_REPLAY_H

#include "formats/heph/attributes.h"
#include "formats/heph/mapping.h"

/* Whether the event is what an import from Heph makes, so that it can go back as it was. */
bool heph_replay_is(const struct heph_mapping *mapping, const struct dial9_event *ev);

/* Appends such an event as the packet that it was, or nothing if it was none. @attrs is scratch. */
void heph_replay_write(struct buf *out, struct heph_attr_out *attrs,
		       const struct heph_mapping *mapping, const struct dial9_event *ev);

/* The packet in the value of an event of kind HEPH_MAPPING_PACKET, borrowed; false: it is none any more. */
bool heph_replay_packet(const struct dial9_value *v, struct heph_event *out);

/*
 * The fields of an event of kind HEPH_MAPPING_FIELDS: start and end as they are, text borrowed, and
 * attributes appended to @attrs.
 */
void heph_replay_fields(struct heph_attr_out *attrs, const struct heph_mapping *mapping,
			const struct dial9_event *ev, struct heph_event *out);

/* Appends the event as a packet with what @attrs holds, which is empty then. */
void heph_replay_put(struct buf *out, struct heph_attr_out *attrs, struct heph_event *ev);

/* Appends the epoch, wall-clock ns. */
void heph_replay_epoch(struct buf *out, uint64_t epoch);

/* A time as 64 bits hold it; what is beyond, at the limit and noted. */
uint64_t heph_replay_time(struct foreign_notes *notes, __int128 ns);

#endif /* D9_FORMATS_HEPH_REPLAY_H */
