// SPDX-License-Identifier: BSD-2-Clause
/*
 * `ship` to ClickHouse servers, and `query --at` of what they have: the answers are those of `query` of the same files.
 * Debian's server 18.16 is started for it, and is two servers: one of them has half of the hosts.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync, spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const MAKE = path.join(BUILD, 'tests', 'web', 'sched_trace');
const NAMED = ['top-functions', 'runq-latency', 'offcpu-stacks', 'build-diff', 'slowest-request', 'event-counts',
	'noisy-neighbours'];
/* The traces have polls, and no system calls; local queries find pairs with any end. */
const PARAMS = { 'slowest-request': ['--param', 'start=PollStartEvent'],
	'event-counts': ['--param', 'event=Poll*', '--param', 'field=worker_id'] };
const MORE = { 'slowest-request': ['--param', 'end=PollEndEvent'] };
/* What would end a literal, a comment or a row. */
const HOSTILE = "'\\'; DROP TABLE slices; --\n\t/* \\N $$ `\"é";
const PARTIAL = 5, MISTAKE = 1;
const WAIT_MS = 60000;

const isHere = !spawnSync('clickhouse-server', ['--version'], { stdio: 'ignore' }).error;
assert(isHere || process.env.D9_REQUIRE_CLICKHOUSE !== '1', 'no clickhouse-server, and D9_REQUIRE_CLICKHOUSE is set');
const skip = isHere ? false : 'no clickhouse-server here';

let dir, all, shipped;
const servers = [], traces = [];

/* ---- servers ------------------------------------------------------------------------------------- */

function freePort() {
	return new Promise((resolve) => {
		const s = net.createServer().listen(0, '127.0.0.1', () => {
			const { port } = s.address();
			s.close(() => resolve(port));
		});
	});
}

async function start(name, shards) {
	const home = path.join(dir, name), port = await freePort(), tcp = await freePort();
	const server = { name, http: port, tcp, home, url: (db) => `http://me@127.0.0.1:${port}/${db}` };
	const remote = [...shards, server].map((shard) =>
		`<shard><replica><host>127.0.0.1</host><port>${shard.tcp}</port><user>me</user></replica></shard>`);
	fs.mkdirSync(home);
	fs.writeFileSync(path.join(home, 'config.xml'), `<yandex><logger><level>error</level><log>${home}/log</log>
		<errorlog>${home}/log.err</errorlog></logger><http_port>${port}</http_port><tcp_port>${tcp}</tcp_port>
		<listen_host>127.0.0.1</listen_host><path>${home}/data/</path><tmp_path>${home}/tmp/</tmp_path>
		<users_config>${home}/users.xml</users_config><default_profile>default</default_profile>
		<default_database>default</default_database><mark_cache_size>16777216</mark_cache_size>
		<remote_servers><all>${remote.join('')}</all></remote_servers></yandex>`);
	const user = '<password></password><networks><ip>::/0</ip></networks><quota>default</quota>';
	fs.writeFileSync(path.join(home, 'users.xml'), `<yandex><profiles>
		<default><max_threads>2</max_threads></default>
		<fixed><readonly>1</readonly><skip_unavailable_shards>1</skip_unavailable_shards></fixed></profiles><users>
		<me>${user}<profile>default</profile></me>
		<secret>${user.replace('<password>', '<password>pw')}<profile>default</profile></secret><fixed>${user}<profile>fixed</profile></fixed></users>
		<quotas><default></default></quotas></yandex>`);
	server.child = spawn('clickhouse-server', [`--config-file=${home}/config.xml`], { stdio: 'ignore', cwd: home });
	servers.push(server);
	return server;
}

async function sql(server, text, db = 'default') {
	const options = { port: server.http, method: 'POST', path: `/?user=me&database=${db}`, agent: false };
	const { status, body } = await new Promise((resolve, reject) => {
		http.request(options, (answer) => {
			let all = '';
			answer.on('data', (data) => { all += data; }).on('end', () => resolve({ status: answer.statusCode, body: all }));
		}).on('error', reject).end(text);
	});
	assert.strictEqual(status, 200, body);
	return body.trim();
}

async function ready(server) {
	for (const end = Date.now() + WAIT_MS; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
		try {
			return await sql({ http: server.http }, 'SELECT 1');
		} catch (error) {
			assert(Date.now() < end, `the server does not start: ${error}`);
		}
	}
}

function stop(server) {
	server.child.kill('SIGKILL');
	return new Promise((resolve) => server.child.on('exit', resolve));
}

/* ---- the program --------------------------------------------------------------------------------- */

function run(...args) {
	const r = spawnSync(PROGRAM, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: WAIT_MS });
	return { code: r.status, out: r.stdout, err: r.stderr };
}

function ok(...args) {
	const r = run(...args);
	assert.strictEqual(r.code, 0, `${args.join(' ')}\n${r.err}`);
	return r.out;
}

const local = (...args) => ok('query', '--format', 'csv', ...args, ...traces);
const at = (urls, ...args) => run('query', '--format', 'csv', ...urls.flatMap((url) => ['--at', url]), ...args);
const sorted = (rows) => rows.split('\n').sort().join('\n');

function expectSame(urls, args, more = []) {
	const r = at(urls, ...args), want = local(...args, ...more);
	assert.strictEqual(r.code, 0, r.err);
	/* rows that compare equal have no order */
	assert.strictEqual(sorted(r.out), sorted(want), args.join(' '));
	return want.split('\n').length;
}

/* Starts it: shipping waits for a second now and then. */
function ship(server, db, files, ...options) {
	const from = path.join(dir, `${server.name}-${db}`);
	fs.mkdirSync(from);
	files.forEach((file, i) => fs.copyFileSync(file, path.join(from, `t.${i}.bin`)));
	const child = spawn(PROGRAM, ['ship', from, '--once', '--to', server.url(db), '--label', HOSTILE.replace('\n', '') + '=1', '--events',
		...options]);
	let err = '';
	child.stderr.on('data', (data) => { err += data; });
	return new Promise((resolve) => child.on('exit', (code) => resolve({ code, err })));
}

before(async () => {
	if (skip)
		return;
	dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-clickhouse-'));
	/* hosts h1 and h2 with two builds, and one whose names are hostile; seeds that are 1 modulo 3 have polls */
	[[4, 'task', 'h1', 'build1'], [12, 'task', 'h1', 'build2'], [10, 'other', 'h2', 'other'], [16, HOSTILE, HOSTILE, 'b']]
		.forEach(([seed, name, host, build]) => {
			const file = path.join(dir, `${seed}.bin`);
			fs.writeFileSync(file, execFileSync(MAKE, [String(seed), '3000', name, host, build],
				{ maxBuffer: 1 << 28 }));
			traces.push(file);
		});
	const a = await start('a', []);
	const b = await start('b', [a]);
	await Promise.all([ready(a), ready(b)]);
	await Promise.all([sql(a, 'CREATE DATABASE all'), sql(a, 'CREATE DATABASE half'), sql(b, 'CREATE DATABASE half')]);
	shipped = await Promise.all([ship(a, 'all', traces, '--raw-ttl', '7d'), ship(a, 'half', traces.slice(0, 2)),
		ship(b, 'half', traces.slice(2))]);
	for (const { code, err } of shipped)
		assert.strictEqual(code, 0, err);
	all = a.url('all');
	/* tables of both servers */
	await sql(b, 'CREATE DATABASE both');
	for (const table of (await sql(b, 'SHOW TABLES FROM half')).split('\n'))
		await sql(b, `CREATE TABLE both.${table} AS half.${table} ENGINE = Distributed(all, half, ${table})`);
});

after(async () => {
	await Promise.all(servers.map((server) => server.child.exitCode === null && stop(server)));
	if (dir)
		fs.rmSync(dir, { recursive: true, force: true });
});

/* ---- answers ------------------------------------------------------------------------------------- */

test('named queries of a server have the rows of local ones', { skip }, () => {
	for (const name of NAMED)
		assert(expectSame([all], [name, ...PARAMS[name] || []], MORE[name]) > 2, name);
});

test('rollups have the sums of the rows', { skip }, async () => {
	for (const [name, raw] of [['rollup-functions', 'top-functions'], ['rollup-offcpu', 'offcpu-stacks']])
		assert.strictEqual(sorted(at([all], name, '--param', 'limit=-1').out), sorted(local(raw, '--param', 'limit=-1')));
	const byKey = (rows) => new Map(rows.trim().split('\n').slice(1).map((row) => row.split(','))
		.map((row) => [row.slice(0, -3).join(), row.slice(-3).map(Number)]));
	for (const q of ['0', '0.5', '0.99', '1']) {
		const got = byKey(at([all], 'rollup-latency', '--param', `q=${q}`).out);
		const want = byKey(local('runq-latency', '--param', `q=${q}`));
		assert.deepStrictEqual([...got.keys()].sort(), [...want.keys()].sort());
		for (const [key, [waits, quantile, max]] of want) {
			const [n, upper, most] = got.get(key);
			assert.deepStrictEqual([n, most], [waits, max], key);
			assert(upper >= quantile && upper <= Math.max(2 * quantile, 1), `${key}: ${upper} for ${quantile}`);
		}
	}
	for (const table of ['waits_rollup', 'offcpu_rollup', 'cpu_rollup'])
		assert.strictEqual(await sql(servers[0], `SELECT count() FROM ${table} WHERE batch NOT IN
			(SELECT batch FROM ledger WHERE table_name = '${table}' AND rows = rows_seen)`, 'all'), '0');
	assert.match(shipped[0].err, /cannot delete old rows/);
	assert.doesNotMatch(shipped[1].err, /cannot delete old rows/);
});

test('parameters select the same rows', { skip }, () => {
	expectSame([all], ['runq-latency', '--param', 'q=0.5']);
	expectSame([all], ['runq-latency', '--param', 'q=1']);
	expectSame([all], ['top-functions', '--param', 'limit=3']);
	expectSame([all], ['event-counts', '--param', 'event=PollEndEvent', '--param', 'limit=2']);
	expectSame([all], ['offcpu-stacks', '--param', 'comm=[a-t]as?', '--param', 'limit=7']);
	expectSame([all], ['offcpu-stacks', '--param', 'comm=*[^a-z]*', '--param', 'limit=-1']);
	expectSame([all], ['build-diff', '--param', 'module=*/app', '--param', 'before=62', '--param', 'after=6f']);
	for (const [params, hosts] of [[['host=h1'], 1], [['host=h?'], 2], [['host=nobody'], 0], [['from=2023-11-14 23:00'], 3],
		[['to=2023-11-14 23:00'], 1], [['from=1h'], 0], [['host=h1,h2'], 2], [['host=nobody,h[1,2]'], 2]])
		assert.strictEqual(ok('query', '--at', all, 'hosts', '--format', 'csv',
			...params.flatMap((param) => ['--param', param])).trim().split('\n').length - 1, hosts, params[0]);
});

test('hosts, services and times select rows of named queries and of SQL', { skip }, () => {
	const rows = (...words) => JSON.parse(ok('query', '--at', all, '--format', 'json', ...words));
	const samples = (...params) => rows(...params.flatMap((param) => ['--param', param]), '--param', 'limit=-1', 'top-functions')
		.reduce((sum, row) => sum + row.samples, 0);
	const count = (...params) => Number(rows(...params.flatMap((param) => ['--param', param]),
		"SELECT count() AS n FROM samples WHERE source = 'cpu' AND :range")[0].n);
	const services = rows('SELECT DISTINCT service FROM samples WHERE source = \'cpu\'').map((row) => row.service);
	let sum = 0;
	assert(services.length > 1, services);
	for (const service of services) {
		const param = `service=${service}`;
		sum += samples(param);
		assert.strictEqual(samples(param), count(param), param);
		assert.strictEqual(samples(param, 'host=h1'), count(param, 'host=h1'), param);
	}
	assert.strictEqual(sum, samples());
	assert.strictEqual(samples(), count());
	assert.strictEqual(count('host=h1,h2'), count('host=h1') + count('host=h2'));
	assert(count('host=h1') > 0);
	assert.strictEqual(count('from=1h'), 0);
	assert.strictEqual(run('query', '--at', all, '--param', 'from=noon', 'SELECT 1 FROM samples WHERE :range').code, MISTAKE);
	assert.strictEqual(run('query', '--at', all, '--param', 'host=h1', 'SELECT 1 FROM samples').code, MISTAKE);
});

test('text from outside stays a value', { skip }, async () => {
	const texts = [HOSTILE, "'", '\\', "\\'", "a' OR 'a' = 'a", '*/ --', '\x01\x7f\r\n', '[', '[]', '[^', '*?[a-', '(?i)', '\\E.*'];
	const numbers = { '-1': '-1', '1e3': '1000', '+5': '5', '0x10': '0x10', '99999999999999999999': '100000000000000000000' };
	const values = { ...numbers, ...Object.fromEntries(texts.map((text) => [text, text])) };
	const keys = Object.keys(values).map((text, i) => `x${i}`);
	const [row] = JSON.parse(ok('query', '--at', all, '--format', 'json', ...Object.keys(values).flatMap((text, i) =>
		['--param', `${keys[i]}=${text}`]), `SELECT/* :x0 */ ${keys.map((key) => `toString(:${key}) AS ${key}, ':${key}' AS "${key}:x1"`)} -- :x0`));
	Object.values(values).forEach((want, i) =>
		assert.deepStrictEqual([row[keys[i]], row[`${keys[i]}:x1`]], [want, `:${keys[i]}`]));
	for (const text of texts.slice(0, 2).concat('[]')) {
		expectSame([all], ['offcpu-stacks', '--param', `comm=${text}`]);
		expectSame([all], ['build-diff', '--param', `before=${text}`]);
		for (const [name, param] of [['top-functions', 'host'], ['build-diff', 'module'], ['event-counts', 'field'], ['event-counts', 'event'], ['slowest-request', 'start']]) {
			const r = at([all], name, '--param', `${param}=${text}`);
			assert.strictEqual(r.code, 0, r.err);
		}
	}
	assert.strictEqual(JSON.parse(ok('query', '--at', all, '--format', 'json', '--param', 'x=-1', 'SELECT 2-:x AS y'))[0].y, 3);
	/* the hostile host itself, by its name */
	assert.match(ok('query', '--at', all, '--format', 'csv', 'hosts', '--param', `host=${HOSTILE}`), /DROP TABLE/);
	assert.strictEqual(await sql(servers[0], 'SELECT count() > 0 FROM slices', 'all'), '1');
});

test('SQL can only read, and mistakes are reported', { skip }, () => {
	const empty = run('query', '--at', servers[0].url('default'), 'SELECT 7 AS n');
	assert.strictEqual(empty.code, 0);
	assert.match(empty.err, /cannot list losses: .*traces/);
	for (const text of ['CREATE TABLE x (a Int8) ENGINE = Memory', 'DROP TABLE slices', 'INSERT INTO slices (dur) VALUES (1)',
		'ALTER TABLE slices DELETE WHERE 1', 'SELECT nothing FROM slices', 'SELECT 1 FORMAT JSON', 'SELECT 1; SELECT 2']) {
		const r = at([all], text);
		assert.strictEqual(r.code, MISTAKE, text);
		assert.strictEqual(r.out, '', text);
		assert.match(r.err, /dial9-prof: query: http/, text);
	}
	assert.match(at([all], 'SELECT 1 ', '--param', 'x=1').err, /the query has no parameter :x/);
	assert.match(at([all], 'top-functions', '--param', 'limt=1').err, /did you mean :limit/);
	assert.strictEqual(at([all], 'top-functions', '--param', 'limit=1; DROP TABLE x').code, MISTAKE);
	assert.strictEqual(at([all], 'top-functions', '--param', 'from=yesterday').code, MISTAKE);
});

test('passwords, and answers that are too long', { skip }, () => {
	const url = all.replace('me@', 'secret@'), file = path.join(dir, 'pw');
	fs.writeFileSync(file, 'pw\nmore');
	assert.strictEqual(run('query', '--at', url, '--password-file', file, 'SELECT 7 AS n').out.trim().split('\n').pop().trim(), '7');
	const r = run('query', '--at', url, 'SELECT 7 AS n');
	assert.strictEqual(r.code, MISTAKE);
	assert.match(r.err, /^dial9-prof: query: http:.*Code: 194.*\n$/);
	const long = at([all], '--mem-max', '1M', 'SELECT number FROM numbers(1000000)');
	assert.strictEqual(long.code, MISTAKE);
	assert.match(long.err, /longer than 1048576 bytes; use LIMIT, or a larger --mem-max/);
	assert.strictEqual(long.out, '');
});

test('values keep their types', { skip }, () => {
	const [row] = JSON.parse(ok('query', '--at', all, '--format', 'json', "SELECT toUInt64(18446744073709551615) AS big, " +
		"toInt64(-9223372036854775808) AS small, 0.25 AS real, 1 / 0 AS inf, NULL AS nothing, 'a\\tb\\n\\\\N' AS text, [1, 2] AS list, " +
		"toDate(3) AS day, toNullable(toUInt8(7)) AS maybe").replace('18446744073709551615', '"exact"'));
	assert.deepStrictEqual(row, { big: 'exact', small: -9223372036854775808, real: 0.25, inf: null, nothing: null, text: 'a\tb\n\\N',
		list: '[1,2]', day: '1970-01-04', maybe: 7 });
});

/* ---- several servers ----------------------------------------------------------------------------- */

test('losses are reported, and hosts without data', { skip }, () => {
	const r = at([all], 'losses'), lost = local('SELECT sum(lost) FROM traces').split('\n')[1];
	const counts = r.out.split('\n').filter((line) => /,(events|samples),/.test(line)).map((line) => Number(line.split(',').pop()));
	assert.strictEqual(counts.reduce((x, y) => x + y, 0), Number(lost));
	assert.match(r.err, /h1: lost: \d+ events/);
	assert.match(r.err, /h1: no data: 1 gap, 3599\.\d s \(2023-11-14 22:13:20 to 2023-11-14 23:13:20 UTC\)/);
	assert.match(r.out, /h1,no data,2023-11-14 22:13:20,2023-11-14 23:13:20,3599\.\d+,/);
});

test('servers and distributed tables give one answer, and say when a server is down', { skip }, async () => {
	const [a, b] = servers, two = [a.url('half'), b.url('half')], both = [b.url('both')];
	for (const name of NAMED) {
		expectSame(two, [name, ...PARAMS[name] || []], MORE[name]);
		expectSame(both, [name, ...PARAMS[name] || []], MORE[name]);
	}
	const want = local('SELECT count(*) FROM slices').split('\n')[1];
	const rows = at(two, 'SELECT count() AS n FROM slices').out.trim().split('\n').slice(1);
	assert.strictEqual(rows.map((row) => Number(row.split(',')[1])).reduce((x, y) => x + y), Number(want));
	assert(rows[0].startsWith(`http://127.0.0.1:${a.http}/half,`), rows[0]);
	await stop(a);
	const half = at([b.url('half')], 'top-functions');
	assert.strictEqual(half.code, 0, half.err);
	for (const urls of [two, two.slice().reverse(), both, [b.url('both').replace('me@', 'fixed@')]]) {
		const r = at(urls, 'top-functions');
		assert.strictEqual(r.code, PARTIAL, urls.join(' '));
		assert.match(r.err, /the answer is partial/);
		assert.strictEqual(r.out, half.out);
	}
	await stop(b);
	const none = at(two, 'top-functions');
	assert.strictEqual(none.code, PARTIAL);
	assert.strictEqual(none.out, '');
});
