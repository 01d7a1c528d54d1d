// SPDX-License-Identifier: BSD-2-Clause
/* The panel with details of the selection: an interval of a thread or CPU, a slice, an event. */
'use strict';

const { NONE, upperBound } = require('../read/columns.js');
const { el, button } = require('./dom.js');
const { counted, duration, moment, percent } = require('../read/format.js');
const { NOBODY, STATE, FLAG } = require('../read/states.js');
const { NOT_A_WORKER, SLICE } = require('../model/lanes.js');
const { ENDS, WHYS, canBeItsThread, gist, ranInstead, pieces, stateText, wakerText } = require('../model/interval_text.js');
const { sumTask } = require('../model/weights.js');

const PREEMPTORS_MAX = 8, FIELDS_MAX = 200, STEPS_MAX = 30, STEP_PREEMPTORS_MAX = 3, SPAN_NAMES_MAX = 20;

class Details {
	/* on: { toThread(task number, ts), zoom(span), range(span) } */
	constructor(panel, model, on) {
		Object.assign(this, { panel, model, on });
	}

	clear() {
		this.panel.replaceChildren(el('p', { class: 'muted' },
			'Click an interval of a thread or a CPU, or an event, for its details. Drag over the timeline to select a time range for the flame graph.'));
	}

	show(row, index) {
		this.panel.replaceChildren(...index < 0 ? this.#rowDetails(row) : {
			thread: () => this.#interval(row, index),
			cpu: () => this.#cpuSlice(row, index),
			polls: () => this.#slice(row, index),
			spans: () => this.#slice(row, index),
			marks: () => this.#event(row.marks.row[index]),
		}[row.type]());
	}

	/* Its title, for screen readers. */
	summary() {
		return this.panel.querySelector('h2') ? this.panel.querySelector('h2').textContent : '';
	}

	#when(span) {
		const { first } = this.model;
		return [['from', moment(span.from - first, 1)], ['to', moment(span.to - first, 1)],
			['length', duration(span.to - span.from)]];
	}

	#actions(span) {
		return el('p', { class: 'actions' }, button('Zoom (F)', () => this.on.zoom(span)),
			button('Use as time range (Enter)', () => this.on.range(span)));
	}

	#list(pairs) {
		return el('dl', {}, pairs.filter(Boolean).map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
	}

	/* A link to a thread at a time, or only its name. */
	#thread(tid, space, ts) {
		const task = this.model.taskOfTid(tid, space), name = this.model.nameOfTid(tid, space);
		return task && task.isTarget ? button(name, () => this.on.toThread(task.task, ts), { class: 'link' }) : name;
	}

	/* ---- threads ---- */

	#rowDetails(row) {
		if (row.type === 'group')
			return [el('h2', {}, `${row.name}, ${row.open ? 'unfolded' : 'folded'}`),
				el('p', { class: 'muted' }, `${counted(row.rows.length, 'lane')}; press Space to fold or unfold them`)];
		if (!row.task)
			return [el('h2', {}, row.name)];
		const { task } = row, all = task.total.reduce((sum, ns) => sum + ns, 0);
		return [el('h2', {}, row.name), this.#list([
			['process', task.pid === NONE ? 'unknown' : String(task.pid)],
			task.exe ? ['program', task.exe] : null,
			...this.#states(task.total, all),
		])];
	}

	#states(sums, all) {
		return [[STATE.RUNNING, 'running'], [STATE.RUNNABLE, 'runnable'], [STATE.BLOCKED, 'blocked'],
			[STATE.UNKNOWN, 'unknown']].filter(([state]) => sums[state] > 0)
			.map(([state, word]) => [word, `${duration(sums[state])} (${percent(sums[state], all)})`]);
	}

	#interval(row, index) {
		const { rows } = this.model, i = row.task.rows[index], span = { from: rows.start[i], to: rows.end[i] };
		const { space } = row.task, stack = this.model.stackOf(i);
		return [
			el('h2', {}, `${row.name}: ${stateText(rows, i)}, ${duration(span.to - span.from)}`),
			this.#actions(span),
			this.#list([
				...this.#when(span),
				rows.cpu[i] === NONE ? null : ['CPU', String(rows.cpu[i])],
				rows.flags[i] & FLAG.EDGE_START ? ['started', 'before the recording'] :
					WHYS[rows.why[i]] ? ['started', WHYS[rows.why[i]]] : null,
				['ended', ENDS[rows.endBy[i]]],
				...this.#woken(i, space),
				rows.nextTid[i] === NONE ? null : ['next on the CPU', this.#thread(rows.nextTid[i], space, span.from)],
				rows.prevTid[i] === NONE ? null : ['previous on the CPU', this.#thread(rows.prevTid[i], space, span.to)],
			]),
			...this.#ranInstead(i, space, span),
			...this.#stack('Stack', stack),
			...rows.waker[i] === NONE ? [] : this.#stack('Waker stack', this.model.wakers.stack[rows.waker[i]]),
		];
	}

	#woken(i, space) {
		const { rows, wakers } = this.model, waker = rows.waker[i];
		if (waker === NONE)
			return [];
		const { by, text } = wakerText(this.model, waker, space);
		return [['woken by', by === NONE ? text : this.#thread(by, space, wakers.ts[waker])],
			wakers.cpu[waker] === NONE ? null : ['on CPU', String(wakers.cpu[waker])],
			['woken at', moment(wakers.ts[waker] - this.model.first, 1)]];
	}

	#ranInstead(i, space, span) {
		const { rows } = this.model;
		if (rows.state[i] !== STATE.RUNNABLE && rows.state[i] !== STATE.BLOCKED || rows.cpu[i] === NONE)
			return [];
		const ran = ranInstead(this.model, i), length = span.to - span.from;
		const title = rows.state[i] === STATE.RUNNABLE ? 'Ran instead' : `Ran on CPU ${rows.cpu[i]} in this time`;
		return ran.length ? [el('h3', {}, title), this.#table(ran, length, space, span)] : [];
	}

	#table(ran, length, space, span) {
		const rest = ran.slice(PREEMPTORS_MAX).reduce((sum, { ns }) => sum + ns, 0);
		return el('table', { class: 'plain' }, el('tbody', {},
			ran.slice(0, PREEMPTORS_MAX).map(({ tid, ns }) => el('tr', {},
				el('td', { class: 'number' }, duration(ns)), el('td', { class: 'number' }, percent(ns, length)),
				el('td', {}, tid === NOBODY ? 'unknown' : this.#thread(tid, space, span.from)))),
			rest ? el('tr', {}, el('td', { class: 'number' }, duration(rest)), el('td', { class: 'number' }, percent(rest, length)),
				el('td', {}, `${ran.length - PREEMPTORS_MAX} others`)) : null));
	}

	#stack(title, stack) {
		const { stacks, symbols } = this.model.trace;
		if (stack === NONE)
			return [];
		const lines = stacks.get(stack).flatMap((frame) => symbols.lines(frame));
		return [el('h3', {}, title), el('ol', { class: 'stack' }, lines.map(({ name, module, inlined, file, line }) =>
			el('li', { title: file ? `${file}:${line}` : null }, el('span', { class: 'function' }, name),
				el('span', { class: 'muted' }, inlined ? ' (inlined)' : module ? ` ${module}` : ''))))];
	}

	/* ---- what a thread did in a stretch that an application tells of ---- */

	/* Names of threads, including idle and unknown, separated by commas. */
	#threads(ran, space, ts) {
		return ran.flatMap(({ tid, ns }, i) => [i ? ', ' : '',
			tid === NOBODY ? 'unknown' : tid ? this.#thread(tid, space, ts) : 'idle', ` (${duration(ns)})`]);
	}

	#stepText({ row, from, to }, task) {
		const { rows, wakers } = this.model, cpu = rows.cpu[row] === NONE ? '' : ` CPU ${rows.cpu[row]}`;
		if (rows.state[row] === STATE.RUNNING)
			return [`ran${cpu && ' on'}${cpu}`];
		if (rows.state[row] === STATE.RUNNABLE)
			return [`waited for${cpu || ' a CPU'}; ran instead: `,
				...this.#threads(ranInstead(this.model, row, from, to).slice(0, STEP_PREEMPTORS_MAX), task.space, from)];
		if (rows.state[row] !== STATE.BLOCKED)
			return [stateText(rows, row)];
		const where = gist(this.model, this.model.stackOf(row)), waker = rows.waker[row];
		const { by, text } = waker === NONE ? { by: NONE, text: '' } : wakerText(this.model, waker, task.space);
		return [`${stateText(rows, row)}${where ? ` in ${where}` : ''}`, text ? ', woken by ' : '',
			by === NONE ? text : this.#thread(by, task.space, wakers.ts[waker])];
	}

	/* For a poll or a span. While parked, a worker is off its CPU. */
	#threadStates(row, span, parked) {
		const task = this.model.taskOfTid(row.tid, row.space), title = el('h3', {}, 'Thread states');
		if (!task || !task.rows.length || !task.isTarget)
			return [title, el('p', { class: 'muted' }, 'Unknown: the trace has no switches of this thread.')];
		if (!parked && !canBeItsThread(this.model, task, span))
			return [title, el('p', { class: 'muted' }, 'Unknown: the thread with this TID was off the CPU at that time, so ' +
				'it is another thread. Does the service run in its own PID namespace?')];
		const { pieces: steps, left, leftNs } = pieces(this.model, task, span, STEPS_MAX), sums = sumTask(this.model, task, span);
		return [title, this.#list(this.#states(sums, span.to - span.from)), el('table', { class: 'plain steps' }, el('tbody', {},
			steps.map((step) => el('tr', {},
				el('td', { class: 'number' }, button(`+${duration(step.from - span.from)}`,
					() => this.on.toThread(task.task, (step.from + step.to) / 2), { class: 'link' })),
				el('td', { class: 'number' }, duration(step.to - step.from)), el('td', {}, this.#stepText(step, task)))),
			left ? el('tr', {}, el('td'), el('td', { class: 'number' }, duration(leftNs)),
				el('td', {}, `${left} shorter intervals`)) : null))];
	}

	/* ---- others ---- */

	#cpuSlice(row, index) {
		const { cpu, space, start, end, tid } = row.cpu, span = { from: start[index], to: end[index] };
		const who = tid[index] === NOBODY ? 'unknown' : this.model.nameOfTid(tid[index], space);
		return [el('h2', {}, `CPU ${cpu}: ${who}, ${duration(span.to - span.from)}`), this.#actions(span),
			this.#list([...this.#when(span), ['thread', this.#thread(tid[index], space, span.from)]])];
	}

	#slice(row, index) {
		const event = row.slices.row[index], { start, end, state } = row.slices, span = { from: start[index], to: end[index] };
		const { events, labels } = this.model.trace, label = labels[events.c[event]];
		const what = { [SLICE.PARK]: 'parked', [SLICE.SPAN]: 'span' }[state[index]] || 'poll';
		return [el('h2', {}, `${what}${what === 'span' ? ` ${label}` : ''}, ${duration(span.to - span.from)}`),
			this.#actions(span), this.#list([...this.#when(span),
				row.workers.includes(NOT_A_WORKER) ? null : ['worker', row.workers.join(', ')],
				row.tid === NONE ? null : ['thread', this.#thread(row.tid, row.space, span.from)],
				what === 'poll' && label ? ['task spawned at', label] : null, ...this.#spansIn(row, span, what)]),
			...this.#threadStates(row, span, what === 'parked'), ...this.#fields(event)];
	}

	/* The spans around a poll. */
	#spansIn(row, { from, to }, what) {
		const { lanes, trace } = this.model, names = new Set();
		const mine = lanes.workers.find((one) => one.space === row.space && one.tid === row.tid && row.tid !== NONE);
		for (const { start, end, row: rows } of what === 'poll' && mine ? mine.spans : [])
			for (let i = upperBound(end, from, 0, end.length); i < end.length && start[i] < to && names.size < SPAN_NAMES_MAX; i++)
				names.add(trace.labels[trace.events.c[rows[i]]]);
		return names.size ? [['spans', [...names].join(', ')]] : [];
	}

	#event(event) {
		const { events, layouts, parts } = this.model.trace, ts = events.ts[event], { space } = parts[events.part[event]];
		return [el('h2', {}, layouts[events.schema[event]].name), this.#list([['at', moment(ts - this.model.first, 1)],
			events.tid[event] === NONE ? null : ['thread', this.#thread(events.tid[event], space, ts)],
			events.cpu[event] === NONE ? null : ['CPU', String(events.cpu[event])]]), ...this.#fields(event)];
	}

	#fields(event) {
		return [el('h3', {}, 'Fields'), this.#list(this.model.trace.details(event).slice(0, FIELDS_MAX))];
	}
}

module.exports = { Details };
