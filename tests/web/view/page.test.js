// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of `export html` in a headless Chromium: it opens, searches, zooms, takes ranges by mouse and by
 * keys, shows intervals, and shows hostile names as text; and the cost of a million events. D9_SHOTS=DIR keeps
 * pictures.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, afterEach, before, test } = require('node:test');

const { TYPE } = require('../../../user/web/read/decode.js');
const { HEADER, le, str } = require('../bytes.js');
const { Browser, findBrowser } = require('../browser.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const MAKE = path.join(BUILD, 'tests', 'web', 'sched_trace');
const GOLDEN = path.join(__dirname, '..', '..', 'golden', 'dial9');
const CTRL = 2;
const MILLION = '900000'; /* steps: a million events and some */

const program = findBrowser();
const skip = program ? false : 'no Chromium here';
assert(program || process.env.D9_REQUIRE_BROWSER !== '1', 'no Chromium, and D9_REQUIRE_BROWSER is set');

let dir, browser;

/* A page around a trace, and the trace's own path. */
function exported(name, bytes) {
	const trace = path.join(dir, `${name}.bin`), page = path.join(dir, `${name}.html`);
	fs.writeFileSync(trace, bytes);
	execFileSync(PROGRAM, ['export', 'html', '-o', page, trace]);
	return { trace, page, url: `file://${page}` };
}

function made(...args) {
	return execFileSync(MAKE, args, { maxBuffer: 1 << 28 });
}

async function open({ url }, options) {
	const tab = await browser.open(url, options);
	await tab.ready();
	return tab;
}

async function shot(tab, name) {
	if (process.env.D9_SHOTS)
		await tab.screenshot(path.join(process.env.D9_SHOTS, `${name}.png`));
}

/* The centre of an element. */
function middle(tab, id) {
	return tab.evaluate(`(() => {
		const box = document.getElementById(${JSON.stringify(id)}).getBoundingClientRect();
		return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
	})()`);
}

/* A point on the page: at a time in the row of a thread, the n-th of the blocked intervals. */
const blockedPlace = `(() => {
	const { timeline, model } = page, box = timeline.scroller.getBoundingClientRect(), { from, to } = page.state.view;
	for (const row of timeline.rows.filter((row) => row.task && row.top < box.height - 30))
		for (const i of row.task.rows) {
			const { start, end, state, stack, waker } = model.rows, none = 0xffffffff;
			const middle = (start[i] + end[i]) / 2;
			if (state[i] === 3 && stack[i] !== none && waker[i] !== none && middle > from && middle < to &&
			    timeline.xAt(end[i]) - timeline.xAt(start[i]) > 3)
				return { x: box.left + timeline.xAt(middle), y: box.top + row.top + row.height / 2, row: i, name: row.name };
		}
	return null;
})()`;

let tab, plain;

before(async () => {
	if (skip)
		return;
	dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-page-'));
	browser = new Browser(program);
	plain = exported('plain', made('2', '4000'));
	tab = await open(plain);
});

after(async () => {
	if (skip)
		return;
	await browser.close();
	fs.rmSync(dir, { recursive: true });
});

/* After each test: no error may have been missed. */
afterEach(() => skip || assert.deepStrictEqual(browser.errors.splice(0), []));

test('opens and shows the sums of report --wall', { skip }, async () => {
	const expected = JSON.parse(execFileSync(PROGRAM, ['report', '--wall', '--json', plain.trace], { encoding: 'utf8' }));
	const sums = await tab.evaluate('page.model.tasks.reduce((sum, task) => sum.map((ns, i) => ns + task.total[i]), [0, 0, 0, 0])');
	assert.deepStrictEqual(sums, [expected.unknown_ns, expected.running_ns, expected.runnable_ns, expected.blocked_ns]);
	assert.match(await tab.evaluate("document.getElementById('sums').textContent"), /running [\d.]+ m?s/);
	assert.match(await tab.evaluate("document.getElementById('total').textContent"), /in \d+ samples/);
	assert(await tab.evaluate(`(() => {
		const { data } = document.getElementById('lanes-canvas').getContext('2d').getImageData(300, 20, 400, 100);
		return new Set(new Uint32Array(data.buffer)).size;
	})()`) > 20, 'the lanes have colours');
	await shot(tab, 'light');
});

test('finds functions and threads', { skip }, async () => {
	await tab.key('/');
	assert.strictEqual(await tab.evaluate('document.activeElement.id'), 'search');
	await tab.type('f6');
	await tab.until("/[1-9].* % of the flame graph/.test(document.getElementById('found').textContent)");
	await tab.evaluate("document.getElementById('tab-functions').click()");
	const rows = await tab.evaluate("[...document.querySelectorAll('#functions tbody th')].map((cell) => cell.textContent)");
	assert(rows.length && rows.every((name) => name === 'f6'), rows.join());
	await shot(tab, 'search');
	await tab.key('Escape');
	await tab.until("document.getElementById('found').textContent === ''");
	await tab.type('task 10');
	await tab.until("/[1-9]\\d* threads/.test(document.getElementById('found').textContent)");
	await tab.key('Enter');
	assert.match(await tab.evaluate('page.state.selected.row.name'), /^task 10/);
	await tab.key('Escape');
	await tab.evaluate("document.getElementById('clear').click()");
});

test('zooms by wheel, keys and buttons, and pans', { skip }, async () => {
	const length = () => tab.evaluate('page.state.view.to - page.state.view.from');
	const from = () => tab.evaluate('page.state.view.from'), { x, y } = await middle(tab, 'lanes'), all = await length();
	const under = await tab.evaluate(`page.timeline.timeAt(${x} - page.timeline.scroller.getBoundingClientRect().left)`);
	await tab.wheel(x, y, -240, CTRL);
	await tab.until(`page.state.view.to - page.state.view.from < ${all}`);
	const still = await tab.evaluate(`page.timeline.timeAt(${x} - page.timeline.scroller.getBoundingClientRect().left)`);
	assert(Math.abs(still - under) < all / 1000, 'what was under the pointer stays there');
	const once = await length();
	await tab.evaluate("document.getElementById('lanes').focus()");
	await tab.key('w');
	assert(await length() < once);
	await tab.key('s');
	await tab.key('-');
	assert(await length() > once);
	for (let i = 0; i < 5; i++)
		await tab.key('w');
	const left = await from();
	await tab.key('ArrowRight');
	assert(await from() > left);
	await tab.key('a');
	assert(Math.abs(await from() - left) < 2);
	await tab.evaluate("document.getElementById('zoom-fit').click()");
	assert.strictEqual(await length(), all);
});

test('selects a dragged range with the flame graph of report for that time', { skip }, async () => {
	const { x, y } = await middle(tab, 'lanes');
	await tab.mouse('mousePressed', x - 100, y);
	for (let i = -90; i <= 200; i += 29)
		await tab.mouse('mouseMoved', x + i, y, { button: 'left', buttons: 1 });
	await tab.mouse('mouseReleased', x + 200, y);
	const { from, to, first, origin } = await tab.evaluate(`({ ...page.state.range, first: page.model.first,
		origin: String(page.model.trace.origin) })`);
	assert(to > from && from > first);
	await tab.until("/ to /.test(document.getElementById('range').textContent)");
	await tab.until(`page.weighedRange.from === ${from} && page.weighedRange.to === ${to}`);
	const at = (ts) => {
		const ns = BigInt(origin) + BigInt(ts);
		return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;
	};
	const expected = JSON.parse(execFileSync(PROGRAM, ['report', '--json', '--time', `${at(from)},${at(to)}`, plain.trace],
		{ encoding: 'utf8' }));
	assert.strictEqual(await tab.evaluate('page.weights.count.reduce((a, b) => a + b, 0)'), expected.samples);
	await shot(tab, 'range');
	await tab.evaluate("document.getElementById('lanes').focus()");
	await tab.key('Escape');
	assert.strictEqual(await tab.evaluate('page.state.range'), null);
});

test('shows stack, waker and who ran instead of a blocked interval', { skip }, async () => {
	const place = await tab.evaluate(blockedPlace);
	assert(place, 'one is wide enough');
	await tab.click(place.x, place.y);
	const text = await tab.evaluate("document.getElementById('details').textContent");
	for (const part of [place.name, 'blocked (', 'woken by', 'Ran on CPU', 'Stack'])
		assert(text.includes(part), `${part} in: ${text}`);
	assert(!text.includes('[object'), text);
	assert(await tab.evaluate("document.querySelectorAll('#details .stack li').length") > 0);
	assert.match(await tab.evaluate("document.getElementById('announced').textContent"), /blocked/);
	await shot(tab, 'details');
	const link = await tab.evaluate("document.querySelectorAll('#details dd .link').length");
	if (link) {
		await tab.evaluate("document.querySelector('#details dd .link').click()");
		assert(await tab.evaluate('page.state.selected.row.task !== undefined'));
	}
});

test('works with keys alone and shows the focus', { skip }, async () => {
	const stops = [];
	await tab.evaluate('document.activeElement.blur()');
	for (let i = 0; i < 24; i++) {
		await tab.key('Tab');
		stops.push(await tab.evaluate(`(() => {
			const e = document.activeElement;
			const seen = getComputedStyle(e).outlineStyle !== 'none' || e.closest('label') &&
				getComputedStyle(e.closest('label')).outlineStyle !== 'none';
			return (e.id || e.tagName) + (seen ? '' : ' unseen');
		})()`));
	}
	for (const id of ['search', 'zoom-in', 'theme', 'help', 'lanes', 'splitter', 'inverted', 'flame'])
		assert(stops.includes(id), `${id} in ${stops}`);
	assert(stops.some((stop) => stop.startsWith('tab-')), stops.join());
	assert.deepStrictEqual(stops.filter((stop) => stop.endsWith(' unseen') && !stop.startsWith('BODY')), []);
	await tab.evaluate("document.getElementById('lanes').focus()");
	await tab.evaluate('page.input.on.selected(page.timeline.rows[0], -1)');
	const lanes = await tab.evaluate('page.timeline.rows.length');
	await tab.key(' ');
	assert(await tab.evaluate('page.timeline.rows.length') < lanes);
	assert.match(await tab.evaluate("document.getElementById('announced').textContent"), /^CPUs, folded/);
	await tab.key(' ');
	assert.strictEqual(await tab.evaluate('page.timeline.rows.length'), lanes);
	for (let i = 0; i < 5; i++)
		await tab.key('ArrowDown');
	const row = await tab.evaluate('page.state.selected.row.name');
	await tab.key('ArrowDown');
	assert.notStrictEqual(await tab.evaluate('page.state.selected.row.name'), row);
	assert.strictEqual(await tab.evaluate('page.state.selected.row.type'), 'thread');
	const index = await tab.evaluate('page.state.selected.index');
	await tab.key('.');
	const next = await tab.evaluate('page.state.selected.index');
	assert.notStrictEqual(next, index);
	await tab.key('Enter');
	assert(await tab.evaluate('page.state.range.to - page.state.range.from') > 0);
	await tab.key('Escape');
	await tab.evaluate("document.getElementById('flame').focus()");
	await tab.key('ArrowDown');
	await tab.key('ArrowDown');
	assert.strictEqual(await tab.evaluate('page.flame.flame.depth[page.flame.focus]'), 2);
	await tab.key('ArrowUp');
	await tab.key('Escape');
	assert.strictEqual(await tab.evaluate('page.flame.focus'), 0);
	await tab.key('?');
	assert(await tab.evaluate("document.getElementById('keys').open"));
	await tab.key('Escape');
	await tab.until("!document.getElementById('keys').open");
});

test('inverts the flame graph and shows each kind', { skip }, async () => {
	for (const kind of ['offcpu', 'wall', 'cpu']) {
		await tab.evaluate(`document.getElementById('kind-${kind}').click()`);
		const total = await tab.evaluate('page.flame.flame.total[0]');
		assert(total > 0);
		await tab.evaluate("document.getElementById('inverted').click()");
		assert.strictEqual(await tab.evaluate('page.flame.flame.total[0]'), total);
		await shot(tab, `inverted-${kind}`);
		await tab.evaluate("document.getElementById('inverted').click()");
	}
});

test('follows the dark mode of the system and the switch for it', { skip }, async () => {
	const dark = await open(plain, { width: 2560, height: 1400, scheme: 'dark' });
	const back = () => dark.evaluate('getComputedStyle(document.body).backgroundColor');
	const night = await back();
	assert(Number(/\d+/.exec(night)[0]) < 60, night);
	await shot(dark, 'dark-wide');
	await dark.evaluate("document.getElementById('theme').click()");
	assert(Number(/\d+/.exec(await back())[0]) > 200);
	assert(await dark.evaluate('!page.palette.dark'));
	await shot(dark, 'light-wide');
	await dark.evaluate("localStorage.removeItem('dial9-theme')").catch(() => {});
	await dark.close();
});

test('shows hostile names as text', { skip }, async () => {
	const names = ['</script><script>window.bad=1</script>', '<img src=x onerror="window.bad=1">', "'\"&lt;\u202e{{7*7}}${1}`"];
	for (const name of names) {
		const hostile = await open(exported('hostile', made('2', '1500', name)));
		await hostile.evaluate(`for (const row of page.timeline.groups.flatMap((one) => one.rows).slice(0, 12))
			for (const index of [-1, 0, 3])
				page.input.on.selected(row, index);
			for (const tab of document.querySelectorAll('[role=tab]')) tab.click()`);
		const place = await hostile.evaluate(blockedPlace);
		await hostile.mouse('mouseMoved', place.x, place.y);
		await hostile.click(place.x, place.y);
		await hostile.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
		assert.strictEqual(await hostile.evaluate('window.bad'), undefined);
		assert.strictEqual(await hostile.evaluate("document.querySelectorAll('img, body script:not(#trace)').length"), 1);
		const shown = name.replace('\u202e', '\\u{202e}');
		assert(await hostile.evaluate(`document.body.textContent.includes(${JSON.stringify(shown)})`), 'it is shown');
		await hostile.close();
	}
});

/* A trace in which every name is this one: bytes of UTF-8, or invalid ones. */
function namedBy(name) {
	const s = (size) => [...le(name.length, size), ...name], ascii = (text, size) => str(text, size), S = TYPE.STRING;
	const types = [], define = (title, fields) => types.push([1, ...le(types.length + 1, 2), ...title, 1, ...le(fields.length, 2),
		...fields.flatMap(([field, type]) => [...field, type])]) && types.length;
	const fields = (...list) => list.map(([field, type]) => [ascii(field, 2), type]);
	const metadata = define(ascii('SegmentMetadataEvent', 2), fields(['entries', TYPE.STRING_MAP]));
	const moduleEvent = define(ascii('ModuleEvent', 2), fields(['module_id', 13], ['path', S], ['kind', 11]));
	const task = define(ascii('TaskEvent', 2), fields(['pid', 13], ['tid', 13], ['comm', S], ['exe', S], ['cgroup', S]));
	const symbol = define(ascii('SymbolTableEntry', 2), fields(['addr', 1], ['size', 13], ['symbol_name', S], ['inline_depth', 11],
		['source_file', S], ['source_line', 13]));
	const switched = define(ascii('sched:sched_switch', 2), fields(['common_cpu', 13], ['common_pid', 13], ['prev_comm', S],
		['prev_pid', 13], ['prev_state', 13], ['next_comm', S], ['next_pid', 13]));
	const sample = define(ascii('CpuSampleEvent', 2), fields(['tid', 13], ['source', 11], ['callchain', TYPE.STACK], ['pid', 13]));
	const tracepoint = define([...le(name.length + 2, 2), ...name, 0x3a, 0x78], [...fields(['common_cpu', 13], ['common_pid', 13]),
		[s(2), S]]);
	const poll = define(ascii('PollStartEvent', 2), fields(['worker_id', 13], ['task_id', 13], ['spawn_loc', S]));
	const park = define(ascii('WorkerParkEvent', 2), fields(['worker_id', 13], ['tid', 13]));
	const enter = define([...le(name.length + 10, 2), ...Buffer.from('SpanEnter:'), ...name],
		fields(['worker_id', 13], ['span_id', 13], ['span_name', S]));
	const lost = define(ascii('LostEvents', 2), fields(['kind', S], ['count', 13], ['first_ns', 1], ['last_ns', 1]));
	const meaning = define(ascii('TracepointSymbol', 2), fields(['event', S], ['field', S], ['kind', 11], ['value', 13], ['name', S]));
	const u32 = (v) => le(v, 4), at = (type, ...values) => [2, ...le(type, 2), ...le(1000, 3), ...values.flat(9)];
	const entry = (key) => [...ascii(key, 4), ...s(4)], frame = le(1n << 40n | 0x10n, 8);
	const keys = ['start_realtime_ns', 'host', 'kernel', 'command_line', 'service', 'target'];
	return Buffer.from([HEADER, types, at(metadata, u32(keys.length), keys.map(entry)), at(moduleEvent, u32(1), s(4), 0),
		at(task, u32(7), u32(7), s(4), s(4), s(4)), at(switched, u32(0), u32(0), s(4), u32(0), u32(0), s(4), u32(7)),
		at(sample, u32(7), 0, u32(1), frame, u32(7)), at(enter, u32(1), u32(5), s(4)), at(poll, u32(1), u32(5), s(4)),
		at(tracepoint, u32(0), u32(7), s(4)), at(meaning, s(4), s(4), 0, u32(1), s(4)), at(lost, s(4), u32(1), le(1, 8), le(2, 8)),
		at(switched, u32(0), u32(7), s(4), u32(7), u32(1), s(4), u32(8)), at(sample, u32(7), 1, u32(1), frame, u32(7)),
		at(park, u32(1), u32(7)), at(switched, u32(0), u32(8), s(4), u32(8), u32(0), s(4), u32(0)),
		at(symbol, frame, u32(9), s(4), 0, s(4), u32(3))].flat(9));
}

test('shows any name in every place as text only', { skip }, async () => {
	const names = { markup: '<b onmouseover=alert(1)>&amp;</b><script>window.bad=1</script>', turned: 'abc\u202egpj.exe\u2066\u200f',
		long: 'long name '.repeat(6000), nul: 'a\0b\x1b[31m\r\nc', prototype: '__proto__', format: '%s%n{{x}}${y}' };
	const all = { ...names, surrogate: [0x61, 0xed, 0xa0, 0x80, 0x62], latin: [0xff, 0xfe, 0x80], empty: '' };
	for (const [kind, name] of Object.entries(all)) {
		const page = await open(exported(`named-${kind}`, namedBy(Buffer.from(name))));
		const seen = await page.evaluate(`(() => {
			const texts = [document.title, document.body.innerText];
			for (const row of page.timeline.groups.flatMap((one) => one.rows))
				for (const index of [-1, 0]) {
					page.input.on.selected(row, index);
					if (index === 0)
						page.input.on.hovered(row, index, { clientX: 9, clientY: 9 });
					page.timeline.draw();
					texts.push(document.body.innerText);
				}
			page.input.on.ranged(null, true);
			page.flame.zoomTo(1);
			for (const tab of document.querySelectorAll('[role=tab]')) {
				tab.click();
				texts.push(document.body.innerText);
			}
			return texts.join('\\n');
		})()`);
		assert.doesNotMatch(seen, /(?![\u200c\u200d\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u, kind);
		assert.strictEqual(await page.evaluate("window.bad === undefined && document.querySelectorAll('b, img, body script:not(#trace)').length"), 1);
		assert(await page.evaluate('document.documentElement.scrollWidth <= innerWidth && document.body.scrollHeight <= innerHeight'), kind);
		if (kind === 'turned')
			assert(seen.includes('abc\\u{202e}gpj.exe'), seen);
		await shot(page, `named-${kind}`);
		await page.close();
	}
});

test('shows a truncated trace and reports why an unreadable trace is not shown', { skip }, async () => {
	const bytes = fs.readFileSync(plain.trace), torn = await open(exported('torn', bytes.subarray(0, bytes.length - 7)));
	assert.match(await torn.evaluate("document.getElementById('facts').textContent"), /truncated at byte/);
	await torn.close();
	const empty = await browser.open(exported('empty', bytes.subarray(0, 5)).url);
	await empty.until("/cannot be shown: /.test(document.getElementById('status')?.textContent)");
	await empty.close();
});

test('has lanes of polls and spans of a Tokio service', { skip }, async () => {
	const tokio = await open(exported('tokio', fs.readFileSync(path.join(GOLDEN, 'tokio-service.bin.gz'))));
	assert.deepStrictEqual(await tokio.evaluate('page.model.lanes.workers.map(({ workers, tid }) => [workers, tid])'),
		[[[0], 31710], [[1], 31711]]);
	assert.deepStrictEqual(await tokio.evaluate("page.timeline.rows.filter((row) => row.type !== 'group').slice(0, 3).map((row) => row.name)"),
		['tokio-rt-worker 31710', 'polls of worker 0', 'spans of worker 0']);
	await tokio.evaluate(`page.timeline.show(page.model.first + 4.79e9, page.model.first + 4.81e9);
		window.row = page.timeline.rows.find((row) => row.type === 'polls');
		page.input.on.selected(row, row.lane().at(page.model.first + 4.8071e9))`);
	const text = await tokio.evaluate("document.getElementById('details').textContent");
	for (const part of ['poll, ', 'worker0', 'tokio-rt-worker 31710', 'task spawned at', '.rs:', 'has no switches of this thread'])
		assert(text.includes(part), `${part} in: ${text}`);
	await shot(tokio, 'tokio');
	await tokio.close();
});

test('shows the states of a thread during a poll', { skip }, async () => {
	const polls = await open(exported('polls', made('4', '3000')));
	const found = await polls.evaluate(`(() => {
		for (const row of page.timeline.rows.filter((row) => row.type === 'polls')) {
			const lane = row.lane(), task = page.model.taskOfTid(row.tid, row.space), { rows } = page.model;
			for (let i = 0; task && i < lane.length; i++) {
				const inside = Array.from(task.rows).filter((r) => rows.start[r] < lane.end[i] && rows.end[r] > lane.start[i]);
				if ([1, 2, 3].every((state) => inside.some((r) => rows.state[r] === state))) {
					page.timeline.zoom(1e-3, lane.start[i]);
					page.input.on.selected(row, i);
					return inside.length;
				}
			}
		}
	})()`);
	assert(found > 2);
	assert.strictEqual(await polls.evaluate("document.querySelectorAll('#details .steps tr').length"), found);
	const text = await polls.evaluate("document.querySelector('#details').textContent");
	for (const part of ['Thread states', 'ran on CPU', 'waited for CPU', 'ran instead: ', 'blocked ('])
		assert(text.includes(part), `${part} in: ${text}`);
	await shot(polls, 'polls');
	await polls.evaluate("document.querySelector('#details .steps .link').click()");
	assert.strictEqual(await polls.evaluate('page.state.selected.row.type'), 'thread');
	await polls.close();
});

test('is served by view too', { skip }, async () => {
	const server = spawn(PROGRAM, ['view', '--no-open', plain.trace], { stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = new Promise((resolve) => server.on('exit', resolve));
	const url = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim())));
	const served = await open({ url });
	assert.strictEqual(await served.evaluate('page.model.trace.count'), await tab.evaluate('page.model.trace.count'));
	await served.close();
	server.kill('SIGINT');
	assert.strictEqual(await ended, 0);
});

test('opens a million events and follows a drag over them', { skip }, async (t) => {
	const page = exported('million', made('5', MILLION)), many = await browser.open('about:blank');
	await many.send('Performance.enable', { timeDomain: 'threadTicks' });
	const cpu = async () => (await many.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
	const idle = await cpu();
	await many.send('Page.navigate', { url: page.url });
	await many.until(`location.href === ${JSON.stringify(page.url)}`);
	const wall = await many.ready(), opened = await cpu();
	assert(await many.evaluate('page.model.trace.count') > 1e6);
	const frames = await many.evaluate(`(async () => {
		const { timeline } = page, box = timeline.scroller.getBoundingClientRect();
		timeline.scroller.setPointerCapture = () => {};
		const pointer = (type, x) => timeline.scroller.dispatchEvent(new PointerEvent(type,
			{ clientX: box.left + x, clientY: box.top + 60, button: 0, buttons: 1, bubbles: true }));
		const begun = performance.now();
		pointer('pointerdown', 250);
		for (let i = 0; i < 60; i++) {
			pointer('pointermove', 260 + 12 * i);
			await new Promise(requestAnimationFrame);
		}
		pointer('pointerup', 980);
		return 60000 / (performance.now() - begun);
	})()`), dragged = await cpu();
	assert(await many.evaluate('page.state.range !== null'));
	t.diagnostic(`opened in ${(wall / 1000).toFixed(2)} s (${(opened - idle).toFixed(2)} s of CPU time), dragged at ` +
		`${frames.toFixed(0)} frames/s (${((dragged - opened) * 1000 / 60).toFixed(1)} ms of CPU time a frame)`);
	await shot(many, 'million');
	await many.close();
});
