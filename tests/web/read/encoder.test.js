// SPDX-License-Identifier: BSD-2-Clause
/*
 * Output of the C encoder with random schemas and values is read like by the C decoder: line for line the
 * output of `dial9-prof dump --json`. D9_BUILD names the directory with both programs.
 */
'use strict';

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');

const { Decoder } = require('../../../user/web/read/decode.js');
const { Tally } = require('../lines.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');

function run(program, args, input) {
	const got = spawnSync(path.join(BUILD, program), args, { input, maxBuffer: 1 << 28 });
	assert.ifError(got.error);
	return got;
}

/* Chunks of 1 to 400 bytes, the same for the same seed. */
function readInPieces(bytes, seed) {
	const decoder = new Decoder({ f64Bits: true }), tally = new Tally(), lines = [];
	let state = seed;
	for (let at = 0; at < bytes.length;) {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		const size = (state >>> 16) % 400 + 1;
		decoder.push(bytes.subarray(at, at + size));
		for (let frame = decoder.next(); frame; frame = decoder.next())
			lines.push(tally.add(frame));
		at += size;
	}
	lines.push(tally.end(decoder));
	return { lines, events: tally.events, status: decoder.outcome.status };
}

function compare(bytes, seed) {
	const want = run('dial9-prof', ['dump', '--json', '-'], bytes).stdout.toString()
		.trimEnd().split('\n');
	const { lines, events, status } = readInPieces(bytes, seed);
	lines.forEach((line, i) => assert.strictEqual(line, want[i], `seed ${seed}: line ${i}`));
	assert.strictEqual(lines.length, want.length);
	return { events, status };
}

test('output of the C encoder is read like by the C decoder', () => {
	let events = 0;
	for (let seed = 1; seed <= 20; seed++) {
		const trace = run('tests/web/random_trace', [`${seed}`, '400']);
		assert.strictEqual(trace.status, 0);
		const got = compare(trace.stdout, seed);
		assert.strictEqual(got.status, 'ok');
		events += got.events;
	}
	assert(events > 4000, `${events} events`);
});

test('the same errors are found at the same bytes', () => {
	const seen = {};
	for (let seed = 1; seed <= 60; seed++) {
		const bytes = run('tests/web/random_trace', [`${seed}`, '30']).stdout;
		for (let i = 0; i < 3; i++)
			bytes[(Math.imul(seed, 7919 + i * 104729) >>> 0) % bytes.length] ^= 1 << seed % 8;
		const { status } = compare(bytes, seed);
		seen[status] = (seen[status] || 0) + 1;
	}
	assert(seen.corrupt > 5 && seen.newer > 0 && seen.truncated > 0, JSON.stringify(seen));
});
