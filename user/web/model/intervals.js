// SPDX-License-Identifier: BSD-2-Clause
/*
 * What each thread did: running, runnable, blocked, or unknown. The state machine of
 * user/profile/sched/thread_state.c, over rows of events; the output is rows, too. Times are
 * numbers of nanoseconds since any origin.
 */
'use strict';

const { NONE, Table } = require('../read/columns.js');
const { TargetThreads } = require('./target_threads.js');
const { STATE, END, WHY, FLAG, EVENT, WATCH, SOURCE, NOBODY, TID_MAX, endOfSwitch } = require('../read/states.js');
const { OffCpuIntervals } = require('./offcpu_intervals.js');

const QUEUES_MAX = 4;
const BLOCKING_NS = 5000; /* from the decision to block to the switch */
const FEW = 4096; /* CPUs, and ends of recordings */
const STATELESS = FLAG.LOSS | FLAG.HOLE | FLAG.NEIGHBOUR | FLAG.UNSURE | FLAG.ELSEWHERE;
const LIFE = { UNSEEN: 0, ON: 1, GONE: 2 };
/* The thread on a CPU, if the next switch will show it. */
const LATER = 0xfffffffd;

const INTERVAL_COLUMNS = { task: Uint32Array, state: Uint8Array, beganAs: Uint8Array, flags: Uint16Array,
	endBy: Uint8Array, why: Uint8Array, start: Float64Array, end: Float64Array, cpu: Uint32Array,
	prevState: Uint32Array, stack: Uint32Array, nextTid: Uint32Array, prevTid: Uint32Array, waker: Uint32Array,
	queues: Uint32Array, queueCount: Uint8Array };
const QUEUE_COLUMNS = { since: Float64Array, cpu: Uint32Array };
const WAKER_COLUMNS = { ts: Float64Array, tid: Uint32Array, cpu: Uint32Array, raw: Uint32Array, stack: Uint32Array };
const SLICE_COLUMNS = { cpu: Uint32Array, space: Uint16Array, start: Float64Array, tid: Uint32Array };

function newThread(tid, task) {
	return { tid, task, life: LIFE.UNSEEN, state: STATE.UNKNOWN, why: WHY.UNKNOWN, flags: 0, pid: NONE,
		isTarget: false, away: false, from: 0, onCpu: false, hasWaker: false, wokenEarly: false, since: 0,
		cpu: NONE, prevState: 0, stack: NONE, nextTid: NONE, waker: NONE,
		queueCount: 0, queueSince: new Float64Array(QUEUES_MAX), queueCpu: new Uint32Array(QUEUES_MAX) };
}

/* Starts the next interval. If time goes backwards, the old start stays. */
function begin(th, state, ts) {
	if (ts > th.since || th.life !== LIFE.ON)
		th.since = ts;
	th.life = LIFE.ON;
	th.state = state;
	th.flags = 0;
	th.why = WHY.UNKNOWN;
	th.hasWaker = th.wokenEarly = false;
	th.queueCount = 0;
	th.cpu = th.stack = th.nextTid = NONE;
	th.prevState = 0;
}

/* Whether it was on the run queue of that CPU only. */
function waitedOn(th, cpu) {
	return th.queueCount === 1 && th.queueCpu[0] === cpu && th.queueSince[0] <= th.since;
}

/* The CPUs of a list, "0,2-3"; null if there is none or it is malformed. */
function cpuSet(list) {
	const cpus = new Set();
	for (const range of list ? list.split(',') : []) {
		const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range) || [];
		if (first === undefined)
			return null;
		for (let cpu = Number(first); cpu <= Number(last); cpu++)
			cpus.add(cpu);
	}
	return cpus.size ? cpus : null;
}

/* Only the last ones are kept. */
function addQueue(th, cpu, ts) {
	if (th.queueCount === QUEUES_MAX) {
		th.queueSince.copyWithin(0, 1);
		th.queueCpu.copyWithin(0, 1);
		th.queueCount--;
	}
	th.queueSince[th.queueCount] = ts;
	th.queueCpu[th.queueCount++] = cpu;
}

/*
 * trace: { parts: [{ space, meta, start, offCpu }], gaps: [Gaps by part], offCpu (see
 * offcpu_intervals.js),
 *	taskOf(space, tid) -> the index of a task, firstPid(task) -> its process, or NONE }
 * Call add() for rows of a table of EVENT_COLUMNS in order, then finish(). Then there are
 *	.rows		a table of INTERVAL_COLUMNS; those of one task are in order, without gaps
 *	.wakers		a row's `waker` is an index in it
 *	.slices		which thread came onto which CPU when; those of one CPU are in order
 *	.queues		a table of QUEUE_COLUMNS: run queues of a runnable thread, as far as known: queueCount of them
 *			from the row's `queues` on; NONE: it was on the queue of its CPU all the time
 */
class Intervals {
	#trace;
	#part = -1;
	#space = 0;
	#start = 0;
	#last = 0;
	#targets = null;
	#neighbours = false; /* CPUs that targets waited for were watched */
	#recorded = null; /* a Set of CPUs; null: all */
	#lacksSwitches = false; /* excluded by -e or a filter */
	#cutByCpu = false; /* moves of threads to and from other CPUs are not in the trace */
	#offCpu = null; /* for a part with off-CPU intervals instead of switches */
	#threads = new Map();
	#cpus = new Map(); /* the thread on each CPU: the tid, or NOBODY, and its slice's row */
	#woken = null; /* the thread woken last, whose waker's stack may come next */
	#pending = -1; /* the row of its blocked interval */

	/* Expected numbers of events. */
	constructor(trace, { switches = 0, wakeups = 0 } = {}) {
		this.#trace = trace;
		this.rows = new Table(INTERVAL_COLUMNS, 2 * switches + wakeups);
		this.wakers = new Table(WAKER_COLUMNS, wakeups);
		this.slices = new Table(SLICE_COLUMNS, switches + FEW);
		this.queues = new Table(QUEUE_COLUMNS);
	}

	add(ev, i) {
		const kind = ev.kind[i];
		if (ev.part[i] !== this.#part)
			this.#beginPart(ev.part[i]);
		if (this.#offCpu)
			this.#offCpu.add(ev, i);
		if (kind !== EVENT.TASK && ev.ts[i] > this.#last)
			this.#last = ev.ts[i];
		if (this.#offCpu)
			return;
		if (kind === EVENT.SAMPLE)
			this.#handleStack(ev, i);
		if (kind !== EVENT.TASK)
			this.#flushWoken();
		if (kind === EVENT.SWITCH)
			this.#handleSwitch(ev, i);
		else if (kind === EVENT.WAKEUP || kind === EVENT.BIRTH)
			this.#handleWakeup(ev, i);
		else if (kind === EVENT.TRACEPOINT || kind === EVENT.EXIT)
			this.#handleTracepoint(ev, i);
		else if (kind === EVENT.TASK)
			this.#handleTask(ev, i);
		else if (kind === EVENT.WATCH)
			this.#handleCpuWatch(ev, i);
	}

	finish() {
		this.#endPart();
	}

	/* ---- handing out ---- */

	#judge(row, th) {
		const rows = this.rows;
		if (!this.#targets.fromTaskEvents)
			th.isTarget ||= this.#targets.has(th.pid, th.tid);
		if (!th.isTarget)
			rows.flags[row] |= FLAG.NEIGHBOUR;
		/* switched in and out unseen, maybe, but not between a switch-out to block and the wakeup */
		if (this.#lacksSwitches && !(rows.beganAs[row] === STATE.BLOCKED && rows.endBy[row] === END.WAKEUP &&
				!(rows.flags[row] & FLAG.EDGE_START)))
			rows.flags[row] |= FLAG.HOLE;
		/* a cut has no migrations: only a thread on a CPU is known not to be on another */
		if (th.away || (this.#cutByCpu && rows.beganAs[row] !== STATE.RUNNING))
			rows.flags[row] |= FLAG.ELSEWHERE;
		const gaps = this.#trace.gaps[this.#part];
		if (gaps && gaps.touch(rows.start[row], rows.end[row]))
			rows.flags[row] |= FLAG.LOSS;
		if (rows.flags[row] & STATELESS)
			rows.state[row] = STATE.UNKNOWN;
		/*
		 * contradictions, and intervals without a start, come from CPUs that are not
		 * recorded
		 */
		if (rows.state[row] === STATE.UNKNOWN && (this.#recorded || this.#cutByCpu) && !(rows.flags[row] & (FLAG.LOSS | FLAG.UNSURE)))
			rows.flags[row] |= FLAG.ELSEWHERE;
	}

	#put(th, ts, endBy, cpu, prevTid) {
		const rows = this.rows, row = rows.add();
		rows.task[row] = th.task;
		rows.state[row] = rows.beganAs[row] = th.state;
		rows.flags[row] = th.flags;
		rows.endBy[row] = endBy;
		rows.why[row] = th.state === STATE.RUNNABLE ? th.why : WHY.UNKNOWN;
		rows.start[row] = th.since;
		rows.end[row] = ts > th.since ? ts : th.since;
		rows.cpu[row] = cpu;
		rows.prevState[row] = th.prevState;
		rows.stack[row] = th.stack;
		rows.nextTid[row] = th.nextTid;
		rows.prevTid[row] = prevTid;
		rows.waker[row] = th.hasWaker ? th.waker : NONE;
		rows.queues[row] = NONE;
		if (th.state === STATE.RUNNABLE && !waitedOn(th, cpu))
			this.#putHops(th, row);
		return row;
	}

	#putHops(th, row) {
		const { rows, queues } = this;
		rows.queues[row] = queues.length;
		rows.queueCount[row] = th.queueCount;
		for (let i = 0; i < th.queueCount; i++) {
			const queue = queues.add();
			queues.since[queue] = th.queueSince[i];
			queues.cpu[queue] = th.queueCpu[i];
		}
	}

	#end(th, ts, endBy, cpu, prevTid) {
		this.#judge(this.#put(th, ts, endBy, cpu, prevTid), th);
	}

	#flushWoken() {
		if (this.#woken && this.#pending >= 0)
			this.#judge(this.#pending, this.#woken);
		this.#woken = null;
		this.#pending = -1;
	}

	/* The first event of a thread defines its state until then. */
	#beginFirstInterval(th, before) {
		begin(th, before, Math.max(th.from, this.#start));
		th.flags = FLAG.EDGE_START;
	}

	/* ---- threads ---- */

	/* null for the idle threads, which share tid 0, and for numbers that are not TIDs. */
	#thread(tid) {
		let th = this.#threads.get(tid);
		if (th || !tid || tid > TID_MAX)
			return th || null;
		const task = this.#trace.taskOf(this.#space, tid);
		th = newThread(tid, task);
		th.pid = this.#trace.firstPid(task);
		th.away = this.#recorded !== null;
		this.#threads.set(tid, th);
		return th;
	}

	#pidOf(tid) {
		const th = this.#threads.get(tid);
		return th ? th.pid : this.#trace.firstPid(this.#trace.taskOf(this.#space, tid));
	}

	/* Whether all of its switches are recorded. */
	#isTarget(tid) {
		const th = this.#threads.get(tid);
		return th !== undefined && (th.isTarget || !this.#targets.fromTaskEvents && this.#targets.has(th.pid, tid));
	}

	/* Whether all switches of each CPU that threads wait for are recorded. */
	get #hasAllSwitches() { return !this.#targets.some || this.#neighbours; }

	/* Sets the thread on a CPU, and returns the one before it. */
	#toCpu(cpu, ts, prev, next, sure) {
		const slices = this.slices, on = this.#cpus.get(cpu);
		if (cpu === NONE)
			return NOBODY;
		const was = on && on.tid !== LATER ? on.tid : NOBODY;
		if (on && (!sure || on.tid !== LATER && was !== prev))
			slices.tid[on.slice] = NOBODY;
		else if (on)
			slices.tid[on.slice] = prev;
		this.#beginSlice(cpu, ts, next);
		return was;
	}

	#beginSlice(cpu, ts, tid) {
		const slices = this.slices, on = this.#cpus.get(cpu), row = slices.add();
		slices.cpu[row] = cpu;
		slices.space[row] = this.#space;
		slices.start[row] = on ? Math.max(ts, slices.start[on.slice]) : ts;
		slices.tid[row] = tid;
		if (on) {
			on.tid = tid;
			on.slice = row;
		} else {
			this.#cpus.set(cpu, { tid, slice: row });
		}
	}

	/*
	 * From here on all switches of a CPU are recorded, or not: the thread on it since the last
	 * one is unknown.
	 */
	#handleCpuWatch(ev, i) {
		const cpu = ev.cpu[i], kind = ev.a[i], on = this.#cpus.get(cpu);
		if (cpu === NONE || on && this.#isTarget(on.tid))
			return;
		if (on)
			this.slices.tid[on.slice] = NOBODY;
		this.#beginSlice(cpu, ev.ts[i], kind === WATCH.BEGUN && ev.tid[i] <= TID_MAX ? ev.tid[i] :
			kind === WATCH.BEGUN_UNSEEN ? LATER : NOBODY);
	}

	/* ---- what is recorded of a thread ---- */

	#isRecorded(cpu) { return this.#recorded === null || this.#recorded.has(cpu); }

	/* From here on all of its switches are recorded: its next event defines its state. */
	#startThread(th, ts) {
		if (th.life === LIFE.ON)
			this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		th.life = LIFE.UNSEEN;
		th.onCpu = false;
		th.from = ts;
	}

	/* From here on its state is unknown. */
	#stopThread(th, ts) {
		if (th.life === LIFE.GONE)
			return;
		if (th.life === LIFE.UNSEEN)
			this.#beginFirstInterval(th, th.onCpu ? STATE.RUNNING : STATE.UNKNOWN);
		th.flags |= FLAG.EDGE_END;
		this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		begin(th, STATE.UNKNOWN, ts);
	}

	/* The thread is on the run queue of this CPU, or was on it last. */
	#setCpu(th, cpu, ts) {
		const away = !this.#isRecorded(cpu);
		if (th.away === away)
			return;
		if (away)
			this.#stopThread(th, ts);
		else if (th.life === LIFE.ON)
			this.#startThread(th, ts);
		th.away = away;
	}

	/*
	 * The thread was migrated and is runnable: the kernel migrates sleepers when it wakes them.
	 */
	#migrate(th, cpu, ts) {
		const wasAway = th.away;
		if (wasAway && th.life === LIFE.UNSEEN)
			this.#beginFirstInterval(th, STATE.UNKNOWN);
		this.#setCpu(th, cpu, ts);
		if (!wasAway || th.away)
			return;
		begin(th, STATE.RUNNABLE, ts);
		th.flags = FLAG.EDGE_START;
	}

	/* Applies a TaskEvent. */
	#updateTarget(th, raw, ts) {
		const isTarget = raw && (!this.#targets.within || this.#targets.has(th.pid, th.tid));
		if (!this.#targets.fromTaskEvents || th.isTarget === isTarget)
			return;
		if (isTarget)
			this.#startThread(th, ts);
		else
			this.#stopThread(th, ts);
		th.isTarget = isTarget;
	}

	/* ---- transitions ---- */

	#handleSwitch(ev, i) {
		const ts = ev.ts[i], cpu = ev.cpu[i], prev = ev.a[i], next = ev.b[i], state = ev.c[i];
		const out = this.#thread(prev), into = this.#thread(next);
		const sure = this.#hasAllSwitches || out !== null && this.#isTarget(prev);
		if (out && out.life === LIFE.GONE)
			this.#handleSwitchBeforeExec(out, cpu, ts);
		/* it came when its switches were not recorded */
		const on = this.#cpus.get(cpu);
		const cameBefore = out && out.life === LIFE.UNSEEN && (!on || out.from >= this.slices.start[on.slice]);
		const was = this.#toCpu(cpu, ts, prev, next, sure);
		if (was !== NOBODY && was !== prev) {
			const running = this.#threads.get(was);
			if (running && running.life === LIFE.ON && running.state === STATE.RUNNING && running.cpu === cpu)
				running.flags |= FLAG.HOLE;
		}
		if (out)
			this.#switchedOut(out, ts, cpu, state, next, cameBefore || was === NOBODY || was === prev);
		if (into)
			this.#switchedIn(into, ts, cpu, prev);
	}

	/*
	 * Whether the last wakeup of a running thread is later than its decision to block. As
	 * is_woken_in_switch() of thread_state.c.
	 */
	#isWokenInSwitch(th, ts, cpu) {
		const { wakers } = this;
		return th.wokenEarly && wakers.cpu[th.waker] !== cpu && ts - wakers.ts[th.waker] <= BLOCKING_NS;
	}

	#switchedOut(th, ts, cpu, state, next, fits) {
		const how = endOfSwitch(state), early = this.#isWokenInSwitch(th, ts, cpu);
		this.#setCpu(th, cpu, ts);
		if (th.life === LIFE.UNSEEN) {
			this.#beginFirstInterval(th, STATE.RUNNING);
			th.cpu = cpu;
		}
		if (th.life === LIFE.ON) {
			if (!fits || th.state !== STATE.RUNNING || th.cpu !== cpu)
				th.flags |= FLAG.HOLE;
			this.#end(th, ts, how, cpu, NONE);
		}
		begin(th, how === END.BLOCK ? STATE.BLOCKED : STATE.RUNNABLE, ts);
		th.cpu = cpu;
		th.prevState = state;
		th.nextTid = next;
		if (how === END.EXIT) {
			th.life = LIFE.GONE;
			this.#targets.forget(th.tid);
			th.isTarget = false;
		} else if (how === END.BLOCK) {
			th.wokenEarly = early;
		} else {
			th.why = how === END.PREEMPTED ? WHY.PREEMPTED : WHY.RESCHED;
			addQueue(th, cpu, th.since);
		}
	}

	/*
	 * A blocked interval without a wakeup after it ends. If it was woken early, it was a
	 * runnable one.
	 */
	#wasRunnableAtOnce(th) {
		if (th.wokenEarly) {
			th.state = STATE.RUNNABLE;
			th.why = WHY.WOKEN_EARLY;
			th.hasWaker = true;
		}
		return th.wokenEarly;
	}

	#switchedIn(th, ts, cpu, prev) {
		this.#setCpu(th, cpu, ts);
		/* it may have run on a CPU that is not recorded */
		if (th.life === LIFE.UNSEEN && (this.#recorded || this.#cutByCpu)) {
			this.#beginFirstInterval(th, STATE.UNKNOWN);
		} else if (th.life === LIFE.UNSEEN) {
			this.#beginFirstInterval(th, STATE.RUNNABLE);
			th.flags |= FLAG.UNSURE;
		}
		if (th.life === LIFE.ON) {
			if (th.state === STATE.RUNNING)
				th.flags |= FLAG.HOLE;
			else if (th.state === STATE.BLOCKED && !this.#wasRunnableAtOnce(th))
				th.flags |= FLAG.UNSURE;
			this.#end(th, ts, END.CPU, th.state === STATE.RUNNABLE ? cpu : th.cpu, prev);
		}
		begin(th, STATE.RUNNING, ts);
		th.cpu = cpu;
	}

	#waker(ev, i) {
		const wakers = this.wakers, row = wakers.add();
		wakers.ts[row] = ev.ts[i];
		wakers.tid[row] = ev.tid[i];
		wakers.cpu[row] = ev.cpu[i];
		wakers.raw[row] = ev.c[i];
		wakers.stack[row] = NONE;
		return row;
	}

	#handleWakeup(ev, i) {
		const th = this.#thread(ev.a[i]), current = this.#thread(ev.tid[i]);
		const birth = ev.kind[i] === EVENT.BIRTH, ts = ev.ts[i];
		if (current)
			current.onCpu = true;
		if (th && (!birth || th.life === LIFE.UNSEEN))
			this.#setCpu(th, ev.b[i], ts);
		/* only the first wakeup counts */
		if (!th || !birth && th.life === LIFE.ON && th.state === STATE.RUNNABLE)
			return;
		if (th.life === LIFE.UNSEEN && !birth)
			this.#beginFirstInterval(th, STATE.BLOCKED);
		this.#woken = th;
		this.#pending = -1;
		const waker = this.#waker(ev, i);
		if (!birth && th.life === LIFE.ON && th.state === STATE.RUNNING) {
			th.waker = waker;
			th.wokenEarly = true;
			return;
		}
		if (birth) {
			this.#handleBirth(th, ts);
			th.away = !this.#isRecorded(ev.b[i]);
		} else {
			this.#wake(th, ts, waker);
		}
		th.waker = waker;
		th.hasWaker = true;
		addQueue(th, ev.b[i], th.since);
	}

	#wake(th, ts, waker) {
		if (th.life === LIFE.ON) {
			th.hasWaker = true;
			th.waker = waker;
			this.#pending = this.#put(th, ts, END.WAKEUP, th.cpu, NONE);
		}
		begin(th, STATE.RUNNABLE, ts);
		th.why = WHY.WOKEN;
	}

	#handleBirth(th, ts) {
		if (th.life === LIFE.ON) {
			/* an earlier thread of the same TID, whose exit is missing */
			th.flags |= FLAG.HOLE;
			this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		}
		if (th.life !== LIFE.UNSEEN)
			th.pid = NONE;
		if (!this.#targets.fromTaskEvents)
			th.isTarget = false;
		begin(th, STATE.RUNNABLE, ts);
		th.why = WHY.NEW;
	}

	#handleStack(ev, i) {
		const th = this.#thread(ev.tid[i]), source = ev.c[i], woken = this.#woken, wakers = this.wakers;
		this.#targets.activatePending(ev.b[i]);
		if (!th)
			return;
		if (source === SOURCE.SAMPLE) {
			th.onCpu = true;
		} else if (source === SOURCE.WAKEUP) {
			if (woken && wakers.tid[woken.waker] === ev.tid[i] && wakers.ts[woken.waker] === ev.ts[i])
				wakers.stack[woken.waker] = ev.a[i];
		} else if (source === SOURCE.SWITCH_OUT && th.life === LIFE.ON && th.state !== STATE.RUNNING &&
		    th.since === ev.ts[i]) {
			th.stack = ev.a[i];
		}
	}

	#handleTask(ev, i) {
		const th = this.#thread(ev.tid[i]);
		this.#targets.task(ev.a[i], ev.tid[i], ev.b[i] === 1);
		if (th && ev.a[i] !== NONE)
			th.pid = ev.a[i];
		if (th)
			this.#updateTarget(th, ev.b[i] === 1, ev.ts[i]);
	}

	#handleTracepoint(ev, i) {
		const current = this.#threads.get(ev.tid[i]);
		if (ev.b[i] !== NONE)
			this.#targets.fork(this.#pidOf(ev.tid[i]), ev.tid[i], ev.b[i]);
		else if (ev.c[i] !== NONE)
			this.#targets.exec(ev.a[i], ev.c[i]);
		if (current)
			current.onCpu = true;
		if (ev.c[i] !== NONE)
			this.#handleExec(ev, i);
		const th = ev.d[i] === NONE ? null : this.#threads.get(ev.a[i]);
		if (th && this.#recorded)
			this.#migrate(th, ev.d[i], ev.ts[i]);
		if (th && th.life === LIFE.ON && th.state === STATE.RUNNABLE)
			addQueue(th, ev.d[i], Math.max(ev.ts[i], th.since));
	}

	/* If a thread other than the leader execs, it takes over the leader's TID. */
	#handleExec(ev, i) {
		const old = this.#threads.get(ev.c[i]), th = this.#thread(ev.a[i]);
		if (ev.a[i] !== ev.c[i] && old && th)
			this.#continueAs(old, th, ev.ts[i]);
	}

	#continueAs(old, th, ts) {
		if (old.life !== LIFE.ON || old.state !== STATE.RUNNING || th.life === LIFE.ON)
			return;
		this.#end(old, ts, END.NOTHING, old.cpu, NONE);
		old.life = LIFE.GONE;
		const on = this.#cpus.get(old.cpu);
		if (on && on.tid === old.tid) {
			on.tid = th.tid;
			this.slices.tid[on.slice] = th.tid;
		}
		begin(th, STATE.RUNNING, ts);
		th.cpu = old.cpu;
	}

	/*
	 * The thread gets the leader's TID before the exec event, and may be switched out in
	 * between.
	 */
	#handleSwitchBeforeExec(leader, cpu, ts) {
		const on = this.#cpus.get(cpu), th = on && this.#threads.get(on.tid);
		if (!th)
			return;
		if (th.pid === NONE)
			th.pid = this.#trace.firstPid(th.task);
		if (th.pid === leader.tid)
			this.#continueAs(th, leader, ts);
	}

	/* ---- parts ---- */

	#beginPart(part) {
		this.#endPart();
		const { space, start } = this.#trace.parts[part];
		this.#part = part;
		this.#space = space;
		this.#start = this.#last = start;
		this.#targets = new TargetThreads(this.#trace.parts[part].meta);
		this.#neighbours = this.#trace.parts[part].meta.get('neighbours') === 'yes';
		this.#recorded = cpuSet(this.#trace.parts[part].meta.get('recorded_cpus'));
		const { meta } = this.#trace.parts[part];
		this.#lacksSwitches = meta.has('switches') || meta.has('switch_filter');
		this.#cutByCpu = (this.#trace.parts[part].meta.get('cut') || '').includes(' -C ');
		this.#offCpu = this.#trace.parts[part].offCpu ? new OffCpuIntervals(this.#trace, this.#trace.parts[part], this) : null;
	}

	#endPart() {
		if (this.#offCpu)
			this.#offCpu.finish(this.#last);
		this.#offCpu = null;
		this.#flushWoken();
		for (const [cpu, on] of this.#cpus)
			this.#toCpu(cpu, this.#last, on.tid === LATER ? NOBODY : on.tid, NOBODY,
				this.#hasAllSwitches || this.#isTarget(on.tid));
		for (const th of this.#threads.values())
			this.#endThread(th);
		this.#threads.clear();
		this.#cpus.clear();
	}

	/*
	 * A thread without any event was in one state all the time. Without a switch in, it never
	 * ran.
	 */
	#endThread(th) {
		if (th.life === LIFE.GONE)
			return;
		const unseen = th.life === LIFE.UNSEEN;
		if (unseen)
			this.#beginFirstInterval(th, th.onCpu ? STATE.RUNNING : STATE.BLOCKED);
		/* only named, as are all threads: not one of these CPUs */
		if (unseen && !th.onCpu && (this.#recorded || this.#cutByCpu))
			th.flags |= FLAG.NEIGHBOUR;
		if (th.state === STATE.BLOCKED)
			this.#wasRunnableAtOnce(th);
		th.flags |= FLAG.EDGE_END;
		const waited = th.queueCount ? th.queueCpu[th.queueCount - 1] : NONE;
		this.#end(th, this.#last, END.NOTHING, th.state === STATE.RUNNABLE ? waited : th.cpu, NONE);
	}
}

module.exports = { Intervals };
