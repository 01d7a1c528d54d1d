// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slices of time as columns of pixels: of each column, which share every state has. By sums up to each slice
 * and a search for each column, so that it costs the width, whatever lies in it.
 */
'use strict';

const { upperBound, gallop } = require('./columns.js');

class Lane {
	#sums = null;
	#stateAt;

	/* Sorted slices that do not overlap; stateAt(i) < states. The arrays stay the caller's. */
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

	/* By state: the time in it before each slice. */
	#sumUp() {
		const { start, end, states, length } = this, sums = [], sum = new Float64Array(states);
		for (let state = 0; state < states; state++)
			sums.push(new Float64Array(length + 1));
		for (let i = 0; i < length; i++) {
			sum[this.#stateAt(i)] += end[i] - start[i];
			for (let state = 0; state < states; state++)
				sums[state][i + 1] = sum[state];
		}
		return sums;
	}

	/*
	 * For each of `width` columns of the time from `from` on, each `step` long: out[column * states + state] is
	 * the state's share of it, and first[column], if given, the first slice in it, or -1.
	 */
	columns(from, step, width, out, first) {
		const { start, end, states, length } = this, sums = this.#sums ||= this.#sumUp();
		let i = upperBound(end, from, 0, length);
		out.fill(0, 0, width * states);
		for (let column = 0; column < width; column++) {
			const left = from + column * step, right = from + (column + 1) * step;
			const last = i < length && end[i] <= right ? gallop(end, right, i, length) : i;
			if (first)
				first[column] = i < length && start[i] < right ? i : -1;
			for (let state = 0; last > i && state < states; state++)
				out[column * states + state] = sums[state][last] - sums[state][i];
			if (last > i && start[i] < left)
				out[column * states + this.#stateAt(i)] -= left - start[i];
			if (last < length && start[last] < right)
				out[column * states + this.#stateAt(last)] += right - Math.max(start[last], left);
			for (let state = 0; state < states; state++)
				out[column * states + state] /= step;
			i = last;
		}
	}
}

/* Of points in time, sorted: how many lie in each column. */
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
