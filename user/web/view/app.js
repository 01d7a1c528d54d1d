// SPDX-License-Identifier: BSD-2-Clause
/* The page's state, and its updates of timeline, flame graph, tables, details and search. */
'use strict';

const { NONE } = require('../read/columns.js');
const { Details } = require('./details.js');
const { byId, el, say } = require('./dom.js');
const { FlameView } = require('./flameview.js');
const { duration, moment, percent, shown, weight, counted } = require('../read/format.js');
const { NOBODY, STATE } = require('../read/states.js');
const { Palette } = require('./palette.js');
const { SLICE } = require('../model/lanes.js');
const { gist, stateText } = require('../model/interval_text.js');
const { functionTable, threadTable, traceFacts } = require('./tables.js');
const { onTheme } = require('./theme.js');
const { Timeline } = require('./timeline.js');
const { TimelineInput } = require('./timeline_input.js');
const { Tip } = require('./tip.js');
const { KINDS, byFunction, sumStates, unitOf, weigh } = require('../model/weights.js');

const TITLE_MAX = 200;
const WEIGH_SHARE = 5; /* the flame graph may use one of this many parts of the time while a range is dragged */
const SETTLED_MS = 120; /* delay of the tables after the last change of a range */
const STATE_WORDS = [[STATE.RUNNING, 'run', 'running'], [STATE.RUNNABLE, 'wait', 'runnable'],
	[STATE.BLOCKED, 'sleep', 'blocked'], [STATE.UNKNOWN, 'unknown', 'unknown']];

/* "src/rt/tokio.rs:115:9" becomes "tokio.rs:115:9", to save space. */
function lastOfPath(text) {
	return text.slice(text.lastIndexOf('/') + 1);
}

class Page {
	#frame = 0;
	#flameFrame = 0;
	#settling = 0;
	#weighedAt = 0;
	#weighingMs = 0;
	#find = null; /* while searching: whether a text matches */

	constructor(model) {
		this.model = model;
		this.palette = new Palette();
		this.state = { view: { from: model.first, to: model.last }, range: null, selected: null, hover: null, search: null,
			tasks: null };
		this.kind = model.samples.ts.length || !model.rows.length ? 'cpu' : 'offcpu';
		this.inverted = false;
		this.tip = new Tip(byId('tip'));
		this.#makeTimeline();
		this.#makeFlame();
		this.#makeTables();
		this.details = new Details(byId('details'), model, {
			toThread: (task, ts) => this.#toThread(task, ts),
			zoom: (span) => this.input.zoomTo(span),
			range: (span) => this.#ranged(span, true),
		});
		this.details.clear();
		this.#wire();
		this.#title();
		this.#legend();
		this.#settled();
		this.timeline.draw();
	}

	/* ---- parts ---- */

	#makeTimeline() {
		const { model, palette, state } = this;
		this.timeline = new Timeline({ scroller: byId('lanes'), canvas: byId('lanes-canvas'), spacer: byId('lanes-spacer'),
			ruler: byId('ruler'), model, palette, state, text: (row, index) => this.#textIn(row, index) });
		this.input = new TimelineInput(this.timeline, {
			changed: () => this.redraw(),
			ranged: (range, done) => this.#ranged(range, done),
			selected: (row, index) => this.#selected(row, index),
			hovered: (row, index, event) => this.#hovered(row, index, event),
		});
	}

	#makeFlame() {
		const { model, palette } = this;
		this.flame = new FlameView({ scroller: byId('flame'), canvas: byId('flame-canvas'), spacer: byId('flame-spacer'),
			model, palette, on: {
				focused: (node) => this.#announce(this.#flameText(node)),
				hovered: (node, event) => this.tip.show(node < 0 ? null : this.#flameText(node), event),
			} });
	}

	#makeTables() {
		this.functions = functionTable(this.model, (name) => this.#searchFor(name));
		this.threads = threadTable(this.model, (task) => this.#toThread(task, null));
		byId('functions').append(this.functions.element);
		byId('threads').append(this.threads.element);
		byId('facts').append(traceFacts(this.model));
	}

	#title() {
		const { first, last, trace } = this.model;
		const metaOf = (key) => [...new Set(trace.parts.map(({ meta }) => meta.get(key)).filter(Boolean))].join(', ');
		const what = metaOf('target') || metaOf('service'), host = metaOf('host');
		say('subtitle', [what, host && `on ${host}`, duration(last - first), counted(trace.count, 'event')]
			.filter(Boolean).join(' · '));
		document.title = `dial9-prof: ${shown(what || 'a trace', TITLE_MAX)}`;
	}

	#legend() {
		const { model } = this, keys = [];
		if (model.rows.length)
			keys.push(['run', 'running'], ['wait', 'runnable: waiting for a CPU'], ['sleep', 'blocked: sleeping'],
				['disk', 'blocked: uninterruptible'], ['unknown', 'unknown']);
		if (model.lanes.workers.length)
			keys.push(['poll', 'poll'], ['slow', 'poll of 1 ms or longer'], ['park', 'parked'], ['span', 'span']);
		if (model.lanes.marks.length)
			keys.push(['mark', 'event']);
		byId('legend').replaceChildren(...keys.map(([name, word]) =>
			el('li', {}, el('span', { class: `swatch ${name}` }), word)),
		model.samples.ts.length ? el('li', {}, el('span', { class: 'tick' }), 'sample') : '',
		model.wakes.row.length ? el('li', {}, el('span', { class: 'arrow' }, '↓'), 'wakeup (zoom in)') : '');
	}

	/* ---- drawing ---- */

	/* Once per frame. */
	redraw() {
		this.#frame ||= requestAnimationFrame(() => {
			this.#frame = 0;
			this.timeline.draw();
			byId('shown').textContent = this.#shownText();
		});
	}

	#shownText() {
		const { view } = this.state, { first } = this.model;
		return `${moment(view.from - first)} to ${moment(view.to - first)}`;
	}

	#textIn(row, index) {
		const { model } = this;
		if (row.cpu) {
			const tid = row.cpu.tid[index];
			return tid && tid !== NOBODY ? model.nameOfTid(tid, row.cpu.space) : '';
		}
		if (row.slices) {
			const { events, labels } = model.trace, event = row.slices.row[index];
			return row.slices.state[index] === SLICE.PARK ? '' : lastOfPath(labels[events.c[event]] || '');
		}
		const i = row.task.rows[index], { state, cpu } = model.rows, where = cpu[i] === NONE ? 'a CPU' : `CPU ${cpu[i]}`;
		return state[i] === STATE.RUNNING ? where : state[i] === STATE.RUNNABLE ? `waiting for ${where}` :
			gist(model, model.stackOf(i));
	}

	/* ---- what is selected ---- */

	#selected(row, index) {
		this.state.selected = { row, index };
		this.details.show(row, index);
		this.#tab('details');
		this.#announce(this.details.summary());
		const threads = row.task && index < 0 ? new Set([row.task.task]) : this.state.tasks;
		if (threads !== this.state.tasks)
			this.#onlyTasks(threads);
		this.redraw();
	}

	/* Threads whose stacks the flame graph shows; null: all. */
	#onlyTasks(tasks) {
		this.state.tasks = tasks;
		this.#weighed();
		this.#settle();
	}

	#toThread(task, ts) {
		const row = this.timeline.groups.flatMap((one) => one.rows).find((one) => one.task && one.task.task === task);
		if (!row)
			return;
		this.timeline.reveal(row);
		const index = ts === null ? -1 : this.timeline.indexAt(row, ts), { view } = this.state;
		if (ts !== null && (ts < view.from || ts > view.to))
			this.timeline.show(ts - (view.to - view.from) / 2, ts + (view.to - view.from) / 2);
		this.#selected(row, index);
		this.timeline.reveal(row);
	}

	#hovered(row, index, event) {
		this.tip.show(row && index >= 0 ? this.#tipText(row, index) : null, event);
	}

	#tipText(row, index) {
		const { from, to } = this.timeline.spanOf(row, index), { model } = this;
		if (row.marks)
			return [row.name, `at ${moment(from - model.first)}`];
		const text = this.#textIn(row, index);
		if (row.task)
			return [row.name, `${stateText(model.rows, row.task.rows[index])} ${duration(to - from)}`, text];
		const what = { [SLICE.PARK]: 'parked', [SLICE.SPAN]: 'span' }[row.slices && row.slices.state[index]];
		return [row.cpu ? row.name : what || 'poll', duration(to - from), text];
	}

	/* ---- the range and its flame graph ---- */

	#ranged(range, done) {
		const { view } = this.state;
		this.state.range = range && range.to > range.from ? range : null;
		if (!range && done)
			this.#onlyTasks(null);
		this.redraw();
		this.#weighSoon();
		if (done && range && (range.to < view.from || range.from > view.to))
			this.input.zoomTo(range);
		this.#settle();
	}

	get range() {
		const { range, tasks } = this.state, { first, last } = this.model;
		return { from: range ? range.from : first, to: range ? range.to : last, tasks };
	}

	/* While a range is dragged: as often as drawing leaves time for it. */
	#weighSoon() {
		this.#flameFrame ||= requestAnimationFrame((now) => {
			this.#flameFrame = 0;
			if (now > this.#weighedAt + WEIGH_SHARE * this.#weighingMs)
				this.#weighed();
			else
				this.#showRange(this.range);
		});
	}

	#weighed() {
		const { model, kind, inverted, range } = this, begun = performance.now();
		this.weights = weigh(model, kind, range);
		this.weighedRange = range;
		this.flame.set(this.weights, { inverted, byState: kind === 'wall' });
		const unit = unitOf(model, kind), { total } = this.weights;
		const counts = this.weights.count.reduce((sum, n) => sum + n, 0);
		byId('total').textContent = !total ? 'no data' : unit === 'samples' || kind === 'offcpu' ?
			`${weight(total, unit)}${kind === 'offcpu' ? ` in ${counted(counts, 'interval')}` : ''}` :
			`${weight(total, unit)}${kind === 'cpu' ? ` in ${counted(counts, 'sample')}` : ''}`;
		this.#showRange(range);
		this.#weighedAt = performance.now();
		this.#weighingMs = this.#weighedAt - begun;
	}

	#showRange({ from, to, tasks }) {
		const { first } = this.model, sums = sumStates(this.model, { from, to, tasks });
		const all = sums.reduce((sum, ns) => sum + ns, 0);
		byId('range').textContent = this.state.range ?
			`${moment(from - first)} to ${moment(to - first)} (${duration(to - from)})` : 'whole trace';
		say('who', tasks ? [...tasks].map((task) => {
			const { comm, tid } = this.model.trace.tasks[task];
			return `${comm || 'thread'} ${tid}`;
		}).join(', ') : 'all threads');
		byId('clear').hidden = !this.state.range && !tasks;
		byId('sums').replaceChildren(...all ? STATE_WORDS.filter(([state]) => sums[state] > 0).map(([state, name, word]) =>
			el('li', {}, el('span', { class: `swatch ${name}` }), `${word} ${duration(sums[state])} (${percent(sums[state], all)})`)) : []);
	}

	#settle() {
		clearTimeout(this.#settling);
		this.#settling = setTimeout(() => this.#settled(), SETTLED_MS);
	}

	/* Slow updates, after a drag has ended. */
	#settled() {
		this.#weighed();
		const { model, kind, weights } = this;
		const rows = byFunction(model, weights), find = this.#find;
		this.functions.show(rows, unitOf(model, kind), weights.total, find ? (row) =>
			row.fn >= 0 && find(model.trace.symbols.functions[row.fn].name) : undefined);
		this.threads.show(this.range, find ? ({ task }) => find(`${task.comm} ${task.tid}`) : undefined);
		this.#found();
	}

	#flameText(node) {
		const { flame } = this.flame, fn = this.flame.functionOf(node), unit = unitOf(this.model, this.kind);
		return [this.flame.nameOf(node), fn ? fn.path || fn.module : '',
			`${weight(flame.total[node], unit)}, ${percent(flame.total[node], flame.total[0])} of all` +
			(node && flame.parent[node] > 0 ? `, ${percent(flame.total[node], flame.total[flame.parent[node]])} of ${this.inverted ? 'its callee' : 'its caller'}` : ''),
			flame.self[node] && fn ? `self ${weight(flame.self[node], unit)}` : ''];
	}

	/* ---- search ---- */

	#searchFor(text) {
		byId('search').value = text;
		this.#search();
	}

	#search() {
		const text = byId('search').value.trim().toLowerCase();
		this.#find = text ? (name) => name.toLowerCase().includes(text) : null;
		this.state.search = this.#find;
		const hits = new Map(), { functions } = this.model.trace.symbols;
		this.flame.search = this.#find && ((fn) => {
			if (!hits.has(fn))
				hits.set(fn, this.#find(functions[fn].name));
			return hits.get(fn);
		});
		this.flame.draw();
		this.redraw();
		this.#settle();
	}

	#found() {
		const { flame } = this.flame, find = this.#find;
		if (!find) {
			byId('found').textContent = '';
			return;
		}
		const threads = this.model.tasks.filter((task) => task.isTarget && find(`${task.comm} ${task.tid}`)).length;
		const sum = flame.matched((fn) => fn >= 0 && this.flame.search(fn));
		byId('found').textContent = `${percent(sum, flame.total[0])} of the flame graph, ${counted(threads, 'thread')}`;
	}

	/* Selects the next thread that matches the search. */
	#nextFound() {
		const { selected } = this.state, find = this.#find;
		const rows = this.timeline.groups.flatMap((one) => one.rows).filter((row) => find && row.task && find(row.name));
		const row = rows[(selected ? rows.indexOf(selected.row) + 1 : 0) % Math.max(rows.length, 1)];
		if (row)
			this.#toThread(row.task.task, null);
	}

	/* ---- controls ---- */

	#wire() {
		for (const kind of Object.keys(KINDS))
			byId(`kind-${kind}`).addEventListener('change', () => this.#setKind(kind));
		byId(`kind-${this.kind}`).checked = true;
		byId('inverted').addEventListener('change', () => {
			this.inverted = byId('inverted').checked;
			this.#weighed();
			this.#settle();
		});
		byId('clear').addEventListener('click', () => this.#ranged(null, true));
		byId('zoom-in').addEventListener('click', () => this.#zoom(-1));
		byId('zoom-out').addEventListener('click', () => this.#zoom(1));
		byId('zoom-fit').addEventListener('click', () => this.#fit());
		byId('search').addEventListener('input', () => this.#search());
		byId('search').addEventListener('keydown', (event) => this.#searchKey(event));
		byId('help').addEventListener('click', () => byId('keys').showModal());
		for (const tab of document.querySelectorAll('[role=tab]'))
			this.#wireTab(tab);
		this.#wireSplitter();
		document.addEventListener('keydown', (event) => this.#key(event));
		new ResizeObserver(() => this.#resized()).observe(document.body);
		new ResizeObserver(() => this.#resized()).observe(byId('lanes'));
		onTheme(() => this.#themed());
	}

	#zoom(steps) {
		this.input.zoomBy(steps);
		this.redraw();
	}

	#fit() {
		this.input.fit();
		this.redraw();
	}

	#setKind(kind) {
		this.kind = kind;
		this.#weighed();
		this.#settle();
	}

	#searchKey(event) {
		if (event.key === 'Enter')
			this.#nextFound();
		if (event.key === 'Escape')
			this.#searchFor('');
	}

	/* Keys that work everywhere except in input fields. */
	#key(event) {
		const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== 'radio' &&
			event.target.type !== 'checkbox';
		if (typing || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === '/') {
			event.preventDefault();
			byId('search').focus();
		} else if (event.key === '?') {
			byId('keys').showModal();
		}
	}

	#wireTab(tab) {
		tab.addEventListener('click', () => this.#tab(tab.getAttribute('aria-controls')));
		tab.addEventListener('keydown', (event) => {
			const tabs = [...document.querySelectorAll('[role=tab]')], at = tabs.indexOf(tab);
			const next = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
			if (next === undefined)
				return;
			event.preventDefault();
			const other = tabs[(next + tabs.length) % tabs.length];
			this.#tab(other.getAttribute('aria-controls'));
			other.focus();
		});
	}

	#tab(id) {
		for (const tab of document.querySelectorAll('[role=tab]')) {
			const mine = tab.getAttribute('aria-controls') === id;
			tab.setAttribute('aria-selected', String(mine));
			tab.tabIndex = mine ? 0 : -1;
			byId(tab.getAttribute('aria-controls')).hidden = !mine;
		}
	}

	/* Between timeline and flame graph. */
	#wireSplitter() {
		const splitter = byId('splitter'), set = (share) => {
			const percents = Math.round(Math.min(Math.max(share, 0.15), 0.85) * 100);
			document.documentElement.style.setProperty('--split', `${percents}%`);
			splitter.setAttribute('aria-valuenow', String(percents));
			this.#resized();
		};
		const main = byId('main'), share = (y) => (y - main.getBoundingClientRect().top) / main.clientHeight;
		splitter.addEventListener('pointerdown', (event) => splitter.setPointerCapture(event.pointerId));
		splitter.addEventListener('pointermove', (event) => event.buttons & 1 && set(share(event.clientY)));
		splitter.addEventListener('keydown', (event) => {
			const by = { ArrowUp: -0.04, ArrowDown: 0.04 }[event.key];
			if (by)
				set(Number(splitter.getAttribute('aria-valuenow')) / 100 + by);
		});
	}

	#resized() {
		this.timeline.fit();
		this.redraw();
		this.flame.draw();
	}

	#themed() {
		this.palette.read();
		this.#resized();
	}

	/* For screen readers. */
	#announce(text) {
		say('announced', Array.isArray(text) ? text.filter(Boolean).join(', ') : text);
	}
}

module.exports = { Page };
