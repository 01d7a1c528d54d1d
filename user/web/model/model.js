// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the page shows of a trace: the intervals of each thread in order, slices of CPUs, samples
 * and wakeups by time. Built once from a Trace, then constant.
 */
'use strict';

const { NONE, groupBy, lowerBound, pick } = require('../read/columns.js');
const { Intervals } = require('./intervals.js');
const { findLanes } = require('./lanes.js');
const { Lane } = require('./pixel_columns.js');
const { STATE, FLAG, NOBODY, isUnsure } = require('../read/states.js');

/*
 * States in the lane of a thread: those of STATE, and two more. NEIGHBOUR (not a target) is in no
 * sum.
 */
const LANE = { ...STATE, DISK: 4, NEIGHBOUR: 5, COUNT: 6 };
const UNINTERRUPTIBLE = 2;

function laneState({ flags, prevState, state }, row) {
	if (flags[row] & FLAG.NEIGHBOUR)
		return LANE.NEIGHBOUR;
	return state[row] === STATE.BLOCKED && (prevState[row] & 0xff) === UNINTERRUPTIBLE ? LANE.DISK : state[row];
}

function cpuKey(space, cpu) {
	return space * 0x100000000 + cpu;
}

/*
 *	trace		the Trace
 *	rows		all intervals; `row` below is an index in it
 *	tasks		[{ task, tid, pid, comm, rows, lane, total, isTarget, offCpu }] of threads with anything to show:
 *			rows, a Uint32Array in order of time; lane, a Lane of the same with the states of LANE; total,
 *			nanoseconds by STATE; offCpu: it has recorded off-CPU intervals
 *	cpus		[{ space, cpu, start, end, tid }], sorted arrays; tid 0: idle, NOBODY: unknown
 *	wakes		{ ts, row }: by time, for each wakeup the runnable row that it starts
 *	samples		{ ts, stack, task, cpu, ns }, by time; ns 0 if a sample has no weight
 *	lanes		of an application: see lanes.js
 */
class Model {
	#byCpu;

	constructor(trace) {
		this.trace = trace;
		this.intervals = new Intervals(trace, trace);
		this.#run();
		this.rows = this.intervals.rows;
		this.wakers = this.intervals.wakers;
		this.samples = this.#samples();
		this.tasks = this.#tasks();
		this.byTask = new Map(this.tasks.map((task) => [task.task, task]));
		this.cpus = this.#cpus();
		this.#byCpu = new Map(this.cpus.map((one) => [cpuKey(one.space, one.cpu), one]));
		this.wakes = this.#wakes();
		this.lanes = findLanes(trace);
		this.first = trace.first;
		this.last = Math.max(trace.last, trace.first + 1);
	}

	/* The thread of a tid, or null. */
	taskOfTid(tid, space) {
		return tid === NONE || tid === NOBODY || !tid ? null :
			this.byTask.get(this.trace.taskOf(space, tid)) || null;
	}

	/* The name of a thread, even without anything else to show. */
	nameOfTid(tid, space) {
		if (tid === NONE || tid === NOBODY)
			return 'unknown';
		if (!tid)
			return 'idle';
		const { comm } = this.trace.tasks[this.trace.taskOf(space, tid)];
		return comm ? `${comm} ${tid}` : `thread ${tid}`;
	}

	/* One of .cpus, or undefined. */
	cpuOf(space, cpu) {
		return this.#byCpu.get(cpuKey(space, cpu));
	}

	/* The row of a thread at a time, or -1. */
	rowAt(task, ts) {
		const { rows, ends } = task, i = lowerBound(ends, ts, 0, ends.length);
		return i < rows.length && this.rows.start[rows[i]] <= ts ? rows[i] : -1;
	}

	/*
	 * The switch-out stack since which a thread has been off the CPU; NONE while it runs. A
	 * thread that was woken and waits for a CPU still has its switch-out stack.
	 */
	stackOf(row) {
		return this.offStack[row];
	}

	/* Parts without switches have no intervals. Parts of a merged trace overlap. */
	#run() {
		const { events, parts } = this.trace, first = new Array(parts.length), last = new Array(parts.length);
		for (let i = 0, part = -1; i < events.length; i++) {
			if (events.part[i] === part)
				continue;
			if (part >= 0)
				last[part] = i;
			part = events.part[i];
			first[part] ??= i;
			last[part] = events.length;
		}
		const order = parts.map((_, part) => part).filter((part) => parts[part].switches)
			.sort((a, b) => parts[a].first - parts[b].first);
		for (const part of order)
			for (let i = first[part]; i < last[part]; i++)
				if (events.part[i] === part)
					this.intervals.add(events, i);
		this.intervals.finish();
	}

	#tasks() {
		const { rows } = this.intervals, all = this.trace.tasks, tasks = [];
		const { order, begin } = groupBy(rows.task, rows.length, all.length);
		const sampled = new Set(this.samples.task);
		this.offStack = new Uint32Array(rows.length).fill(NONE);
		for (let task = 0; task < all.length; task++) {
			const mine = order.subarray(begin[task], begin[task + 1]);
			if (mine.length || sampled.has(task))
				tasks.push(this.#task(task, mine));
		}
		return tasks;
	}

	#task(task, mine) {
		const { rows } = this.intervals, { tid, pid, comm, exe, space } = this.trace.tasks[task];
		const total = [0, 0, 0, 0], ends = new Float64Array(mine.length);
		let isTarget = !mine.length, stack = NONE, between = false;
		for (let i = 0; i < mine.length; i++) {
			const row = mine[i], state = rows.state[row];
			ends[i] = rows.end[row];
			if (state === STATE.RUNNING || state === STATE.UNKNOWN && !isUnsure(rows.flags[row]))
				stack = NONE;
			else if (rows.stack[row] !== NONE)
				stack = rows.stack[row];
			this.offStack[row] = stack;
			if (rows.flags[row] & FLAG.NEIGHBOUR)
				continue;
			isTarget = true;
			between ||= (rows.flags[row] & FLAG.BETWEEN) !== 0;
			total[state] += rows.end[row] - rows.start[row];
		}
		const lane = new Lane(pick(Float64Array, rows.start, mine), ends, LANE.COUNT, (i) => laneState(rows, mine[i]));
		return { task, tid, pid, space, comm, exe, rows: mine, ends, lane, total, isTarget, sampled: !mine.length,
			offCpu: between && total[STATE.BLOCKED] + total[STATE.RUNNABLE] > 0 };
	}

	#cpus() {
		const { slices } = this.intervals, places = new Map(), place = new Uint32Array(slices.length), keys = [];
		for (let i = 0; i < slices.length; i++) {
			const key = cpuKey(slices.space[i], slices.cpu[i]);
			if (!places.has(key)) {
				places.set(key, keys.length);
				keys.push({ space: slices.space[i], cpu: slices.cpu[i] });
			}
			place[i] = places.get(key);
		}
		const { order, begin } = groupBy(place, slices.length, keys.length);
		return keys.map(({ space, cpu }, p) => {
			const mine = order.subarray(begin[p], begin[p + 1]), turns = Math.max(mine.length - 1, 0);
			const start = pick(Float64Array, slices.start, mine);
			return { space, cpu, start: start.subarray(0, turns), end: start.subarray(1),
				tid: pick(Uint32Array, slices.tid, mine).subarray(0, turns) };
		}).sort((a, b) => a.space - b.space || a.cpu - b.cpu);
	}

	/*
	 * Wakers of one space are in order of time, except those from off-CPU events, which come at
	 * the end of their interval.
	 */
	#wakes() {
		const { rows, wakers } = this.intervals, woken = new Uint32Array(wakers.length).fill(NONE);
		for (let row = 0; row < rows.length; row++)
			if (rows.waker[row] !== NONE && rows.beganAs[row] === STATE.RUNNABLE)
				woken[rows.waker[row]] = row;
		const ts = new Float64Array(wakers.length), row = woken;
		let n = 0;
		for (let waker = 0; waker < wakers.length; waker++)
			if (woken[waker] !== NONE) {
				ts[n] = wakers.ts[waker];
				row[n++] = woken[waker];
			}
		const out = { row: row.subarray(0, n), ts: ts.subarray(0, n) };
		if (this.trace.spaces.length === 1 && !this.trace.parts.some(({ offCpu }) => offCpu))
			return out;
		const order = Uint32Array.from(out.ts, (_, i) => i).sort((a, b) => ts[a] - ts[b]);
		return { row: pick(Uint32Array, out.row, order), ts: pick(Float64Array, out.ts, order) };
	}

	#samples() {
		const { events, samples, parts } = this.trace, n = samples.length;
		const sorted = samples.every((row, i) => !i || events.ts[row] >= events.ts[samples[i - 1]]) ?
			samples : samples.slice().sort((a, b) => events.ts[a] - events.ts[b]);
		const out = { ts: new Float64Array(n), stack: new Uint32Array(n), task: new Uint32Array(n),
			cpu: new Uint32Array(n), ns: new Float64Array(n) };
		sorted.forEach((row, i) => {
			const part = parts[events.part[row]], task = this.trace.taskOf(part.space, events.tid[row]);
			out.ts[i] = events.ts[row];
			out.stack[i] = events.a[row];
			out.task[i] = task;
			out.cpu[i] = events.cpu[row];
			out.ns[i] = part.periodNs;
			if (this.trace.tasks[task].pid === NONE && events.b[row] !== NONE)
				this.trace.tasks[task].pid = events.b[row];
		});
		return out;
	}
}

module.exports = { Model, LANE };
