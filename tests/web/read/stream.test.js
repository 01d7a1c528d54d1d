// SPDX-License-Identifier: BSD-2-Clause
/* dial9.read(): any kind of input, with and without gzip, under Node and in a browser's global scope. */
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const vm = require('node:vm');
const zlib = require('node:zlib');

const { read } = require('../../../user/web/read/decode.js');

const GOLDEN = path.join(__dirname, '..', '..', 'golden', 'dial9');
const SERVICE = path.join(GOLDEN, 'tokio-service.bin.gz');
const MIXED = fs.readFileSync(path.join(GOLDEN, 'mixed_1k.bin'));
const MIXED_FRAMES = 1007;

async function count(trace, kind) {
	let cnt = 0;
	for await (const frame of trace)
		cnt += !kind || frame.kind === kind;
	return cnt;
}

for (const web of [false, true]) {
	test(`reads a real service trace, inflated by ${web ? 'DecompressionStream' : 'zlib'}`, async () => {
		const trace = read(fs.createReadStream(SERVICE), { web });
		assert.strictEqual(await count(trace, 'event'), 210639);
		assert.deepStrictEqual(trace.outcome, { status: 'ok', offset: 4047237, reason: '' });
		assert.strictEqual(await count(read(fs.readFileSync(SERVICE), { web }), 'midheader'), 13);
	});

	test(`reports truncated gzip, ${web ? 'DecompressionStream' : 'zlib'}`, async () => {
		const gz = zlib.gzipSync(MIXED);
		let before = 0;
		for (let cut = 3; cut < gz.length; cut += 151) {
			const trace = read(gz.subarray(0, cut), { web });
			const cnt = await count(trace);
			assert.strictEqual(trace.outcome.status, 'truncated', `cut at ${cut}`);
			assert(cnt >= before, `cut at ${cut}: ${cnt} frames`);
			before = cnt;
		}
		assert(before > 800);
		/* All frames are there, but the end of the gzip data is missing. */
		const trace = read(gz.subarray(0, gz.length - 1), { web });
		assert.strictEqual(await count(trace), MIXED_FRAMES);
		assert.deepStrictEqual(trace.outcome, { status: 'truncated', offset: MIXED.length,
			reason: 'the gzip data ends too early' });
	});
}

test('reports damaged gzip data', async () => {
	const gz = zlib.gzipSync(MIXED, { level: 0 });
	gz[gz.length - 8] ^= 1; /* the checksum */
	const trace = read(gz);
	await count(trace);
	assert.strictEqual(trace.outcome.status, 'corrupt');
	assert.strictEqual(trace.outcome.reason, 'damaged gzip data');
});

test('reads gzip of several members', async () => {
	const gz = Buffer.concat([zlib.gzipSync(MIXED), zlib.gzipSync(MIXED)]);
	const trace = read(gz);
	assert.strictEqual(await count(trace), 2 * MIXED_FRAMES);
	assert.strictEqual(trace.outcome.status, 'ok');
});

test('reads bytes from any kind of source', async () => {
	async function* inPieces(bytes, size) {
		for (let at = 0; at < bytes.length; at += size)
			yield bytes.subarray(at, at + size);
	}
	const gz = zlib.gzipSync(MIXED);
	const exact = MIXED.buffer.slice(MIXED.byteOffset, MIXED.byteOffset + MIXED.length);
	const inputs = {
		bytes: MIXED, arrayBuffer: exact,
		views: [new DataView(exact, 0, 100), new DataView(exact, 100)],
		blob: new Blob([MIXED]), webStream: new Blob([gz]).stream(), list: [MIXED.subarray(0, 1),
			MIXED.subarray(1)], slowly: inPieces(MIXED, 1), slowGzip: inPieces(gz, 61),
		tail: inPieces(gz, gz.length - 1),
		response: typeof Response === 'function' ? new Response(gz) : gz,
	};
	for (const [kind, input] of Object.entries(inputs)) {
		const trace = read(input);
		assert.strictEqual(await count(trace), MIXED_FRAMES, kind);
		assert.strictEqual(trace.outcome.status, 'ok', kind);
	}
	await assert.rejects(count(read(42)), TypeError);
});

test('reports empty input and other files', async () => {
	const nothing = read(new Uint8Array(0));
	assert.strictEqual(await count(nothing), 0);
	assert.strictEqual(nothing.outcome.status, 'truncated');
	const page = read(Buffer.from('<!doctype html>'));
	assert.strictEqual(await count(page), 0);
	assert.deepStrictEqual(page.outcome, { status: 'corrupt', offset: 0,
		reason: 'not a dial9 stream' });
});

test('stops reading when the caller stops', async () => {
	let closed = false;
	const input = (async function* () {
		try {
			for (;;)
				yield MIXED;
		} finally {
			closed = true;
		}
	})();
	for await (const frame of read(input))
		if (frame.kind === 'event')
			break;
	assert(closed);
});

test('works as one script without a module system in a browser', async () => {
	const scope = vm.createContext({ TextDecoder, DecompressionStream, setTimeout });
	const file = path.join(__dirname, '..', '..', '..', 'user', 'web', 'read', 'decode.js');
	vm.runInContext(fs.readFileSync(file, 'utf8'), scope);
	assert.strictEqual(typeof vm.runInContext('dial9.read', scope), 'function');
	assert.deepStrictEqual(Object.keys(scope).sort(),
		['DecompressionStream', 'TextDecoder', 'dial9', 'setTimeout'], 'leaves one name');
	scope.input = [zlib.gzipSync(MIXED)];
	const trace = vm.runInContext('dial9.read(input)', scope);
	assert.strictEqual(await count(trace), MIXED_FRAMES);
	assert.strictEqual(trace.outcome.status, 'ok');
});
