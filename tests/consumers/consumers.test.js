// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exports read by the programs for which they are made: speedscope in a headless Chromium, the Firefox
 * Profiler's own loader, go's pprof, protoc, jq, and flame graphs' grammar. The values that they read are
 * summed by kind, and compared with the output of `report`. tools/consumers.sh downloads those that no
 * distribution has.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync, spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const { Browser, findBrowser } = require('../web/browser.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const MAKE = path.join(BUILD, 'tests', 'web', 'sched_trace');
const MAKE_EXEC = path.join(BUILD, 'tests', 'web', 'exec_trace');
const SPEEDSCOPE = path.join(BUILD, 'consumers', 'speedscope', 'dist', 'release', 'index.html');
const FIREFOX = path.join(BUILD, 'consumers', 'profiler-cli', 'dist', 'profiler-cli.js');
const PROTO = path.join(__dirname, '..', 'export');
const KINDS = ['cpu', 'offcpu', 'runq', 'wall'];
const CTRL = 2;
const COUNTER = 4; /* of a track's event */
const WAIT_MS = 60000;
/* The kinds of intervals. */
const NO_MARKERS = ['running', 'switch-out', 'waker', 'sched:sched_switch', 'sched:sched_waking', 'sched:sched_wakeup_new',
	'ClockSyncEvent'];

/* If it is 1, a test without the program fails. */
function skipped(there, what) {
	assert(there || process.env.D9_REQUIRE_CONSUMERS !== '1', `${what}, and D9_REQUIRE_CONSUMERS is set`);
	return there ? false : what;
}

function isHere(...command) {
	return !spawnSync(command[0], command.slice(1), { stdio: 'ignore' }).error;
}

const chromium = findBrowser();
const noSpeedscope = skipped(chromium && fs.existsSync(SPEEDSCOPE), 'no speedscope or no Chromium here');
const noFirefox = parseInt(process.versions.node, 10) < 20 ? 'profiler-cli wants a newer node' :
	skipped(fs.existsSync(FIREFOX), 'no profiler-cli here');

let dir, browser, trace, hostile, execs;
const truth = {};

function run(program, args, options = {}) {
	return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: WAIT_MS,
		stdio: ['pipe', 'pipe', 'pipe'], ...options });
}

function exported(format, kind, from = trace) {
	const file = path.join(dir, `${path.basename(from, '.bin')}-${kind || 'all'}.${format}`);
	run(PROGRAM, ['export', format, '-o', file, ...kind ? ['--kind', kind] : [], from]);
	return file;
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

/* The output of `report`: counts, and nanoseconds. */
function learn() {
	const samples = JSON.parse(run(PROGRAM, ['report', '--json', trace])).samples;
	const wall = JSON.parse(run(PROGRAM, ['report', '--wall', '--json', trace]));
	const sampled = samples * 1000003; /* the sampling period of the trace */
	truth.samples = samples;
	truth.ns = { cpu: sampled, offcpu: wall.blocked_ns, runq: wall.runnable_ns,
		wall: sampled + wall.blocked_ns + wall.runnable_ns + wall.unknown_ns };
	truth.states = { blocked: wall.blocked_ns, runnable: wall.runnable_ns, unknown: wall.unknown_ns };
}

/* The plainest format, as numbers. */
function csv(...options) {
	return run(PROGRAM, ['export', 'csv', ...options, trace]).split('\n').slice(1, -1).map((line) => {
		const [what, start, , ns, cpu, , tid] = line.split(',');
		return { what, start: Number(start), ns: Number(ns), cpu: Number(cpu), tid: Number(tid) };
	});
}

/* Nanoseconds by thread. */
function byThread(kind) {
	const threads = new Map();
	for (const { tid, ns } of csv('--kind', kind))
		threads.set(tid, (threads.get(tid) || 0) + ns);
	return threads;
}

before(() => {
	dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-consumers-'));
	trace = path.join(dir, 'plain.bin');
	hostile = path.join(dir, 'hostile.bin');
	fs.writeFileSync(trace, execFileSync(MAKE, ['2', '3000'], { maxBuffer: 1 << 28 }));
	fs.writeFileSync(hostile, execFileSync(MAKE, ['4', '1000', '\'"},]<script>alert(1)</script>;=\\\x1b\n'],
		{ maxBuffer: 1 << 28 }));
	execs = path.join(dir, 'execs.bin');
	fs.writeFileSync(execs, execFileSync(MAKE_EXEC));
	learn();
	if (!noSpeedscope)
		browser = new Browser(chromium, ['--enable-unsafe-swiftshader']);
});

after(async () => {
	if (browser)
		await browser.close();
	fs.rmSync(dir, { recursive: true, force: true });
});

/* ---- speedscope -------------------------------------------------------------------------------- */

/*
 * A file as speedscope understands it: it is imported as by speedscope's own command, and saved again by its
 * key; the saved file is read.
 */
async function speedscope(file) {
	const script = path.join(dir, `${path.basename(file)}.js`);
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "${
		fs.readFileSync(file).toString('base64')}");`);
	const tab = await browser.open(`file://${SPEEDSCOPE}#localProfilePath=${script}`);
	await tab.until("document.readyState === 'complete' && document.title.endsWith(' - speedscope')");
	await tab.evaluate(`{
		URL.createObjectURL = (blob) => { window.saved = blob.text(); return '#'; };
		HTMLAnchorElement.prototype.click = () => {};
	}`);
	await tab.key('s', CTRL);
	await tab.until('window.saved !== undefined');
	const { profiles, shared } = JSON.parse(await tab.evaluate('window.saved'));
	await tab.close();
	assert.deepStrictEqual(browser.errors.filter((error) => !error.startsWith('log: warning')), []);
	for (const profile of profiles) {
		profile.sum = profile.endValue - profile.startValue;
		profile.selves = selves(profile, shared.frames);
	}
	return { profiles, frames: shared.frames };
}

/* Self weight of each function; speedscope saves calls and returns. '' is samples without a stack. */
function selves({ type, events, startValue, endValue }, frames) {
	const found = {}, stack = [];
	let last = startValue;
	const pass = (at) => {
		const name = stack.length ? frames[stack[stack.length - 1]].name : '';
		if (at > last)
			found[name] = (found[name] || 0) + at - last;
		last = at;
	};
	assert.strictEqual(type, 'evented');
	for (const event of events) {
		pass(event.at);
		if (event.type === 'O')
			stack.push(event.frame);
		else
			assert.strictEqual(stack.pop(), event.frame);
	}
	pass(endValue);
	assert.strictEqual(stack.length, 0);
	return found;
}

/* The same for stacks with weights: pairs of names, the outermost first, and a weight. */
function selvesOf(stacks) {
	const found = {};
	for (const [names, weight] of stacks) {
		const name = names.length ? names[names.length - 1] : '';
		if (weight)
			found[name] = (found[name] || 0) + weight;
	}
	return found;
}

/* Its calls in the order of time: one of the shell, then three of the program. */
test('speedscope shows samples in the order of the trace', { skip: noSpeedscope }, async () => {
	const { profiles, frames } = await speedscope(exported('speedscope', 'cpu', execs));
	const { events } = profiles.find(({ name }) => name === 'thing 10/10');
	assert.deepStrictEqual(events.filter(({ type }) => type === 'O').map(({ frame, at }) => [frames[frame].name, at]),
		[['parse', 0], ['first', 50000000], ['second', 60000000], ['first', 70000000]]);
});

for (const kind of KINDS) {
	test(`speedscope reads its own format, ${kind}`, { skip: noSpeedscope }, async () => {
		const file = exported('speedscope', kind), { profiles } = await speedscope(file);
		const { profiles: ours, shared } = JSON.parse(fs.readFileSync(file, 'utf8'));
		const want = byThread(kind);
		assert.deepStrictEqual(profiles.map(({ name }) => name), ours.map(({ name }) => name));
		ours.forEach(({ samples, weights }, i) => assert.deepStrictEqual(profiles[i].selves,
			selvesOf(samples.map((stack, k) => [stack.map((frame) => shared.frames[frame].name), weights[k]]))));
		for (const { name, unit, sum: ns } of profiles) {
			const tid = Number(name.split(/[ /]/).pop());
			assert.strictEqual(unit, 'nanoseconds');
			assert.match(name, /^(task|child) (\d+\/)?\d+$/);
			assert.strictEqual(ns, want.get(tid), name);
			want.delete(tid);
		}
		assert.strictEqual(sum([...want.values()]), 0);
		assert.strictEqual(sum(profiles.map((profile) => profile.sum)), truth.ns[kind]);
	});

	test(`speedscope reads folded stacks and pprof, ${kind}`, { skip: noSpeedscope }, async () => {
		const file = exported('folded', kind), lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
		const folded = await speedscope(file), pprof = await speedscope(exported('pprof', kind));
		assert.deepStrictEqual(folded.profiles[0].selves, selvesOf(lines.map((line) => {
			const at = line.lastIndexOf(' ');
			return [line.slice(0, at).split(';'), Number(line.slice(at + 1))];
		})));
		assert.strictEqual(folded.profiles.length, 1);
		assert.strictEqual(folded.profiles[0].sum,
			kind === 'cpu' ? truth.samples : Math.floor(truth.ns[kind] / 1000));
		assert.strictEqual(pprof.profiles.length, 1);
		assert.strictEqual(pprof.profiles[0].unit, 'nanoseconds');
		assert.strictEqual(pprof.profiles[0].sum, truth.ns[kind]);
	});
}

/* It uses the times between samples as their weights. */
test('speedscope reads the text of perf script', { skip: noSpeedscope }, async () => {
	const { profiles } = await speedscope(exported('perf-script', 'cpu'));
	assert.deepStrictEqual(new Set(profiles.map(({ name }) => Number(/ tid: (\d+)$/.exec(name)[1]))),
		new Set(byThread('cpu').keys()));
});

/* Rows of CPUs and of threads. */
test('speedscope reads trace events', { skip: noSpeedscope }, async () => {
	const { profiles } = await speedscope(exported('chrome'));
	const tids = profiles.filter(({ name }) => !name.startsWith('CPUs '))
		.map(({ name }) => Number(/tid (\d+)\)?$/.exec(name)[1]));
	const ran = csv().filter(({ what }) => what in { ...truth.states, running: 1 });
	assert.deepStrictEqual(new Set(tids), new Set(ran.map(({ tid }) => tid)));
	assert(profiles.every(({ unit }) => unit === 'microseconds'));
});

test('hostile names stay names in speedscope', { skip: noSpeedscope }, async () => {
	for (const format of ['speedscope', 'folded', 'pprof', 'perf-script', 'chrome']) {
		const { profiles, frames } = await speedscope(exported(format, format === 'chrome' ? undefined : 'cpu', hostile));
		assert(profiles.length > 0, format);
		assert(frames.some(({ name }) => name.includes('<script>')), format);
	}
});

/* ---- the Firefox Profiler ---------------------------------------------------------------------- */

/*
 * Sends a request to its loader, which serves one file. A request before the loader has written its address
 * would look like a dead loader, and would remove the file.
 */
async function withFirefox(file, fn) {
	const sessions = path.join(dir, 'sessions'), session = path.basename(file);
	const env = { ...process.env, PROFILER_CLI_SESSION_DIR: sessions };
	const listens = () => fs.existsSync(path.join(sessions, `${session}.sock`)) &&
		fs.existsSync(path.join(sessions, `${session}.json`));
	const daemon = spawn(process.execPath, [FIREFOX, '--daemon', file, '--session', session], { env, stdio: 'ignore' });
	const ended = new Promise((resolve) => daemon.once('exit', resolve));
	const ask = (...words) => spawnSync(process.execPath, [FIREFOX, ...words, '--session', session, '--json'],
		{ env, encoding: 'utf8', maxBuffer: 1 << 28, timeout: WAIT_MS });
	try {
		let answer;
		for (let end = Date.now() + WAIT_MS; !answer || answer.status;) {
			assert(daemon.exitCode === null && Date.now() < end, `not loaded: ${answer && answer.stderr}`);
			if (listens())
				answer = ask('thread', 'list');
			else
				await new Promise((resolve) => setTimeout(resolve, 20));
		}
		await fn((...words) => {
			const { stdout, stderr, status } = ask(...words);
			assert.strictEqual(status, 0, stderr);
			return JSON.parse(stdout);
		});
	} finally {
		daemon.kill('SIGKILL');
		await ended;
	}
}

test('the Firefox Profiler loads its format', { skip: noFirefox }, async () => {
	await withFirefox(exported('firefox'), (ask) => {
		const want = {}, found = {}, markers = {}, rows = csv().filter(({ what }) => !NO_MARKERS.includes(what));
		const count = (counts, key, n) => { counts[key] = (counts[key] || 0) + n; };
		const { threads } = ask('thread', 'list'), detailed = new Set(threads.slice(2, 6).map(({ tid }) => tid));
		for (const { tid, markerCount } of threads)
			count(markers, tid, markerCount);
		for (const { what, tid } of rows) {
			if (what !== 'sample')
				count(markers, tid, -1);
			if (detailed.has(tid))
				count(want, `${tid} ${what}`, 1);
		}
		assert.deepStrictEqual(Object.values(markers).filter((left) => left), []);
		for (const { threadHandle, tid } of threads.filter((thread) => detailed.has(thread.tid))) {
			const { sampleCount } = ask('thread', 'info', '--thread', threadHandle);
			if (sampleCount)
				count(found, `${tid} sample`, sampleCount);
			for (const marker of ask('thread', 'markers', '--thread', threadHandle).byType)
				count(found, `${tid} ${marker.markerName}`, marker.count);
		}
		assert.deepStrictEqual(found, want);
		assert(Object.keys(want).some((key) => key.endsWith(' sample')));
	});
});

test('hostile names stay names in the Firefox Profiler', { skip: noFirefox }, async () => {
	await withFirefox(exported('firefox', undefined, hostile), (ask) =>
		assert(ask('thread', 'list').threads.some(({ name }) => name.includes('<script>'))));
});

/* A sample stands for 10 ms of CPU time, and the program got its name by exec. */
test('the Firefox Profiler shows CPU time and the last name of a process', { skip: noFirefox }, async () => {
	await withFirefox(exported('firefox', 'cpu', execs), (ask) => {
		const { processes } = ask('profile', 'info');
		assert.deepStrictEqual(processes.map(({ name, pid }) => [name, Number(pid)]), [['thing', 10]]);
		assert.strictEqual(processes[0].cpuMs, 70); /* of 80: the profiler ignores the first sample */
	});
});

/* ---- programs of distributions ----------------------------------------------------------------- */

test("go's pprof shows the executable of the target as the program", { skip: skipped(isHere('go', 'version'), 'no go here') },
	() => {
		const env = { ...process.env, HOME: dir, PPROF_TMPDIR: dir, GOFLAGS: '' };
		assert.match(run('go', ['tool', 'pprof', '-top', exported('pprof', 'cpu', execs)], { env }), /^File: thing$/m);
	});

for (const kind of KINDS) {
	test(`go's pprof reads its format, ${kind}`, { skip: skipped(isHere('go', 'version'), 'no go here') }, () => {
		const file = exported('pprof', kind), env = { ...process.env, HOME: dir, PPROF_TMPDIR: dir, GOFLAGS: '' };
		const raw = run('go', ['tool', 'pprof', '-raw', file], { env });
		const [, body, mappings] = /\nSamples:\n([^]*?)\nLocations\n[^]*?\nMappings\n([^]*)$/.exec(raw);
		const values = [...body.matchAll(/^ *(\d+) +(\d+):/gm)];
		assert.match(body, kind === 'cpu' ? /^samples\/count cpu\/nanoseconds/ : /^(waits|events)\/count \w+\/nanoseconds/);
		assert.strictEqual(sum(values.map((value) => Number(value[2]))), truth.ns[kind]);
		assert.strictEqual(sum(values.map((value) => Number(value[1]))), csv('--kind', kind).length);
		assert.match(mappings, /\/bin\/app 2f62696e2f617070 /); /* its build-id */
		assert.match(run('go', ['tool', 'pprof', '-top', file], { env }), /^ +flat +flat% +sum% +cum +cum%$/m);
	});

	/* "name;name;... number", no name empty, no line twice: what flame graphs take */
	test(`folded stacks have the format of flame graphs, ${kind}`, () => {
		for (const from of [trace, hostile]) {
			const lines = fs.readFileSync(exported('folded', kind, from), 'utf8').split('\n').slice(0, -1);
			assert.deepStrictEqual(lines.filter((line) => !/^[^;]+(;[^;]+)* \d+$/.test(line)), []);
			assert.strictEqual(new Set(lines.map((line) => line.replace(/ \d+$/, ''))).size, lines.length);
		}
	});

	test(`jq reads lines of JSON, ${kind}`, { skip: skipped(isHere('jq', '--version'), 'no jq here') }, () => {
		const program = '[inputs | if .event == "interval" then .end - .ts else 1000003 end] | add';
		const told = run('jq', ['-n', program, exported('jsonl', kind)]);
		assert.strictEqual(Number(told), truth.ns[kind]);
		run('jq', ['-n', program, exported('jsonl', kind, hostile)]);
	});

	test(`rows of comma-separated values have the sums, ${kind}`, () => {
		assert.strictEqual(sum(csv('--kind', kind).map(({ ns }) => ns)), truth.ns[kind]);
	});

	/* a sample, or a time as the period of one */
	test(`the text of perf script has the sums, ${kind}`, () => {
		const heads = [...fs.readFileSync(exported('perf-script', kind), 'utf8')
			.matchAll(/^\S.*\d: +(\d+ )?([\w-]+): *$/gm)];
		assert.strictEqual(heads.length, csv('--kind', kind).length);
		assert.strictEqual(sum(heads.map(([, period]) => Number(period || 1000003))), truth.ns[kind]);
	});
}

/* ---- Perfetto ----------------------------------------------------------------------------------- */

/* protoc's text: messages as objects of lists. Fields unknown to the messages are numbers there. */
function decoded(file) {
	const text = run('protoc', ['-I', PROTO, '--decode=Trace', path.join(PROTO, 'perfetto.proto')],
		{ input: fs.readFileSync(file) });
	const stack = [{}];
	for (const line of text.split('\n').slice(0, -1)) {
		const [, name, brace, value] = /^ *(?:(\w+)(?: (\{)|: (.*))|\})$/.exec(line);
		assert(!name || !/^\d/.test(name), `an unknown field: ${line}`);
		const top = stack[stack.length - 1];
		if (!name) {
			stack.pop();
			continue;
		}
		const list = top[name] || (top[name] = []);
		list.push(brace ? {} : value.startsWith('"') ? value : Number(value));
		if (brace)
			stack.push(list[list.length - 1]);
	}
	return stack[0].packet;
}

/* Slices of tracks: begins and ends alternate, with increasing times. Nanoseconds by name. */
function slices(packets) {
	const tracks = new Map(), open = new Map(), sums = {};
	for (const { track_descriptor: track, track_event: event, timestamp: [ts] = [] } of packets) {
		if (track)
			tracks.set(track[0].uuid[0], track[0]);
		if (!event || event[0].type[0] === COUNTER)
			continue;
		const { type: [type], track_uuid: [uuid], name } = event[0], last = open.get(uuid) || { ts: 0 };
		const { parent_uuid: [parent] } = tracks.get(uuid);
		assert(tracks.get(parent).thread[0].tid[0] > 0);
		assert(ts >= last.ts && type === (last.name ? 2 : 1), `${uuid} at ${ts}`);
		if (type === 2)
			sums[last.name] = (sums[last.name] || 0) + ts - last.ts;
		open.set(uuid, { ts, name: type === 1 ? JSON.parse(name[0]) : null });
	}
	return sums;
}

/* Each stack, function, module and text that is referenced was defined. */
function checkInterned(packets) {
	const known = {}, lists = ['function_names', 'frames', 'callstacks', 'build_ids', 'mapping_paths', 'mappings',
		'debug_annotation_string_values'];
	const has = (list, ids = []) => ids.forEach((id) => assert(known[list] && known[list].has(id), `${list} ${id}`));
	for (const { interned_data: [data] = [{}], perf_sample: [sample] = [{}], track_event: [event] = [{}] } of packets) {
		for (const list of lists)
			for (const entry of data[list] || [])
				(known[list] || (known[list] = new Map())).set(entry.iid[0], entry);
		for (const { frame_ids: ids } of data.callstacks || [])
			has('frames', ids);
		for (const frame of data.frames || []) {
			has('function_names', frame.function_name_id);
			has('mappings', frame.mapping_id);
		}
		for (const mapping of data.mappings || []) {
			has('mapping_paths', mapping.path_string_ids);
			has('build_ids', mapping.build_id);
		}
		has('callstacks', [...sample.callstack_iid || [], ...event.callstack_iid || []]);
		for (const { string_value_iid: ids } of event.debug_annotations || [])
			has('debug_annotation_string_values', ids);
	}
}

for (const kind of [undefined, ...KINDS]) {
	test(`Perfetto messages have the events of the trace, ${kind || 'all'}`,
		{ skip: skipped(isHere('protoc', '--version'), 'no protoc here') }, () => {
			const packets = decoded(exported('perfetto', kind)), { blocked, runnable, unknown } = truth.states;
			const samples = packets.filter((packet) => packet.perf_sample);
			const events = packets.flatMap(({ ftrace_events: [bundle] = [{}] }) => bundle.event || []);
			const script = run(PROGRAM, ['script', '--json', trace]).split('\n');
			const [{ clocks, primary_trace_clock: primary }] = packets[0].clock_snapshot;
			assert.deepStrictEqual([primary, clocks.map((clock) => clock.clock_id[0]).slice(0, 2)], [[3], [3, 6]]);
			assert(packets.every(({ timestamp, timestamp_clock_id: clock }) => !timestamp || clock[0] === 3));
			assert.strictEqual(samples.length, kind === 'offcpu' || kind === 'runq' ? 0 : truth.samples);
			assert.deepStrictEqual(slices(packets), { cpu: {}, offcpu: { blocked }, runq: { runnable },
				wall: truth.states }[kind] || { blocked, unknown });
			for (const [field, name] of [['sched_switch', 'sched_switch'], ['sched_waking', 'sched_waking'],
				['sched_wakeup_new', 'sched_wakeup_new'], ['generic', 'sched_migrate_task']])
				assert.strictEqual(events.filter(({ [field]: [event] = [] }) => event && (field !== 'generic' ||
					event.event_name[0] === `"sched:${name}"`)).length, kind ? 0 :
					script.filter((line) => line.includes(`"event":"sched:${name}"`)).length, name);
			checkInterned(packets);
		});
}

/* ---- others -------------------------------------------------------------------------------------- */

/* The events of a row do not overlap, and have the durations of the trace. */
test('trace events fill the rows of threads', () => {
	const { traceEvents, stackFrames } = JSON.parse(fs.readFileSync(exported('chrome'), 'utf8'));
	const ns = (us) => Math.round(us * 1000), sums = {}, ends = new Map();
	for (const { ph, pid, tid, ts, dur, name, sf, cat } of traceEvents) {
		assert(['M', 'X', 'i', 's', 'f'].includes(ph) && Number.isInteger(pid) && Number.isInteger(tid));
		assert(ph === 'M' || ts >= 0);
		assert(sf === undefined || stackFrames[sf]);
		if (ph !== 'X')
			continue;
		assert(ns(ts) >= (ends.get(`${pid} ${tid}`) || 0), `${name} of ${tid} at ${ts}`);
		ends.set(`${pid} ${tid}`, ns(ts) + ns(dur));
		if (cat === 'state')
			sums[name] = (sums[name] || 0) + ns(dur);
	}
	delete sums.running;
	assert.deepStrictEqual(sums, truth.states);
});
