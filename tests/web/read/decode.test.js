// SPDX-License-Identifier: BSD-2-Clause
/*
 * The JavaScript reader on the golden traces: the same lines, verdicts, offsets and truncations as the C
 * decoder (tests/libdial9/golden_test.c), in chunks of any size.
 */
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const { Decoder } = require('../../../user/web/read/decode.js');
const { Tally } = require('../lines.js');

const GOLDEN = path.join(__dirname, '..', '..', 'golden', 'dial9');
const load = (name) => fs.readFileSync(path.join(GOLDEN, name));

const MANIFEST = load('MANIFEST.tsv').toString().split('\n').slice(1).filter(Boolean)
	.map((line) => line.split('\t'));
const ACCEPTED = MANIFEST.map(([name]) => name).filter((name) => !name.startsWith('hostile/'));

/* All lines of the bytes, given `step` at a time, and the decoder. */
function decode(bytes, step = bytes.length || 1) {
	const decoder = new Decoder({ f64Bits: true });
	const tally = new Tally(), lines = [];
	const drain = () => {
		for (let frame = decoder.next(); frame; frame = decoder.next())
			lines.push(tally.add(frame));
	};
	for (let at = 0; at < bytes.length; at += step) {
		decoder.push(bytes.subarray(at, at + step));
		drain();
	}
	decoder.end();
	drain();
	lines.push(tally.end(decoder));
	return { lines, decoder, tally };
}

/* Of the last line, the members that the format fixes. The vectors have a byte order mark as it is, our lines escape it. */
function sameLines(name, got, step) {
	const file = `expected/${name.replace('/', '-').replace('.bin', '.ndjson')}`;
	const want = load(file).toString().trimEnd().split('\n');
	assert.strictEqual(got.length, want.length, `${name} by ${step}`);
	const gotEnd = JSON.parse(got.pop()), wantEnd = JSON.parse(want.pop());
	got.forEach((line, i) => assert.strictEqual(line, want[i].replaceAll('\ufeff', '\\ufeff'), `${name} by ${step}: line ${i}`));
	for (const key of ['status', 'frames', 'events', 'consumed'])
		assert.strictEqual(gotEnd[key], wantEnd[key], `${name} by ${step}: ${key}`);
}

test('decodes every accepted vector in chunks of any size', () => {
	assert.strictEqual(ACCEPTED.length, 12);
	for (const name of [...ACCEPTED, 'core/small.bin', 'ext/small.bin']) {
		const bytes = load(name);
		for (const step of [1, 2, 3, 7, 64, 1009, 65536, bytes.length])
			sameLines(name, decode(bytes, step).lines, step);
	}
});

test('decodes small vectors in chunks of every size', () => {
	for (const name of ['core/small.bin', 'ext/small.bin', 'ext/dynamic.bin']) {
		const bytes = load(name);
		for (let step = 1; step <= bytes.length; step++)
			sameLines(name, decode(bytes, step).lines, step);
	}
});

/* Our result, if the text leaves it open or predates level 0.4: as in golden_test.c. */
const OURS = {
	varint_nonminimal_10: ['ok', 3],
	varint_overflow_02: ['corrupt', 1],
	utf8_string_surrogate: ['ok', 3],
	utf8_map_val: ['ok', 3],
	utf8_schema_name: ['ok', 2],
	utf8_field_name: ['ok', 2],
	opt_prefix_ff: ['corrupt', 1],
	has_ts_02: ['corrupt', 1],
	mid_header_version_9: ['corrupt', 1],
	tag_04: ['ok', 2],
	unknown_tag_10: ['newer', 1],
	unknown_tag_80: ['newer', 1],
	unknown_tag_ff: ['newer', 1],
	unknown_field_type_0e: ['ok', 2],
	unknown_field_type_8e: ['ok', 2],
	/* These end early; a reader cannot know that the rest will not come. */
	empty: ['truncated', 0],
	ext_annot_count_ffff: ['truncated', 1],
	schema_fields_ffff: ['truncated', 1],
	string_len_beyond_1: ['truncated', 1],
};

/* The offset of the fault, found in the bytes by hand. */
const OFFSETS = {
	version_ff: [4, 'unknown version'],
	magic_text: [3, 'not a dial9 stream'],
	trailing_zero: [28, 'unknown frame tag'],
	opt_prefix_ff: [49, 'optional value with a flag other than 0 (absent) or 1 (present)'],
	has_ts_02: [34, 'schema with a timestamp flag other than 0 or 1'],
	unknown_tag_80: [28, 'frame tag 0x80: a newer writer (format later than 0.4)'],
};

test('results for hostile vectors equal the manifest', () => {
	let seen = 0;
	for (const [file, , verdict, events] of MANIFEST) {
		const name = path.basename(file, '.bin');
		if (!file.startsWith('hostile/') || name === 'many_resets')
			continue;
		assert(OURS[name] || verdict !== 'impl', `${name}: no verdict`);
		const want = OURS[name] || [verdict === 'accept' ? 'ok' : 'corrupt', Number(events)];
		for (const step of [1, 2, 1 << 20]) {
			const { decoder, tally } = decode(load(file), step);
			const { status, offset, reason } = decoder.outcome;
			assert.deepStrictEqual([status, tally.events], want, `${name} by ${step}`);
			if (OFFSETS[name])
				assert.deepStrictEqual([offset, reason], OFFSETS[name], name);
		}
		seen++;
	}
	assert.strictEqual(seen, 41);
});

test('stops at a frame of a newer format', () => {
	const { decoder } = decode(load('hostile/unknown_tag_ff.bin'));
	const before = decoder.outcome;
	decoder.push(load('core/small.bin'));
	assert.strictEqual(decoder.next(), null);
	assert.deepStrictEqual(decoder.outcome, before);
});

test('survives many resets in a row', () => {
	const head = Buffer.from([0x54, 0x52, 0x43, 0, 1, 1, 0, 0, 4, 0, 0x54, 0x69, 0x63, 0x6b, 1, 1,
		0, 1, 0, 0x6e, 9]);
	const reset = Buffer.from([5, 5, 0, 0, 0, 0, 0, 0, 0]);
	const event = Buffer.from([2, 0, 0, 3, 0, 0, 1]);
	const { lines, decoder } = decode(Buffer.concat([head, Buffer.alloc(9 * 300000, reset), event]),
		1 << 16);
	assert.strictEqual(decoder.outcome.status, 'ok');
	assert.match(lines[lines.length - 2], /"name":"Tick","ts":8,/);
});

/* The ends of all frames, from the decoder with all bytes. */
function boundaries(bytes) {
	const decoder = new Decoder(), ends = [];
	decoder.push(bytes);
	while (decoder.next())
		ends.push(decoder.consumed);
	return ends;
}

test('returns all whole frames of every truncation', () => {
	for (const name of ['core/small.bin', 'ext/small.bin']) {
		const bytes = load(name), ends = boundaries(bytes);
		assert.strictEqual(ends[ends.length - 1], bytes.length);
		for (let cut = 0; cut < bytes.length; cut++) {
			for (const step of [1, 13, cut || 1]) {
				const { lines, decoder } = decode(bytes.subarray(0, cut), step);
				const whole = ends.filter((end) => end <= cut);
				assert.strictEqual(lines.length - 1, whole.length, `${name} cut at ${cut}`);
				assert.deepStrictEqual([decoder.outcome.status, decoder.outcome.offset],
					[ends.includes(cut) ? 'ok' : 'truncated', whole.pop() || 0]);
			}
		}
	}
});

test('follows a growing file without an end', () => {
	const bytes = load('ext/small.bin'), ends = boundaries(bytes);
	const decoder = new Decoder();
	let frames = 0;
	for (let at = 0; at < bytes.length; at++) {
		decoder.push(bytes.subarray(at, at + 1));
		while (decoder.next())
			frames++;
		assert.strictEqual(frames, ends.filter((end) => end <= at + 1).length);
		assert.strictEqual(decoder.outcome.status, ends.includes(at + 1) ? 'ok' : 'truncated');
	}
});
