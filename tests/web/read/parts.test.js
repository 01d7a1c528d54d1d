// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several recordings in one trace on the page: which threads belong to which recording, the position of each on
 * the axis; and an application's batches together with the recording of its threads.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const { TYPE } = require('../../../user/web/read/decode.js');
const { SLICE } = require('../../../user/web/model/lanes.js');
const { load } = require('../../../user/web/model/load.js');
const { makeGroups } = require('../../../user/web/model/rows.js');
const { placeParts } = require('../../../user/web/read/time_axis.js');
const { pieces } = require('../../../user/web/model/interval_text.js');
const { HEADER, event, le, schema, str } = require('../bytes.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');

function made(seed) {
	return execFileSync(path.join(BUILD, 'tests', 'web', 'sched_trace'), [String(seed), '1500'], { maxBuffer: 1 << 28 });
}

/* One trace of several, merged by the program. */
function merged(...traces) {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-parts-')), out = path.join(dir, 'out');
	try {
		const files = traces.map((bytes, i) => {
			fs.writeFileSync(path.join(dir, `${i}.bin`), bytes);
			return path.join(dir, `${i}.bin`);
		});
		execFileSync(path.join(BUILD, 'dial9-prof'), ['merge', '-q', ...files, '-o', out]);
		return fs.readFileSync(out);
	} finally {
		fs.rmSync(dir, { recursive: true });
	}
}

/* How long each thread was in each state, without the names of its kind. */
function totals(model, space = 0) {
	return model.tasks.filter((task) => task.space === space && task.rows.length)
		.map(({ tid, comm, total }) => [tid, comm, ...total]).sort((a, b) => a[0] - b[0]);
}

function part(clock, first, last, more = {}) {
	return { clock, first, last, sync: null, meta: new Map(), switches: 1, ...more };
}

test('one recording is one space without a name', () => {
	const parts = [part(0, 10, 20)];
	assert.deepStrictEqual(placeParts(parts), { spaces: [{ clock: 0, name: '' }], axis: 'one' });
	assert.deepStrictEqual([parts[0].space, parts[0].shift], [0, 0]);
});

test('consecutive recordings of one boot share threads', () => {
	const parts = [part(0, 10, 20), part(0, 20, 30), part(0, 15, 18), part(0, 5, 40, { switches: 0 })];
	assert.deepStrictEqual(placeParts(parts).spaces.map(({ name }) => name),
		['unknown host (recording 1)', 'unknown host (recording 2)']);
	assert.deepStrictEqual(parts.map(({ space }) => space), [0, 0, 1, 0]);
	assert(parts.every(({ shift }) => shift === 0));
});

test('boots are placed by their wall clocks, or after each other if these are far apart', () => {
	const host = (name) => ({ meta: new Map([['host', name]]) });
	const near = [part(0, 1000, 2000, { sync: 50, ...host('a') }), part(1, 100, 900, { sync: 1850, ...host('b') })];
	const { spaces, axis } = placeParts(near);
	assert.deepStrictEqual([axis, spaces.map(({ name }) => name)], ['wall', ['a', 'b']]);
	assert.deepStrictEqual(near.map(({ shift }) => shift), [0, 1800]);

	const far = [part(0, 1000, 2000, { sync: 1e9, ...host('a') }), part(1, 100, 1100, { sync: 0, ...host('a') })];
	const behind = placeParts(far);
	assert.deepStrictEqual([behind.axis, behind.spaces.map(({ name }) => name)], ['behind', ['a (boot 1)', 'a (boot 2)']]);
	assert.deepStrictEqual(far.map(({ first, shift }) => first + shift), [100 + 1000 + 60, 100]);

	const merged = (more) => ({ merged: true, base: 0, ...host('a'), ...more });
	const beside = [part(0, 1000, 2000, merged({ sync: 50 })), part(1, 1900, 2900, merged({ sync: 9 }))];
	assert.deepStrictEqual([placeParts(beside).axis, beside.map(({ shift }) => shift)], ['wall', [0, 0]]);
	const away = [part(0, 1000, 2000, merged({ sync: 50 })), part(1, 90000, 91000, merged({ sync: 50 }))];
	assert.deepStrictEqual([placeParts(away).axis, away.map(({ first, shift }) => first + shift)], ['behind', [1000, 2060]]);

	const dark = [part(0, 1000, 2000), part(1, 100, 1100, { sync: 5 })];
	assert.strictEqual(placeParts(dark).axis, 'behind');
	assert.deepStrictEqual(dark.map(({ first, shift }) => first + shift), [1000, 2060]);
});

/* The same as for each of the traces alone. */
async function compareSpaces(both, traces) {
	assert.strictEqual(both.trace.outcome.status, 'ok', both.trace.outcome.reason);
	assert.strictEqual(both.trace.spaces.length, traces.length);
	for (const [space, one] of traces.entries()) {
		const alone = await load(one);
		assert.deepStrictEqual(totals(both, space), totals(alone));
		assert.deepStrictEqual(both.cpus.filter((cpu) => cpu.space === space).map(({ cpu, tid }) => [cpu, tid]),
			alone.cpus.map(({ cpu, tid }) => [cpu, tid]));
	}
	for (const { rows } of both.tasks)
		for (let i = 1; i < rows.length; i++)
			assert(both.rows.start[rows[i]] >= both.rows.end[rows[i - 1]]);
	for (let i = 1; i < both.wakes.ts.length; i++)
		assert(both.wakes.ts[i] >= both.wakes.ts[i - 1]);
	const names = makeGroups(both).map(({ name }) => name);
	assert.strictEqual(new Set(names).size, names.length, names.join());
	assert.strictEqual(names.filter((name) => name.endsWith(': CPUs')).length, 2);
}

test('two threads are never merged: neither at one time of a boot nor of two boots', async () => {
	for (const [seeds, axis] of [[[1, 2], 'one'], [[1, 12], 'behind'], [[2, 11], 'behind']]) {
		const bytes = seeds.map(made), both = await load(Buffer.concat(bytes));
		assert.strictEqual(both.trace.axis, axis);
		await compareSpaces(both, bytes);
	}
});

test('a merged trace has the threads of each recording', async () => {
	for (const [seeds, axis] of [[[1, 2], 'one'], [[2, 11], 'behind'], [[3, 4], 'one']]) {
		const bytes = seeds.map(made), both = await load(merged(...bytes));
		assert.strictEqual(both.trace.axis, axis);
		await compareSpaces(both, bytes);
	}
});

/* Of an application: batches with their own headers, the later one first. */
function application() {
	const head = [HEADER, schema(1, 'ClockSyncEvent', [['realtime_ns', TYPE.VARINT]], 1),
		schema(2, 'PollStartEvent', [['worker_id', TYPE.U8], ['task_id', TYPE.U32], ['spawn_loc', TYPE.STRING]], 1),
		schema(3, 'PollEndEvent', [['worker_id', TYPE.U8]], 1),
		schema(4, 'WorkerParkEvent', [['worker_id', TYPE.U8], ['tid', TYPE.U32]], 1),
		schema(5, 'SpanEnter:app::work:src/a.rs:7', [['worker_id', TYPE.U8], ['span_id', TYPE.U32], ['span_name', TYPE.STRING]], 1),
		schema(6, 'SpanExit:app::work:src/a.rs:7', [['worker_id', TYPE.U8], ['span_id', TYPE.U32], ['span_name', TYPE.STRING]], 1)];
	const at = (type, delta, ...values) => [2, ...le(type, 2), ...le(delta, 3), ...values.flat(9)];
	const varint = (v) => {
		const out = [];
		for (; v > 127n; v >>= 7n)
			out.push(Number(v & 127n) | 128);
		return [...out, Number(v)];
	};
	const base = (ts) => [[5, ...le(ts, 8)], at(1, 0, varint(1700000000000000000n + BigInt(ts - 5000000000)))];
	const batch = (worker, tid, ts) => [head, base(ts), at(2, 100, worker, le(9, 4), str('src/main.rs:3:1', 4)),
		at(5, 1000, worker, le(77, 4), str('work', 4)), at(6, 2000, worker, le(77, 4), str('work', 4)),
		at(3, 2000000, worker), at(4, 300, worker, le(tid, 4)), at(2, 5000, worker, le(9, 4), str('src/main.rs:3:1', 4)),
		at(3, 400, worker)];
	return Uint8Array.from([batch(3, 105, 5020000000), batch(0, 103, 5010000000), batch(3, 105, 5005000000)].flat(9));
}

test('a merged application is on the lanes of its threads', async () => {
	const [joined, apart] = [await load(merged(made(2), application())), await load(Buffer.concat([made(2), application()]))];
	const lanes = ({ lanes: { workers }, trace }) => workers.map(({ tid, workers: numbers, polls }) =>
		[tid, numbers, polls.state, polls.start.map((ts) => ts + Number(trace.origin))]);
	assert.deepStrictEqual(lanes(joined), lanes(apart));
	assert.deepStrictEqual(totals(joined), totals(apart));
});

test('polls and spans are below the thread that parked as their worker', async () => {
	const model = await load(Buffer.concat([made(2), application()])), { trace, lanes } = model;
	assert.strictEqual(trace.outcome.status, 'ok', trace.outcome.reason);
	assert.deepStrictEqual([trace.axis, trace.spaces.length], ['one', 1]);
	const at = (ts) => ts - Number(trace.origin);
	assert.deepStrictEqual(lanes.workers.map(({ tid, workers }) => [tid, workers]), [[103, [0]], [105, [3]]]);
	const polls = lanes.workers[1].polls, names = { [SLICE.POLL]: 'poll', [SLICE.SLOW]: 'slow', [SLICE.PARK]: 'park' };
	assert.deepStrictEqual(Array.from(polls.start, (start, i) => [start, polls.end[i], names[polls.state[i]]]), [
		[at(5005000100), at(5007003100), 'slow'], [at(5007003400), at(5007008400), 'park'], [at(5007008400), at(5007008800), 'poll'],
		[at(5020000100), at(5022003100), 'slow'], [at(5022003400), at(5022008400), 'park'], [at(5022008400), at(5022008800), 'poll'],
	]);
	assert.deepStrictEqual(Array.from(lanes.workers[0].spans[0].start), [at(5010001100)]);
	const rows = makeGroups(model).flatMap((one) => one.rows);
	const below = rows.findIndex((row) => row.task && row.task.tid === 105);
	assert.deepStrictEqual(rows.slice(below + 1, below + 3).map(({ type, name, tid }) => [type, name, tid]),
		[['polls', 'polls of worker 3', 105], ['spans', 'spans of worker 3', 105]]);
	assert(!rows.some((row, i) => row.type === 'polls' && rows[i - 1].type !== 'thread'));
});

test('states of a thread during a poll have no gaps', async () => {
	const model = await load(Buffer.concat([made(2), application()]));
	for (const { tid, polls } of model.lanes.workers)
		for (let i = 0; i < polls.start.length; i++) {
			const span = { from: polls.start[i], to: polls.end[i] }, task = model.taskOfTid(tid, 0);
			const all = pieces(model, task, span, Infinity), some = pieces(model, task, span, 2);
			const sum = (list) => list.reduce((ns, piece) => ns + piece.to - piece.from, 0);
			assert.strictEqual(sum(all.pieces), span.to - span.from);
			assert.strictEqual(sum(some.pieces) + some.leftNs, span.to - span.from);
			assert.strictEqual(some.pieces.length + some.left, all.pieces.length);
		}
});
