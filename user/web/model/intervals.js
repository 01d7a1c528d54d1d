// SPDX-License-Identifier: BSD-2-Clause
/*
 * What each thread did from when to when: running, runnable, blocked, or unknown. The state machine of
 * user/profile/sched/intervals.c, which says what it does in doubt, over rows of events; what it hands out are
 * rows, too. Times are numbers of nanoseconds since any origin.
 */
'use strict';

const { NONE, Table } = require('../read/columns.js');
const { Followed } = require('./followed.js');
const { STATE, END, WHY, FLAG, EVENT, WATCH, SOURCE, NOBODY, TID_MAX, howOut } = require('../read/states.js');
const { Stays } = require('./stays.js');

const HOPS_MAX = 4;
const FEW = 4096; /* CPUs, and ends of recordings */
const LIFE = { UNSEEN: 0, ON: 1, GONE: 2 };
/* Who runs on a CPU of which the next switch will tell. */
const LATER = 0xfffffffd;

const INTERVAL_COLUMNS = { task: Uint32Array, state: Uint8Array, beganAs: Uint8Array, flags: Uint16Array,
	endBy: Uint8Array, why: Uint8Array, start: Float64Array, end: Float64Array, cpu: Uint32Array,
	prevState: Uint32Array, stack: Uint32Array, givenTo: Uint32Array, takenFrom: Uint32Array, waker: Uint32Array,
	hops: Uint32Array, hopCount: Uint8Array };
const HOP_COLUMNS = { since: Float64Array, cpu: Uint32Array };
const WAKER_COLUMNS = { ts: Float64Array, tid: Uint32Array, cpu: Uint32Array, said: Uint32Array, stack: Uint32Array };
const SLICE_COLUMNS = { cpu: Uint32Array, space: Uint16Array, start: Float64Array, tid: Uint32Array };

function newThread(tid, task) {
	return { tid, task, life: LIFE.UNSEEN, state: STATE.UNKNOWN, why: WHY.UNKNOWN, flags: 0, pid: NONE,
		followed: false, away: false, from: 0, onCpu: false, hasWaker: false, wokenEarly: false, since: 0,
		cpu: NONE, prevState: 0, stack: NONE, givenTo: NONE, waker: NONE,
		hopCount: 0, hopSince: new Float64Array(HOPS_MAX), hopCpu: new Uint32Array(HOPS_MAX) };
}

/* Opens the next interval. Times that step back are no time. */
function begin(th, state, ts) {
	if (ts > th.since || th.life !== LIFE.ON)
		th.since = ts;
	th.life = LIFE.ON;
	th.state = state;
	th.flags = 0;
	th.why = WHY.UNKNOWN;
	th.hasWaker = th.wokenEarly = false;
	th.hopCount = 0;
	th.cpu = th.stack = th.givenTo = NONE;
	th.prevState = 0;
}

/* Whether it waited for that CPU alone. */
function waitedOn(th, cpu) {
	return th.hopCount === 1 && th.hopCpu[0] === cpu && th.hopSince[0] <= th.since;
}

/* Those of a list, "0,2-3"; null where there is none, or none that makes sense. */
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

/* The last ones are kept. */
function addHop(th, cpu, ts) {
	if (th.hopCount === HOPS_MAX) {
		th.hopSince.copyWithin(0, 1);
		th.hopCpu.copyWithin(0, 1);
		th.hopCount--;
	}
	th.hopSince[th.hopCount] = ts;
	th.hopCpu[th.hopCount++] = cpu;
}

/*
 * trace: { parts: [{ space, meta, start, stays }], gaps: [Gaps by part], stays (see stays.js),
 *	taskOf(space, tid) -> the index of a task, firstPid(task) -> its process, or NONE }
 * Feed it rows of a table of EVENT_COLUMNS in order by add(), then finish(). Then there are
 *	.rows		a table of INTERVAL_COLUMNS; those of one task are in order, and leave no time out
 *	.wakers		what a row's `waker` is the index in
 *	.slices		who came onto which CPU when; those of one CPU are in order
 *	.hops		a table of HOP_COLUMNS: on whose queues a runnable thread was, as far as is known: hopCount of them
 *			from the row's `hops` on; where that is NONE it was on the queue of its CPU all the while
 */
class Intervals {
	#trace;
	#part = -1;
	#space = 0;
	#start = 0;
	#last = 0;
	#followed = null;
	#neighbours = false; /* CPUs that those who are followed waited for were watched */
	#recorded = null; /* a Set of CPUs; null: all */
	#stays = null; /* of a part that has these in place of switches */
	#threads = new Map();
	#cpus = new Map(); /* who is on each: the tid, or NOBODY, and its slice's row */
	#woken = null; /* the thread that was woken last, whose waker's stack may come next */
	#pending = -1; /* the row of its block */

	/* Of so many events there will be. */
	constructor(trace, { switches = 0, wakings = 0 } = {}) {
		this.#trace = trace;
		this.rows = new Table(INTERVAL_COLUMNS, 2 * switches + wakings);
		this.wakers = new Table(WAKER_COLUMNS, wakings);
		this.slices = new Table(SLICE_COLUMNS, switches + FEW);
		this.hops = new Table(HOP_COLUMNS);
	}

	add(ev, i) {
		const kind = ev.kind[i];
		if (ev.part[i] !== this.#part)
			this.#beginPart(ev.part[i]);
		if (this.#stays)
			this.#stays.add(ev, i);
		if (kind !== EVENT.TASK && ev.ts[i] > this.#last)
			this.#last = ev.ts[i];
		if (this.#stays)
			return;
		if (kind === EVENT.SAMPLE)
			this.#takeStack(ev, i);
		if (kind !== EVENT.TASK)
			this.#flushWoken();
		if (kind === EVENT.SWITCH)
			this.#takeSwitch(ev, i);
		else if (kind === EVENT.WAKING || kind === EVENT.BIRTH)
			this.#takeWaking(ev, i);
		else if (kind === EVENT.TRACEPOINT || kind === EVENT.EXIT)
			this.#takeOther(ev, i);
		else if (kind === EVENT.TASK)
			this.#takeTask(ev, i);
		else if (kind === EVENT.WATCH)
			this.#takeWatch(ev, i);
	}

	finish() {
		this.#endPart();
	}

	/* ---- handing out ---- */

	#judge(row, th) {
		const rows = this.rows;
		if (!this.#followed.told)
			th.followed ||= this.#followed.has(th.pid, th.tid);
		if (!th.followed || th.away)
			rows.flags[row] |= FLAG.NEIGHBOUR;
		const gaps = this.#trace.gaps[this.#part];
		if (gaps && gaps.touch(rows.start[row], rows.end[row]))
			rows.flags[row] |= FLAG.LOSS;
		if (rows.flags[row] & (FLAG.LOSS | FLAG.HOLE | FLAG.NEIGHBOUR | FLAG.UNSURE))
			rows.state[row] = STATE.UNKNOWN;
		/* what does not fit together, or has no beginning, happened where nobody recorded */
		if (rows.state[row] === STATE.UNKNOWN && this.#recorded && !(rows.flags[row] & FLAG.LOSS))
			rows.flags[row] |= FLAG.NEIGHBOUR;
	}

	#put(th, ts, endBy, cpu, takenFrom) {
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
		rows.givenTo[row] = th.givenTo;
		rows.takenFrom[row] = takenFrom;
		rows.waker[row] = th.hasWaker ? th.waker : NONE;
		rows.hops[row] = NONE;
		if (th.state === STATE.RUNNABLE && !waitedOn(th, cpu))
			this.#putHops(th, row);
		return row;
	}

	#putHops(th, row) {
		const { rows, hops } = this;
		rows.hops[row] = hops.length;
		rows.hopCount[row] = th.hopCount;
		for (let i = 0; i < th.hopCount; i++) {
			const hop = hops.add();
			hops.since[hop] = th.hopSince[i];
			hops.cpu[hop] = th.hopCpu[i];
		}
	}

	#end(th, ts, endBy, cpu, takenFrom) {
		this.#judge(this.#put(th, ts, endBy, cpu, takenFrom), th);
	}

	#flushWoken() {
		if (this.#woken && this.#pending >= 0)
			this.#judge(this.#pending, this.#woken);
		this.#woken = null;
		this.#pending = -1;
	}

	/* The first event of a thread says what it did until then. */
	#beginUnseen(th, before) {
		begin(th, before, Math.max(th.from, this.#start));
		th.flags = FLAG.EDGE_START;
	}

	/* ---- threads ---- */

	/* null for the idle threads, which all share tid 0, and for what is no thread's number. */
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

	/* All of its switches are there. */
	#isFollowed(tid) {
		const th = this.#threads.get(tid);
		return th !== undefined && (th.followed || !this.#followed.told && this.#followed.has(th.pid, tid));
	}

	/* So are those of each CPU that is waited for. */
	get #seesAll() { return !this.#followed.some || this.#neighbours; }

	/* Makes `next` the one on a CPU, and tells who was there. */
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

	/* From here on all switches of a CPU are there, or not: who was on it since the last one is not known. */
	#takeWatch(ev, i) {
		const cpu = ev.cpu[i], kind = ev.a[i], on = this.#cpus.get(cpu);
		if (cpu === NONE || on && this.#isFollowed(on.tid))
			return;
		if (on)
			this.slices.tid[on.slice] = NOBODY;
		this.#beginSlice(cpu, ev.ts[i], kind === WATCH.BEGUN && ev.tid[i] <= TID_MAX ? ev.tid[i] :
			kind === WATCH.BEGUN_UNSEEN ? LATER : NOBODY);
	}

	/* ---- what is recorded of a thread ---- */

	#isRecorded(cpu) { return this.#recorded === null || this.#recorded.has(cpu); }

	/* From here on all of its switches are there: its next event will say what it is doing. */
	#arrive(th, ts) {
		if (th.life === LIFE.ON)
			this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		th.life = LIFE.UNSEEN;
		th.onCpu = false;
		th.from = ts;
	}

	/* From here on nothing is known of it. */
	#depart(th, ts) {
		if (th.life === LIFE.GONE)
			return;
		if (th.life === LIFE.UNSEEN)
			this.#beginUnseen(th, th.onCpu ? STATE.RUNNING : STATE.UNKNOWN);
		th.flags |= FLAG.EDGE_END;
		this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		begin(th, STATE.UNKNOWN, ts);
	}

	/* A thread is on the queue of this CPU, or was there last. */
	#place(th, cpu, ts) {
		const away = !this.#isRecorded(cpu);
		if (th.away === away)
			return;
		if (away)
			this.#depart(th, ts);
		else if (th.life === LIFE.ON)
			this.#arrive(th, ts);
		th.away = away;
	}

	/* To another CPU. It waits there: sleepers are moved when they are woken. */
	#moved(th, cpu, ts) {
		const wasAway = th.away;
		if (wasAway && th.life === LIFE.UNSEEN)
			this.#beginUnseen(th, STATE.UNKNOWN);
		this.#place(th, cpu, ts);
		if (!wasAway || th.away)
			return;
		begin(th, STATE.RUNNABLE, ts);
		th.flags = FLAG.EDGE_START;
	}

	/* What a TaskEvent says of it. */
	#tellFollowed(th, said, ts) {
		const followed = said && (!this.#followed.within || this.#followed.has(th.pid, th.tid));
		if (!this.#followed.told || th.followed === followed)
			return;
		if (followed)
			this.#arrive(th, ts);
		else
			this.#depart(th, ts);
		th.followed = followed;
	}

	/* ---- transitions ---- */

	#takeSwitch(ev, i) {
		const ts = ev.ts[i], cpu = ev.cpu[i], prev = ev.a[i], next = ev.b[i], state = ev.c[i];
		const out = this.#thread(prev), into = this.#thread(next);
		const sure = this.#seesAll || out !== null && this.#isFollowed(prev);
		if (out && out.life === LIFE.GONE)
			this.#foreseeExec(out, cpu, ts);
		const was = this.#toCpu(cpu, ts, prev, next, sure);
		if (was !== NOBODY && was !== prev) {
			const stays = this.#threads.get(was);
			if (stays && stays.life === LIFE.ON && stays.state === STATE.RUNNING && stays.cpu === cpu)
				stays.flags |= FLAG.HOLE;
		}
		if (out)
			this.#switchedOut(out, ts, cpu, state, next, was === NOBODY || was === prev);
		if (into)
			this.#switchedIn(into, ts, cpu, prev);
	}

	#switchedOut(th, ts, cpu, state, next, fits) {
		const how = howOut(state), early = th.wokenEarly;
		this.#place(th, cpu, ts);
		if (th.life === LIFE.UNSEEN) {
			this.#beginUnseen(th, STATE.RUNNING);
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
		th.givenTo = next;
		if (how === END.EXIT) {
			th.life = LIFE.GONE;
			this.#followed.forget(th.tid);
			th.followed = false;
		} else if (how === END.BLOCK) {
			th.wokenEarly = early;
		} else {
			th.why = how === END.PREEMPTED ? WHY.PREEMPTED : WHY.GAVE_WAY;
			addHop(th, cpu, th.since);
		}
	}

	#switchedIn(th, ts, cpu, prev) {
		this.#place(th, cpu, ts);
		/* on a CPU that is not recorded it may have run */
		if (th.life === LIFE.UNSEEN && this.#recorded) {
			this.#beginUnseen(th, STATE.UNKNOWN);
		} else if (th.life === LIFE.UNSEEN) {
			this.#beginUnseen(th, STATE.RUNNABLE);
			th.flags |= FLAG.UNSURE; /* it waited, or was blocked and its waking is not there */
		}
		if (th.life === LIFE.ON) {
			if (th.state === STATE.RUNNING) {
				th.flags |= FLAG.HOLE;
			} else if (th.state === STATE.BLOCKED && th.wokenEarly) {
				th.state = STATE.RUNNABLE;
				th.why = WHY.WOKEN_EARLY;
				th.hasWaker = true;
			} else if (th.state === STATE.BLOCKED) {
				th.flags |= FLAG.NO_WAKING;
			}
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
		wakers.said[row] = ev.c[i];
		wakers.stack[row] = NONE;
		return row;
	}

	#takeWaking(ev, i) {
		const th = this.#thread(ev.a[i]), current = this.#thread(ev.tid[i]);
		const birth = ev.kind[i] === EVENT.BIRTH, ts = ev.ts[i];
		if (current)
			current.onCpu = true;
		if (th && (!birth || th.life === LIFE.UNSEEN))
			this.#place(th, ev.b[i], ts);
		/* the first one counts */
		if (!th || !birth && th.life === LIFE.ON && th.state === STATE.RUNNABLE)
			return;
		if (th.life === LIFE.UNSEEN && !birth)
			this.#beginUnseen(th, STATE.BLOCKED);
		this.#woken = th;
		this.#pending = -1;
		const waker = this.#waker(ev, i);
		if (!birth && th.life === LIFE.ON && th.state === STATE.RUNNING) {
			th.waker = waker;
			th.wokenEarly = true;
			return;
		}
		if (birth) {
			this.#born(th, ts);
			th.away = !this.#isRecorded(ev.b[i]);
		} else {
			this.#wake(th, ts, waker);
		}
		th.waker = waker;
		th.hasWaker = true;
		addHop(th, ev.b[i], th.since);
	}

	#wake(th, ts, waker) {
		if (th.life === LIFE.ON) {
			th.hasWaker = true;
			th.waker = waker;
			this.#pending = this.#put(th, ts, END.WAKING, th.cpu, NONE);
		}
		begin(th, STATE.RUNNABLE, ts);
		th.why = WHY.WOKEN;
	}

	#born(th, ts) {
		if (th.life === LIFE.ON) {
			/* one of the same number, whose end is not there */
			th.flags |= FLAG.HOLE;
			this.#end(th, ts, END.NOTHING, th.cpu, NONE);
		}
		if (th.life !== LIFE.UNSEEN)
			th.pid = NONE;
		if (!this.#followed.told)
			th.followed = false;
		begin(th, STATE.RUNNABLE, ts);
		th.why = WHY.NEW;
	}

	#takeStack(ev, i) {
		const th = this.#thread(ev.tid[i]), source = ev.c[i], woken = this.#woken, wakers = this.wakers;
		this.#followed.come(ev.b[i]);
		if (!th)
			return;
		if (source === SOURCE.SAMPLE) {
			th.onCpu = true;
		} else if (source === SOURCE.WAKING) {
			if (woken && wakers.tid[woken.waker] === ev.tid[i] && wakers.ts[woken.waker] === ev.ts[i])
				wakers.stack[woken.waker] = ev.a[i];
		} else if (source === SOURCE.SWITCH_OUT && th.life === LIFE.ON && th.state !== STATE.RUNNING &&
		    th.since === ev.ts[i]) {
			th.stack = ev.a[i];
		}
	}

	#takeTask(ev, i) {
		const th = this.#thread(ev.tid[i]);
		this.#followed.task(ev.a[i], ev.tid[i], ev.b[i] === 1);
		if (th && ev.a[i] !== NONE)
			th.pid = ev.a[i];
		if (th)
			this.#tellFollowed(th, ev.b[i] === 1, ev.ts[i]);
	}

	#takeOther(ev, i) {
		const current = this.#threads.get(ev.tid[i]);
		if (ev.b[i] !== NONE)
			this.#followed.fork(this.#pidOf(ev.tid[i]), ev.tid[i], ev.b[i]);
		else if (ev.c[i] !== NONE)
			this.#followed.exec(ev.a[i], ev.c[i]);
		if (current)
			current.onCpu = true;
		if (ev.c[i] !== NONE)
			this.#takeExec(ev, i);
		const th = ev.d[i] === NONE ? null : this.#threads.get(ev.a[i]);
		if (th && this.#recorded)
			this.#moved(th, ev.d[i], ev.ts[i]);
		if (th && th.life === LIFE.ON && th.state === STATE.RUNNABLE)
			addHop(th, ev.d[i], Math.max(ev.ts[i], th.since));
	}

	/* A thread that execs while others of its process are left takes over the leader's number. */
	#takeExec(ev, i) {
		const old = this.#threads.get(ev.c[i]), th = this.#thread(ev.a[i]);
		if (ev.a[i] !== ev.c[i] && old && th)
			this.#goOnAs(old, th, ev.ts[i]);
	}

	#goOnAs(old, th, ts) {
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

	/* It has the leader's number before the kernel tells of the exec, and may be switched out in between. */
	#foreseeExec(leader, cpu, ts) {
		const on = this.#cpus.get(cpu), th = on && this.#threads.get(on.tid);
		if (!th)
			return;
		if (th.pid === NONE)
			th.pid = this.#trace.firstPid(th.task);
		if (th.pid === leader.tid)
			this.#goOnAs(th, leader, ts);
	}

	/* ---- parts ---- */

	#beginPart(part) {
		this.#endPart();
		const { space, start } = this.#trace.parts[part];
		this.#part = part;
		this.#space = space;
		this.#start = this.#last = start;
		this.#followed = new Followed(this.#trace.parts[part].meta);
		this.#neighbours = this.#trace.parts[part].meta.get('neighbours') === 'yes';
		this.#recorded = cpuSet(this.#trace.parts[part].meta.get('recorded_cpus'));
		this.#stays = this.#trace.parts[part].stays ? new Stays(this.#trace, this.#trace.parts[part], this) : null;
	}

	#endPart() {
		if (this.#stays)
			this.#stays.finish(this.#last);
		this.#stays = null;
		this.#flushWoken();
		for (const [cpu, on] of this.#cpus)
			this.#toCpu(cpu, this.#last, on.tid === LATER ? NOBODY : on.tid, NOBODY,
				this.#seesAll || this.#isFollowed(on.tid));
		for (const th of this.#threads.values())
			this.#endThread(th);
		this.#threads.clear();
		this.#cpus.clear();
	}

	/* Threads without any event did one thing all the while: not switched in, they never ran. */
	#endThread(th) {
		if (th.life === LIFE.GONE)
			return;
		if (th.life === LIFE.UNSEEN)
			this.#beginUnseen(th, th.onCpu ? STATE.RUNNING : STATE.BLOCKED);
		th.flags |= FLAG.EDGE_END;
		const waited = th.hopCount ? th.hopCpu[th.hopCount - 1] : NONE;
		this.#end(th, this.#last, END.NOTHING, th.state === STATE.RUNNABLE ? waited : th.cpu, NONE);
	}
}

module.exports = { Intervals };
