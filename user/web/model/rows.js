// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of the timeline from top to bottom: CPUs, processes with their threads, an application's
 * workers, other events. A row has its lane, and the colours for the states of columns.
 */
'use strict';

const { NONE, pick } = require('../read/columns.js');
const { NOBODY, STATE } = require('../read/states.js');
const { NOT_A_WORKER } = require('./lanes.js');
const { Lane } = require('./pixel_columns.js');

const HEIGHT = { group: 20, cpu: 22, thread: 22, polls: 18, spans: 16, marks: 16 };
const BUSY = { IDLE: 0, RUNS: 1, UNKNOWN: 2 };

/* Colours by state for each kind of row, names of the palette; null: none. */
const COLORS = {
	thread: ['unknown', 'run', 'wait', 'sleep', 'disk', 'unknown'], /* by LANE of model.js */
	cpu: [null, 'run', 'unknown'],
	polls: [null, 'poll', 'park', null, 'slow'],
	spans: [null, null, null, 'span', null],
};

function cpuLane({ start, end, tid }) {
	return new Lane(start, end, 3, (i) => !tid[i] ? BUSY.IDLE : tid[i] === NOBODY ? BUSY.UNKNOWN : BUSY.RUNS);
}

function sliceLane({ start, end, state }) {
	return new Lane(start, end, 5, (i) => state[i]);
}

/* { type, name, depth, height, lane() }; for a group: key, and the rows below it. */
class Row {
	#make;
	#lane = null;

	constructor(type, name, make, more = {}) {
		Object.assign(this, { type, name, height: HEIGHT[type], ...more });
		this.#make = make;
	}

	/* Created on first use. */
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

/* Where an application's lanes are: below the thread of the worker, or in a group of their own. */
function laneKey(space, tid) {
	return `${space} ${tid}`;
}

function lanesOf({ space, tid, workers, polls, spans }) {
	const number = workers.every((one) => one === NOT_A_WORKER) ? '' : ` of worker ${workers.join(', ')}`;
	const more = { space, tid, workers };
	const rows = spans.map((slices, depth) => new Row('spans', depth ? '' : `spans${number}`, () => sliceLane(slices),
		{ slices, ...more }));
	if (polls.start.length)
		rows.unshift(new Row('polls', `polls${number}`, () => sliceLane(polls), { slices: polls, ...more }));
	return rows;
}

function threadRows(model, tasks, samples, lanes) {
	return tasks.flatMap((task) => {
		const key = laneKey(task.space, task.tid), mine = lanes.get(key);
		lanes.delete(key);
		return [new Row('thread', `${task.comm || 'thread'} ${task.tid}`, () => task.lane,
			{ task, samples: Float64Array.from(samples.get(task.task) || []) }), ...mine ? lanesOf(mine) : []];
	});
}

function processGroup(model, pid, tasks, samples, lanes) {
	const { trace } = model, leader = pid < 0 ? tasks[0] : trace.tasks[trace.taskOf(tasks[0].space, pid)];
	const busy = tasks.some((task) => task.total[STATE.RUNNING] || task.offCpu || samples.has(task.task));
	tasks.sort((a, b) => b.total[STATE.RUNNING] - a.total[STATE.RUNNING] ||
		b.total[STATE.BLOCKED] - a.total[STATE.BLOCKED] || a.tid - b.tid);
	return group(pid < 0 ? 'unknown process' : `${leader.comm || tasks[0].comm || 'process'} ${pid}`,
		`${tasks.length} thread${tasks.length === 1 ? '' : 's'}`, threadRows(model, tasks, samples, lanes), busy);
}

function processes(model, space, samples, lanes) {
	const by = new Map();
	for (const task of model.tasks) {
		if (!task.isTarget || task.space !== space)
			continue;
		const key = task.pid === NONE ? -1 : task.pid;
		if (!by.has(key))
			by.set(key, []);
		by.get(key).push(task);
	}
	const ran = (tasks) => tasks.reduce((sum, task) => sum + task.total[STATE.RUNNING], 0);
	const sampled = (tasks) => tasks.reduce((sum, task) => sum + (samples.get(task.task) || []).length, 0);
	const weights = new Map([...by].map(([pid, tasks]) => [pid, ran(tasks) || sampled(tasks)]));
	return [...by].sort((a, b) => weights.get(b[0]) - weights.get(a[0]))
		.map(([pid, tasks]) => processGroup(model, pid, tasks, samples, lanes));
}

/* Of one space. Its name stands before those of its groups, if there are several. */
function groupsOf(model, space, samples) {
	const { lanes, cpus, trace } = model, all = [], { name } = trace.spaces[space];
	const byThread = new Map(lanes.workers.filter((one) => one.space === space).map((one, i) =>
		[one.tid === NONE ? `worker ${i}` : laneKey(space, one.tid), one]));
	const mine = cpus.filter((cpu) => cpu.space === space), marks = lanes.marks.filter((one) => one.space === space);
	if (mine.length)
		all.push(group('CPUs', '', mine.map((cpu) => new Row('cpu', `CPU ${cpu.cpu}`, () => cpuLane(cpu), { cpu }))));
	const threads = processes(model, space, samples, byThread);
	for (const one of byThread.values())
		all.push(group(one.tid !== NONE ? model.nameOfTid(one.tid, space) : one.workers.includes(NOT_A_WORKER) ?
			'threads without a worker' : `worker ${one.workers.join(', ')}`, '', lanesOf(one)));
	all.push(...threads);
	if (marks.length)
		all.push(group('Events', '', marks.map((one) => new Row('marks', one.name, null, { marks: one }))));
	for (const one of all)
		one.name = name ? `${name}: ${one.name}` : one.name;
	return all;
}

function makeGroups(model) {
	const samples = samplesByTask(model);
	return model.trace.spaces.flatMap((_, space) => groupsOf(model, space, samples));
}

/* The rows that are not folded, with .top in pixels; and their total height. */
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

module.exports = { makeGroups, visibleRows, COLORS, BUSY };
