// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pointer, wheel and keys on the timeline. Changes its state, and reports changes and selections.
 */
'use strict';

const { GUTTER, OVERVIEW } = require('./timeline.js');

const DRAG_FROM = 4; /* pixels */
const ZOOM_STEP = 1.35, PAN_STEP = 0.2;

class TimelineInput {
	#drag = null;

	/*
	 * on: { changed(), ranged(range or null, done), selected(row, index), hovered(row, index,
	 * event) }; ranged is also called while a range is dragged, with done false.
	 */
	constructor(timeline, on) {
		this.timeline = timeline;
		this.on = on;
		const { scroller, ruler } = timeline;
		scroller.addEventListener('pointerdown', (event) => this.#down(event));
		scroller.addEventListener('pointermove', (event) => this.#move(event));
		scroller.addEventListener('pointerup', (event) => this.#up(event));
		scroller.addEventListener('pointercancel', () => this.#cancel());
		scroller.addEventListener('pointerleave', () => this.#leave());
		scroller.addEventListener('dblclick', (event) => this.#double(event));
		scroller.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
		scroller.addEventListener('scroll', () => on.changed());
		scroller.addEventListener('keydown', (event) => this.#key(event));
		ruler.addEventListener('wheel', (event) => this.#rulerWheel(event), { passive: false });
		ruler.addEventListener('pointerdown', (event) => this.#rulerDown(event));
		ruler.addEventListener('pointermove', (event) => this.#rulerMove(event));
		ruler.addEventListener('pointerup', () => this.#endRuler());
	}

	#setCpu(event, element = this.timeline.scroller) {
		const box = element.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	/* ---- pointer ---- */

	#down(event) {
		const { x, y } = this.#setCpu(event), { timeline } = this, row = timeline.rowAt(y);
		if (event.button > 1 || x > timeline.scroller.clientWidth)
			return;
		if (row && row.type === 'group') {
			this.#toggle(row);
			this.on.changed();
			return;
		}
		const pan = event.shiftKey || event.button === 1;
		this.#drag = { x, ts: timeline.timeAt(Math.max(x, GUTTER)), pan, view: timeline.state.view, moved: false, row,
			label: x < GUTTER };
		timeline.scroller.setPointerCapture(event.pointerId);
	}

	#move(event) {
		const { x, y } = this.#setCpu(event), { timeline } = this, drag = this.#drag;
		timeline.state.hover = x >= GUTTER ? timeline.timeAt(x) : null;
		if (drag && !drag.label && Math.abs(x - drag.x) >= DRAG_FROM)
			drag.moved = true;
		if (drag && drag.moved && drag.pan)
			this.#panTo(drag, x);
		else if (drag && drag.moved)
			this.#rangeTo(drag, x, false);
		else
			this.#hover(x, y, event);
		this.on.changed();
	}

	#panTo({ view, x: from }, x) {
		const by = (from - x) / this.timeline.plotWidth * (view.to - view.from);
		this.timeline.show(view.from + by, view.to + by);
	}

	#rangeTo(drag, x, done) {
		const { first, last } = this.timeline.model;
		const ts = Math.min(Math.max(this.timeline.timeAt(Math.max(x, GUTTER)), first), last);
		this.on.ranged({ from: Math.round(Math.min(ts, drag.ts)), to: Math.round(Math.max(ts, drag.ts)) }, done);
	}

	#hover(x, y, event) {
		const { timeline } = this, row = timeline.rowAt(y);
		this.on.hovered(row, row && x >= GUTTER ? timeline.indexAt(row, timeline.timeAt(x)) : -1, event);
	}

	#up(event) {
		const drag = this.#drag, { x } = this.#setCpu(event), { timeline } = this;
		this.#drag = null;
		if (!drag)
			return;
		if (drag.moved) {
			if (!drag.pan)
				this.#rangeTo(drag, x, true);
		} else if (drag.row) {
			this.on.selected(drag.row, drag.label ? -1 : timeline.indexAt(drag.row, timeline.timeAt(x)));
		}
		this.on.changed();
	}

	#cancel() {
		this.#drag = null;
	}

	#leave() {
		this.timeline.state.hover = null;
		this.on.hovered(null, -1, null);
		this.on.changed();
	}

	/* Zooms to the slice. */
	#double(event) {
		const { x, y } = this.#setCpu(event), { timeline } = this, row = timeline.rowAt(y);
		const index = row && x >= GUTTER ? timeline.indexAt(row, timeline.timeAt(x)) : -1;
		if (index >= 0)
			this.zoomTo(timeline.spanOf(row, index));
	}

	zoomTo({ from, to }) {
		const rim = Math.max((to - from) * 0.25, 200);
		this.timeline.show(from - rim, to + rim);
		this.on.changed();
	}

	/* ---- wheel ---- */

	/*
	 * Zooms if there is nothing to scroll, or with Ctrl or Alt; pans sideways, or with Shift.
	 */
	#wheel(event) {
		const { timeline } = this, { scroller } = timeline, { x } = this.#setCpu(event);
		const scrolls = scroller.scrollHeight > scroller.clientHeight + 1;
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			timeline.pan((event.deltaX || event.deltaY) / timeline.plotWidth);
			this.on.changed();
		} else if (event.ctrlKey || event.altKey || event.metaKey || !scrolls) {
			event.preventDefault();
			this.#zoomWheel(event, x);
		}
	}

	#zoomWheel(event, x) {
		const { timeline } = this, delta = Math.max(-1, Math.min(1, event.deltaY / 100));
		timeline.zoom(ZOOM_STEP ** delta, timeline.timeAt(Math.max(x, GUTTER)));
		this.on.changed();
	}

	#rulerWheel(event) {
		event.preventDefault();
		this.#zoomWheel(event, this.#setCpu(event, this.timeline.ruler).x);
	}

	/* ---- the ruler: the overview moves the view, the scale below it takes a range ---- */

	#rulerDown(event) {
		const { x, y } = this.#setCpu(event, this.timeline.ruler);
		if (x < GUTTER)
			return;
		this.timeline.ruler.setPointerCapture(event.pointerId);
		this.#drag = { x, overview: y < OVERVIEW, ts: this.timeline.timeAt(x), moved: false };
		this.#rulerMove(event);
	}

	#rulerMove(event) {
		const drag = this.#drag, { x } = this.#setCpu(event, this.timeline.ruler), { timeline } = this;
		if (!drag)
			return;
		if (drag.overview) {
			const { first, last } = timeline.model, { from, to } = timeline.state.view;
			const middle = first + (x - GUTTER) / timeline.plotWidth * (last - first);
			timeline.show(middle - (to - from) / 2, middle + (to - from) / 2);
		} else if (Math.abs(x - drag.x) >= DRAG_FROM || drag.moved) {
			drag.moved = true;
			drag.at = x;
			this.#rangeTo(drag, x, false);
		}
		this.on.changed();
	}

	#endRuler() {
		const drag = this.#drag;
		this.#drag = null;
		if (drag && drag.moved)
			this.#rangeTo(drag, drag.at, true);
	}

	/* ---- keys ---- */

	#key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		const act = this.#keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
		if (!act)
			return;
		event.preventDefault();
		act();
		this.on.changed();
	}

	#keys = {
		w: () => this.zoomBy(-1),
		'+': () => this.zoomBy(-1),
		'=': () => this.zoomBy(-1),
		s: () => this.zoomBy(1),
		'-': () => this.zoomBy(1),
		a: () => this.timeline.pan(-PAN_STEP),
		d: () => this.timeline.pan(PAN_STEP),
		ArrowLeft: () => this.timeline.pan(-PAN_STEP),
		ArrowRight: () => this.timeline.pan(PAN_STEP),
		ArrowUp: () => this.#stepRow(-1),
		ArrowDown: () => this.#stepRow(1),
		Home: () => this.fit(),
		0: () => this.fit(),
		',': () => this.stepSlice(-1),
		'.': () => this.stepSlice(1),
		' ': () => this.#fold(),
		f: () => this.#zoomToSelected(),
		Enter: () => this.#rangeOfSelected(),
		Escape: () => this.on.ranged(null, true),
	};

	/* Around the selection, or the middle. */
	zoomBy(steps) {
		const { state } = this.timeline, { from, to } = state.view;
		const span = state.selected && state.selected.index >= 0 ?
			this.timeline.spanOf(state.selected.row, state.selected.index) : null;
		const around = span && span.to >= from && span.from <= to ?
			Math.min(Math.max((span.from + span.to) / 2, from), to) : (from + to) / 2;
		this.timeline.zoom(ZOOM_STEP ** steps, around);
	}

	fit() {
		this.timeline.show(this.timeline.model.first, this.timeline.model.last);
	}

	#toggle(group) {
		group.open = !group.open;
		this.timeline.arrange();
	}

	/*
	 * Folds the selected group, or the group of the selected lane, which becomes the selection.
	 */
	#fold() {
		const { timeline } = this, { selected } = timeline.state;
		const group = selected && timeline.groups.find((one) => one === selected.row || one.rows.includes(selected.row));
		if (!group)
			return;
		this.#toggle(group);
		this.on.selected(group, -1);
		timeline.reveal(group);
	}

	#stepRow(by) {
		const { timeline } = this, { selected, view } = timeline.state;
		const { rows } = timeline, at = selected ? rows.indexOf(selected.row) + by : 0;
		const row = rows[Math.min(Math.max(at, 0), rows.length - 1)];
		if (!row)
			return;
		const ts = selected && selected.index >= 0 ? timeline.spanOf(selected.row, selected.index).from :
			(view.from + view.to) / 2;
		this.on.selected(row, timeline.indexAt(row, ts));
		timeline.reveal(row);
	}

	/* Selects the slice before or after the selected one, in the same row. */
	stepSlice(by) {
		const { timeline } = this, { selected, view } = timeline.state;
		if (!selected || selected.row.type === 'group')
			return;
		const { row, index } = selected, length = row.marks ? row.marks.ts.length : row.lane().length;
		const next = index < 0 ? timeline.nextIndex(row, (view.from + view.to) / 2) : index + by;
		if (next < 0 || next >= length)
			return;
		this.on.selected(row, next);
		const span = timeline.spanOf(row, next);
		if (span.to < view.from || span.from > view.to)
			timeline.show(span.from - (view.to - view.from) / 2, span.from + (view.to - view.from) / 2);
	}

	#zoomToSelected() {
		const { selected, range } = this.timeline.state;
		if (selected && selected.index >= 0)
			this.zoomTo(this.timeline.spanOf(selected.row, selected.index));
		else if (range)
			this.zoomTo(range);
	}

	#rangeOfSelected() {
		const { selected } = this.timeline.state;
		if (selected && selected.index >= 0)
			this.on.ranged(this.timeline.spanOf(selected.row, selected.index), true);
	}
}

module.exports = { TimelineInput };
