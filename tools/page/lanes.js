// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lanes of an application's own events: what each Tokio worker polled, which spans it was in; and marks, one
 * lane for each other event by name. An application writes a batch for each thread, so events are not in
 * order of time: each lane sorts its own.
 */
'use strict';

const { NONE } = require('./columns.js');

const SPANS_MAX = 12; /* lanes of spans inside each other, for one worker */
const SLICE = { POLL: 1, PARK: 2, SPAN: 3 };

function byTime(rows, ts) {
	for (let i = 1; i < rows.length; i++)
		if (ts[rows[i]] < ts[rows[i - 1]])
			return rows.sort((a, b) => ts[a] - ts[b]);
	return rows;
}

/* A lane of slices that do not overlap, in order. */
class Slices {
	#open = null;

	constructor(name, kind) {
		Object.assign(this, { name, kind, starts: [], ends: [], states: [], rows: [] });
	}

	begin(ts, state, row) {
		this.end(ts);
		this.#open = { ts, state, row };
	}

	end(ts) {
		if (!this.#open)
			return;
		this.starts.push(this.#open.ts);
		this.ends.push(ts);
		this.states.push(this.#open.state);
		this.rows.push(this.#open.row);
		this.#open = null;
	}

	/* The same in typed arrays: { name, kind, start, end, state, row }. */
	done(last) {
		this.end(last);
		return { name: this.name, kind: this.kind, start: Float64Array.from(this.starts),
			end: Float64Array.from(this.ends), state: Uint8Array.from(this.states),
			row: Uint32Array.from(this.rows) };
	}
}

class Worker {
	#polls;
	#spans = [];
	#stack = []; /* of spans that are entered */

	constructor(number) {
		this.number = number;
		this.tid = NONE;
		this.#polls = new Slices(`worker ${number}`, 'polls');
	}

	take(name, events, row) {
		const ts = events.ts[row];
		if (name === 'PollStartEvent')
			this.#polls.begin(ts, SLICE.POLL, row);
		else if (name === 'WorkerParkEvent')
			this.#polls.begin(ts, SLICE.PARK, row);
		else if (name.startsWith('SpanEnter:'))
			this.#enter(events, row);
		else if (name.startsWith('SpanExit:'))
			this.#exit(events, row);
		else
			this.#polls.end(ts);
		if (events.tid[row] !== NONE)
			this.tid = events.tid[row];
	}

	#enter(events, row) {
		const depth = this.#stack.length;
		this.#stack.push(events.b[row]);
		if (depth < SPANS_MAX)
			(this.#spans[depth] ||= new Slices(`spans of worker ${this.number}`, 'spans'))
				.begin(events.ts[row], SLICE.SPAN, row);
	}

	#exit(events, row) {
		const depth = this.#stack.lastIndexOf(events.b[row]);
		if (depth < 0)
			return;
		this.#stack.length = depth;
		for (const lane of this.#spans.slice(depth))
			lane.end(events.ts[row]);
	}

	done(last) {
		return { worker: this.number, tid: this.tid, polls: this.#polls.done(last),
			spans: this.#spans.map((lane) => lane.done(last)) };
	}
}

/*
 * { workers: [{ worker, tid, polls, spans: [lane by depth] }], marks: [{ name, ts, row }] }: a lane is
 * { name, kind, start, end, state (of SLICE), row }, a row is one of trace.events.
 */
function findLanes(trace) {
	const { events, layouts } = trace, rows = layouts.map(() => []), workers = new Map(), mine = [];
	for (let i = 0; i < events.length; i++) {
		const layout = layouts[events.schema[i]];
		if (layout && layout.shown)
			rows[events.schema[i]].push(i);
		else if (layout && layout.application)
			mine.push(i);
	}
	for (const row of byTime(mine, events.ts)) {
		const number = events.a[row];
		if (!workers.has(number))
			workers.set(number, new Worker(number));
		workers.get(number).take(layouts[events.schema[row]].name, events, row);
	}
	return { workers: [...workers.values()].sort((a, b) => a.number - b.number)
		.map((worker) => worker.done(trace.last)), marks: findMarks(trace, rows) };
}

function findMarks({ events, layouts }, rows) {
	const byName = new Map();
	layouts.forEach((layout, i) => {
		if (rows[i].length)
			byName.set(layout.name, [...byName.get(layout.name) || [], ...rows[i]]);
	});
	return [...byName].map(([name, all]) => {
		const row = Uint32Array.from(byTime(all, events.ts));
		return { name, row, ts: Float64Array.from(row, (i) => events.ts[i]) };
	}).sort((a, b) => a.name < b.name ? -1 : 1);
}

module.exports = { findLanes, SLICE };
