// SPDX-License-Identifier: BSD-2-Clause
/* Names of events and fields of dial9-prof in the page's reader: they are rows of user/events/own_events.h. */
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');

const top = path.join(__dirname, '..', '..', '..');
const source = (name) => fs.readFileSync(path.join(top, name), 'utf8').replace(/\\\n/g, ' ');

/* Event name -> names of its fields. */
function table() {
	const header = source('user/events/own_events.h');
	const names = new Map(Array.from(source('include/prof_events.h').matchAll(/#define (PROF_EV_\w+) +"([^"]+)"/g),
		([, macro, name]) => [macro, name]));
	const fields = new Map(Array.from(header.matchAll(/#define OWN_(\w+)_FIELDS\(X\)(.*)/g), ([, id, rows]) =>
		[id, Array.from(rows.matchAll(/X\(\w+, (\w+),/g), ([, name]) => name)]));
	const [, events] = /#define OWN_EVENTS\(X\)(.*)/.exec(header);
	return new Map(Array.from(events.matchAll(/X\((\w+), \w+, (\w+)\)/g), ([, id, macro]) =>
		[names.get(macro), fields.get(id)]));
}

const words = (text) => Array.from(text.matchAll(/'(\w+)'/g), ([, word]) => word);

test('the reader uses only existing fields of events', () => {
	const own = table(), reader = source('user/web/read/trace.js');
	let checked = 0;

	for (const [, name, body] of reader.matchAll(/^\thandle(\w+)\(frame\) \{\n(.*?)^\t\}/gms)) {
		assert.ok(own.has(name), name);
		const lists = Array.from(body.matchAll(/\[('\w+'(?:, '\w+')*)\]/g), ([, list]) => list);
		const got = Array.from(body.matchAll(/frame\.get\(('\w+')\)/g), ([, field]) => field);
		for (const field of words([...lists, ...got].join(' '))) {
			assert.ok(own.get(name).includes(field), `${name}.${field}`);
			checked++;
		}
	}
	for (const field of words(/^const SAMPLE = (.*);$/m.exec(reader)[1])) {
		assert.ok(own.get('CpuSampleEvent').includes(field), field);
		checked++;
	}
	assert.ok(own.get('ClockSyncEvent').includes('realtime_ns'));
	assert.ok(own.get('SegmentMetadataEvent').includes('entries'));
	assert.ok(checked >= 28, `${checked} fields`);
});

test('the reader uses only existing names of events', () => {
	const own = table(), reader = source('user/web/read/trace.js');

	for (const list of ['HANDLED', 'NAMING', 'UNSEEN'])
		for (const name of words(new RegExp(`^const ${list} = \\[(.*?)\\];$`, 'ms').exec(reader)[1]))
			assert.ok(own.has(name), name);
});
