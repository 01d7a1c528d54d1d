/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_SUPPORT_H
#define D9_TESTS_RECORD_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "record/tracepoint/eventset.h"

struct dial9_enc;
struct emit;
struct event_def;
struct frames;
struct perf_side;
struct prof_rec;
struct stacks;
struct tasks;
struct translate;

/* TIDs from here on are above every pid_max, so that /proc has no data for them. */
#define NO_SUCH_TID 5000000u

/* ---- files -------------------------------------------------------------------------------------- */

/* The whole of tests/DIR/NAME. The caller frees. Fails the test if it is missing. */
char *support_read(const char *path, size_t *sz);
/* The event of tests/fixtures/DIR/SYSTEM.NAME.format. */
struct event_def *support_event(const char *dir, const char *system_and_name);
/* A format text from a test: the common fields and then these lines. */
struct event_def *support_event_of(const char *system, const char *fields);

/* ---- records ------------------------------------------------------------------------------------ */

struct rec_parts {
	uint8_t kind, flags;
	uint16_t cpu, event;
	uint64_t ts;
	uint32_t pid, tid;
	const void *raw;
	size_t raw_len;
	const uint64_t *kstack, *ustack;
	size_t kstack_cnt, ustack_cnt;
};

/* Exactly as large as its size field, so that a sanitizer detects a read one byte too far. */
struct prof_rec *support_rec(const struct rec_parts *parts);

/* ---- everything between a record and the bytes of a trace ---------------------------------------- */

struct rig {
	struct dial9_enc *enc;
	struct emit *emit;
	struct eventset events;
	struct tasks *tasks;
	struct frames *frames;
	struct stacks *stacks;
	struct translate *translate;
};

void rig_init(struct rig *rig);
void rig_fini(struct rig *rig);
/* Takes ownership of def and returns its index. */
uint16_t rig_add(struct rig *rig, struct event_def *def);
/* A thread as announced by the side-band: a fork of pid 1 and a name. */
void rig_task(struct rig *rig, uint32_t pid, uint32_t tid, const char *comm);
/* An executable mapping, likewise. */
void rig_map(struct rig *rig, uint32_t pid, uint64_t start, uint64_t end, uint64_t pgoff,
	     const char *path);

/*
 * The events written since the last call, one a line:
 *
 *	TIME NAME field=value field=value
 *
 * Text is quoted, I64 has a sign, bytes and stacks are hexadecimal. Only events whose name begins
 * with `prefix`, and all with "". Borrowed until the next call.
 */
const char *rig_text(struct rig *rig, const char *prefix);

/* ---- what a test prints -------------------------------------------------------------------------- */

/* Standard error goes to a file from here to support_stderr(), which returns its contents. */
void support_catch_stderr(void);
const char *support_stderr(void);

#endif /* D9_TESTS_RECORD_SUPPORT_H */
