// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of the timeline from top to bottom: CPUs, processes with their threads, an application's workers,
 * other events. A row has the lane that is drawn in it, and says what a column's colour is.
 */
'use strict';

const { NONE, pick } = require('./columns.js');
const { NOBODY, STATE } = require('./intervals.js');
const { SLICE } = require('./lanes.js');
const { Lane } = require('./lod.js');

const HEIGHT = { group: 20, cpu: 22, thread: 22, polls: 18, spans: 16, marks: 16 };
const DISK = 4; /* the state of a thread in uninterruptible sleep, beside those of STATE */
const BUSY = { IDLE: 0, RUNS: 1, UNKNOWN: 2 };

/* Colours by state of each kind of row, names of the palette; null: none. */
const COLORS = {
	thread: ['unknown', 'run', 'wait', 'sleep', 'disk'],
	cpu: [null, 'run', 'unknown'],
	polls: [null, 'poll', 'park', null],
	spans: [null, null, null, 'span'],
};

function threadLane(model, task) {
	const { rows } = model, mine = task.rows;
	return new Lane(pick(Float64Array, rows.start, mine), task.ends, 5, (i) => {
		const row = mine[i], state = rows.state[row];
		return state === STATE.BLOCKED && (rows.prevState[row] & 0xff) === 2 ? DISK : state;
	});
}

function cpuLane({ start, end, tid }) {
	return new Lane(start, end, 3, (i) => !tid[i] ? BUSY.IDLE : tid[i] === NOBODY ? BUSY.UNKNOWN : BUSY.RUNS);
}

function sliceLane({ start, end, state }) {
	return new Lane(start, end, 4, (i) => state[i]);
}

/* { type, name, depth, height, lane() }; of a group: key, and the rows below it. */
class Row {
	#make;
	#lane = null;

	constructor(type, name, make, more = {}) {
		Object.assign(this, { type, name, height: HEIGHT[type], ...more });
		this.#make = make;
	}

	/* Made when it is first seen. */
	lane() {
		return this.#lane ||= this.#make();
	}
}

function group(name, detail, rows, open = true) {
	return { type: 'group', name, detail, height: HEIGHT.group, rows, open };
}

function samplesByTask({ samples }) {
	const by = new Map();
	for (let i = 0; i < samples.ts.length; i++) {
		if (!by.has(samples.task[i]))
			by.set(samples.task[i], []);
		by.get(samples.task[i]).push(samples.ts[i]);
	}
	return by;
}

function processes(model) {
	const by = new Map(), samples = samplesByTask(model);
	for (const task of model.tasks) {
		if (!task.followed)
			continue;
		const key = task.pid === NONE ? -1 : task.pid;
		if (!by.has(key))
			by.set(key, []);
		by.get(key).push(task);
	}
	const run = (tasks) => tasks.reduce((sum, task) => sum + task.total[STATE.RUNNING], 0);
	const sampled = (tasks) => tasks.reduce((sum, task) => sum + (samples.get(task.task) || []).length, 0);
	const weight = ([, tasks]) => run(tasks) || sampled(tasks);
	return [...by].sort((a, b) => weight(b) - weight(a)).map(([pid, tasks]) => {
		const leader = pid < 0 ? tasks[0] : model.trace.tasks[model.trace.taskOf(tasks[0].clock, pid)];
		tasks.sort((a, b) => b.total[STATE.RUNNING] - a.total[STATE.RUNNING] ||
			b.total[STATE.BLOCKED] - a.total[STATE.BLOCKED] || a.tid - b.tid);
		const busy = run(tasks) > 0 || sampled(tasks) > 0;
		return group(pid < 0 ? 'process unknown' : `${leader.comm || tasks[0].comm || 'process'} ${pid}`,
			`${tasks.length} thread${tasks.length === 1 ? '' : 's'}`, tasks.map((task) =>
				new Row('thread', `${task.comm || 'thread'} ${task.tid}`, () => threadLane(model, task),
					{ task, samples: Float64Array.from(samples.get(task.task) || []) })), busy);
	});
}

function workers({ lanes }) {
	return lanes.workers.flatMap(({ worker, tid, polls, spans }) => {
		const of = tid === NONE ? '' : ` (${tid})`;
		const rows = spans.map((slices, depth) =>
			new Row('spans', depth ? '' : 'spans', () => sliceLane(slices), { slices, worker, tid }));
		if (polls.start.length)
			rows.unshift(new Row('polls', 'polls', () => sliceLane(polls), { slices: polls, worker, tid }));
		return rows.length ? [group(`worker ${worker}${of}`, '', rows)] : [];
	});
}

function makeGroups(model) {
	const groups = [];
	if (model.cpus.length)
		groups.push(group('CPUs', '', model.cpus.map((cpu) =>
			new Row('cpu', `CPU ${cpu.cpu}`, () => cpuLane(cpu), { cpu }))));
	groups.push(...workers(model), ...processes(model));
	if (model.lanes.marks.length)
		groups.push(group('Events', '', model.lanes.marks.map((marks) => new Row('marks', marks.name, null, { marks }))));
	return groups;
}

/* Those rows that are not folded away, with .top in pixels; and their height together. */
function visibleRows(groups) {
	const rows = [];
	let top = 0;
	for (const one of groups)
		for (const row of one.open ? [one, ...one.rows] : [one]) {
			row.top = top;
			top += row.height;
			rows.push(row);
		}
	return { rows, height: top };
}

module.exports = { makeGroups, visibleRows, COLORS, DISK, BUSY, SLICE };
