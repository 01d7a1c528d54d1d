// SPDX-License-Identifier: BSD-2-Clause
/* Values on the page, by the annotations of the trace: as printed by `dial9-prof script`, and hostile annotations. */
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { TYPE } = require('../../../user/web/read/decode.js');
const { Notes } = require('../../../user/web/read/notes.js');
const { Trace } = require('../../../user/web/read/trace.js');
const { Values } = require('../../../user/web/read/values.js');
const { HEADER, event, le, schema, str } = require('../bytes.js');

const GOLDEN = path.join(__dirname, '..', '..', 'golden', 'dial9', 'ext', 'annotations.bin');

const notes = (id, ...entries) => [6, id, ...le(entries.length, 2),
	...entries.flatMap(([field, key, value]) => [...le(field, 2), ...str(key, 2),
		...(typeof value === 'string' ? str(value, 4) : [...le(value.length, 4), ...value])])];

function details(bytes) {
	const trace = new Trace(Uint8Array.from(bytes.flat(9)));
	while (trace.take(1000));
	trace.finish();
	assert.strictEqual(trace.outcome.status, 'ok', trace.outcome.reason);
	return Array.from({ length: trace.events.length }, (_, row) => trace.details(row));
}

test('the page uses annotations of another writer', () => {
	const [first, second] = details([...fs.readFileSync(GOLDEN)]);
	assert.deepStrictEqual(first, [['d', '5.000 µs'], ['e', '1']]);
	assert.deepStrictEqual(second, [['v', '300']]);
});

test('units, kinds and names have their text, and a header clears them', () => {
	const E = schema(1, 'E', [['x', TYPE.U16], ['y', TYPE.U16]], 1);
	const at = [0, 0, 0];
	assert.deepStrictEqual(details([HEADER, E, notes(1, [0, 'unit', 'ms'], [1, 'unit', 'bytes']),
		event(1, at, le(12, 2), le(34, 2)), HEADER, E, event(1, at, le(12, 2), le(34, 2))]),
	[[['x', '12.00 ms'], ['y', '34 bytes']], [['x', '12'], ['y', '34']]]);
	assert.deepStrictEqual(details([HEADER, E,
		notes(1, [0, 'kind', 'addr'], [1, 'enum', '33=x\n34=thirty-four'], [1, 'unit', 's']),
		event(1, at, le(255, 2), le(34, 2)), event(1, at, le(0, 2), le(35, 2))]),
	[[['x', '0xff'], ['y', 'thirty-four']], [['x', '0x0'], ['y', '0x23']]]);
});

test('misplaced annotations are ignored', () => {
	const E = schema(1, 'E', [['x', TYPE.U8]], 1);
	assert.deepStrictEqual(details([HEADER, notes(1, [0, 'unit', 's']), E,
		notes(1, [1, 'unit', 's'], [65535, 'kind', 'addr'], [0, '__proto__', 'x'], [0, 'kind', 'constructor'],
			[0, 'unit', [0xff, 0xfe]], [0, 'unit', 'x'.repeat(65)], [0, 'enum', 'no line\n\n=x']),
		notes(7, [0, 'unit', 's']), event(1, [0, 0, 0], [9])]), [[['x', '9']]]);
	const unit = (text) => new Values().text('E', 'x', 9, { unit: text });
	assert.strictEqual(unit('__proto__'), '9 __proto__');
	assert.strictEqual(unit('constructor'), '9 constructor');
});

/* The texts of tests/trace/read/tp_symbols_test.c. */
test('lines of an enum are parsed like in C', () => {
	const enumText = (text, value) => new Values().text('E', 'x', value, { enum: text });
	const state = '&0xff=\nzero=R\n|0x1=S\n|0x2=D\n|0x10=X\n&0x100=\nnonzero=+';
	assert.strictEqual(enumText('0=HI\n1=TIMER\n-1=none', 1), 'TIMER');
	assert.strictEqual(enumText('0=HI\n1=TIMER\n-1=none', -1n), 'none');
	assert.strictEqual(enumText('0=HI\n1=TIMER', 2), '0x2');
	assert.strictEqual(enumText('0x10=a=b', 16), 'a=b');
	assert.strictEqual(enumText('delim=, \n|1=a\n|2=b', 7), 'a, b, 0x4');
	assert.strictEqual(enumText('hex', 255), '0xff');
	assert.strictEqual(enumText('&0xfff\n>>20\ndec\n&0xfffff=:\ndec', 259 * 2 ** 20 + 7), '259:7');
	for (const [value, text] of [[0, 'R'], [0x100, 'R+'], [3, 'S|D'], [0x101, 'S+']])
		assert.strictEqual(enumText(state, value), text);
	assert.strictEqual(new Values().text('E', 'x', 0x102, { kind: 'state' }), 'D+');
	for (const none of ['', '=x', 'x=y', '1.5=x', '0x=x', '--1=x', '| 1=x', 'hex1=', '|=x', '&', '>>x'])
		assert.strictEqual(enumText(none, 1), '1', none);
});

test('TracepointSymbol has priority over the kind, and an enum over both', () => {
	const values = new Values();
	values.learn('E', 'x', 0, 5n, 'five');
	assert.strictEqual(values.text('E', 'x', 5, { kind: 'addr' }), 'five');
	assert.strictEqual(values.text('E', 'x', 5, { enum: '5=annotated' }), 'annotated');
	assert.strictEqual(new Notes().of(1, 0), undefined);
});
