// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page's numbers against those of the program: intervals, sums by thread and by stack, functions, of traces
 * of random scheduling with losses and holes (sched_trace.c).
 */
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const { NONE, upperBound } = require('../../../user/web/read/columns.js');
const { Flame } = require('../../../user/web/model/flame.js');
const { STATE, END, WHY, FLAG, CUT, NOBODY } = require('../../../user/web/read/states.js');
const { load } = require('../../../user/web/model/load.js');
const { makeGroups } = require('../../../user/web/model/rows.js');
const { canBeItsThread, ranInstead, stateText } = require('../../../user/web/model/interval_text.js');
const { UNKNOWN } = require('../../../user/web/read/symbols.js');
const { byFunction, sumStates, sumTask, weigh } = require('../../../user/web/model/weights.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const MAKE = path.join(BUILD, 'tests', 'web', 'sched_trace');
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 14, 17, 18, 20, 31, 38, 45];
const OFF_CPU_SEEDS = [100, 103, 105, 109]; /* off-CPU intervals instead of switches */
const STEPS = '2500';
const ALL = { from: -Infinity, to: Infinity, tasks: null };

let dir;
const traces = [], offCpu = []; /* { file, model } */

function run(file, ...args) {
	return JSON.parse(execFileSync(PROGRAM, [...args, file], { encoding: 'utf8', maxBuffer: 1 << 28 }));
}

/* In the format of --time. */
function clockTime(model, ts) {
	const ns = model.trace.origin + BigInt(ts), whole = ns / 1000000000n;
	return `${whole}.${String(ns % 1000000000n).padStart(9, '0')}`;
}

before(async () => {
	dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-page-'));
	for (const seed of [...SEEDS, ...OFF_CPU_SEEDS]) {
		const bytes = execFileSync(MAKE, [String(seed), STEPS], { maxBuffer: 1 << 28 });
		const file = path.join(dir, `${seed}.bin`);
		fs.writeFileSync(file, bytes);
		(OFF_CPU_SEEDS.includes(seed) ? offCpu : traces).push({ file, bytes, model: await load(bytes) });
	}
});

after(() => fs.rmSync(dir, { recursive: true }));

/* Features that no trace has are not tested. */
test('the traces have intervals of each state with each flag', () => {
	const states = new Set(), flags = new Set();
	for (const { model: { rows } } of [...traces, ...offCpu])
		for (let i = 0; i < rows.length; i++) {
			states.add(rows.state[i]);
			for (const flag of Object.values(FLAG))
				if (rows.flags[i] & flag)
					flags.add(flag);
		}
	assert.deepStrictEqual([...states].sort(), Object.values(STATE).sort());
	assert.deepStrictEqual([...flags].sort(), Object.values(FLAG).sort());
	assert(traces.every(({ model }) => model.tasks.length > 12));
});

test('sums of all threads in each state equal the sums of report --wall', () => {
	for (const { file, model } of traces) {
		const sums = sumStates(model, ALL), expected = run(file, 'report', '--wall', '--json');
		assert.deepStrictEqual(sums, [expected.unknown_ns, expected.running_ns, expected.runnable_ns, expected.blocked_ns]);
	}
});

test('intervals of a thread have no gaps', () => {
	for (const { model } of [...traces, ...offCpu])
		for (const { rows } of model.tasks)
			for (let i = 1; i < rows.length; i++)
				assert(model.rows.start[rows[i]] >= model.rows.end[rows[i - 1]]);
});

/* By thread, like `sched latency`: see user/profile/sums/delays.c. */
function latencies(model) {
	const { rows } = model, all = new Map();
	for (const task of model.tasks) {
		const sum = { run_ns: 0, switches: 0, runnable_ns: 0, max_ns: 0, cut: 0 };
		let seen = false;
		for (const row of task.rows) {
			const ns = rows.end[row] - rows.start[row], flags = rows.flags[row];
			if (rows.state[row] !== STATE.RUNNING && rows.state[row] !== STATE.RUNNABLE)
				continue;
			seen = true;
			if (rows.state[row] === STATE.RUNNING) {
				sum.run_ns += ns;
				sum.switches += flags & FLAG.EDGE_START ? 0 : 1;
			} else if (ns || !(flags & CUT)) {
				sum.runnable_ns += ns;
				sum.max_ns = Math.max(sum.max_ns, ns);
				sum.cut += flags & CUT ? 1 : 0;
			}
		}
		if (seen)
			all.set(task.tid, sum);
	}
	return all;
}

test('runtime, latency and switches of each thread equal the output of sched latency', () => {
	for (const { file, model } of [...traces, ...offCpu]) {
		const expected = run(file, 'sched', 'latency', '--limit', '0', '--json').rows, mine = latencies(model);
		assert.deepStrictEqual(expected.map((row) => row.tid).sort(), [...mine.keys()].sort());
		for (const { tid, run_ns, switches, runnable_ns, max_ns, cut } of expected)
			assert.deepStrictEqual({ run_ns: run_ns ?? 0, switches: switches ?? 0, runnable_ns, max_ns, cut }, mine.get(tid), `${file} ${tid}`);
	}
});

/* Neither running nor runnable: not recorded. */
test('time between off-CPU intervals is unknown, and threads have no gaps', () => {
	for (const { file, model: { rows, tasks, trace, wakes } } of offCpu) {
		let between = 0, known = 0;
		for (const { rows: mine, tid } of tasks)
			mine.forEach((row, i) => {
				const unknown = rows.state[row] === STATE.UNKNOWN;
				assert.notStrictEqual(rows.state[row], STATE.RUNNING);
				assert.strictEqual((rows.flags[row] & FLAG.BETWEEN) !== 0, unknown);
				assert.strictEqual(stateText(rows, row).startsWith('unknown: only some off-CPU'), unknown);
				assert(!i || rows.endBy[mine[i - 1]] === END.EXIT || rows.start[row] === rows.end[mine[i - 1]], `${file} ${tid}`);
				assert(!unknown || rows.end[row] > rows.start[row]);
				between += unknown ? 1 : 0;
				known += unknown ? 0 : 1;
			});
		assert(tasks.every(({ rows: mine }) => !mine.length || rows.endBy[mine.at(-1)] === END.EXIT ||
			rows.end[mine.at(-1)] === trace.last), file);
		assert(between > 100 && known > 500, `${between} ${known}`);
		assert(wakes.ts.every((ts, i) => !i || ts >= wakes.ts[i - 1]));
	}
});

test('processes with off-CPU intervals are unfolded', () => {
	for (const { model } of offCpu) {
		const groups = makeGroups(model).filter(({ rows }) => rows.some(({ type }) => type === 'thread'));
		assert(groups.length > 3 && groups.every(({ open }) => open));
	}
});

/* The program cuts off-CPU intervals by --time, too. */
test('off-CPU intervals in a time range equal the output of offcpu --time', () => {
	for (const { file, model } of offCpu) {
		const span = model.last - model.first, from = Math.round(model.first + span * 0.3), to = Math.round(model.first + span * 0.6);
		const expected = run(file, 'offcpu', '--json', '--time', `${clockTime(model, from)},${clockTime(model, to)}`);
		assert.strictEqual(sumStates(model, { from, to, tasks: null })[STATE.BLOCKED], expected.ns);
	}
});

/* Rows of run-queue latencies, by thread and start. */
function waitsOf({ rows, trace }) {
	const all = new Map();
	for (let row = 0; row < rows.length; row++)
		if (rows.state[row] === STATE.RUNNABLE)
			all.set(`${trace.tasks[rows.task[row]].tid} ${rows.start[row]} ${rows.end[row] - rows.start[row]}`, row);
	return all;
}

/* Who ran during one of those latencies, in sched latency and on the page: [[tid, ns]]. */
function behindOf(wait, model, row) {
	const theirs = new Map([['others', wait.ran_instead_others_ns], [NOBODY, wait.ran_instead_unknown_ns]]);
	const mine = new Map([['others', 0], [NOBODY, 0]]);
	for (const { tid, ns } of wait.ran_instead)
		theirs.set(tid, (theirs.get(tid) || 0) + ns);
	for (const { tid, ns } of ranInstead(model, row))
		mine.set(theirs.has(tid) ? tid : 'others', (mine.get(theirs.has(tid) ? tid : 'others') || 0) + ns);
	return [[...theirs].sort(), [...mine].sort()];
}

/*
 * For a queue that a thread left, or where its events were lost, the program has less data: the thread on that
 * CPU may be known later.
 */
test('who ran instead equals the output of sched latency', () => {
	let expected = 0, unknown = 0, watched = 0, later = 0;
	for (const { file, model } of [...traces, ...offCpu]) {
		const rows = waitsOf(model);
		for (const wait of run(file, 'sched', 'latency', '--worst', '1000', '--json').worst) {
			const start = Number(BigInt(wait.start_ns) - model.trace.origin), at = `${wait.tid} ${start} ${wait.ns}`;
			const row = rows.get(at), [theirs, mine] = behindOf(wait, model, row);
			if (model.rows.queues[row] === NONE && model.rows.endBy[row] !== END.NOTHING || JSON.stringify(mine) === JSON.stringify(theirs))
				assert.deepStrictEqual(mine, theirs, `${file} ${at}`);
			else
				later++;
			assert.strictEqual(mine.reduce((sum, [, ns]) => sum + ns, 0), wait.ns);
			expected += wait.ran_instead.length;
			unknown += wait.ran_instead_unknown_ns ? 1 : 0;
			watched += model.trace.parts[0].meta.get('neighbours') === 'yes' ? wait.ran_instead.length : 0;
		}
	}
	assert(expected > 500 && unknown > 1000 && watched > 100, `${expected} ${unknown} ${watched}`);
	assert(later < expected / 100, `${later}`);
});

function stackText(model, stack) {
	if (stack === NONE)
		return '';
	return model.trace.stacks.get(stack).flatMap((frame) => model.trace.symbols.lines(frame))
		.map((line) => line.name).join(' ');
}

/* A key for the stack and the waker of a blocked interval: rows of offcpu --json are grouped by it. */
function waitOf(model, row) {
	const { rows, wakers } = model, waker = rows.waker[row];
	const task = waker === NONE || (wakers.raw[waker] & 7) > 1 ? NONE : wakers.tid[waker];
	return `${stackText(model, rows.stack[row])}|${waker === NONE ? 'none' : task === NONE ? 'irq' : task}`;
}

test('each blocked interval has the stack and the waker of offcpu', () => {
	for (const { file, model } of [...traces, ...offCpu]) {
		const sums = new Map();
		for (let row = 0; row < model.rows.length; row++) {
			if (model.rows.state[row] !== STATE.BLOCKED)
				continue;
			const key = `${model.trace.tasks[model.rows.task[row]].tid}|${waitOf(model, row)}`;
			sums.set(key, (sums.get(key) || 0) + model.rows.end[row] - model.rows.start[row]);
		}
		const expected = run(file, 'offcpu', '--by', 'tid,stack,waker', '--limit', '0', '--json');
		const wakers = run(file, 'offcpu', '--by', 'tid,waker', '--limit', '0', '--json');
		assert.strictEqual([...sums.values()].reduce((a, b) => a + b, 0), expected.ns);
		const byStack = (rows) => {
			const all = new Map();
			for (const [key, ns] of rows)
				all.set(key, (all.get(key) || 0) + ns);
			return [...all].sort();
		};
		assert.deepStrictEqual(
			byStack([...sums].map(([key, ns]) => [key.split('|').slice(0, 2).join('|'), ns])),
			byStack(expected.rows.map((row) => [`${row.tid}|${row.stack.map((f) => f.sym || UNKNOWN).join(' ')}`, row.ns])));
		assert.deepStrictEqual(
			byStack([...sums].map(([key, ns]) => [`${key.split('|')[0]} ${key.endsWith('none')}`, ns])),
			byStack(wakers.rows.map((row) => [`${row.tid} ${row.waker === null}`, row.ns])));
	}
});

test('functions have the sample counts of report', () => {
	for (const { file, model } of traces) {
		const expected = run(file, 'report', '--json').rows;
		const mine = byFunction(model, weigh(model, 'cpu', ALL)).map((row) => {
			const { name, path: dso, inlined } = model.trace.symbols.functions[row.fn];
			return { self: row.selfCount, total: row.totalCount, self_ns: row.self, total_ns: row.total, sym: name === UNKNOWN ? null : name, dso,
				...inlined && { inlined } };
		});
		const order = (rows) => rows.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort();
		assert.deepStrictEqual(order(mine), order(expected), file);
	}
});

test('flame graphs have the weights of report --wall and offcpu --folded at every depth', () => {
	for (const { file, model } of [...traces, ...offCpu])
		for (const kind of ['cpu', 'offcpu', 'wall'])
			for (const inverted of [false, true]) {
				const weights = weigh(model, kind, ALL), flame = new Flame(model, weights, { inverted, byState: true });
				assert.strictEqual(flame.total[0], weights.total);
				for (let node = 0; node < flame.length; node++) {
					const kids = flame.children[node].reduce((sum, kid) => sum + flame.total[kid], 0);
					assert.strictEqual(kids + flame.self[node], flame.total[node]);
					assert.strictEqual(flame.at(flame.depth[node], flame.x[node] + flame.total[node] / 2),
						flame.total[node] ? node : flame.at(flame.depth[node], flame.x[node]));
				}
				if (kind === 'offcpu')
					assert.strictEqual(flame.total[0], run(file, 'offcpu', '--json').ns);
			}
});

/* The program cuts by --time what the page cuts by dragging. */
test('a time range has the sums of report --wall --time', () => {
	for (const { file, model } of traces.slice(0, 4)) {
		const span = model.last - model.first;
		const from = Math.round(model.first + span * 0.3), to = Math.round(model.first + span * 0.6);
		const expected = run(file, 'report', '--wall', '--json', '--time', `${clockTime(model, from)},${clockTime(model, to)}`);
		assert.deepStrictEqual(sumStates(model, { from, to, tasks: null }),
			[expected.unknown_ns, expected.running_ns, expected.runnable_ns, expected.blocked_ns]);
	}
});

test('busy times and threads of CPUs equal the output of sched summary', () => {
	for (const { file, model } of traces) {
		const { rows } = model, busy = new Map(), cpus = new Map(model.cpus.map((cpu) => [cpu.cpu, cpu]));
		for (const { tid, rows: mine } of model.tasks)
			for (const row of mine) {
				/*
				 * for a thread that was on a CPU before a loss it is unknown which of its turns
				 * that was
				 */
				if (rows.state[row] !== STATE.RUNNING || rows.cpu[row] === NONE)
					continue;
				const cpu = cpus.get(rows.cpu[row]), middle = (rows.start[row] + rows.end[row]) / 2;
				const turn = upperBound(cpu.end, middle, 0, cpu.end.length);
				busy.set(cpu.cpu, (busy.get(cpu.cpu) || 0) + rows.end[row] - rows.start[row]);
				/* the new thread of a reused number is known from its own turn */
				if (rows.endBy[row] !== END.NOTHING && !(rows.flags[row] & FLAG.EDGE_START) && rows.end[row] > rows.start[row])
					assert(cpu.tid[turn] === tid || cpu.tid[turn] === NOBODY, `${file} ${tid} at ${middle}`);
			}
		for (const { cpu, busy_ns } of run(file, 'sched', 'summary', '--json').cpus)
			assert.strictEqual(busy.get(cpu) || 0, busy_ns);
	}
});

/* Polls of all lanes: "from to" -> [thread or null, running, runnable, blocked] for each, sorted. */
function pollsOf(model) {
	const all = [], { origin } = model.trace;
	for (const { space, tid, polls } of model.lanes.workers)
		for (let i = 0; i < polls.start.length; i++) {
			const span = { from: polls.start[i], to: polls.end[i] }, task = model.taskOfTid(tid, space);
			const is = task && canBeItsThread(model, task, span);
			all.push([Number(origin) + span.from, Number(origin) + span.to, !task || is ? tid : null,
				...is ? sumTask(model, task, span).slice(1) : [0, 0, 0]]);
		}
	return all.map(String).sort();
}

test('each poll is on the lane of its thread, with the causes of explain', () => {
	let expected = 0;
	for (const { file, model } of traces.filter(({ model: { lanes } }) => lanes.workers.length)) {
		const { slowest, unmatched_starts } = run(file, 'explain', '--span', 'poll', '--slowest', '1000', '--json'), mine = pollsOf(model);
		const theirs = slowest.map((poll) => [poll.from_ns, poll.to_ns, poll.tid, poll.running_ns, poll.runnable_ns, poll.blocked_ns]);
		assert.deepStrictEqual(theirs.map(String).sort().filter((poll) => !mine.includes(poll)), [], file);
		assert.strictEqual(mine.length, slowest.length + unmatched_starts);
		expected += theirs.filter(([,, tid, ran, , blocked]) => tid !== null && ran && blocked).length;
	}
	assert(expected > 20, `${expected}`);
});

test('a truncated trace is reported, and its events are shown', async () => {
	const { bytes } = traces[0];
	const model = await load(bytes.subarray(0, bytes.length - 3));
	assert.strictEqual(model.trace.outcome.status, 'truncated');
	assert(model.rows.length > 1000);
});
