// SPDX-License-Identifier: BSD-2-Clause
/*
 * poller [--now] FILE [ROUNDS]
 *
 * A service that writes its events into FILE like Tokio's dial9: two threads, "stalled" and "other", each a
 * worker of the runtime, poll tasks, park and unpark, and each leaves batches of its own events, which are not
 * in order of time together. In each of ROUNDS (3) rounds a thread is another worker than before, and polls 12
 * tasks. Four tasks of "stalled" stall in the ways of stalls.h and one computes for 20 ms of its own CPU time.
 *
 *	ready pid=P tid=T stalled=TID other=TID holder=TID hog=TID pager=TID writer=TID
 *	mutex0_from=NS mutex0_to=NS	the poll, as FILE has it
 *	...
 *	compute2_from=NS compute2_to=NS
 *	polls=N
 */
#include "dial9.h"
#include "stalls.h"

enum { PER_ROUND = 12, WORK_NS = 50000, COMPUTE = KINDS };

static int file;
static pthread_barrier_t rounds_end;
static uint64_t times[ROUNDS_MAX][KINDS + 1][2];

static void check(int err)
{
	if (err) {
		fprintf(stderr, "poller: libdial9: %s\n", strerror(-err));
		exit(2);
	}
}

/* ---- events ------------------------------------------------------------------------------------ */

enum event { SYNC, METADATA, POLL_START, POLL_END, PARK, UNPARK, SPAN_ENTER, SPAN_EXIT, EVENTS };

#define WORKER                                                                                     \
	{                                                                                          \
		"worker_id", DIAL9_VARINT                                                          \
	}
#define SPAN "poller::answer:tests/stimuli/poller.c"

static const struct {
	const char *name;
	struct dial9_field fields[5];
	size_t cnt;
} events[EVENTS] = {
	[SYNC] = { "ClockSyncEvent", { { "realtime_ns", DIAL9_VARINT } }, 1 },
	[METADATA] = { "SegmentMetadataEvent", { { "entries", DIAL9_STRING_MAP } }, 1 },
	[POLL_START] = { "PollStartEvent",
			 { WORKER,
			   { "local_queue", DIAL9_U8 },
			   { "task_id", DIAL9_VARINT },
			   { "spawn_loc", DIAL9_POOLED_STRING } },
			 4 },
	[POLL_END] = { "PollEndEvent", { WORKER }, 1 },
	[PARK] = { "WorkerParkEvent",
		   { WORKER,
		     { "local_queue", DIAL9_U8 },
		     { "cpu_time_ns", DIAL9_VARINT },
		     { "tid", DIAL9_U32 } },
		   4 },
	[UNPARK] = { "WorkerUnparkEvent",
		     { WORKER,
		       { "local_queue", DIAL9_U8 },
		       { "cpu_time_ns", DIAL9_VARINT },
		       { "sched_wait_ns", DIAL9_VARINT },
		       { "tid", DIAL9_U32 } },
		     5 },
	[SPAN_ENTER] = { "SpanEnter:" SPAN,
			 { WORKER,
			   { "span_id", DIAL9_VARINT },
			   { "parent_span_id", DIAL9_VARINT | DIAL9_OPTIONAL },
			   { "span_name", DIAL9_POOLED_STRING } },
			 4 },
	[SPAN_EXIT] = { "SpanExit:" SPAN,
			{ WORKER,
			  { "span_id", DIAL9_VARINT },
			  { "span_name", DIAL9_POOLED_STRING } },
			3 },
};

static struct dial9_schema *schemas[EVENTS];

static void begin_event(struct dial9_enc *enc, enum event e, uint64_t ts)
{
	check(dial9_enc_begin(enc, schemas[e], ts));
}

static void put_varint(struct dial9_enc *enc, uint64_t v)
{
	check(dial9_enc_put_u64(enc, v));
}

static void put_text(struct dial9_enc *enc, const char *s)
{
	check(dial9_enc_put_str(enc, s, strlen(s)));
}

static void end_event(struct dial9_enc *enc)
{
	check(dial9_enc_end(enc));
}

static struct dial9_enc *new_batch(void)
{
	struct dial9_enc *enc;

	check(dial9_enc_new(NULL, &enc));
	return enc;
}

/* Appended with its own header. */
static void append_batch(struct dial9_enc *enc)
{
	size_t sz;
	const void *data = dial9_enc_data(enc, &sz);

	if (write(file, data, sz) != (ssize_t)sz)
		die("write");
	dial9_enc_free(enc);
}

/* The common part of all batches comes first. */
static void open_file(const char *path)
{
	const struct dial9_str service[1][2] = { { { "service", 7 }, { "poller", 6 } } };
	const uint64_t now = stim_clock_ns(CLOCK_MONOTONIC);
	struct dial9_enc *enc;

	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (file < 0)
		die(path);
	for (int e = 0; e < EVENTS; e++)
		check(dial9_schema_new(events[e].name, true, events[e].fields, events[e].cnt,
				       &schemas[e]));
	enc = new_batch();
	begin_event(enc, METADATA, now);
	check(dial9_enc_put_map(enc, service, 1));
	end_event(enc);
	begin_event(enc, SYNC, now);
	put_varint(enc, stim_clock_ns(CLOCK_REALTIME));
	end_event(enc);
	append_batch(enc);
}

/* ---- workers ----------------------------------------------------------------------------------- */

struct worker {
	bool stalls;
	atomic_long tid;
	struct dial9_enc *enc;
	uint64_t id; /* in this round */
	uint64_t tasks;
};

static struct worker workers[2] = { { .stalls = true }, { .stalls = false } };

static void put_rest(struct worker *w, enum event e)
{
	begin_event(w->enc, e, stim_clock_ns(CLOCK_MONOTONIC));
	put_varint(w->enc, w->id);
	put_varint(w->enc, 0);
	put_varint(w->enc, stim_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	if (e == UNPARK)
		put_varint(w->enc, 0);
	put_varint(w->enc, (uint64_t)atomic_load(&w->tid));
	end_event(w->enc);
}

static void put_span(struct worker *w, enum event e, const char *name)
{
	begin_event(w->enc, e, stim_clock_ns(CLOCK_MONOTONIC));
	put_varint(w->enc, w->id);
	put_varint(w->enc, w->tasks);
	if (e == SPAN_ENTER)
		check(dial9_enc_put_none(w->enc));
	put_text(w->enc, name);
	end_event(w->enc);
}

STIM_NOINLINE static void compute(void)
{
	burn(STALL_NS);
}

/* kind < 0: it does not stall. */
static const char *name_of(int kind)
{
	return kind < 0 ? "short" : kind == COMPUTE ? "compute" : kind_names[kind];
}

static void poll_task(struct worker *w, unsigned long round, int kind)
{
	const char *name = name_of(kind);
	const uint64_t from = stim_clock_ns(CLOCK_MONOTONIC);
	char spawned[48];
	uint64_t to;

	snprintf(spawned, sizeof(spawned), "src/%s.rs:7:9", name);
	begin_event(w->enc, POLL_START, from);
	put_varint(w->enc, w->id);
	put_varint(w->enc, 0);
	put_varint(w->enc, ++w->tasks);
	put_text(w->enc, spawned);
	end_event(w->enc);
	put_span(w, SPAN_ENTER, name);
	burn(WORK_NS);
	if (kind == COMPUTE)
		compute();
	else if (kind >= 0)
		stall((enum kind)kind, round);
	put_span(w, SPAN_EXIT, name);
	to = stim_clock_ns(CLOCK_MONOTONIC);
	begin_event(w->enc, POLL_END, to);
	put_varint(w->enc, w->id);
	end_event(w->enc);
	if (kind >= 0) {
		times[round][kind][0] = from;
		times[round][kind][1] = to;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	if (w->stalls) {
		have_the_cpu("stalled");
	} else {
		prctl(PR_SET_NAME, "other");
		pin(true);
	}
	atomic_store(&w->tid, syscall(SYS_gettid));
	pthread_barrier_wait(&rounds_end);
	for (unsigned long round = 0; round < rounds; round++) {
		w->enc = new_batch();
		w->id = (round + w->stalls) & 1;
		put_rest(w, UNPARK);
		for (int k = 0; k < PER_ROUND; k++)
			poll_task(w, round, w->stalls && k % 2 && k / 2 <= COMPUTE ? k / 2 : -1);
		put_rest(w, PARK);
		append_batch(w->enc);
		pthread_barrier_wait(&rounds_end);
	}
	return NULL;
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void print_all_times(void)
{
	for (unsigned long r = 0; r < rounds; r++)
		for (int k = 0; k <= COMPUTE; k++)
			print_times(name_of(k), r, times[r][k]);
	printf("polls=%lu\n", 2 * rounds * PER_ROUND);
}

int main(int argc, char **argv)
{
	const bool now = stim_parse_now(&argc, &argv);
	pthread_t threads[2], helping[KINDS];
	char extra[160];

	rounds = stim_arg(argc, argv, 2, 3);
	if (argc < 2 || rounds > ROUNDS_MAX)
		return 2;
	prepare_stalls();
	open_file(argv[1]);
	pthread_barrier_init(&rounds_end, NULL, 3);
	for (int k = 0; k < 2; k++)
		threads[k] = start(work, &workers[k]);
	snprintf(extra, sizeof(extra), "stalled=%ld other=%ld", tid_of(&workers[0].tid),
		 tid_of(&workers[1].tid));
	start_helpers(helping, extra, sizeof(extra));
	stim_start(now, extra);
	for (unsigned long round = 0; round <= rounds; round++)
		pthread_barrier_wait(&rounds_end);
	for (int k = 0; k < 2; k++)
		pthread_join(threads[k], NULL);
	for (int k = 0; k < KINDS; k++)
		pthread_join(helping[k], NULL);
	for (int e = 0; e < EVENTS; e++)
		dial9_schema_free(schemas[e]);
	if (close(file))
		die("close");
	print_all_times();
	stim_done(now);
	return 0;
}
