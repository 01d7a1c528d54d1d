// SPDX-License-Identifier: BSD-2-Clause
/* A call tree and the position of its boxes. Numbers only: no text, no colours, no pixels. */
'use strict';

const { NONE } = require('../read/columns.js');

/* Nodes without a function: the root, unknown stacks, and thread states. */
const FN = { ROOT: -1, NO_STACK: -2, STATE: -10 };

/*
 * Nodes by number, 0 is the root: parent, fn (an index of symbols.functions, or one of FN; for a
 * state, FN.STATE - state), depth, self, total, count, and x, the total of everything to its left.
 * levels[d] has the nodes of a depth from left to right. Callers first, or inverted: leaves first.
 */
class Flame {
	#index = new Map();

	constructor(model, weights, { inverted = false, byState = false } = {}) {
		Object.assign(this, { parent: [-1], fn: [FN.ROOT], depth: [0], self: [0], total: [0], count: [0], x: [0] });
		this.children = [[]];
		for (let i = 0; i < weights.length; i++)
			this.#add(model.trace, weights, i, inverted, byState);
		this.levels = [];
		this.#layOut();
	}

	get length() { return this.fn.length; }

	#add({ stacks, symbols }, weights, i, inverted, byState) {
		const weight = weights.weight[i], frames = weights.stack[i] === NONE ? [] : stacks.get(weights.stack[i]);
		const path = frames.length ? frames.flatMap((frame) => symbols.expand(frame)) : [FN.NO_STACK];
		if (!inverted)
			path.reverse();
		if (byState)
			path.unshift(FN.STATE - weights.state[i]);
		let node = 0;
		for (const fn of path) {
			this.#count(node, weight, weights.count[i]);
			node = this.#child(node, fn);
		}
		this.#count(node, weight, weights.count[i]);
		this.self[node] += weight;
	}

	#count(node, weight, count) {
		this.total[node] += weight;
		this.count[node] += count;
	}

	#child(parent, fn) {
		const key = parent * 0x1000000 + fn + 0x100;
		let node = this.#index.get(key);
		if (node === undefined) {
			node = this.length;
			this.#index.set(key, node);
			this.parent.push(parent);
			this.fn.push(fn);
			this.depth.push(this.depth[parent] + 1);
			for (const column of [this.self, this.total, this.count, this.x])
				column.push(0);
			this.children.push([]);
			this.children[parent].push(node);
		}
		return node;
	}

	/* Nodes come after their parents, siblings by weight. */
	#layOut() {
		let level = [0];
		while (level.length) {
			this.levels.push(Uint32Array.from(level));
			level = level.flatMap((node) => {
				let x = this.x[node];
				const kids = this.children[node].sort((a, b) => this.total[b] - this.total[a] || this.fn[a] - this.fn[b]);
				for (const kid of kids) {
					this.x[kid] = x;
					x += this.total[kid];
				}
				return kids;
			});
		}
	}

	/* The node of a depth at that x, or -1. */
	at(depth, x) {
		const level = this.levels[depth] || [];
		let lo = 0, hi = level.length;
		while (lo < hi) {
			const mid = (lo + hi) >>> 1, node = level[mid];
			if (this.x[node] + this.total[node] <= x)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo < level.length && this.x[level[lo]] <= x ? level[lo] : -1;
	}

	/* From the node to the root, both included. */
	path(node) {
		const path = [];
		for (; node >= 0; node = this.parent[node])
			path.push(node);
		return path;
	}

	/* The weight of all stacks with at least one function for which is() is true. */
	matched(is) {
		let sum = 0;
		const open = [0];
		while (open.length) {
			const node = open.pop();
			if (is(this.fn[node]))
				sum += this.total[node];
			else
				open.push(...this.children[node]);
		}
		return sum;
	}
}

module.exports = { Flame, FN };
