/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PERFETTO_PERFETTO_PACKET_H
#define D9_EXPORT_PERFETTO_PERFETTO_PACKET_H

/*
 * Parts of Perfetto packets that the exporter's files share: the packet with its time, text fields,
 * and the state of the export.
 */
#include "export/exporter.h"
#include "export/proto.h"
#include "export/stack_tree.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_INTERNED = 12 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6 };

struct perfetto {
	struct buf text; /* see perfetto_put_text() */
	bool has_sequence; /* the sequence has started */
	uint32_t clock; /* CLOCK_*_ID: of all times */
	struct hmap plans; /* schema -> struct plan of perfetto.c */
	struct hmap processes; /* pid + 1 of processes written so far */
	uint32_t offcpu_part; /* 1 + the last part with off-CPU intervals instead of switches */
	/* perfetto_stacks.c */
	struct stack_tree stacks;
	struct hmap modules; /* index + 1, likewise */
	struct hmap leaves, leaf_texts; /* node + 1 of stacks, likewise */
	size_t func_cnt; /* functions, likewise */
	uint64_t *ids;
	size_t ids_cap;
	/* perfetto_tracks.c */
	struct hmap tracks; /* numbers of tracks, likewise */
	struct hmap counters; /* event << 32 | field, of names -> from 1 on */
};

/*
 * Starts a packet at that time, which may refer to stacks and tracks already written; proto_end()
 * ends it.
 */
size_t perfetto_packet_in_sequence(struct export *x, uint64_t ts);

/* Writes the state's text as field @field, and empties it. */
void perfetto_put_text(struct export *x, uint32_t field);
/* Writes a string id as field @field. */
void perfetto_put_name(struct export *x, uint32_t field, uint32_t name);

#endif /* D9_EXPORT_PERFETTO_PERFETTO_PACKET_H */
