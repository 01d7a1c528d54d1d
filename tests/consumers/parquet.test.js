// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Parquet files of `export parquet`, read by DuckDB: the rows of each table are those that `query` gives for the
 * same trace, value by value. tools/consumers.sh downloads DuckDB.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const PACKAGES = path.join(path.resolve(BUILD), 'consumers', 'node_modules', 'of-consumers.js');

function duckdb() {
	try {
		return createRequire(PACKAGES)('@duckdb/node-api');
	} catch (error) {
		assert(process.env.D9_REQUIRE_CONSUMERS !== '1', `${error.message}, and D9_REQUIRE_CONSUMERS is set`);
		return null;
	}
}

const engine = duckdb();
const skip = engine ? false : 'no DuckDB here';
let dir, connection;

before(async () => {
	dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-parquet-'));
	if (engine)
		connection = await (await engine.DuckDBInstance.create(':memory:')).connect();
});

after(() => fs.rmSync(dir, { recursive: true, force: true }));

/* Values of both sides as text: 64-bit integers are no numbers of JavaScript. */
const asText = (expressions, type) => expressions.map((x, i) => `CAST(${x} AS ${type}) AS c${i}`).join(', ');
const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();

function ours(trace, expressions, from) {
	const out = execFileSync(PROGRAM, ['query', '--format', 'json', `SELECT ${asText(expressions, 'TEXT')} FROM ${from}`, trace],
		{ maxBuffer: 1 << 28, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
	return sorted(JSON.parse(out).map(Object.values));
}

async function theirs(expressions, from) {
	return sorted((await connection.runAndReadAll(`SELECT ${asText(expressions, 'VARCHAR')} FROM ${from}`)).getRows());
}

/* A trace of the given maker, exported; its tables by name. */
function exported(name, maker, ...args) {
	const trace = path.join(dir, `${name}.bin`), out = path.join(dir, name);
	fs.writeFileSync(trace, execFileSync(path.join(BUILD, 'tests', 'web', maker), args, { maxBuffer: 1 << 28 }));
	execFileSync(PROGRAM, ['export', 'parquet', '-o', out, trace], { stdio: ['ignore', 'ignore', 'pipe'] });
	return { trace, out };
}

const files = (out, table) => `read_parquet('${path.join(out, table)}/*/*/*.parquet')`;

/* Pairs of expressions, of `query` and of DuckDB. */
const SAME = (...names) => names.map((name) => [name, name]);
const FRAME = ['function', 'module', 'build_id', 'offset', 'file', 'line'].map((name) => [`f.${name}`, `f.${name}`]);
const TABLES = {
	slices: {
		/* without pid: of threads whose process the trace never tells, an export also has what a sample says */
		pairs: [...SAME('ts', 'wall', 'dur', 'cpu', 'tid', 'comm', 'state', 'why'),
			/* the thread that woke, without those that were interrupted */
			["CASE WHEN waker IN ('task', 'unknown') THEN nullif(waker_tid, 0) END", 'waker_tid'],
			['task_state', 'letter'], ['nullif("end", \'open\')', 'ended_by'], ['cut', 'cut::INT'], ['unknown', '(unknown IS NOT NULL)::INT'],
			['stack IS NULL', '(stack IS NULL)::INT']],
		from: 'slices',
	},
	samples: {
		pairs: [...SAME('ts', 'wall', 'cpu', 'tid', 'pid', 'comm', 'source'), ['weight', 'weight_ns'],
			['stack IS NULL', '(stack IS NULL)::INT']],
		/* stacks of switches are those of slices */
		from: "samples WHERE source <> 'switch'", theirs: "WHERE source <> 'switch-out'",
	},
	lost: { pairs: [...SAME('kind', 'cpu', 'count'), ['ts', 'first_ns'], ['last_ts', 'last_ns']], from: 'lost' },
	'event.sched.sched_switch': {
		pairs: [...SAME('ts', 'wall', 'prev_comm', 'prev_pid', 'prev_prio', 'prev_state', 'next_comm', 'next_pid', 'next_prio'),
			['task_cpu', 'cpu'], ['task_tid', 'tid'], ['task_comm', 'comm']],
		from: '"sched:sched_switch"',
	},
};

async function sameTables(name, maker, ...args) {
	const { trace, out } = exported(name, maker, ...args);
	for (const [table, { pairs, from, theirs: where = '' }] of Object.entries(TABLES)) {
		if (!fs.existsSync(path.join(out, table)))
			continue;
		const mine = ours(trace, pairs.map(([a]) => a), from);
		assert(mine.length > 0, table);
		assert.deepStrictEqual(await theirs(pairs.map(([, b]) => b), `${files(out, table)} ${where}`), mine, table);
	}
	return { trace, out };
}

/* Each sample with each of its functions, inlined ones before the function that contains them. */
async function sameFrames({ trace, out }) {
	const mine = ours(trace, ['s.ts', 's.tid', ...FRAME.map(([a]) => a), 'row_number() OVER (PARTITION BY s.ts, s.tid ORDER BY f.depth)'],
		"samples s, frames(s.stack) f WHERE s.source = 'cpu'");
	assert(mine.length > 0);
	assert.deepStrictEqual(await theirs(
		['s.ts', 's.tid', ...FRAME.map(([, b]) => b), 'row_number() OVER (PARTITION BY s.ts, s.tid ORDER BY p.at, f.inline_depth DESC)'],
		`${files(out, 'samples')} s JOIN (SELECT stack, day, host, unnest(frames) AS frame, unnest(range(len(frames))) AS at
			FROM ${files(out, 'stacks')}) p ON s.stack = p.stack AND s.day = p.day
			JOIN ${files(out, 'frames')} f ON p.frame = f.frame AND f.day = p.day WHERE s.source = 'cpu'`), mine);
}

test('parquet: each table has the rows of query', { skip }, async () => {
	await sameFrames(await sameTables('plain', 'sched_trace', '2', '3000'));
});

test('parquet: names that are hostile arrive as they are', { skip }, async () => {
	await sameTables('hostile', 'sched_trace', '4', '1000', '\'"},]<script>;=\\\x1b\n');
});

test('parquet: a thread that becomes another program is a row for each', { skip }, async () => {
	await sameTables('execs', 'exec_trace');
});
