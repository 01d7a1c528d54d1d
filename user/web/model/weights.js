// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks with their weights, for a time range and some threads. As `report`, `offcpu` and `report
 * --wall`.
 */
'use strict';

const { NONE, lowerBound } = require('../read/columns.js');
const { STATE, FLAG } = require('../read/states.js');
const { LANE } = require('./model.js');

const KINDS = { cpu: 'CPU', offcpu: 'Off-CPU', wall: 'Wall clock' };

/* Sums by state and stack; stack NONE: unknown. */
class Weights {
	#index = new Map();

	constructor() {
		this.stack = [];
		this.state = [];
		this.weight = [];
		this.count = [];
	}

	get length() { return this.stack.length; }
	get total() { return this.weight.reduce((sum, weight) => sum + weight, 0); }

	add(state, stack, weight) {
		const key = stack * 4 + state;
		let i = this.#index.get(key);
		if (i === undefined) {
			i = this.length;
			this.#index.set(key, i);
			this.stack.push(stack);
			this.state.push(state);
			this.weight.push(0);
			this.count.push(0);
		}
		this.weight[i] += weight;
		this.count[i]++;
	}
}

/* The unit of a kind: 'ns', or 'samples' if the time per sample is unknown. */
function unitOf(model, kind) {
	return kind === 'cpu' && model.samples.ns.some((ns) => !ns) ? 'samples' : 'ns';
}

function addSamples(out, model, { from, to, tasks }, unit) {
	const { ts, stack, task, ns } = model.samples, end = ts.length;
	for (let i = lowerBound(ts, from, 0, end); i < end && ts[i] <= to; i++)
		if (!tasks || tasks.has(task[i]))
			out.add(STATE.RUNNING, stack[i], unit === 'ns' ? ns[i] : 1);
}

/* Each interval counts with its part in the range. */
function addIntervals(out, model, { from, to, tasks }, wanted) {
	const { rows } = model;
	for (const { task, rows: mine, ends } of model.tasks) {
		if (tasks && !tasks.has(task))
			continue;
		for (let i = lowerBound(ends, from, 0, mine.length); i < mine.length; i++) {
			const row = mine[i], start = Math.max(rows.start[row], from);
			if (rows.start[row] > to)
				break;
			if (wanted.includes(rows.state[row]) && !(rows.flags[row] & FLAG.NEIGHBOUR))
				out.add(rows.state[row], model.stackOf(row), Math.min(rows.end[row], to) - start);
		}
	}
}

/*
 * kind: one of KINDS. range: { from, to, tasks }, tasks a Set of task numbers, or null: all.
 * Weights of state RUNNING are samples, those of other states intervals.
 */
function weigh(model, kind, range) {
	const out = new Weights(), unit = unitOf(model, kind);
	if (kind !== 'offcpu')
		addSamples(out, model, range, unit);
	if (kind === 'offcpu')
		addIntervals(out, model, range, [STATE.BLOCKED]);
	if (kind === 'wall')
		addIntervals(out, model, range, [STATE.BLOCKED, STATE.RUNNABLE]);
	return out;
}

/* Sums by LANE as sums by STATE. */
function byState(times) {
	return [times[LANE.UNKNOWN], times[LANE.RUNNING], times[LANE.RUNNABLE], times[LANE.BLOCKED] + times[LANE.DISK]];
}

/* Nanoseconds by state of some threads in a range. */
function sumStates(model, { from, to, tasks }) {
	const times = new Float64Array(LANE.COUNT);
	for (const { task, lane } of model.tasks)
		if (!tasks || tasks.has(task))
			lane.addTimes(from, to, times);
	return byState(times);
}

/* The same for one of model.tasks. */
function sumTask(model, { lane }, { from, to }) {
	const times = new Float64Array(LANE.COUNT);
	lane.addTimes(from, to, times);
	return byState(times);
}

/* By function: [{ fn, self, total, selfCount, totalCount }], most self first; fn -1: no stack. */
function byFunction(model, weights) {
	const { symbols, stacks } = model.trace, rows = new Map();
	const rowOf = (fn) => {
		if (!rows.has(fn))
			rows.set(fn, { fn, self: 0, total: 0, selfCount: 0, totalCount: 0, seen: -1 });
		return rows.get(fn);
	};
	for (let i = 0; i < weights.length; i++) {
		const frames = weights.stack[i] === NONE ? [] : stacks.get(weights.stack[i]);
		const fns = frames.length ? frames.flatMap((frame) => symbols.expand(frame)) : [-1];
		const leaf = rowOf(fns[0]);
		leaf.self += weights.weight[i];
		leaf.selfCount += weights.count[i];
		for (const fn of fns) {
			const row = rowOf(fn);
			if (row.seen === i)
				continue;
			row.seen = i;
			row.total += weights.weight[i];
			row.totalCount += weights.count[i];
		}
	}
	return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

module.exports = { KINDS, weigh, sumStates, sumTask, byFunction, unitOf };
