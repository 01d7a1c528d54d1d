// SPDX-License-Identifier: BSD-2-Clause
/*
 * A flame graph on a canvas: boxes of a Flame, root at the top, as wide as their weight. A click
 * zooms to a box, arrow keys move in the tree.
 */
'use strict';

const { fitCanvas } = require('./dom.js');
const { Flame, FN } = require('../model/flame.js');
const { css } = require('./palette.js');
const { fitText } = require('./timeline.js');

const BOX = 18; /* CSS pixels */
const STATES = ['unknown', 'running', 'runnable', 'blocked'];
const STATE_COLORS = ['unknown', 'run', 'wait', 'sleep'];

class FlameView {
	#hover = -1;

	/* on: { focused(node), hovered(node, event) } */
	constructor({ scroller, canvas, spacer, model, palette, on }) {
		Object.assign(this, { scroller, canvas, spacer, model, palette, on, flame: null, focus: 0, search: null });
		scroller.addEventListener('pointermove', (event) => this.#move(event));
		scroller.addEventListener('pointerleave', () => this.#setHover(-1, null));
		scroller.addEventListener('click', (event) => this.#click(event));
		scroller.addEventListener('scroll', () => this.draw());
		scroller.addEventListener('keydown', (event) => this.#key(event));
	}

	/*
	 * Sets another tree; the box that was zoomed stays zoomed if its path of functions exists.
	 */
	set(weights, options) {
		const path = this.flame ? this.flame.path(this.focus).reverse().slice(1).map((node) => this.flame.fn[node]) : [];
		this.flame = new Flame(this.model, weights, options);
		this.focus = 0;
		for (const fn of path) {
			const kid = this.flame.children[this.focus].find((node) => this.flame.fn[node] === fn);
			if (kid === undefined)
				break;
			this.focus = kid;
		}
		this.#hover = -1;
		this.spacer.style.height = `${this.flame.levels.length * BOX + 4}px`;
		this.draw();
	}

	nameOf(node) {
		const fn = this.flame.fn[node];
		if (fn === FN.ROOT)
			return 'all';
		if (fn === FN.NO_STACK)
			return '[no stack]';
		return fn <= FN.STATE ? STATES[FN.STATE - fn] : this.model.trace.symbols.functions[fn].name;
	}

	/* null: not a function of a module. */
	functionOf(node) {
		const fn = this.flame.fn[node];
		return fn >= 0 ? this.model.trace.symbols.functions[fn] : null;
	}

	zoomTo(node) {
		this.focus = node;
		this.draw();
		this.on.focused(node);
	}

	#colorOf(node) {
		const fn = this.flame.fn[node], { rgb } = this.palette;
		if (fn >= 0)
			return this.palette.function(this.model.trace.symbols.functions[fn]);
		return fn <= FN.STATE ? rgb[STATE_COLORS[FN.STATE - fn]] : fn === FN.ROOT ? rgb.line : rgb.nameless;
	}

	/* ---- drawing ---- */

	draw() {
		fitCanvas(this.canvas);
		const context = this.canvas.getContext('2d'), ratio = window.devicePixelRatio || 1, { flame } = this;
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = this.palette.css.panel;
		context.fillRect(0, 0, this.canvas.width, this.canvas.height);
		if (!flame || !flame.total[0])
			return;
		const { scrollTop } = this.scroller;
		context.setTransform(ratio, 0, 0, ratio, 0, -scrollTop * ratio);
		context.font = `12px ${this.palette.font}`;
		context.textBaseline = 'middle';
		context.textAlign = 'left';
		const first = Math.floor(scrollTop / BOX), last = Math.ceil((scrollTop + this.canvas.height / ratio) / BOX);
		for (let depth = first; depth < Math.min(last, flame.levels.length); depth++)
			this.#level(context, depth);
	}

	#level(context, depth) {
		const { flame, focus } = this, width = this.canvas.clientWidth, scale = width / flame.total[focus];
		const from = flame.x[focus], to = from + flame.total[focus];
		if (depth <= flame.depth[focus]) {
			const node = flame.path(focus)[flame.depth[focus] - depth];
			this.#box(context, node, 0, width, depth < flame.depth[focus]);
			return;
		}
		for (const node of flame.levels[depth]) {
			const x = flame.x[node], wide = flame.total[node] * scale;
			if (x < from || x >= to || wide < 0.4)
				continue;
			this.#box(context, node, (x - from) * scale, wide, false);
		}
	}

	#box(context, node, x, width, above) {
		const y = this.flame.depth[node] * BOX, rim = width > 3 ? 1 : 0, fn = this.flame.fn[node];
		const found = this.search && fn >= 0 && this.search(fn);
		context.globalAlpha = above ? 0.5 : this.search && !found ? 0.42 : 1;
		context.fillStyle = css(found ? this.palette.rgb.hit : this.#colorOf(node));
		context.fillRect(x, y, Math.max(width - rim, 0.5), BOX - 1);
		context.globalAlpha = above ? 0.8 : 1;
		if (node === this.#hover) {
			context.strokeStyle = this.palette.css.text;
			context.lineWidth = 1;
			context.strokeRect(x + 0.5, y + 0.5, Math.max(width - 1.5, 1), BOX - 2);
		}
		if (width > 22) {
			context.fillStyle = found ? '#101418' : this.palette.css.text;
			context.fillText(fitText(context, this.nameOf(node), width - 8), x + 4, y + BOX / 2);
		}
		context.globalAlpha = 1;
	}

	/* ---- input ---- */

	#at(event) {
		if (!this.flame || !this.flame.total[0])
			return -1;
		const box = this.scroller.getBoundingClientRect(), { flame, focus } = this;
		const depth = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / BOX);
		const share = (event.clientX - box.left) / this.canvas.clientWidth;
		if (share < 0 || share >= 1)
			return -1;
		return depth <= flame.depth[focus] ? flame.path(focus)[flame.depth[focus] - depth] ?? -1 :
			flame.at(depth, flame.x[focus] + share * flame.total[focus]);
	}

	#setHover(node, event) {
		if (node !== this.#hover) {
			this.#hover = node;
			this.draw();
		}
		this.on.hovered(node, event);
	}

	#move(event) {
		this.#setHover(this.#at(event), event);
	}

	#click(event) {
		const node = this.#at(event);
		if (node >= 0)
			this.zoomTo(node);
	}

	/* Up: caller; down: heaviest callee; left and right: siblings. */
	#key(event) {
		const { flame, focus } = this;
		if (!flame || event.ctrlKey || event.altKey || event.metaKey)
			return;
		const siblings = focus ? flame.children[flame.parent[focus]] : [0], at = siblings.indexOf(focus);
		const next = {
			ArrowUp: flame.parent[focus], ArrowDown: flame.children[focus][0],
			ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1], Home: 0, Escape: 0,
		}[event.key];
		if (next === undefined)
			return;
		event.preventDefault();
		if (next < 0)
			return;
		this.zoomTo(next);
		const y = flame.depth[next] * BOX, { scrollTop, clientHeight } = this.scroller;
		if (y < scrollTop || y + BOX > scrollTop + clientHeight)
			this.scroller.scrollTop = y - clientHeight / 2;
	}
}

module.exports = { FlameView, STATES };
