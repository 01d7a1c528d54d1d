// SPDX-License-Identifier: BSD-2-Clause
/* Columns of pixels compared with the simple way: each slice cut by each column. */
'use strict';

const assert = require('node:assert');
const { test } = require('node:test');

const { Lane, countPoints } = require('../../../user/web/model/pixel_columns.js');

/* Pseudo-random numbers that are the same each time. */
function chance(seed) {
	let state = seed;
	return (below) => {
		state = Math.imul(state, 1664525) + 1013904223 | 0;
		return (state >>> 8) % below;
	};
}

function makeLane(below, slices) {
	const start = new Float64Array(slices), end = new Float64Array(slices), state = new Uint8Array(slices);
	for (let i = 0, ts = 100; i < slices; i++) {
		ts += below(3) ? 0 : below(40);
		start[i] = ts;
		end[i] = ts += below(9) ? below(30) : 0;
		state[i] = below(3);
	}
	return { lane: new Lane(start, end, 3, (i) => state[i]), start, end, state };
}

test('each column has the share of each state', () => {
	const below = chance(7);
	for (let round = 0; round < 60; round++) {
		const { lane, start, end, state } = makeLane(below, below(200)), width = 1 + below(90);
		const from = below(3000) - 200, step = (1 + below(700)) / 10;
		const out = new Float64Array(width * 3).fill(7), want = new Float64Array(width * 3);
		const first = new Int32Array(width);
		lane.columns(from, step, width, out, first);
		for (let i = 0; i < start.length; i++)
			for (let column = 0; column < width; column++) {
				const left = from + column * step, both = Math.min(end[i], left + step) - Math.max(start[i], left);
				if (both > 0)
					want[column * 3 + state[i]] += both / step;
			}
		for (let i = 0; i < want.length; i++)
			assert(Math.abs(want[i] - out[i]) < 1e-6, `round ${round}, ${i}: ${want[i]}, not ${out[i]}`);
		for (let column = 0; column < width; column++)
			if (first[column] >= 0)
				assert(start[first[column]] < from + (column + 1) * step && end[first[column]] > from + column * step);
			else
				assert(want.subarray(column * 3, column * 3 + 3).every((share) => !share));
	}
});

test('a time range has the time of each state', () => {
	const below = chance(10);
	for (let round = 0; round < 200; round++) {
		const { lane, start, end, state } = makeLane(below, below(60)), from = below(1500), to = from + below(900);
		const out = new Float64Array(3), want = new Float64Array(3);
		lane.addTimes(from, to, out);
		for (let i = 0; i < start.length; i++)
			want[state[i]] += Math.max(0, Math.min(end[i], to) - Math.max(start[i], from));
		assert.deepStrictEqual(out, want, `round ${round}`);
	}
});

test('the slice at a time is found', () => {
	const { lane, start, end } = makeLane(chance(8), 300);
	for (let ts = 90; ts < end[299] + 10; ts++) {
		const i = lane.at(ts);
		assert.strictEqual(i, start.findIndex((from, k) => from <= ts && ts < end[k]));
	}
});

test('each point is counted in one column', () => {
	const below = chance(9);
	for (let round = 0; round < 40; round++) {
		const ts = Float64Array.from({ length: below(300) }, () => below(1000)).sort();
		const from = below(500) - 100, step = (1 + below(300)) / 10, width = 1 + below(80);
		const out = new Uint32Array(width);
		countPoints(ts, from, step, width, out);
		for (let column = 0; column < width; column++) {
			const left = from + column * step, right = from + (column + 1) * step;
			assert.strictEqual(out[column], ts.filter((t) => t >= left && t < right).length);
		}
	}
});
