// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lanes as pixels: one line of pixels for each visible row, stretched to the row's height. A
 * column's colour mixes those of its states by share. The cost depends on the pixels, not on the
 * slices.
 */
'use strict';

const { COLORS } = require('../model/rows.js');
const { countPoints } = require('../model/pixel_columns.js');

const MARK_FULL = 3; /* number of events in a column for the full colour */
/* Minimum weight of a state in a column, so that short ones are visible. */
const LEAST = 0.12;
const STATES_MAX = 6;

class RowPainter {
	#strip = document.createElement('canvas');
	#image = null;
	#pixels = null;
	#shares = new Float64Array(0);
	#first = new Int32Array(0);
	#counts = new Uint32Array(0);

	/* The columns of rows from `from` on, each `step` long. Call it before draw(). */
	paint(rows, palette, from, step, width) {
		const height = Math.max(1, rows.length), context = this.#strip.getContext('2d');
		if (!this.#image || this.#strip.width !== width || this.#strip.height < height) {
			this.#strip.width = width;
			this.#strip.height = height + 16;
			this.#image = context.createImageData(width, height + 16);
			this.#pixels = new Uint32Array(this.#image.data.buffer);
			this.#shares = new Float64Array(width * STATES_MAX);
			this.#first = new Int32Array(width);
			this.#counts = new Uint32Array(width);
		}
		rows.forEach((row, i) => {
			const pixels = this.#pixels.subarray(i * width, (i + 1) * width);
			if (row.type === 'marks')
				this.#marks(row, palette, from, step, pixels);
			else
				this.#states(row, palette, from, step, pixels);
		});
		context.putImageData(this.#image, 0, 0, 0, 0, width, height);
	}

	/* Draws the row of that index, stretched to the given size. */
	draw(context, i, x, y, width, height) {
		context.drawImage(this.#strip, 0, i, width, 1, x, y, width, height);
	}

	#marks({ marks }, { rgb }, from, step, pixels) {
		countPoints(marks.ts, from, step, pixels.length, this.#counts);
		for (let column = 0; column < pixels.length; column++) {
			const n = this.#counts[column];
			pixels[column] = mix(rgb.lane, rgb.mark, n ? 0.45 + 0.55 * Math.min(1, n / MARK_FULL) : 0);
		}
	}

	#states(row, palette, from, step, pixels) {
		const lane = row.lane(), { states } = lane, shares = this.#shares, first = this.#first;
		const colors = COLORS[row.type].map((name) => name && palette.rgb[name]), back = palette.rgb.lane;
		lane.columns(from, step, pixels.length, shares, first);
		const color = new Float64Array(3), empty = pack(back);
		for (let column = 0; column < pixels.length; column++) {
			if (first[column] < 0) {
				pixels[column] = empty;
				continue;
			}
			color[0] = color[1] = color[2] = 0;
			let sum = 0;
			for (let state = 0; state < states; state++) {
				let share = shares[column * states + state];
				if (!(share > 0) || !colors[state])
					continue;
				share = Math.max(share, LEAST);
				const own = row.cpu && state === 1 ? palette.thread(row.cpu.tid[first[column]]) : colors[state];
				for (let k = 0; k < 3; k++)
					color[k] += share * own[k];
				sum += share;
			}
			const rest = Math.max(0, 1 - sum), all = Math.max(1, sum);
			for (let k = 0; k < 3; k++)
				color[k] = (color[k] + rest * back[k]) / all;
			pixels[column] = pack(color);
		}
	}
}

function pack(rgb) {
	return (0xff000000 | rgb[2] << 16 | rgb[1] << 8 | rgb[0]) >>> 0;
}

function mix(a, b, share) {
	return pack([0, 1, 2].map((k) => a[k] + (b[k] - a[k]) * share));
}

module.exports = { RowPainter };
