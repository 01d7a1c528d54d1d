// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as text. Those of tracepoints as the kernel prints them, from the rows of
 * TracepointSymbol: a small program for each field, with rules in include/prof_events.h. As
 * user/trace/read/tp_symbols.c.
 */
'use strict';

const dial9 = require('./decode.js');
const { errnoName } = require('./errno.js');
const { duration } = require('./format.js');

const ROW = { SYMBOL: 0, FLAG: 1, MASK: 2, SHIFT: 3, DELIM: 4, ZERO: 5, NONZERO: 6, HEX: 7, DECIMAL: 8, ERRNO: 9,
	ARRAY: 10 };
const ROWS_MAX = 4096; /* of one field */
/* Prefixes of the lines of an annotated enum; a number without prefix is a symbol. */
const LINES = [['|', ROW.FLAG, true], ['&', ROW.MASK, true], ['>>', ROW.SHIFT, true], ['array', ROW.ARRAY, true],
	['delim', ROW.DELIM], ['zero', ROW.ZERO], ['nonzero', ROW.NONZERO], ['hex', ROW.HEX], ['dec', ROW.DECIMAL],
	['errno', ROW.ERRNO]];
/* Default names for the values of some kinds. */
const OF_KIND = {
	addr: 'hex',
	state: '&0xff\nzero=R\n|0x1=S\n|0x2=D\n|0x4=T\n|0x8=t\n|0x10=X\n|0x20=Z\n|0x40=P\n|0x80=I\n&0x100\nnonzero=+',
};
const NS = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9 };
const ITEMS_MAX = 64; /* of a list, a map or bytes: elements shown */

function asHex(x) {
	return `0x${x.toString(16)}`;
}

/* The current piece of a field's text, while walking its rows. */
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
			this.#finish([x, errnoName(Number(-x))].filter(Boolean).join(' '));
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

/* "[0x1,0x2]": bytes as numbers of `unit` bytes each; "" if the size does not fit. As `script`. */
function array(bytes, unit) {
	const numbers = [];
	if (![2, 4, 8].includes(unit) || bytes.length % unit)
		return '';
	for (let at = 0; at < Math.min(bytes.length, ITEMS_MAX * unit); at += unit) {
		let x = 0n;
		for (let i = unit; i-- > 0;)
			x = x << 8n | BigInt(bytes[at + i]);
		numbers.push(asHex(x));
	}
	return `[${numbers.join(',')}${bytes.length > ITEMS_MAX * unit ? ',…' : ''}]`;
}

/* Any value of the reader, without names. */
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

function number(text) {
	return /^-?(0x[0-9a-f]{1,16}|[0-9]{1,20})$/i.test(text) ?
		BigInt.asUintN(64, text[0] === '-' ? -BigInt(text.slice(1)) : BigInt(text)) : null;
}

/*
 * A line of an enum as a row; null if malformed. As tp_symbols_parse() of
 * user/trace/read/tp_symbols.c.
 */
function lineRow(line) {
	const at = line.indexOf('='), key = at < 0 ? line : line.slice(0, at), name = at < 0 ? '' : line.slice(at + 1);
	const [word, kind, counted] = LINES.find(([head, , numbered]) =>
		numbered ? key.startsWith(head) : key === head) || ['', ROW.SYMBOL, true];
	const value = counted ? number(key.slice(word.length)) : 0n;
	return value === null ? null : { kind, value, name };
}

/* By unit; times as durations. */
function withUnit(value, unit) {
	return Object.hasOwn(NS, unit) ? duration(Number(value) * NS[unit]) : `${plain(value)} ${unit}`;
}

class Values {
	#rows = new Map(); /* event and field -> rows */
	#enums = new Map(); /* text -> rows */

	/* Adds a row of TracepointSymbol. */
	learn(event, field, kind, value, name) {
		const key = `${event}\0${field}`, rows = this.#rows.get(key) || [];
		const row = { kind, value: BigInt.asUintN(64, BigInt(value || 0)), name };
		if (!rows.length)
			this.#rows.set(key, rows);
		if (rows.length < ROWS_MAX &&
		    !rows.some((r) => r.kind === kind && r.value === row.value && r.name === name))
			rows.push(row);
	}

	#enumRows(text) {
		if (!text)
			return undefined;
		if (!this.#enums.has(text)) {
			const rows = text.split('\n', ROWS_MAX).map(lineRow).filter((row) => row);
			this.#enums.set(text, rows.length ? rows : undefined);
		}
		return this.#enums.get(text);
	}

	/* The text of a field's value. @note: the trace's annotations, as in Notes. */
	text(event, field, value, note = {}) {
		const isNumber = typeof value === 'number' && Number.isInteger(value) || typeof value === 'bigint';
		const rows = this.#enumRows(note.enum) || this.#rows.get(`${event}\0${field}`) ||
			this.#enumRows(Object.hasOwn(OF_KIND, note.kind || '') ? OF_KIND[note.kind] : '');
		if (isNumber && rows && rows[0].kind !== ROW.ARRAY)
			return render(rows, BigInt.asUintN(64, BigInt(value)));
		if (rows && rows[0].kind === ROW.ARRAY && value instanceof Uint8Array)
			return array(value, Number(rows[0].value)) || plain(value);
		return note.unit && (isNumber || typeof value === 'number') ? withUnit(value, note.unit) : plain(value);
	}
}

module.exports = { Values, plain };
