// SPDX-License-Identifier: BSD-2-Clause
/* Rows of numbers in growing typed arrays, and searches in sorted ones. Knows nothing of traces. */
'use strict';

const FIRST = 1024;

/* NONE: an unknown 32-bit number. */
const NONE = 0xffffffff;

/*
 * A table: new Table({ ts: Float64Array, cpu: Uint32Array }) has the columns .ts and .cpu; add()
 * appends a row of zeros and returns its index. add() may replace the arrays: do not keep
 * references to columns.
 */
class Table {
	#types;
	#capacity;

	/* Initial capacity: `expected` rows. */
	constructor(types, expected = FIRST) {
		this.#types = Object.entries(types);
		this.#capacity = Math.max(FIRST, expected);
		this.length = 0;
		for (const [name, Type] of this.#types)
			this[name] = new Type(this.#capacity);
	}

	add() {
		if (this.length === this.#capacity)
			this.#grow();
		return this.length++;
	}

	#grow() {
		this.#capacity *= 2;
		for (const [name, Type] of this.#types) {
			const old = this[name];
			this[name] = new Type(this.#capacity);
			this[name].set(old);
		}
	}
}

/* The first index in [from, to) whose value is at least v; `to` if there is none. */
function lowerBound(sorted, v, from, to) {
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (sorted[mid] < v)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* The first index in [from, to) whose value is above v. */
function upperBound(sorted, v, from, to) {
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (sorted[mid] <= v)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* As upperBound(), in steps that double from `from` on: fast if the result is near. */
function gallop(sorted, v, from, to) {
	let step = 1;
	while (from + step < to && sorted[from + step] <= v)
		step *= 2;
	return upperBound(sorted, v, from, Math.min(from + step, to));
}

/*
 * The order of rows by a column of small numbers, equal ones in their order, and the start of each
 * number's group.
 */
function groupBy(column, length, groups) {
	const begin = new Uint32Array(groups + 1), order = new Uint32Array(length);
	for (let i = 0; i < length; i++)
		begin[column[i] + 1]++;
	for (let g = 0; g < groups; g++)
		begin[g + 1] += begin[g];
	const next = begin.slice();
	for (let i = 0; i < length; i++)
		order[next[column[i]]++] = i;
	return { order, begin };
}

/* column[rows[i]] for each i. Much faster than from() with a function. */
function pick(Type, column, rows) {
	const out = new Type(rows.length);
	for (let i = 0; i < rows.length; i++)
		out[i] = column[rows[i]];
	return out;
}

module.exports = { NONE, Table, lowerBound, upperBound, gallop, groupBy, pick };
