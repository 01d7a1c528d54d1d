/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes one process metadata record of perf: bytes in, struct out, no state.
 *
 * The layout follows from the attributes in perf_ring.c: a fixed part, for some types a name padded
 * with NULs to 8 bytes, then a trailer of three words (pid and tid, time, cpu), because of
 * sample_id_all with TID, TIME and CPU. The size in the header is only an upper bound: for a
 * KSYMBOL the kernel adds to it once per listener, and leaves old ring data after the trailer. So
 * the trailer is read after the name; only for unknown layouts it is read at the end. No byte
 * outside the record is read.
 */
#include "kernel/perf_side.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* In the uapi header since 5.12 */
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif
#define KSYMBOL_UNREGISTER 1

struct side_trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct side_mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		} file;
		struct {
			uint8_t sz, reserved[3];
			uint8_t bytes[PERF_BUILD_ID_MAX];
		} build_id;
	};
	uint32_t prot, flags;
};

struct side_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct side_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
};

_Static_assert(sizeof(struct side_trailer) == 24, "perf's sample_id with TID, TIME, CPU");
_Static_assert(sizeof(struct side_mmap2) == 64, "perf's MMAP2 without header and name");
_Static_assert(sizeof(struct side_task) == 24, "perf's FORK and EXIT");
_Static_assert(sizeof(struct side_ksymbol) == 16, "perf's KSYMBOL without name");

/* The unread rest of a record's body */
struct body {
	const uint8_t *at;
	size_t sz;
};

static int read_bytes(struct body *b, void *to, size_t sz)
{
	if (b->sz < sz)
		return -EBADMSG;
	memcpy(to, b->at, sz);
	b->at += sz;
	b->sz -= sz;
	return 0;
}

/* Reads a name with its NUL, padded to 8 bytes. */
static int read_name(struct body *b, struct perf_side *out)
{
	size_t len = strnlen((const char *)b->at, b->sz), padded = (len / 8 + 1) * 8;

	if (padded > b->sz)
		return -EBADMSG;
	out->name = (const char *)b->at;
	out->name_len = len;
	b->at += padded;
	b->sz -= padded;
	return 0;
}

/* Reads the trailer. pid and tid in the record itself take precedence. */
static int read_trailer(struct body *b, struct perf_side *out)
{
	struct side_trailer t;

	if (read_bytes(b, &t, sizeof(t)))
		return -EBADMSG;
	out->time = t.time;
	out->cpu = t.cpu;
	if (out->type == PERF_SIDE_KSYMBOL || out->type == PERF_SIDE_LOST ||
	    out->type == PERF_SIDE_OTHER) {
		out->pid = t.pid;
		out->tid = t.tid;
	}
	return 0;
}

static int parse_mmap2(struct body *b, uint16_t misc, struct perf_side *out)
{
	struct side_mmap2 m;

	if (read_bytes(b, &m, sizeof(m)))
		return -EBADMSG;
	out->type = PERF_SIDE_MMAP;
	out->pid = m.pid;
	out->tid = m.tid;
	out->addr = m.addr;
	out->len = m.len;
	out->pgoff = m.pgoff;
	out->prot = m.prot;
	out->flags = m.flags;
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (m.build_id.sz > PERF_BUILD_ID_MAX)
			return -EBADMSG;
		out->build_id_sz = m.build_id.sz;
		memcpy(out->build_id, m.build_id.bytes, m.build_id.sz);
	} else {
		out->maj = m.file.maj;
		out->min = m.file.min;
		out->ino = m.file.ino;
	}
	return read_name(b, out);
}

static int parse_comm(struct body *b, uint16_t misc, struct perf_side *out)
{
	uint32_t ids[2];

	if (read_bytes(b, ids, sizeof(ids)))
		return -EBADMSG;
	out->type = PERF_SIDE_COMM;
	out->pid = ids[0];
	out->tid = ids[1];
	out->comm_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	return read_name(b, out);
}

static int parse_task(struct body *b, enum perf_side_type type, struct perf_side *out)
{
	struct side_task t;

	if (read_bytes(b, &t, sizeof(t)))
		return -EBADMSG;
	out->type = type;
	out->pid = t.pid;
	out->ppid = t.ppid;
	out->tid = t.tid;
	out->ptid = t.ptid;
	return 0;
}

static int parse_ksymbol(struct body *b, struct perf_side *out)
{
	struct side_ksymbol k;

	if (read_bytes(b, &k, sizeof(k)))
		return -EBADMSG;
	out->type = PERF_SIDE_KSYMBOL;
	out->addr = k.addr;
	out->len = k.len;
	out->unregister = k.flags & KSYMBOL_UNREGISTER;
	return read_name(b, out);
}

static int parse_lost(struct body *b, struct perf_side *out)
{
	uint64_t words[2]; /* event id, count */

	if (read_bytes(b, words, sizeof(words)))
		return -EBADMSG;
	out->type = PERF_SIDE_LOST;
	out->lost = words[1];
	return 0;
}

static int parse_body(uint32_t type, uint16_t misc, struct body *b, struct perf_side *out)
{
	switch (type) {
	case PERF_RECORD_MMAP2:
		return parse_mmap2(b, misc, out);
	case PERF_RECORD_COMM:
		return parse_comm(b, misc, out);
	case PERF_RECORD_FORK:
		return parse_task(b, PERF_SIDE_FORK, out);
	case PERF_RECORD_EXIT:
		return parse_task(b, PERF_SIDE_EXIT, out);
	case PERF_RECORD_KSYMBOL:
		return parse_ksymbol(b, out);
	case PERF_RECORD_LOST:
		return parse_lost(b, out);
	default:
		out->type = PERF_SIDE_OTHER;
		if (b->sz < sizeof(struct side_trailer))
			return -EBADMSG;
		b->at += b->sz - sizeof(struct side_trailer);
		b->sz = sizeof(struct side_trailer);
		return 0;
	}
}

int perf_side_parse(const void *rec, size_t sz, struct perf_side *out)
{
	struct perf_event_header header;
	struct body body = { .at = rec, .sz = sz };
	int err;

	if (read_bytes(&body, &header, sizeof(header)) || header.size != sz)
		return -EBADMSG;
	*out = (struct perf_side){ .name = "" };
	err = parse_body(header.type, header.misc, &body, out);
	return err ? err : read_trailer(&body, out);
}
