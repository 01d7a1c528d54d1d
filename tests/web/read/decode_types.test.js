// SPDX-License-Identifier: BSD-2-Clause
/* The JavaScript values of each type, and the limits. */
'use strict';

const assert = require('node:assert');
const { test } = require('node:test');

const { Decoder, TYPE, BadText, Entries } = require('../../../user/web/read/decode.js');
const { HEADER, event, le, schema, str, strings } = require('../bytes.js');

function open(bytes, options) {
	const decoder = new Decoder(options);
	decoder.push(Uint8Array.from(bytes.flat(9)));
	return decoder;
}

function all(decoder) {
	const frames = [];
	for (let frame = decoder.next(); frame; frame = decoder.next())
		frames.push(frame);
	return frames;
}

/* The values of the only event, whose schema has one field for each [type, bytes]. */
function values(fields, options, before = []) {
	const decoder = open([HEADER, schema(7, 'E', fields.map(([type], i) => [`f${i}`, type])), before,
		event(7, fields.map(([, bytes]) => bytes))], options);
	const frames = all(decoder);
	assert.strictEqual(decoder.outcome.status, 'ok', decoder.outcome.reason);
	return frames[frames.length - 1].values;
}

test('numbers of any value have the type of their field', () => {
	const got = values([
		[TYPE.U8, [255]], [TYPE.U16, le(65535, 2)], [TYPE.U32, le(0xffffffff, 4)],
		[TYPE.I64, le(2n ** 63n, 8)], [TYPE.VARINT, [5]], [TYPE.I64, le(5, 8)],
		[TYPE.VARINT, [...Array(9).fill(0xff), 1]],
		[TYPE.VARINT, [...Array(7).fill(0xff), 0x7f]],
		[TYPE.VARINT, [...Array(9).fill(0x80), 0]],
		[TYPE.F64, [0, 0, 0, 0, 0, 0, 0xf8, 0x3f]], [TYPE.BOOL, [2]], [TYPE.BOOL, [0]],
	]);
	assert.deepStrictEqual(got, [255, 65535, 0xffffffff, -(2n ** 63n), 5n, 5n, 2n ** 64n - 1n,
		2n ** 56n - 1n, 0n, 1.5, true, false]);
});

test('a NaN keeps its bits on request', () => {
	const bits = 0x7ff4000000000123n;
	assert.deepStrictEqual(values([[TYPE.F64, le(bits, 8)]], { f64Bits: true }), [bits]);
	assert(Number.isNaN(values([[TYPE.F64, le(bits, 8)]])[0]));
});

test('stacks of any alignment are exact', () => {
	const frames = [2n ** 64n - 1n, 2n ** 53n + 1n];
	const wire = [...le(2, 4), ...frames.flatMap((f) => le(f, 8))];
	const got = values([[TYPE.U8, [1]], [TYPE.STACK, wire], [TYPE.STACK, le(0, 4)]]);
	assert.deepStrictEqual(got[1], BigUint64Array.from(frames));
	assert.strictEqual(got[2].length, 0);
});

test('invalid UTF-8 keeps its bytes', () => {
	const cases = [[0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xff]];
	for (const bytes of cases) {
		const [got] = values([[TYPE.STRING, [...le(bytes.length, 4), ...bytes]]]);
		assert(got instanceof BadText);
		assert.deepStrictEqual([...got.bytes], bytes);
		assert.match(String(got), /\ufffd/);
	}
	for (const text of ['', 'a\0b', '\ufeffbom', 'é'.repeat(40), '\u{10ffff}', 'x'.repeat(300)])
		assert.deepStrictEqual(values([[TYPE.STRING, str(text, 4)]]), [text]);
});

test('maps keep order and duplicates', () => {
	const pairs = [['2', 'b'], ['1', 'a'], ['2', 'c'], ['__proto__', 'p']];
	const [map] = values([[TYPE.STRING_MAP, [...le(4, 4), ...pairs.flat().flatMap((s) => str(s, 4))]]]);
	assert(map instanceof Entries);
	assert.strictEqual(map.length, 4);
	assert.deepStrictEqual([...map], pairs);
	assert.deepStrictEqual([...map], pairs, 'a second time');
});

test('lists and maps nest, each element with its type', () => {
	const inner = [TYPE.LIST, ...le(1, 4), TYPE.U16, 1, 2];
	const wire = [...le(2, 4), TYPE.STRING, ...str('k', 4), ...inner, TYPE.U8, 9, TYPE.VARINT, 0x80, 1];
	const [map] = values([[TYPE.MAP, wire]]);
	const [[key, list], [low, high]] = [...map];
	assert.deepStrictEqual(key, { type: TYPE.STRING, value: 'k' });
	assert.strictEqual(list.type, TYPE.LIST);
	assert.deepStrictEqual([...list.value], [{ type: TYPE.U16, value: 0x201 }]);
	assert.deepStrictEqual([low, high], [{ type: TYPE.U8, value: 9 }, { type: TYPE.VARINT, value: 128n }]);
});

test('pool ids keep the meaning at the time of the event', () => {
	const decoder = open([HEADER,
		schema(1, 'E', [['s', TYPE.POOLED_STRING], ['l', TYPE.LIST], ['o', TYPE.POOLED_STRING | 0x80]]),
		strings([3, 'old']),
		event(1, le(3, 4), le(2, 4), TYPE.POOLED_STRING, le(3, 4), TYPE.POOLED_STRING, le(4, 4), 0),
		strings([3, 'new'], [4, 'late']),
		event(1, le(3, 4), le(0, 4), 1, le(4, 4))]);
	const [first, second] = all(decoder).filter((frame) => frame.kind === 'event');
	assert.deepStrictEqual(first.get('s'), { id: 3, text: 'old' });
	assert.deepStrictEqual([...first.get('l')].map((e) => e.value),
		[{ id: 3, text: 'old' }, { id: 4, text: null }]);
	assert.strictEqual(first.get('o'), null);
	assert.deepStrictEqual(second.get('s'), { id: 3, text: 'new' });
	assert.deepStrictEqual(second.get('o'), { id: 4, text: 'late' });
});

test('frames are unchanged while more are read', () => {
	const fields = [['b', TYPE.BYTES], ['k', TYPE.STACK], ['m', TYPE.STRING_MAP]];
	const make = (n) => event(1, le(1, 4), n, le(1, 4), le(n, 8), le(1, 4), str(`${n}`, 4), str('v', 4));
	const decoder = open([HEADER, schema(1, 'E', fields), make(1)]);
	const first = all(decoder)[2];
	for (let n = 2; n < 200; n++) {
		decoder.push(Uint8Array.from(make(n)));
		assert.deepStrictEqual([...decoder.next().get('b')], [n]);
	}
	assert.deepStrictEqual([...first.get('b')], [1]);
	assert.deepStrictEqual([...first.get('k')], [1n]);
	assert.deepStrictEqual([...first.get('m')], [['1', 'v']]);
});

test('fields are found by name: the first of two, or none', () => {
	const decoder = open([HEADER, schema(1, 'E', [['a', TYPE.U8], ['b', TYPE.U8], ['a', TYPE.U8]]),
		event(1, 1, 2, 3)]);
	const found = all(decoder)[2];
	assert.deepStrictEqual([found.get('a'), found.get('b'), found.get('c')], [1, 2, undefined]);
	assert.deepStrictEqual([found.schema.find('b'), found.schema.find('toString')], [1, -1]);
});

test('timestamps continue from base to base up to 64 bits', () => {
	const reset = (ts) => [5, ...le(ts, 8)];
	const at = (delta) => [2, 1, 0, ...le(delta, 3)];
	const head = [HEADER, schema(1, 'T', [], 1)];
	const stamps = (decoder) => all(decoder).filter((f) => f.kind === 'event').map((f) => f.ts);

	assert.deepStrictEqual(stamps(open([head, at(5), at(0xffffff), reset(3), at(0), HEADER,
		schema(1, 'T', [], 1), at(9)])), [5n, 5n + 0xffffffn, 3n, 9n]);
	const last = open([head, reset(2n ** 64n - 2n), at(1), at(1)]);
	assert.deepStrictEqual(stamps(last), [2n ** 64n - 1n]);
	assert.deepStrictEqual(last.outcome, { status: 'corrupt',
		offset: 5 + 9 + 9 + 6 + 3, reason: 'timestamp beyond 64 bits' });
});

test('a header in mid-stream clears schemas and pools', () => {
	const gone = open([HEADER, schema(1, 'E', []), strings([0, 'a']), HEADER, event(1)]);
	assert.deepStrictEqual(all(gone).map((f) => f.kind), ['header', 'schema', 'strings', 'midheader']);
	assert.strictEqual(gone.outcome.reason, 'event of a type without schema');
	const pool = open([HEADER, strings([0, 'a']), HEADER, schema(1, 'F', [['s', TYPE.POOLED_STRING]]),
		event(1, le(0, 4))]);
	assert.deepStrictEqual(all(pool).pop().get('s'), { id: 0, text: null });
});

/* A list of lists, `depth` in all. */
const nested = (depth) => [...Array(depth - 1).fill([...le(1, 4), TYPE.LIST]), le(0, 4)];

test('lists nest 64 deep, or up to the limit', () => {
	const status = (depth, limits) => {
		const decoder = open([HEADER, schema(1, 'E', [['l', TYPE.LIST]]), event(1, nested(depth))],
			{ limits });
		all(decoder);
		return decoder.outcome;
	};
	assert.strictEqual(status(64).status, 'ok');
	assert.deepStrictEqual(status(65), { status: 'corrupt', offset: 5 + 13 + 3 + 64 * 5,
		reason: 'lists nested too deep' });
	assert.strictEqual(status(3, { depth: 3 }).status, 'ok');
	assert.strictEqual(status(4, { depth: 3 }).status, 'corrupt');
	assert.strictEqual(status(65, { depth: 1000 }).status, 'corrupt');
	let [list] = values([[TYPE.LIST, nested(64)]]), depth = 1;
	for (; list.length; depth++)
		list = [...list][0].value;
	assert.strictEqual(depth, 64);
});

test('memory of the reader is limited', () => {
	const outcome = (limits, ...parts) => {
		const decoder = open([HEADER, ...parts], { limits });
		all(decoder);
		return decoder.outcome;
	};
	const text = event(1, str('x'.repeat(50), 4)), head = schema(1, 'E', [['s', TYPE.STRING]]);
	assert.strictEqual(outcome({ frameBytes: 57 }, head, text).status, 'ok');
	const cut = text.slice(0, 20);
	assert.deepStrictEqual(outcome({ frameBytes: 56 }, head, cut),
		{ status: 'corrupt', offset: 18, reason: 'frame over the limit' });
	assert.strictEqual(outcome({ frameBytes: 57 }, head, cut).status, 'truncated');

	const pool = Array.from({ length: 100 }, (_, i) => strings([i, 'y'.repeat(100)]));
	assert.strictEqual(outcome({ poolBytes: 100000 }, pool).status, 'ok');
	assert.strictEqual(outcome({ poolBytes: 10000 }, pool).reason, 'pools over the limit');
	const again = Array.from({ length: 100 }, () => strings([1, 'y'.repeat(100)]));
	assert.strictEqual(outcome({ poolBytes: 5000 }, again).reason, 'pools over the limit');
	assert.strictEqual(outcome({ poolBytes: 10000 }, pool.slice(0, 40), HEADER, pool.slice(0, 40)).status,
		'ok', 'a new trace starts from nothing');

	const many = Array.from({ length: 100 }, (_, i) => schema(i, 'E', [['a', 1], ['b', 1]]));
	assert.strictEqual(outcome({ schemaBytes: 100000 }, many).status, 'ok');
	assert.strictEqual(outcome({ schemaBytes: 10000 }, many).reason, 'schemas over the limit');
	const same = Array.from({ length: 100 }, () => schema(1, 'E', [['a', 1], ['b', 1]]));
	assert.strictEqual(outcome({ schemaBytes: 1000 }, same).status, 'ok');
});
