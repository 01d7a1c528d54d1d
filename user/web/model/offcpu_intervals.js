// SPDX-License-Identifier: BSD-2-Clause
/*
 * Intervals of a recording that has off-CPU intervals instead of switches. As
 * user/profile/sched/offcpu_interval.c; and the time between two of a thread is an unknown
 * interval: it ran, or was off the CPU for a time that the filter excludes.
 */
'use strict';

const { NONE } = require('../read/columns.js');
const { END, EVENT, FLAG, SOURCE, STATE, TID_MAX, WHY, endOfSwitch, isBlocked } = require('../read/states.js');

/*
 * For one part { space, start } of a trace { taskOf(), offCpu }, offCpu a table of OFF_CPU_COLUMNS.
 * Call add() for the part's events in order, then finish(). Rows and wakers go into tables of those
 * names, as in Intervals.
 */
class OffCpuIntervals {
	#trace;
	#part;
	/*
	 * tid -> { task, until, gone, seen }. until: end of the intervals so far, null: none yet;
	 * gone: it exits; seen: it has an off-CPU interval or a sample. Threads without one are not
	 * shown.
	 */
	#threads = new Map();
	#last = null; /* { tid, ts, row } of an off-CPU interval whose stack may come next */

	constructor(trace, part, { rows, wakers }) {
		this.#trace = trace;
		this.#part = part;
		this.rows = rows;
		this.wakers = wakers;
	}

	add(ev, i) {
		const kind = ev.kind[i], last = this.#last;
		if (kind === EVENT.TASK)
			return;
		if (kind === EVENT.SAMPLE && ev.c[i] === SOURCE.EVENT && last && last.tid === ev.tid[i] && last.ts === ev.ts[i])
			this.rows.stack[last.row] = ev.a[i];
		this.#last = null;
		if (kind === EVENT.OFF_CPU)
			this.#addInterval(ev, i);
		else if (kind === EVENT.EXIT)
			this.#exit(ev.tid[i], ev.ts[i]);
		else if (kind === EVENT.TRACEPOINT)
			this.#tracepoint(ev, i);
		else if (kind === EVENT.SAMPLE && ev.c[i] === SOURCE.SAMPLE)
			this.#see(ev.tid[i]);
	}

	finish(ts) {
		for (const th of this.#threads.values())
			if (th.seen && !th.gone)
				this.#unknown(th, ts, END.NOTHING, FLAG.EDGE_END);
	}

	#thread(tid) {
		let th = this.#threads.get(tid);
		if (!th && tid && tid <= TID_MAX)
			this.#threads.set(tid, th = { task: this.#trace.taskOf(this.#part.space, tid), until: null, gone: false, seen: false });
		return th || null;
	}

	#see(tid) {
		const th = this.#thread(tid);
		if (th)
			th.seen = true;
		return th;
	}

	/* A fork, or an exec, with which a thread takes over the TID of its process. */
	#tracepoint(ev, i) {
		if (ev.b[i] !== NONE)
			this.#handleBirth(ev.b[i], ev.ts[i]);
		else if (ev.c[i] !== NONE && ev.c[i] !== ev.a[i])
			this.#handleBirth(ev.a[i], ev.ts[i]);
	}

	/* The TID was free until then, or belonged to a thread whose exit is missing. */
	#handleBirth(tid, ts) {
		const th = this.#thread(tid);
		if (!th)
			return;
		th.until = Math.max(th.until ?? ts, ts);
		th.gone = false;
	}

	/* It may be off the CPU once more before it is gone. */
	#exit(tid, ts) {
		const th = this.#thread(tid);
		if (!th || th.gone)
			return;
		if (th.seen)
			this.#unknown(th, ts, END.EXIT, 0);
		th.until = Math.max(th.until ?? ts, ts);
		th.gone = true;
	}

	/* From its last off-CPU interval, or from the start of the part, until then. */
	#unknown(th, ts, endBy, flags) {
		const start = th.until ?? this.#part.start;
		if (ts > start)
			this.#put(th, { state: STATE.UNKNOWN, start, end: ts, endBy,
				flags: flags | FLAG.BETWEEN | (th.until === null ? FLAG.EDGE_START : 0) });
	}

	/* Intervals of a thread must not overlap, whatever a file has. */
	#put(th, { state, beganAs = state, start, end, endBy, flags, why = WHY.UNKNOWN, cpu = NONE, prevState = 0, waker = NONE }) {
		const { rows } = this, row = rows.add();
		rows.task[row] = th.task;
		rows.state[row] = state;
		rows.beganAs[row] = beganAs;
		rows.start[row] = Math.max(start, th.until ?? start);
		rows.end[row] = th.until = Math.max(rows.start[row], end);
		rows.endBy[row] = endBy;
		rows.flags[row] = flags;
		rows.why[row] = why;
		rows.cpu[row] = cpu;
		rows.prevState[row] = prevState;
		rows.waker[row] = waker;
		rows.stack[row] = rows.nextTid[row] = rows.prevTid[row] = rows.queues[row] = NONE;
		return row;
	}

	#waker(ts, entry) {
		const { wakers } = this, { offCpu } = this.#trace, row = wakers.add();
		wakers.ts[row] = ts;
		wakers.tid[row] = offCpu.waker[entry];
		wakers.raw[row] = offCpu.context[entry];
		wakers.cpu[row] = wakers.stack[row] = NONE;
		return row;
	}

	#addInterval(ev, i) {
		const { offCpu } = this.#trace, ts = ev.ts[i], entry = ev.a[i], th = this.#see(ev.tid[i]);
		if (!th)
			return;
		const off = offCpu.offNs[entry], from = ts - off, blocked = Math.min(offCpu.blockedNs[entry], off);
		const prevState = offCpu.prevState[entry], fromCpu = offCpu.fromCpu[entry], unfinished = offCpu.unfinished[entry] !== 0;
		const flags = unfinished ? FLAG.EDGE_END : 0, endBy = unfinished ? END.NOTHING : END.CPU;
		const waits = { state: STATE.RUNNABLE, start: from, end: ts, endBy, flags, prevState, cpu: unfinished ? fromCpu : ev.cpu[i] };
		const woken = offCpu.woken[entry] !== 0 && isBlocked(prevState), waker = woken ? this.#waker(from + blocked, entry) : NONE;
		this.#unknown(th, from, endOfSwitch(prevState), 0);
		const row = this.rows.length;
		if (!isBlocked(prevState))
			this.#put(th, { ...waits, why: prevState ? WHY.PREEMPTED : WHY.RESCHED });
		else if (woken && !blocked)
			this.#put(th, { ...waits, why: WHY.WOKEN_EARLY, waker });
		else if (woken)
			this.#blocked(th, { ...waits, waker }, from + blocked, fromCpu);
		else
			this.#put(th, { ...waits, state: unfinished ? STATE.BLOCKED : STATE.UNKNOWN, beganAs: STATE.BLOCKED, cpu: fromCpu,
				flags: flags | (unfinished ? 0 : FLAG.UNSURE) });
		this.#last = { tid: ev.tid[i], ts, row };
	}

	/* A blocked interval that a wakeup ended, and the runnable one after it. */
	#blocked(th, waits, woken, fromCpu) {
		this.#put(th, { ...waits, state: STATE.BLOCKED, end: woken, endBy: END.WAKEUP, flags: 0, cpu: fromCpu });
		this.#put(th, { ...waits, start: woken, why: WHY.WOKEN, prevState: 0 });
	}
}

module.exports = { OffCpuIntervals };
