// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as text. Those of tracepoints as the kernel prints them, by the rows of TracepointSymbol: a tiny
 * program for each field, whose rules are in include/prof_events.h. As user/trace/tp_symbols.c.
 */
'use strict';

const dial9 = require('../js/decode.js');

const ROW = { SYMBOL: 0, FLAG: 1, MASK: 2, SHIFT: 3, DELIM: 4, ZERO: 5, NONZERO: 6, HEX: 7, DECIMAL: 8, ERRNO: 9,
	ARRAY: 10 };
const ROWS_MAX = 4096; /* of one field */
const ITEMS_MAX = 64; /* of a list, a map or bytes that are shown */

function asHex(x) {
	return `0x${x.toString(16)}`;
}

/* One piece of a field's text, while its rows are gone through. */
class Piece {
	constructor(x) {
		Object.assign(this, { x, start: x, delim: '|', flags: false, symbols: false, done: false });
		this.shown = [];
	}

	add(row) {
		if (this.done)
			return;
		if (row.kind === ROW.FLAG)
			this.#flag(row);
		else if (row.kind === ROW.DELIM)
			this.delim = row.name;
		else if (row.kind === ROW.DECIMAL)
			this.#finish(String(BigInt.asIntN(64, this.x)));
		else if (row.kind === ROW.ERRNO)
			this.#errno();
		else if (this.#hits(row))
			this.#finish(row.name);
	}

	#hits(row) {
		this.symbols ||= row.kind === ROW.SYMBOL;
		return row.kind === ROW.SYMBOL && this.x === row.value || row.kind === ROW.ZERO && !this.start ||
			row.kind === ROW.NONZERO && this.start;
	}

	#flag(row) {
		this.flags = true;
		if (!this.x || (this.x & row.value) !== row.value)
			return;
		this.shown.push(row.name);
		this.x &= ~row.value;
	}

	#errno() {
		const x = BigInt.asIntN(64, this.x);
		if (x < 0n && x >= -4095n)
			this.#finish(String(x));
	}

	#finish(text) {
		this.shown.push(text);
		this.done = true;
	}

	end() {
		if (!this.done && (this.flags ? this.x : this.symbols))
			this.shown.push(asHex(this.x));
		return this.shown.join(this.delim);
	}
}

function render(rows, x) {
	let piece = new Piece(x), out = '';
	if (rows[0].kind === ROW.HEX)
		return asHex(x);
	for (let i = 0; i < rows.length; i++) {
		if (rows[i].kind !== ROW.MASK) {
			piece.add(rows[i]);
			continue;
		}
		const mask = rows[i].value;
		out += i ? piece.end() + rows[i].name : '';
		const shift = i + 1 < rows.length && rows[i + 1].kind === ROW.SHIFT ? rows[++i].value : 0n;
		piece = new Piece((shift < 64n ? x >> shift : 0n) & mask);
	}
	return out + piece.end();
}

/* Any value of the reader's, without a kernel's word for it. */
function plain(v) {
	if (v === null || v === undefined)
		return '–';
	if (v instanceof dial9.Entries)
		return `[${first(v).map((item) => Array.isArray(item) ? item.map(plain).join(': ') : plain(item)).join(', ')}]`;
	if (v instanceof BigUint64Array)
		return `${v.length} frames`;
	if (v instanceof Uint8Array)
		return first(v).map((byte) => byte.toString(16).padStart(2, '0')).join('');
	if (v instanceof dial9.BadText || typeof v !== 'object')
		return String(v);
	for (const key of ['text', 'frames', 'value'])
		if (key in v)
			return plain(v[key]);
	return String(v);
}

function first(items) {
	const out = [];
	for (const item of items) {
		if (out.length === ITEMS_MAX)
			break;
		out.push(item);
	}
	return out;
}

class Values {
	#rows = new Map(); /* event and field -> rows */

	/* A row of TracepointSymbol. */
	learn(event, field, kind, value, name) {
		const key = `${event}\0${field}`, rows = this.#rows.get(key) || [];
		const row = { kind, value: BigInt.asUintN(64, BigInt(value || 0)), name };
		if (!rows.length)
			this.#rows.set(key, rows);
		if (rows.length < ROWS_MAX &&
		    !rows.some((r) => r.kind === kind && r.value === row.value && r.name === name))
			rows.push(row);
	}

	/* The text of a value of a field of an event. */
	tell(event, field, value) {
		const rows = this.#rows.get(`${event}\0${field}`);
		const number = typeof value === 'number' && Number.isInteger(value) || typeof value === 'bigint';
		if (!rows || !number || rows[0].kind === ROW.ARRAY)
			return plain(value);
		return render(rows, BigInt.asUintN(64, BigInt(value)));
	}
}

module.exports = { Values, plain };
