// SPDX-License-Identifier: BSD-2-Clause
/*
 * sched_trace SEED STEPS [NAME [HOST [BUILD [STRETCH]]]]: a trace of threads that run, are runnable and block on a few CPUs,
 * on standard output. Some events are dropped, some of these losses reported; threads are born, exec and exit.
 *
 * Odd seeds record one process alone; seeds that are 3 modulo 4 also watch CPUs for it; seeds that are 2 modulo
 * 4 record a command; seeds that are 1 modulo 3 have polls of workers, too; multiples of 5 record two CPUs
 * only; multiples of 9 report now and then which threads are followed; seeds that are 3 modulo 7 do not record
 * new threads; seeds from 100 on have off-CPU interval events instead of switches and wakeups. Each boot has ten
 * seeds.
 *
 * Two readers must have the same result. NAME is the name of threads, functions and files, BUILD a part of the build-ids. With
 * STRETCH the trace lasts that many times as long, and its processes are in two control groups.
 */
#include <stdio.h>

#include "tests/support/chance.h"
#include "tests/support/make_trace.h"

enum {
	CPUS = 3,
	THREADS = 12,
	FIRST_TID = 100,
	FUNCTIONS = 9,
	STACKS = 200,
	WORKERS = 3,
	STAY_NS = 20000
};

/* Of a thread that is off CPU; out 0: it is not. The last waker before that is recorded, too. */
struct off {
	uint64_t out, woken, state;
	uint32_t waker, context, cpu;
};

struct world {
	struct make m;
	struct chance chance;
	struct dial9_schema *waking, *birth, *migrate, *fork, *exec, *watch;
	struct dial9_schema *poll_start, *poll_end, *unpark, *followed, *off_cpu, *exit;
	bool neighbours, polls, reports_followed, off_cpu_events;
	struct off off[THREADS];
	bool follows; /* TaskEvents mark some as followed */
	bool polling[WORKERS];
	uint32_t worker[WORKERS]; /* tids; 0: not known yet */
	uint64_t ts;
	uint32_t on[CPUS]; /* tids; 0: idle */
	bool asleep[THREADS];
	uint32_t tid[THREADS]; /* 0: gone */
	uint32_t next_tid;
	const char *name, *host, *build; /* NULL: none */
	uint64_t stretch; /* 0: not given */
};

static void make_more_schemas(struct world *w)
{
	w->waking = MAKE_SCHEMA("sched:sched_waking", { "common_cpu", DIAL9_VARINT },
				{ "common_pid", DIAL9_VARINT }, { "comm", DIAL9_POOLED_STRING },
				{ "pid", DIAL9_VARINT }, { "target_cpu", DIAL9_VARINT },
				{ "context", DIAL9_VARINT });
	w->birth = MAKE_SCHEMA("sched:sched_wakeup_new", { "common_cpu", DIAL9_VARINT },
			       { "common_pid", DIAL9_VARINT }, { "comm", DIAL9_POOLED_STRING },
			       { "pid", DIAL9_VARINT }, { "target_cpu", DIAL9_VARINT });
	w->migrate = MAKE_SCHEMA("sched:sched_migrate_task", { "common_cpu", DIAL9_VARINT },
				 { "common_pid", DIAL9_VARINT }, { "pid", DIAL9_VARINT },
				 { "dest_cpu", DIAL9_VARINT });
	w->fork = MAKE_SCHEMA("sched:sched_process_fork", { "common_cpu", DIAL9_VARINT },
			      { "common_pid", DIAL9_VARINT }, { "child_pid", DIAL9_VARINT });
	w->exec = MAKE_SCHEMA("sched:sched_process_exec", { "common_cpu", DIAL9_VARINT },
			      { "common_pid", DIAL9_VARINT }, { "pid", DIAL9_VARINT },
			      { "old_pid", DIAL9_VARINT });
	w->watch = MAKE_SCHEMA(PROF_EV_CPU_WATCH, { "common_cpu", DIAL9_VARINT },
			       { "common_pid", DIAL9_VARINT }, { PROF_F_WATCH, DIAL9_U8 });
	w->off_cpu = MAKE_SCHEMA(PROF_EV_OFF_CPU, { "common_cpu", DIAL9_VARINT },
				 { "common_pid", DIAL9_VARINT }, { PROF_F_OFF_NS, DIAL9_VARINT },
				 { PROF_F_BLOCKED_NS, DIAL9_VARINT },
				 { "prev_state", DIAL9_VARINT }, { PROF_F_WAKER_PID, DIAL9_VARINT },
				 { "context", DIAL9_VARINT }, { PROF_F_FROM_CPU, DIAL9_VARINT },
				 { PROF_F_WOKEN, DIAL9_U8 }, { PROF_F_UNFINISHED, DIAL9_U8 });
	w->exit = MAKE_SCHEMA("sched:sched_process_exit", { "common_cpu", DIAL9_VARINT },
			      { "common_pid", DIAL9_VARINT }, { "pid", DIAL9_VARINT });
	w->followed = MAKE_SCHEMA(PROF_EV_TASK, { PROF_F_PID, DIAL9_U32 },
				  { PROF_F_TID, DIAL9_U32 }, { PROF_F_FOLLOWED, DIAL9_U8 });
	w->poll_start =
		MAKE_SCHEMA("PollStartEvent", { "worker_id", DIAL9_VARINT },
			    { "task_id", DIAL9_VARINT }, { "spawn_loc", DIAL9_POOLED_STRING });
	w->poll_end = MAKE_SCHEMA("PollEndEvent", { "worker_id", DIAL9_VARINT });
	w->unpark = MAKE_SCHEMA("WorkerUnparkEvent", { "worker_id", DIAL9_VARINT },
				{ "tid", DIAL9_U32 });
}

static uint32_t below(struct world *w, uint32_t n)
{
	return chance_below(&w->chance, n);
}

/* Three threads per process; the PID is the TID of the first. */
static uint32_t pid_of(uint32_t tid)
{
	return FIRST_TID + (tid - FIRST_TID) / 3 * 3;
}

/* With its name. */
static void make_thread(struct world *w, uint32_t tid, const char *name)
{
	const uint32_t pid = pid_of(tid);

	make_task_in(&w->m, w->ts, pid, tid, name, w->stretch && pid % 2 ? "/odd" : "/");
}

static void begin(struct world *w, const struct dial9_schema *s, uint32_t cpu, uint32_t tid)
{
	dial9_enc_begin(w->m.enc, s, w->ts);
	dial9_enc_put_u64(w->m.enc, cpu);
	dial9_enc_put_u64(w->m.enc, tid);
}

static void stack(struct world *w, uint32_t cpu, uint32_t tid, enum prof_sample_source source)
{
	uint64_t frames[8];
	struct chance kind = { below(w, STACKS) };
	uint32_t cnt = 1 + chance_below(&kind, 7);

	for (uint32_t i = 0; i < cnt; i++)
		frames[i] = make_frame(1 + chance_below(&kind, 2),
				       0x100 * (1 + chance_below(&kind, FUNCTIONS)));
	make_sample(&w->m, w->ts, pid_of(tid), tid, source, cpu, frames, cnt);
}

/* The next thread to run: runnable and on no CPU, or none. */
static uint32_t ready(struct world *w)
{
	uint32_t at = below(w, THREADS);

	for (uint32_t i = 0; i < THREADS; i++, at = (at + 1) % THREADS) {
		bool runs = !w->tid[at] || w->asleep[at];

		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			runs |= w->on[cpu] == w->tid[at];
		if (!runs)
			return w->tid[at];
	}
	return 0;
}

/* Like bpf/offcpu.bpf.c, with a name between the event and its stack now and then. */
static void make_offcpu(struct world *w, uint32_t cpu, uint32_t at, bool unfinished)
{
	struct off *off = &w->off[at];
	uint64_t ns = w->ts - off->out, woken = off->woken > off->out ? off->woken - off->out : 0;
	bool blocked = off->state & 0xff;

	if (ns >= STAY_NS) {
		begin(w, w->off_cpu, cpu, w->tid[at]);
		dial9_enc_put_u64(w->m.enc, ns);
		dial9_enc_put_u64(w->m.enc, !blocked ? 0 : off->woken ? woken : ns);
		dial9_enc_put_u64(w->m.enc, off->state);
		dial9_enc_put_u64(w->m.enc, off->waker);
		dial9_enc_put_u64(w->m.enc, off->context);
		dial9_enc_put_u64(w->m.enc, off->cpu);
		dial9_enc_put_u64(w->m.enc, blocked && off->woken);
		dial9_enc_put_u64(w->m.enc, unfinished);
		make_end(&w->m);
		if (!below(w, 10))
			make_thread(w, w->tid[at], w->name);
		if (below(w, 3))
			stack(w, cpu, w->tid[at], PROF_SOURCE_EVENT);
	}
	off->out = off->woken = 0;
}

static void make_switch_event(struct world *w, uint32_t cpu, uint32_t prev, uint64_t state,
			      uint32_t next, bool lost)
{
	for (uint32_t at = 0; at < THREADS; at++) {
		if (next && w->tid[at] == next && w->off[at].out && !lost)
			make_offcpu(w, cpu, at, false);
		if (!prev || w->tid[at] != prev)
			continue;
		w->off[at].out = w->ts;
		w->off[at].state = state;
		w->off[at].cpu = cpu;
	}
	if (prev && state == 0x10 && !lost) {
		begin(w, w->exit, cpu, prev);
		dial9_enc_put_u64(w->m.enc, prev);
		make_end(&w->m);
	}
}

static void make_wakeup_event(struct world *w, uint32_t cpu, uint32_t at, uint32_t context)
{
	struct off *off = &w->off[at];

	if (off->out && off->woken >= off->out)
		return;
	off->woken = w->ts;
	off->waker = w->on[cpu];
	off->context = context;
}

static void make_a_switch(struct world *w, uint32_t cpu, bool lost)
{
	static const uint64_t states[] = { 0, 0x100, 1, 1, 1, 2, 4, 0x80, 0x402 };
	uint32_t prev = w->on[cpu], next = ready(w), at;
	uint64_t state = states[below(w, 9)];

	for (at = 0; at < THREADS && w->tid[at] != prev; at++)
		;
	if (!prev)
		state = 0;
	else if (!below(w, 40))
		state = 0x10;
	if (at < THREADS && state & 0xff)
		w->asleep[at] = true;
	if (w->off_cpu_events)
		make_switch_event(w, cpu, prev, state, next, lost);
	if (at < THREADS && state == 0x10) {
		w->tid[at] = 0;
		w->off[at] = (struct off){ 0 };
	}
	w->on[cpu] = next;
	if (lost || w->off_cpu_events)
		return;
	make_switch(&w->m, w->ts, cpu, prev ? w->name : "swapper", prev, state,
		    next ? w->name : "swapper", next);
	if (prev && below(w, 3))
		stack(w, cpu, prev, PROF_SOURCE_SWITCH_OUT);
}

static void make_a_wakeup(struct world *w, uint32_t cpu, bool lost)
{
	static const uint64_t contexts[] = { 0, 1, 1,	       2,	   3,
					     4, 5, 2 | 4 << 3, 2 | 2 << 3, 3 | 30 << 3 };
	uint32_t at = below(w, THREADS);

	if (!w->tid[at])
		return;
	w->asleep[at] = false;
	if (w->off_cpu_events)
		make_wakeup_event(w, cpu, at, (uint32_t)contexts[below(w, 10)]);
	if (lost || w->off_cpu_events)
		return;
	begin(w, w->waking, cpu, w->on[cpu]);
	make_str(&w->m, "task");
	dial9_enc_put_u64(w->m.enc, w->tid[at]);
	dial9_enc_put_u64(w->m.enc, below(w, CPUS));
	dial9_enc_put_u64(w->m.enc, contexts[below(w, 10)]);
	make_end(&w->m);
	if (w->on[cpu] && !below(w, 3))
		stack(w, cpu, w->on[cpu], PROF_SOURCE_WAKING);
}

static void make_a_birth(struct world *w, uint32_t cpu)
{
	uint32_t at = below(w, THREADS), parent = w->on[cpu];

	if (w->tid[at] || !parent)
		return;
	w->tid[at] = w->next_tid++;
	w->asleep[at] = false;
	begin(w, w->fork, cpu, parent);
	dial9_enc_put_u64(w->m.enc, w->tid[at]);
	make_end(&w->m);
	if (below(w, 2))
		make_thread(w, w->tid[at], "child");
	if (w->off_cpu_events)
		return;
	begin(w, w->birth, cpu, parent);
	make_str(&w->m, "child");
	dial9_enc_put_u64(w->m.enc, w->tid[at]);
	dial9_enc_put_u64(w->m.enc, cpu);
	make_end(&w->m);
}

/* A thread moves to another queue, or takes over the TID of its process. */
static void make_another(struct world *w, uint32_t cpu)
{
	uint32_t at = below(w, THREADS), tid = w->on[cpu], leader = tid ? pid_of(tid) : 0;

	if (below(w, 4)) {
		begin(w, w->migrate, cpu, tid);
		dial9_enc_put_u64(w->m.enc, w->tid[at]);
		dial9_enc_put_u64(w->m.enc, below(w, CPUS));
		make_end(&w->m);
		return;
	}
	for (at = 0; at < THREADS && w->tid[at] != tid; at++)
		;
	for (uint32_t i = 0; i < THREADS; i++)
		if (!tid || at == THREADS || (leader != tid && w->tid[i] == leader))
			return;
	w->tid[at] = w->on[cpu] = leader;
	begin(w, w->exec, cpu, leader);
	dial9_enc_put_u64(w->m.enc, leader);
	dial9_enc_put_u64(w->m.enc, tid);
	make_end(&w->m);
}

/* Also if no thread is runnable, and of a CPU that is watched already. */
static void make_a_watch(struct world *w)
{
	uint32_t cpu = below(w, CPUS);

	begin(w, w->watch, cpu, w->on[cpu]);
	dial9_enc_put_u64(w->m.enc, below(w, PROF_WATCH_BEGUN_UNSEEN + 1));
	make_end(&w->m);
}

/*
 * A worker becomes another thread now and then, sometimes in the middle of a poll; and some polls have a thread
 * that is on no CPU.
 */
static void make_a_poll(struct world *w)
{
	uint32_t worker = below(w, WORKERS), at = below(w, THREADS / WORKERS);
	uint32_t tid = w->tid[at * WORKERS + worker];
	bool runs = false;

	if (!w->worker[worker] || !below(w, 8)) {
		if (!tid)
			return;
		w->worker[worker] = tid;
		dial9_enc_begin(w->m.enc, w->unpark, w->ts);
		dial9_enc_put_u64(w->m.enc, worker);
		dial9_enc_put_u64(w->m.enc, tid);
		make_end(&w->m);
		return;
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		runs |= w->on[cpu] == w->worker[worker];
	if (!runs && below(w, 20))
		return;
	w->polling[worker] = !w->polling[worker];
	dial9_enc_begin(w->m.enc, w->polling[worker] ? w->poll_start : w->poll_end, w->ts);
	dial9_enc_put_u64(w->m.enc, worker);
	if (w->polling[worker]) {
		dial9_enc_put_u64(w->m.enc, below(w, 100));
		make_str(&w->m, "src/main.rs:12:5");
	}
	make_end(&w->m);
}

static void make_a_telling(struct world *w)
{
	uint32_t tid = w->tid[below(w, THREADS)];

	if (!tid)
		return;
	dial9_enc_begin(w->m.enc, w->followed, w->ts);
	dial9_enc_put_u64(w->m.enc, pid_of(tid));
	dial9_enc_put_u64(w->m.enc, tid);
	dial9_enc_put_u64(w->m.enc, below(w, 4) != 0);
	make_end(&w->m);
}

static void step(struct world *w)
{
	uint32_t cpu = below(w, CPUS);
	bool lost = !below(w, 60);
	uint64_t from = w->ts;

	w->ts += (below(w, 200) ? below(w, 50000) : below(w, 40000000)) * (w->stretch ?: 1);
	if (w->neighbours && !w->off_cpu_events && !below(w, 12))
		make_a_watch(w);
	if (w->polls && !below(w, 3))
		make_a_poll(w);
	if (w->follows && !below(w, w->reports_followed ? 10 : 200))
		make_a_telling(w);
	switch (below(w, 16)) {
	case 0:
		if (w->on[cpu])
			stack(w, cpu, w->on[cpu], PROF_SOURCE_SAMPLE);
		break;
	case 1:
		make_a_birth(w, cpu);
		break;
	case 2:
		make_another(w, cpu);
		break;
	case 3 ... 9:
		make_a_wakeup(w, cpu, lost);
		break;
	default:
		make_a_switch(w, cpu, lost);
	}
	if (lost && below(w, 2))
		make_lost(&w->m, w->ts + 10, below(w, 3) ? PROF_LOST_RING_FULL : PROF_LOST_NESTED,
			  1, from, w->ts);
}

static void begin_trace(struct world *w, uint64_t seed)
{
	static const char *const targets[] = { "system", "pid 103", "command task", "pid 103" };
	const char *target = targets[seed % 4], *watched = seed % 4 == 3 ? "yes" : "no";
	const char *reports_followed = seed % 18 ? "told" : "within";
	struct dial9_str meta[10][2] = {
		{ { "start_realtime_ns", 17 }, { "1700000000000000000", 19 } },
		{ { "target", 6 }, { target, strlen(target) } },
		{ { "target_pids", 11 }, { "103,109", 7 } },
		{ { "neighbours", 10 }, { watched, strlen(watched) } },
		{ { "sample_period_ns", 16 }, { "1000003", 7 } },
	};

	size_t cnt = 5;
	char lib[32];

	w->neighbours = seed % 4 == 3;
	w->polls = seed % 3 == 1;
	w->reports_followed = seed % 9 == 0;
	w->follows = w->reports_followed || seed % 9 == 5;
	if (seed % 5 == 0) {
		meta[cnt][0] = (struct dial9_str){ PROF_META_RECORDED_CPUS, 13 };
		meta[cnt++][1] = (struct dial9_str){ "0,2", 3 };
	}
	if (w->reports_followed) {
		meta[cnt][0] = (struct dial9_str){ PROF_META_FOLLOWED, 8 };
		meta[cnt++][1] = (struct dial9_str){ reports_followed, strlen(reports_followed) };
	}
	if (seed % 7 == 3) {
		meta[cnt][0] = (struct dial9_str){ PROF_META_INHERIT, 7 };
		meta[cnt++][1] = (struct dial9_str){ "no", 2 };
	}
	w->off_cpu_events = seed >= 100;
	if (w->off_cpu_events) {
		meta[cnt][0] = (struct dial9_str){ PROF_META_OFF_MIN_NS, 14 };
		meta[cnt++][1] = (struct dial9_str){ "20000", 5 };
	}
	if (w->host) {
		meta[cnt][0] = (struct dial9_str){ "host", 4 };
		meta[cnt++][1] = (struct dial9_str){ w->host, strlen(w->host) };
	}
	w->ts = 5000000000;
	dial9_enc_begin(w->m.enc, w->m.metadata, w->ts);
	dial9_enc_put_map(w->m.enc, meta, cnt);
	make_end(&w->m);
	dial9_enc_begin(w->m.enc, w->m.clock, w->ts);
	dial9_enc_put_u64(w->m.enc, 1700000000000000000 + seed / 10 * 3600000000000);
	make_end(&w->m);
	make_module_with(&w->m, w->ts, 1, "/bin/app", w->build ?: "/bin/app", PROF_MODULE_ELF);
	snprintf(lib, sizeof(lib), "%s%s", w->build ? "lib" : "/lib/lib.so", w->build ?: "");
	make_module_with(&w->m, w->ts, 2, "/lib/lib.so", lib, PROF_MODULE_ELF);
	for (uint32_t i = 0; i < THREADS; i++) {
		w->tid[i] = FIRST_TID + i;
		if (i < THREADS - 2)
			make_thread(w, w->tid[i], w->name);
	}
	w->next_tid = FIRST_TID + THREADS;
}

static void end_trace(struct world *w)
{
	char name[] = "f0", inner[] = "inlined0";

	for (uint32_t at = 0; at < THREADS; at++)
		if (w->off[at].out)
			make_offcpu(w, 0, at, true);
	for (uint32_t i = 1; i < FUNCTIONS; i++) {
		name[1] = inner[7] = (char)('0' + i);
		for (uint32_t module = 1; module <= 2; module++) {
			uint64_t at = make_frame(module, 0x100 * i);

			make_symbol(&w->m, w->ts, at, 0, at, i == 2 ? w->name : name, w->name, i);
			if (i % 3 == 0)
				make_symbol(&w->m, w->ts, at, 1, at, i == 3 ? inner : name, "b.c",
					    i);
		}
	}
}

int main(int argc, char **argv)
{
	struct world w = { 0 };
	uint64_t seed;
	const void *data;
	size_t sz;

	if (argc < 3 || argc > 7)
		return 1;
	w.name = argc > 3 ? argv[3] : "task";
	w.host = argc > 4 ? argv[4] : NULL;
	w.build = argc > 5 ? argv[5] : NULL;
	w.stretch = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
	seed = strtoull(argv[1], NULL, 10);
	w.chance.state = seed;
	make_init(&w.m, NULL);
	make_more_schemas(&w);
	begin_trace(&w, seed);
	for (unsigned long left = strtoul(argv[2], NULL, 10); left; left--)
		step(&w);
	end_trace(&w);
	data = dial9_enc_data(w.m.enc, &sz);
	fwrite(data, 1, sz, stdout);
	dial9_schema_free(w.waking);
	dial9_schema_free(w.birth);
	dial9_schema_free(w.migrate);
	dial9_schema_free(w.fork);
	dial9_schema_free(w.exec);
	dial9_schema_free(w.watch);
	dial9_schema_free(w.poll_start);
	dial9_schema_free(w.poll_end);
	dial9_schema_free(w.unpark);
	dial9_schema_free(w.followed);
	dial9_schema_free(w.off_cpu);
	dial9_schema_free(w.exit);
	make_fini(&w.m);
	return fflush(stdout) ? 1 : 0;
}
