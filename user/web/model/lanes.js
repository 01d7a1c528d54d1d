// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lanes of an application's own events: polls and spans of each Tokio worker; and marks, one lane
 * for each other event by name. An application writes a batch per thread, so events are not in
 * order of time. A worker's thread is the one in which it was parked or unparked last: only these
 * events name both.
 */
'use strict';

const { NONE, Table, pick } = require('../read/columns.js');

const SPANS_MAX = 12; /* lanes of nested spans per worker */
const SLICE = { POLL: 1, PARK: 2, SPAN: 3, SLOW: 4 };
const SLOW_NS = 1e6; /* a poll this long delays other tasks noticeably */
const NOT_A_WORKER = 255;

function byTime(rows, ts) {
	for (let i = 1; i < rows.length; i++)
		if (ts[rows[i]] < ts[rows[i - 1]])
			return rows.sort((a, b) => ts[a] - ts[b]);
	return rows;
}

/* Slices of one worker at one depth, which do not overlap; each with its thread. */
class Slices {
	#open = false;

	constructor() {
		this.table = new Table({ start: Float64Array, end: Float64Array, state: Uint8Array, row: Uint32Array,
			tid: Uint32Array }, 64);
	}

	begin(ts, state, row, tid) {
		this.end(ts);
		const { table } = this, i = table.add();
		table.start[i] = ts;
		table.state[i] = state;
		table.row[i] = row;
		table.tid[i] = tid;
		this.#open = true;
	}

	/* Ends a slice of any state, or only of that one. */
	end(ts, state = 0) {
		const { table } = this, i = table.length - 1;
		if (!this.#open || state && table.state[i] !== state)
			return;
		this.#open = false;
		table.end[i] = ts;
		if (table.state[i] === SLICE.POLL && ts - table.start[i] >= SLOW_NS)
			table.state[i] = SLICE.SLOW;
	}
}

class Worker {
	#tid = NONE;
	#stack = []; /* of entered spans */

	constructor(space, number) {
		Object.assign(this, { space, number, firstTid: NONE, polls: new Slices(), spans: [] });
	}

	take(name, events, row) {
		const ts = events.ts[row], tid = events.tid[row];
		if (tid !== NONE) {
			this.#tid = tid;
			if (this.firstTid === NONE)
				this.firstTid = tid;
		}
		if (name === 'PollStartEvent')
			this.polls.begin(ts, SLICE.POLL, row, this.#tid);
		else if (name === 'WorkerParkEvent')
			this.polls.begin(ts, SLICE.PARK, row, this.#tid);
		else if (name.startsWith('SpanEnter:'))
			this.#enter(events, row);
		else if (name.startsWith('SpanExit:'))
			this.#exit(events, row);
		else
			this.polls.end(ts, name === 'PollEndEvent' ? SLICE.POLL : SLICE.PARK);
	}

	#enter(events, row) {
		const depth = this.#stack.length;
		this.#stack.push(events.b[row]);
		if (depth < SPANS_MAX)
			(this.spans[depth] ||= new Slices()).begin(events.ts[row], SLICE.SPAN, row, this.#tid);
	}

	#exit(events, row) {
		const depth = this.#stack.lastIndexOf(events.b[row]);
		if (depth < 0)
			return;
		this.#stack.length = depth;
		for (const lane of this.spans.slice(depth))
			lane.end(events.ts[row]);
	}
}

/*
 * All slices of one thread at one depth as sorted arrays; overlaps from a change of workers are
 * cut.
 */
function joined(parts) {
	const columns = { start: [], end: [], state: [], row: [] };
	for (const { table, rows } of parts)
		for (const name of Object.keys(columns))
			columns[name].push(rows === null ? table[name].subarray(0, table.length) : pick(table[name].constructor, table[name], rows));
	const all = Object.fromEntries(Object.entries(columns).map(([name, arrays]) => [name, concat(arrays)]));
	const order = byTime(Uint32Array.from(all.start, (_, i) => i), all.start), { start, end } = all;
	const sorted = { start: pick(Float64Array, start, order), end: pick(Float64Array, end, order),
		state: pick(Uint8Array, all.state, order), row: pick(Uint32Array, all.row, order) };
	for (let i = 1; i < order.length; i++)
		sorted.end[i - 1] = Math.min(sorted.end[i - 1], sorted.start[i]);
	return sorted;
}

function concat(arrays) {
	if (arrays.length === 1)
		return arrays[0];
	const out = new arrays[0].constructor(arrays.reduce((sum, one) => sum + one.length, 0));
	arrays.reduce((at, one) => {
		out.set(one, at);
		return at + one.length;
	}, 0);
	return out;
}

/*
 * A worker's slices by thread: tid -> rows of the table; slices before the first known thread
 * belong to it.
 */
function byThread({ table }, firstTid) {
	const rows = new Map();
	let all = true;
	for (let i = 0; i < table.length && all; i++)
		all = table.tid[i] === NONE || table.tid[i] === firstTid;
	if (all)
		return new Map([[firstTid, null]]);
	for (let i = 0; i < table.length; i++) {
		const tid = table.tid[i] === NONE ? firstTid : table.tid[i];
		if (!rows.has(tid))
			rows.set(tid, []);
		rows.get(tid).push(i);
	}
	return rows;
}

/* Lanes by thread, from those by worker. */
class Threads {
	#all = new Map();

	add(worker, kind, slices) {
		for (const [tid, rows] of byThread(slices, worker.firstTid)) {
			const key = tid === NONE ? `worker ${worker.key}` : `${worker.space} ${tid}`;
			if (!this.#all.has(key))
				this.#all.set(key, { space: worker.space, tid, numbers: new Set(), lanes: new Map() });
			const { numbers, lanes } = this.#all.get(key);
			numbers.add(worker.number);
			if (!lanes.has(kind))
				lanes.set(kind, []);
			lanes.get(kind).push({ table: slices.table, rows });
		}
	}

	done() {
		return [...this.#all.values()].map(({ space, tid, numbers, lanes }) => ({ space, tid,
			workers: [...numbers].sort((a, b) => a - b), polls: joined(lanes.get('polls') || [{ table: new Slices().table, rows: null }]),
			spans: [...lanes.keys()].filter((kind) => kind !== 'polls').sort((a, b) => a - b)
				.map((kind) => joined(lanes.get(kind))) })).sort((a, b) => a.space - b.space || a.workers[0] - b.workers[0]);
	}
}

function findWorkers({ events, layouts, parts, last }, rows) {
	const workers = new Map(), threads = new Threads();
	for (const row of byTime(rows, events.ts)) {
		const key = events.part[row] * 0x100000000 + events.a[row];
		let worker = workers.get(key);
		if (!worker) {
			workers.set(key, worker = new Worker(parts[events.part[row]].space, events.a[row]));
			worker.key = key;
		}
		worker.take(layouts[events.schema[row]].name, events, row);
	}
	for (const worker of workers.values()) {
		for (const slices of [worker.polls, ...worker.spans])
			slices.end(last);
		if (worker.polls.table.length)
			threads.add(worker, 'polls', worker.polls);
		worker.spans.forEach((slices, depth) => threads.add(worker, depth, slices));
	}
	return threads.done();
}

/*
 * { workers: [{ space, tid, workers, polls, spans: [lane by depth] }], marks: [{ space, name, ts,
 * row }] }: a lane is { start, end, state (of SLICE), row }, sorted arrays; a row is one of
 * trace.events; `workers` are the worker numbers of the thread, NOT_A_WORKER for spans outside of
 * workers.
 */
function findLanes(trace) {
	const { events, layouts } = trace, shown = layouts.map((layout) => layout.shown), mine = [];
	const application = layouts.map((layout) => layout.application !== undefined), marks = new Table({ row: Uint32Array });
	for (let i = 0; i < events.length; i++) {
		const schema = events.schema[i];
		if (shown[schema]) {
			const at = marks.add();
			marks.row[at] = i;
		} else if (application[schema]) {
			mine.push(i);
		}
	}
	return { workers: findWorkers(trace, mine), marks: findMarks(trace, marks.row.subarray(0, marks.length)) };
}

/* One lane for each name in each space. */
function findMarks({ events, layouts, parts }, rows) {
	const bySchema = new Map(), byName = new Map();
	for (const row of rows) {
		const { space } = parts[events.part[row]], key = space * 0x10000 + events.schema[row];
		let lane = bySchema.get(key);
		if (!lane) {
			const { name } = layouts[events.schema[row]];
			lane = byName.get(`${space} ${name}`) || { space, name, row: [] };
			byName.set(`${space} ${name}`, lane);
			bySchema.set(key, lane);
		}
		lane.row.push(row);
	}
	return [...byName.values()].map(({ space, name, row: all }) => {
		const row = Uint32Array.from(byTime(all, events.ts));
		return { space, name, row, ts: pick(Float64Array, events.ts, row) };
	}).sort((a, b) => a.space - b.space || (a.name < b.name ? -1 : 1));
}

module.exports = { findLanes, SLICE, SLOW_NS, NOT_A_WORKER };
