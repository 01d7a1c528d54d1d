// SPDX-License-Identifier: BSD-2-Clause
/* The numbers as text: tables of functions and threads, and information about the trace. */
'use strict';

const { NONE } = require('../read/columns.js');
const { el, button } = require('./dom.js');
const { count, duration, percent, weight } = require('../read/format.js');
const { STATE } = require('../read/states.js');
const { sumTask } = require('../model/weights.js');

const ROWS_MAX = 400;

/*
 * A table that sorts by its columns: [{ title, text(row), value(row) or null: text, onclick(row) or
 * none }]. Initially by the column `by`, largest first.
 */
class SortedTable {
	constructor(caption, columns, by) {
		Object.assign(this, { columns, by, down: true, rows: [], keep: () => true });
		this.body = el('tbody');
		this.more = el('p', { class: 'muted' });
		this.heads = columns.map((column, i) => el('th', { scope: 'col', class: column.value ? 'number' : null },
			button(column.title, () => this.#sortBy(i))));
		this.element = el('div', { class: 'table' }, el('table', {}, el('caption', {}, caption),
			el('thead', {}, el('tr', {}, this.heads)), this.body), this.more);
	}

	set(rows, keep = () => true) {
		this.rows = rows;
		this.keep = keep;
		this.#fill();
	}

	#sortBy(column) {
		this.down = this.by === column ? !this.down : Boolean(this.columns[column].value);
		this.by = column;
		this.#fill();
	}

	#fill() {
		const { value, text } = this.columns[this.by], sign = this.down ? -1 : 1;
		const order = value ? (a, b) => sign * (value(a) - value(b)) :
			(a, b) => sign * (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
		const kept = this.rows.filter(this.keep), shown = kept.slice().sort(order).slice(0, ROWS_MAX);
		this.heads.forEach((head, i) => {
			if (i === this.by)
				head.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
			else
				head.removeAttribute('aria-sort');
		});
		this.body.replaceChildren(...shown.map((row) => el('tr', {}, this.columns.map((column, i) =>
			el(i === this.columns.length - 1 ? 'th' : 'td',
				{ class: column.value ? 'number' : null, scope: i === this.columns.length - 1 ? 'row' : null },
				column.onclick && column.onclick(row) ?
					button(column.text(row), column.onclick(row), { class: 'link' }) : column.text(row))))));
		this.more.textContent = kept.length > shown.length ? `and ${count(kept.length - shown.length)} more` :
			kept.length ? '' : 'no rows';
	}
}

/* toSearch(name): searches for that function. */
function functionTable(model, toSearch) {
	const named = (row) => row.fn < 0 ? '[no stack]' : model.trace.symbols.functions[row.fn].name;
	const of = (row) => row.fn < 0 ? '' : model.trace.symbols.functions[row.fn].module;
	const state = { unit: 'ns', total: 0 };
	const table = new SortedTable('Functions of the flame graph', [
		{ title: 'Self', value: (row) => row.self, text: (row) => weight(row.self, state.unit) },
		{ title: '%', value: (row) => row.self, text: (row) => percent(row.self, state.total) },
		{ title: 'Total', value: (row) => row.total, text: (row) => weight(row.total, state.unit) },
		{ title: '%', value: (row) => row.total, text: (row) => percent(row.total, state.total) },
		{ title: 'Module', value: null, text: of },
		{ title: 'Function', value: null, text: named, onclick: (row) => row.fn < 0 ? null : () => toSearch(named(row)) },
	], 0);
	table.show = (rows, unit, total, keep) => {
		Object.assign(state, { unit, total });
		table.set(rows, keep);
	};
	return table;
}

/* Time of each thread by state, within the range. toThread(task number). */
function threadTable(model, toThread) {
	const column = (title, state) => ({ title, value: (row) => row.sums[state], text: (row) => duration(row.sums[state]) });
	const table = new SortedTable('Threads in the range', [
		column('Running', STATE.RUNNING),
		column('Runnable', STATE.RUNNABLE),
		column('Blocked', STATE.BLOCKED),
		column('Unknown', STATE.UNKNOWN),
		{ title: 'Process', value: null, text: (row) => row.task.pid === NONE ? '?' : String(row.task.pid) },
		{ title: 'Thread', value: null, text: (row) => `${row.task.comm || 'thread'} ${row.task.tid}`,
			onclick: (row) => () => toThread(row.task.task) },
	], 0);
	table.show = (range, keep) => table.set(model.tasks.filter((task) => task.isTarget && task.rows.length &&
		(!range.tasks || range.tasks.has(task.task))).map((task) => ({ task, sums: sumTask(model, task, range) }))
		.filter(({ sums }) => sums.some((ns) => ns)), keep);
	return table;
}

const META = [['host', 'host'], ['kernel', 'kernel'], ['arch', 'machine'], ['cpus', 'CPUs'], ['command_line', 'command'],
	['target', 'target'], ['version', 'recorder'], ['sample_event', 'sample event'], ['sample_hz', 'samples per second'],
	['switch_stacks', 'switch stacks'], ['waking_stacks', 'waker stacks'],
	['switch_filter', 'switch filter'], ['waking_filter', 'wakeup filter'],
	['off_cpu_min_ns', 'off-CPU intervals only, minimum (ns)'],
	['off_cpu_max_ns', 'off-CPU intervals only, maximum (ns)'], ['cut', 'cut by'],
	['cut_left_out', 'events removed by cut']];

/* Not losses: recording was paused, or a flight recorder had no reason to write. */
const LEFT_OUT = ['paused', 'not_kept'];

function lossesByKind(losses) {
	const sums = new Map();
	for (const { kind, count: lost } of losses)
		sums.set(kind, (sums.get(kind) || 0) + lost);
	return Array.from(sums, ([kind, lost]) => `${count(lost)} ${kind}`);
}

/* Information about the trace, and how complete it is. */
function traceFacts({ trace, rows, first, last }) {
	const { outcome, parts, axis } = trace, paused = trace.losses.filter((loss) => LEFT_OUT.includes(loss.kind));
	const losses = trace.losses.filter((loss) => !LEFT_OUT.includes(loss.kind));
	const lost = losses.reduce((sum, loss) => sum + loss.count, 0);
	const meta = parts.flatMap((part, i) => META.filter(([key]) => part.meta.has(key)).map(([key, word]) =>
		[parts.length > 1 ? `${word}, recording ${i + 1}` : word, part.meta.get(key)]));
	const sync = parts.find((part) => part.sync !== null);
	return el('dl', {}, [
		['events', count(trace.count)],
		['duration', duration(last - first)],
		sync ? ['start', new Date((Number(trace.origin) + sync.sync + first) / 1e6).toISOString()] : null,
		['intervals', count(rows.length)],
		['samples', count(trace.samples.length)],
		['lost', losses.length ? lossesByKind(losses).slice(0, 20).join(', ') : 'nothing'],
		paused.length ? ['skipped on purpose', `${count(paused.length)} time ranges, ${
			duration(paused.reduce((sum, { first: from, last: to }) => sum + Math.max(to - from, 0), 0))} in total`] : null,
		lost || paused.length ? ['', 'intervals with possibly missing switches are shown as unknown'] : null,
		['read', outcome.status === 'ok' ? 'completely' : `${outcome.status} at byte ${count(outcome.offset)}: ${outcome.reason}`],
		axis === 'one' ? null : ['note', `it has recordings of several boots, whose times cannot be compared: they are shown ${
			axis === 'wall' ? 'aligned by their wall clocks' : 'one after the other'}`],
		...meta,
	].filter(Boolean).map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

module.exports = { functionTable, threadTable, traceFacts };
