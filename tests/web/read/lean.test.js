// SPDX-License-Identifier: BSD-2-Clause
/* The lean reader: the same trace as from the other reader, in cheaper values. */
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const zlib = require('node:zlib');

const { Decoder, TYPE } = require('../../../user/web/read/decode.js');
const { LeanDecoder, eventAt } = require('../../../user/web/read/lean.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');
const GOLDEN = path.join(__dirname, '..', '..', 'golden', 'dial9');
const SAFE = 1n << 53n;

function* frames(bytes, options, Reader = Decoder) {
	const decoder = new Reader(options);
	decoder.push(bytes);
	decoder.end();
	for (let frame = decoder.next(); frame; frame = decoder.next())
		yield { frame, scope: decoder.scope, origin: decoder.origin };
	yield { frame: decoder.outcome };
}

/* The lean value for a value of the full reader. */
function leanOf(type, v) {
	const halves = (frames) => frames && Array.from(frames,
		(frame) => [Number(frame & 0xffffffffn), Number(frame >> 32n)]).flat();
	if (v === null)
		return null;
	if (type === TYPE.POOLED_STRING)
		return v.text;
	if (type === TYPE.STACK || type === TYPE.POOLED_STACK)
		return halves(type === TYPE.STACK ? v : v.frames);
	return typeof v === 'bigint' && type !== TYPE.F64 && v < SAFE && v > -SAFE ? Number(v) : v;
}

function plain(v) {
	return v instanceof Uint32Array ? Array.from(v) : v;
}

/* Above 2^53 nanoseconds from the first event a number is not exact. */
function sameTime(a, b) {
	return Math.abs(a) <= Number.MAX_SAFE_INTEGER ? a === b : Math.abs(a - b) <= Math.abs(a) / 2 ** 50;
}

function compare(bytes) {
	const lean = frames(bytes, { f64Bits: true }, LeanDecoder);
	for (const { frame } of frames(bytes, { f64Bits: true })) {
		const { frame: other, origin, scope } = lean.next().value;
		if (frame.kind !== 'event') {
			assert.deepStrictEqual(other, frame);
			continue;
		}
		const { fields } = frame.schema;
		assert.deepStrictEqual(Array.from(other.values, plain),
			Array.from(frame.values, (v, i) => leanOf(fields[i].type & 0x7f, v)));
		if (frame.ts !== null)
			assert(sameTime(other.ts, Number(frame.ts - origin)));
		assert.deepStrictEqual(eventAt(bytes, frame.offset, scope).values, frame.values);
	}
}

test('the lean reader returns the same for every vector and stops at the same byte', () => {
	for (const dir of ['core', 'ext', 'hostile'])
		for (const name of fs.readdirSync(path.join(GOLDEN, dir)).filter((file) => file.endsWith('.bin')))
			if (fs.statSync(path.join(GOLDEN, dir, name)).size < 1 << 20)
				compare(fs.readFileSync(path.join(GOLDEN, dir, name)));
	compare(fs.readFileSync(path.join(GOLDEN, 'mixed_1k.bin')));
});

test('the lean reader returns the same for random output of the C encoder', () => {
	for (const seed of ['31', '32', '33', '34'])
		compare(execFileSync(path.join(BUILD, 'tests', 'web', 'random_trace'), [seed, '1500'],
			{ maxBuffer: 1 << 28 }));
});

test('the lean reader reads requested fields and skips the others', () => {
	const bytes = zlib.gunzipSync(fs.readFileSync(path.join(GOLDEN, 'tokio-service.bin.gz')));
	const want = (schema) => schema.fields.map((field) => field.name === 'worker_id');
	let events = 0;
	for (const { frame } of frames(bytes, { want }, LeanDecoder))
		if (frame.kind === 'event') {
			events++;
			frame.schema.fields.forEach((field, i) => assert(frame.values[i] === undefined ||
				frame.values[i] === null || field.name === 'worker_id' && frame.values[i] < 256));
		}
	assert.strictEqual(events, 210639);
});
