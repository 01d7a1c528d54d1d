// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slices of time as columns of pixels: the share of each state in each column. Prefix sums and one
 * search per column make the cost proportional to the width, not to the number of slices.
 */
'use strict';

const { gallop, lowerBound, upperBound } = require('../read/columns.js');

class Lane {
	#sums = null;
	#stateAt;

	/* Sorted slices that do not overlap; stateAt(i) < states. The arrays are borrowed. */
	constructor(start, end, states, stateAt) {
		Object.assign(this, { start, end, states });
		this.#stateAt = stateAt;
	}

	get length() { return this.start.length; }

	/* The slice at a time, or -1. */
	at(ts) {
		const i = upperBound(this.end, ts, 0, this.length);
		return i < this.length && this.start[i] <= ts ? i : -1;
	}

	/* The time in each state before each slice: at slice * states + state. */
	get #before() {
		if (this.#sums)
			return this.#sums;
		const { start, end, states, length } = this, sums = this.#sums = new Float64Array((length + 1) * states);
		for (let i = 0, at = 0; i < length; i++, at += states) {
			for (let state = 0; state < states; state++)
				sums[at + states + state] = sums[at + state];
			sums[at + states + this.#stateAt(i)] += end[i] - start[i];
		}
		return sums;
	}

	/* Adds the time in each state between two times to out[state]. */
	addTimes(from, to, out) {
		const { start, end, states, length } = this, sums = this.#before;
		const i = upperBound(end, from, 0, length), last = Math.max(i, lowerBound(start, to, i, length));
		if (last === i)
			return;
		for (let state = 0; state < states; state++)
			out[state] += sums[last * states + state] - sums[i * states + state];
		out[this.#stateAt(i)] -= Math.max(0, from - start[i]);
		out[this.#stateAt(last - 1)] -= Math.max(0, end[last - 1] - to);
	}

	/*
	 * For each of `width` columns from time `from` on, each `step` long: out[column * states +
	 * state] is the state's share; first[column], if given, is the first slice in it, or -1.
	 */
	columns(from, step, width, out, first) {
		const { start, end, states, length } = this, sums = this.#before;
		let i = upperBound(end, from, 0, length);
		out.fill(0, 0, width * states);
		for (let column = 0; column < width; column++) {
			const left = from + column * step, right = from + (column + 1) * step, at = column * states;
			const last = i < length && end[i] <= right ? gallop(end, right, i, length) : i;
			if (first)
				first[column] = i < length && start[i] < right ? i : -1;
			for (let state = 0; last > i && state < states; state++)
				out[at + state] = sums[last * states + state] - sums[i * states + state];
			if (last > i && start[i] < left)
				out[at + this.#stateAt(i)] -= left - start[i];
			if (last < length && start[last] < right)
				out[at + this.#stateAt(last)] += right - Math.max(start[last], left);
			for (let state = 0; state < states; state++)
				out[at + state] /= step;
			i = last;
		}
	}
}

/* Counts sorted points in time per column. */
function countPoints(ts, from, step, width, out) {
	let i = upperBound(ts, from - 1e-9, 0, ts.length);
	for (let column = 0; column < width; column++) {
		const right = from + (column + 1) * step;
		const next = i < ts.length && ts[i] < right ? gallop(ts, right - 1e-9, i, ts.length) : i;
		out[column] = next - i;
		i = next;
	}
}

module.exports = { Lane, countPoints };
