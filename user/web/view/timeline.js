// SPDX-License-Identifier: BSD-2-Clause
/*
 * The timeline: rows of lanes on a canvas of the visible size, below a ruler with an overview of
 * the whole trace. Draws the state; timeline_input.js changes it.
 */
'use strict';

const { lowerBound, upperBound } = require('../read/columns.js');
const { fitCanvas } = require('./dom.js');
const { moment, duration, shown } = require('../read/format.js');
const { countPoints } = require('../model/pixel_columns.js');
const { RowPainter } = require('./paint_rows.js');
const { css } = require('./palette.js');
const { makeGroups, visibleRows, BUSY } = require('../model/rows.js');

const GUTTER = 186, RULER = 22, OVERVIEW = 26; /* CSS pixels */
const LABEL_FROM = 46; /* minimum width of a slice with text */
const ARROWS_MAX = 250, FIT_MAX = 300;
const NEAREST = 20; /* minimum time range of the view, in ns */

class Timeline {
	#painter = new RowPainter();
	#overview = null;
	#still = document.createElement('canvas'); /* what does not change while a range is dragged */
	#stillOf = ''; /* the state that it shows */
	#size = null;
	#arranged = 0; /* number of calls of arrange() */

	/*
	 * state: { view: { from, to }, range: { from, to } or null, selected: { row, index } or
	 * null, hover: ts or null, search: a function on names, or null }; text(row, index): the
	 * text in a slice.
	 */
	constructor({ scroller, canvas, spacer, ruler, model, palette, state, text }) {
		Object.assign(this, { scroller, canvas, spacer, ruler, model, palette, state, text, gutter: GUTTER });
		this.groups = makeGroups(model);
		this.fit();
		this.arrange();
	}

	/* After a change of its size or the colours. */
	fit() {
		this.ruler.style.width = `${this.canvas.clientWidth}px`;
		fitCanvas(this.ruler);
		this.#size = fitCanvas(this.canvas);
		this.#stillOf = '';
		this.#overview = null;
	}

	/* After a group was folded or unfolded. */
	arrange() {
		Object.assign(this, visibleRows(this.groups));
		this.#arranged++;
		this.spacer.style.height = `${this.height}px`;
		this.byTask = new Map(this.rows.filter((row) => row.task).map((row) => [row.task.task, row]));
	}

	/* ---- geometry ---- */

	get plotWidth() { return Math.max(1, this.#size.width - GUTTER); }

	timeAt(x) {
		const { from, to } = this.state.view;
		return from + (x - GUTTER) / this.plotWidth * (to - from);
	}

	xAt(ts) {
		const { from, to } = this.state.view;
		return GUTTER + (ts - from) / (to - from) * this.plotWidth;
	}

	/* At a position in the scroller. */
	rowAt(y) {
		const at = y + this.scroller.scrollTop;
		return this.rows.find((row) => at >= row.top && at < row.top + row.height) || null;
	}

	/* The slice or mark of a row near a time: its index, or -1. */
	indexAt(row, ts) {
		if (row.type === 'group')
			return -1;
		if (row.type !== 'marks') {
			const i = row.lane().at(ts);
			return i >= 0 ? i : this.#near(row.lane().start, row.lane().end, ts);
		}
		return this.#near(row.marks.ts, row.marks.ts, ts);
	}

	#near(start, end, ts) {
		const i = lowerBound(end, ts, 0, end.length), reach = 4 * (this.timeAt(1) - this.timeAt(0));
		const after = i < start.length ? start[i] - ts : Infinity, before = i ? ts - end[i - 1] : Infinity;
		return Math.min(after, before) > reach ? -1 : after <= before ? i : i - 1;
	}

	/* The first slice or mark that ends after a time, or the last one. */
	nextIndex(row, ts) {
		const end = row.marks ? row.marks.ts : row.lane().end;
		return Math.min(upperBound(end, ts, 0, end.length), end.length - 1);
	}

	/* The time range of a slice. */
	spanOf(row, index) {
		const of = row.marks ? { start: row.marks.ts, end: row.marks.ts } : row.lane();
		return { from: of.start[index], to: of.end[index] };
	}

	/* Zooms and keeps the time `around` in its place. */
	zoom(factor, around) {
		const { from, to } = this.state.view;
		this.show(around - (around - from) * factor, around + (to - around) * factor);
	}

	pan(share) {
		const { from, to } = this.state.view;
		this.show(from + (to - from) * share, to + (to - from) * share);
	}

	/* Shows a time range, limited to the trace. */
	show(from, to) {
		const { first, last } = this.model, length = Math.min(Math.max(to - from, NEAREST), last - first);
		const middle = (from + to) / 2;
		const start = Math.min(Math.max(middle - length / 2, first), last - length);
		this.state.view = { from: start, to: start + length };
	}

	/* Unfolds the row's group, and scrolls to it. */
	reveal(row) {
		const holder = this.groups.find((one) => one.rows.includes(row));
		if (holder && !holder.open) {
			holder.open = true;
			this.arrange();
		}
		const { scrollTop, clientHeight } = this.scroller;
		if (row.top < scrollTop || row.top + row.height > scrollTop + clientHeight)
			this.scroller.scrollTop = row.top - clientHeight / 2;
	}

	/* ---- drawing ---- */

	draw() {
		const context = this.canvas.getContext('2d'), { ratio, height } = this.#size, { scrollTop } = this.scroller;
		const seen = this.rows.filter((row) => row.top + row.height > scrollTop && row.top < scrollTop + height);
		this.#drawStill(seen, scrollTop);
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.drawImage(this.#still, 0, 0);
		context.setTransform(ratio, 0, 0, ratio, 0, -scrollTop * ratio);
		this.#range(context, scrollTop, height);
		this.#arrows(context);
		this.#selected(context);
		this.#gutter(context, seen);
		this.#cursor(context, scrollTop, height);
		this.#drawRuler(ratio);
	}

	/* Lanes with their texts, unless nothing changed. */
	#drawStill(seen, scrollTop) {
		const { from, to } = this.state.view, of = [from, to, scrollTop, this.#arranged].join();
		if (of === this.#stillOf)
			return;
		this.#stillOf = of;
		const { width, height } = this.canvas, still = this.#still, { ratio } = this.#size;
		if (still.width !== width || still.height !== height)
			Object.assign(still, { width, height });
		const context = still.getContext('2d');
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = this.palette.css.panel;
		context.fillRect(0, 0, width, height);
		this.#lanes(context, seen, ratio);
		context.setTransform(ratio, 0, 0, ratio, 0, -scrollTop * ratio);
		this.#texts(context, seen);
		this.#marksOfSamples(context, seen);
	}

	#lanes(context, seen, ratio) {
		const lanes = seen.filter((row) => row.type !== 'group');
		const x = Math.round(GUTTER * ratio), width = Math.max(1, this.canvas.width - x);
		const { from, to } = this.state.view;
		this.#painter.paint(lanes, this.palette, from, (to - from) / width, width);
		context.imageSmoothingEnabled = false;
		lanes.forEach((row, i) => {
			const top = Math.round((row.top - this.scroller.scrollTop) * ratio) + 1;
			const bottom = Math.round((row.top + row.height - this.scroller.scrollTop) * ratio) - 1;
			this.#painter.draw(context, i, x, top, width, bottom - top);
		});
	}

	/* In slices that are wide enough. */
	#texts(context, seen) {
		const { from, to } = this.state.view, least = (to - from) / this.plotWidth * LABEL_FROM;
		const most = this.plotWidth / LABEL_FROM + 2;
		context.font = `11px ${this.palette.font}`;
		context.textBaseline = 'middle';
		context.textAlign = 'left';
		for (const row of seen) {
			if (row.type === 'group' || row.type === 'marks')
				continue;
			const { start, end } = row.lane();
			const first = upperBound(end, from, 0, end.length), last = lowerBound(start, to, first, start.length);
			/*
			 * few of many slices can be wide: each step searches for the next by the
			 * minimum duration
			 */
			for (let i = first, n = 0; i < last && n < 40 * most; i++, n++)
				if (Math.min(end[i], to) - Math.max(start[i], from) >= least)
					this.#text(context, row, i, start[i], end[i]);
		}
	}

	#text(context, row, i, start, end) {
		const text = this.text(row, i);
		if (!text)
			return;
		const left = Math.max(this.xAt(start), GUTTER) + 4, right = Math.min(this.xAt(end), GUTTER + this.plotWidth) - 3;
		context.fillStyle = row.type === 'cpu' && row.lane().length && !this.palette.dark ? '#101418' :
			this.palette.css.text;
		context.fillText(fitText(context, text, right - left), left, row.top + row.height / 2 + 0.5);
	}

	/* Samples, at the bottom of a thread's row. */
	#marksOfSamples(context, seen) {
		const width = Math.ceil(this.plotWidth), { from, to } = this.state.view, counts = new Uint32Array(width);
		context.fillStyle = this.palette.css.text;
		for (const row of seen) {
			if (!row.samples || !row.samples.length)
				continue;
			countPoints(row.samples, from, (to - from) / width, width, counts);
			for (let column = 0; column < width; column++)
				if (counts[column])
					context.fillRect(GUTTER + column, row.top + row.height - 4, 1, 3);
		}
	}

	#range(context, top, height) {
		const { range } = this.state;
		if (!range)
			return;
		const left = Math.max(GUTTER, this.xAt(range.from)), right = Math.max(GUTTER, this.xAt(range.to));
		context.fillStyle = css(this.palette.rgb.range, 0.16);
		context.fillRect(left, top, right - left, height);
		context.fillStyle = this.palette.css.range;
		context.fillRect(left, top, 1, height);
		context.fillRect(right, top, 1, height);
	}

	/* From waker to woken thread if there are few; otherwise only for the selected thread. */
	#arrows(context) {
		const { wakes } = this.model, { from, to } = this.state.view;
		const first = lowerBound(wakes.ts, from, 0, wakes.ts.length), last = upperBound(wakes.ts, to, first, wakes.ts.length);
		const { selected } = this.state, task = selected && selected.row.task ? selected.row.task.task : -1;
		const few = last - first <= ARROWS_MAX;
		if (!few && (task < 0 || last - first > 100 * ARROWS_MAX))
			return;
		context.lineWidth = 1;
		for (let i = first, drawn = 0; i < last && drawn < ARROWS_MAX; i++)
			drawn += this.#arrow(context, wakes.row[i], few, task);
	}

	#arrow(context, row, all, task) {
		const { rows, wakers, trace } = this.model, waker = rows.waker[row];
		const woken = rows.task[row], { space } = trace.tasks[woken], byTask = (wakers.raw[waker] & 7) <= 1;
		const who = byTask && wakers.tid[waker] ? trace.taskOf(space, wakers.tid[waker]) : -1;
		const a = this.byTask.get(who), b = this.byTask.get(woken);
		if (!b || !all && who !== task && woken !== task)
			return 0;
		const x = this.xAt(wakers.ts[waker]), y = b.top + b.height / 2;
		context.strokeStyle = context.fillStyle = css(this.palette.rgb.accent, who === task || woken === task ? 1 : 0.65);
		if (!a || a === b) {
			context.beginPath();
			context.arc(x, y, 2.5, 0, 7);
			context.fill();
			return 1;
		}
		const from = a.top + a.height / 2, down = y > from ? 1 : -1, tip = down > 0 ? b.top + 2 : b.top + b.height - 2;
		context.beginPath();
		context.moveTo(x, from);
		context.lineTo(x, tip - 4 * down);
		context.stroke();
		context.beginPath();
		context.moveTo(x, tip);
		context.lineTo(x - 3.5, tip - 6 * down);
		context.lineTo(x + 3.5, tip - 6 * down);
		context.fill();
		return 1;
	}

	#selected(context) {
		const { selected } = this.state;
		if (!selected || selected.row.top === undefined || !this.rows.includes(selected.row))
			return;
		const { row, index } = selected;
		context.strokeStyle = this.palette.css.accent;
		context.lineWidth = 2;
		if (index < 0) {
			context.strokeRect(GUTTER + 1, row.top + 1, this.plotWidth - 2, row.height - 2);
			return;
		}
		const { from, to } = this.spanOf(row, index);
		const left = Math.max(this.xAt(from), GUTTER), right = Math.min(this.xAt(to), GUTTER + this.plotWidth);
		if (right >= left - 2)
			context.strokeRect(left - 0.5, row.top + 1, Math.max(right - left, 3), row.height - 2);
	}

	#gutter(context, seen) {
		const { css: colors, font } = this.palette, { selected, search } = this.state;
		context.textBaseline = 'middle';
		context.textAlign = 'left';
		for (const row of seen) {
			const isGroup = row.type === 'group', mine = selected && selected.row === row;
			context.fillStyle = isGroup ? colors.bg : mine ? colors.line : colors.panel;
			context.fillRect(0, row.top, isGroup ? GUTTER + this.plotWidth : GUTTER - 1, row.height);
			context.fillStyle = colors.text;
			if (isGroup) {
				context.font = `600 12px ${font}`;
				const text = fitText(context, row.name, GUTTER + 200);
				context.fillText(`${row.open ? '▾' : '▸'} ${text}`, 8, row.top + row.height / 2);
				const at = 8 + context.measureText(`▾ ${text}`).width + 10;
				context.font = `11px ${font}`;
				context.fillStyle = colors.muted;
				context.fillText(row.detail, at, row.top + row.height / 2);
				continue;
			}
			context.font = `12px ${font}`;
			if (search && search(row.name)) {
				context.fillStyle = colors.hit;
				context.fillRect(0, row.top + 1, 4, row.height - 2);
			}
			context.fillStyle = colors.text;
			context.fillText(fitText(context, row.name, GUTTER - 34), 22, row.top + row.height / 2 + 0.5);
		}
	}

	#cursor(context, top, height) {
		if (this.state.hover === null)
			return;
		context.fillStyle = css(this.palette.rgb.text, 0.35);
		context.fillRect(this.xAt(this.state.hover), top, 1, height);
	}

	/* ---- the ruler, and the whole trace above it ---- */

	#drawRuler(ratio) {
		const context = this.ruler.getContext('2d'), { css: colors, font } = this.palette;
		const width = this.ruler.width / ratio;
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = colors.bg;
		context.fillRect(0, 0, this.ruler.width, this.ruler.height);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.#drawOverview(context, width);
		context.font = `11px ${font}`;
		context.textBaseline = 'middle';
		this.#ticks(context, width, colors);
		context.textAlign = 'left';
		context.fillStyle = colors.muted;
		const { from, to } = this.state.view;
		context.fillText(`${duration(to - from)} shown`, 8, OVERVIEW + RULER / 2);
	}

	#ticks(context, width, colors) {
		const { from, to } = this.state.view, { first } = this.model;
		const step = niceStep((to - from) / (this.plotWidth / 110));
		context.textAlign = 'center';
		for (let ts = Math.ceil((from - first) / step) * step; ts <= to - first; ts += step) {
			const x = this.xAt(ts + first);
			context.fillStyle = colors.line;
			context.fillRect(x, OVERVIEW + RULER - 5, 1, 5);
			context.fillStyle = colors.muted;
			if (x > GUTTER + 25 && x < width - 25)
				context.fillText(moment(ts, step), x, OVERVIEW + RULER / 2 - 2);
		}
	}

	#drawOverview(context, width) {
		const { css: colors, rgb } = this.palette, plot = Math.max(1, Math.round(width - GUTTER)), { first, last } = this.model;
		const scale = (ts) => GUTTER + (ts - first) / (last - first) * plot;
		this.#overview ||= this.#paintOverview(plot);
		context.drawImage(this.#overview, GUTTER, 2);
		const { view, range } = this.state, left = scale(view.from), right = scale(view.to);
		context.fillStyle = css(rgb.bg, 0.7);
		context.fillRect(GUTTER, 0, left - GUTTER, OVERVIEW);
		context.fillRect(right, 0, GUTTER + plot - right, OVERVIEW);
		context.strokeStyle = colors.accent;
		context.lineWidth = 1.5;
		context.strokeRect(left + 0.75, 1.25, Math.max(right - left - 1.5, 2), OVERVIEW - 2.5);
		context.fillStyle = css(rgb.range, 0.5);
		if (range)
			context.fillRect(scale(range.from), 2, Math.max(scale(range.to) - scale(range.from), 2), OVERVIEW - 4);
		context.fillStyle = colors.muted;
		context.font = `11px ${this.palette.font}`;
		context.textAlign = 'left';
		context.textBaseline = 'middle';
		context.fillText(`whole trace: ${duration(last - first)}`, 8, OVERVIEW / 2);
	}

	#paintOverview(width) {
		const canvas = document.createElement('canvas'), context = canvas.getContext('2d'), high = OVERVIEW - 4;
		const { css: colors } = this.palette;
		Object.assign(canvas, { width, height: high });
		context.fillStyle = colors.lane;
		context.fillRect(0, 0, width, high);
		context.fillStyle = colors.run;
		this.#busy(width).forEach((share, column) => {
			if (share > 0)
				context.fillRect(column, high - Math.max(1, Math.min(1, share) * high), 1, high);
		});
		return canvas;
	}

	/* Share of busy CPUs; for a trace without switches, density of events. */
	#busy(width) {
		const sum = new Float64Array(width), shares = new Float64Array(width * 4), { first, last } = this.model;
		const step = (last - first) / width;
		const cpus = this.groups.flatMap((one) => one.rows).filter((row) => row.cpu);
		const lanes = cpus.length ? cpus : this.groups.flatMap((one) => one.rows).filter((row) => row.type === 'polls');
		for (const row of lanes) {
			row.lane().columns(first, step, width, shares);
			for (let column = 0; column < width; column++)
				sum[column] += shares[column * row.lane().states + BUSY.RUNS] / lanes.length;
		}
		if (!lanes.length)
			this.#density(sum, first, step);
		return sum;
	}

	#density(sum, first, step) {
		const counts = new Uint32Array(sum.length);
		countPoints(this.model.samples.ts, first, step, sum.length, counts);
		const most = Math.max(1, ...counts);
		counts.forEach((n, i) => {
			sum[i] = n / most;
		});
	}
}

/* 1, 2 or 5 times a power of ten, at least `least`. */
function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
	return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least);
}

/* As much of a text as fits. */
function fitText(context, text, width) {
	if (width < 12)
		return '';
	const whole = shown(text, FIT_MAX);
	if (context.measureText(whole).width <= width)
		return whole;
	let lo = 0, hi = whole.length;
	while (lo < hi) {
		const mid = (lo + hi + 1) >>> 1;
		if (context.measureText(`${whole.slice(0, mid)}…`).width <= width)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo ? `${whole.slice(0, lo)}…` : '';
}

module.exports = { Timeline, fitText, GUTTER, RULER, OVERVIEW };
