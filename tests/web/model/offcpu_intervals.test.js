// SPDX-License-Identifier: BSD-2-Clause
/* Intervals from off-CPU interval events, with impossible values in the file, and with threads that start and end. */
'use strict';

const assert = require('node:assert');
const { test } = require('node:test');

const { NONE, Table } = require('../../../user/web/read/columns.js');
const { Intervals } = require('../../../user/web/model/intervals.js');
const { EVENT, EVENT_COLUMNS, SOURCE, STATE, OFF_CPU_COLUMNS } = require('../../../user/web/read/states.js');

const ASLEEP = 1;

/*
 * Of events [{ ts, kind, tid, ... }], including off-CPU interval events with their own columns: "tid state
 * from-to" of each interval.
 */
function intervalsOf(list) {
	const events = new Table(EVENT_COLUMNS), offCpu = new Table(OFF_CPU_COLUMNS);
	for (const { ts, kind, tid, ...more } of list) {
		const i = events.add();
		events.ts[i] = ts;
		events.kind[i] = kind;
		events.tid[i] = tid;
		for (const name of ['a', 'b', 'c', 'd'])
			events[name][i] = more[name] ?? NONE;
		if (kind !== EVENT.OFF_CPU)
			continue;
		events.a[i] = offCpu.add();
		for (const name of Object.keys(OFF_CPU_COLUMNS))
			offCpu[name][events.a[i]] = more[name] ?? 0;
	}
	const part = { space: 0, start: 100, meta: new Map(), offCpu: true };
	const intervals = new Intervals({ parts: [part], gaps: [], offCpu, taskOf: (space, tid) => tid, firstPid: () => NONE });
	for (let i = 0; i < events.length; i++)
		intervals.add(events, i);
	intervals.finish();
	const { rows } = intervals, words = Object.keys(STATE);
	return Array.from({ length: rows.length }, (_, i) => `${rows.task[i]} ${words[rows.state[i]]} ${rows.start[i]}-${rows.end[i]}${
		rows.stack[i] === NONE ? '' : ` stack ${rows.stack[i]}`}`).sort();
}

function offCpuEvent(ts, offNs, more = {}) {
	return { ts, kind: EVENT.OFF_CPU, tid: 5, offNs, blockedNs: offNs, prevState: ASLEEP, woken: 1, ...more };
}

test('overlapping intervals are cut, and an interval that begins before time 0 keeps its start', () => {
	assert.deepStrictEqual(intervalsOf([offCpuEvent(300, 100), offCpuEvent(350, 120), offCpuEvent(340, 1000, { woken: 1, blockedNs: 5000 }), offCpuEvent(400, 10)]),
		['5 BLOCKED 200-300', '5 BLOCKED 300-350', '5 BLOCKED 350-350', '5 BLOCKED 390-400', '5 RUNNABLE 300-300', '5 RUNNABLE 350-350',
			'5 RUNNABLE 350-350', '5 RUNNABLE 400-400', '5 UNKNOWN 100-200', '5 UNKNOWN 350-390']);
	assert.deepStrictEqual(intervalsOf([offCpuEvent(300, 1e15, { woken: 0 })]), [`5 UNKNOWN ${300 - 1e15}-300`]);
});

test('a stack belongs to the preceding interval of its thread', () => {
	const stack = (tid, a) => ({ ts: 300, kind: EVENT.SAMPLE, tid, a, c: SOURCE.EVENT });
	assert.deepStrictEqual(intervalsOf([offCpuEvent(300, 200), { ts: 300, kind: EVENT.TASK, tid: 5 }, stack(5, 7), stack(5, 8)]),
		['5 BLOCKED 100-300 stack 7', '5 RUNNABLE 300-300']);
	assert.deepStrictEqual(intervalsOf([offCpuEvent(300, 200), stack(6, 7), stack(5, 8)]),
		['5 BLOCKED 100-300', '5 RUNNABLE 300-300']);
});

test('a thread is unknown from its birth to its end, and a thread without intervals and samples is hidden', () => {
	const fork = { ts: 200, kind: EVENT.TRACEPOINT, tid: 9, b: 5 }, exit = { ts: 600, kind: EVENT.EXIT, tid: 5 };
	assert.deepStrictEqual(intervalsOf([fork, exit, { ts: 700, kind: EVENT.OTHER, tid: 0 }]), []);
	assert.deepStrictEqual(intervalsOf([fork, { ts: 700, kind: EVENT.OTHER, tid: 0 }]), []);
	assert.deepStrictEqual(intervalsOf([fork, offCpuEvent(400, 100), exit, { ts: 700, kind: EVENT.OTHER, tid: 0 }]),
		['5 BLOCKED 300-400', '5 RUNNABLE 400-400', '5 UNKNOWN 200-300', '5 UNKNOWN 400-600']);
	assert.deepStrictEqual(intervalsOf([{ ts: 300, kind: EVENT.SAMPLE, tid: 5, a: 7, c: SOURCE.SAMPLE }, { ts: 700, kind: EVENT.OTHER, tid: 0 }]),
		['5 UNKNOWN 100-700']);
	/* the same TID again */
	assert.deepStrictEqual(intervalsOf([offCpuEvent(400, 300), exit, { ...fork, ts: 650 }, offCpuEvent(700, 20), { ts: 800, kind: EVENT.OTHER, tid: 0 }]),
		['5 BLOCKED 100-400', '5 BLOCKED 680-700', '5 RUNNABLE 400-400', '5 RUNNABLE 700-700', '5 UNKNOWN 400-600', '5 UNKNOWN 650-680', '5 UNKNOWN 700-800']);
});
