// SPDX-License-Identifier: BSD-2-Clause
/*
 * A ring buffer of any content, taken record by record through ring_peek(), which is the edge, and translated
 * with the event definitions of tests/fixtures/format.
 *
 * The input is what the kernel would have written, except that the first words of frames are only busy or
 * discarded when the input says so. Asserted is what must hold for any bytes: each record that passes the edge
 * becomes an event or is refused as not requested, the counters add up, and the whole output is valid dial9.
 */
#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "events/emit.h"
#include "kernel/tracefs/format.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/ring/ring.h"
#include "record/encode/translate.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/stacks.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"

enum { RING_SZ = 1 << 16, NO_SUCH_TID = 5000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct eventset events;

static void add_event(const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	static char text[1 << 16];
	struct format_event *format;
	struct event_def *def;
	char system[64];
	size_t n;
	FILE *f;

	snprintf(system, sizeof(system), "%.*s", (int)strcspn(base, "."), base);
	f = fopen(path, "r");
	assert(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (format_parse(text, n, system, &format, NULL) || event_def_new(format, &def))
		return;
	events.defs = realloc(events.defs, (events.cnt + 1) * sizeof(*events.defs));
	events.defs[events.cnt++] = def;
}

/* Once: they are as constant as the kernel's. Sorted, so that a corpus keeps its meaning. */
static void load_events(void)
{
	const char *top = getenv("D9_TOP");
	char pattern[4096];
	glob_t paths;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/tests/fixtures/format/*.format", top ? top : ".");
	assert(!glob(pattern, 0, NULL, &paths));
	for (i = 0; i < paths.gl_pathc; i++)
		add_event(paths.gl_pathv[i]);
	globfree(&paths);
	assert(events.cnt > 20);
}

/* A task that exists, with a file, so that its addresses get modules. */
static void add_task(struct tasks *tasks)
{
	struct perf_side side = { .type = PERF_SIDE_FORK,
				  .time = 1,
				  .pid = NO_SUCH_TID,
				  .tid = NO_SUCH_TID,
				  .ppid = 1,
				  .ptid = 1,
				  .name = "" };

	tasks_side(tasks, &side);
	side.type = PERF_SIDE_MMAP;
	side.addr = 0x400000;
	side.len = 0x100000;
	side.prot = 5;
	side.build_id_sz = 1;
	side.name = "/bin/x";
	side.name_len = 6;
	tasks_side(tasks, &side);
}

static void assert_decodes(const struct dial9_enc *enc, uint64_t want)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts) };
	struct dial9_frame frame;
	struct dial9_dec *dec;
	uint64_t have = 0;
	int got;

	opts.data = dial9_enc_data(enc, &opts.data_sz);
	got = dial9_dec_new(&opts, &dec);
	assert(!got);
	while ((got = dial9_dec_next(dec, &frame)) == 1)
		if (frame.kind == DIAL9_FRAME_EVENT)
			have += strchr(dial9_schema_name(frame.event.schema), ':') != NULL;
	assert(!got);
	assert(have == want);
	dial9_dec_free(dec);
}

/* Reading /proc for each number would make it slow, and no PID of the input may mean a task. */
static void adopt(struct prof_rec *rec)
{
	rec->pid = NO_SUCH_TID;
	rec->tid = NO_SUCH_TID + rec->tid % 4;
}

static void drain(struct ring *ring, struct translate *t, struct dial9_enc *enc)
{
	const struct prof_rec *rec;
	uint64_t taken = 0, samples = 0;
	int err;

	while ((rec = ring_peek(ring))) {
		adopt((struct prof_rec *)rec);
		err = translate_record(t, rec);
		assert(!err || (err == -EBADMSG && rec->kind != PROF_REC_SAMPLE &&
				rec->event >= events.cnt));
		taken += !err && rec->kind != PROF_REC_SAMPLE;
		samples += !err && rec->kind == PROF_REC_SAMPLE;
		ring_pass(ring);
	}
	assert(translate_written(t, PROF_CLASS_TRACEPOINT) == taken);
	assert(translate_written(t, PROF_CLASS_SAMPLE) == samples);
	assert_decodes(enc, taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned long consumer = 0, producer = size < RING_SZ ? size & ~7UL : RING_SZ;
	/* It never wraps, so it needs no more: a sanitizer sees a step outside. */
	uint8_t *bytes = malloc(producer ? producer : 1);
	struct ring ring = {
		.data = bytes, .consumer = &consumer, .producer = &producer, .sz = RING_SZ
	};
	struct dial9_enc *enc;
	struct emit *emit;
	struct frames *frames;
	struct tasks *tasks;
	struct stacks *stacks;
	struct translate *t;

	if (!events.cnt)
		load_events();
	memcpy(bytes, data, producer);
	if (dial9_enc_new(NULL, &enc) || emit_new(enc, false, &emit) ||
	    frames_new(emit, NULL, false, &frames))
		abort();
	tasks = tasks_new(true);
	add_task(tasks);
	stacks = stacks_new(frames);
	t = translate_new(&(struct translate_cfg){ .enc = enc,
						   .emit = emit,
						   .events = &events,
						   .tasks = tasks,
						   .stacks = stacks,
						   .frames = frames });
	drain(&ring, t, enc);
	translate_free(t);
	stacks_free(stacks);
	tasks_free(tasks);
	frames_free(frames);
	emit_free(emit);
	dial9_enc_free(enc);
	free(bytes);
	return 0;
}
