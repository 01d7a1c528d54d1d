// SPDX-License-Identifier: BSD-2-Clause
/* What can be told of an interval in words: why it began, how it ended, who ran meanwhile. Text, no elements. */
'use strict';

const { NONE, lowerBound, upperBound } = require('../read/columns.js');
const { END, FLAG, NOBODY, STATE, WHY } = require('../read/states.js');

const LETTERS = 'SDTtXZPI';
const LETTER_WORDS = { S: 'sleeping', D: 'uninterruptible', T: 'stopped', t: 'traced', X: 'dead', Z: 'zombie', P: 'parked',
	I: 'idle' };
const SOFTIRQS = ['HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'];
const ENDS = { [END.NOTHING]: 'with the recording', [END.CPU]: 'switched in', [END.WAKEUP]: 'woken',
	[END.BLOCK]: 'blocked', [END.PREEMPTED]: 'preempted', [END.RESCHED]: 'time slice over, or yielded', [END.EXIT]: 'exited' };
const WHYS = { [WHY.WOKEN]: 'woken', [WHY.WOKEN_EARLY]: 'woken before it left its CPU',
	[WHY.PREEMPTED]: 'preempted', [WHY.RESCHED]: 'time slice over, or yielded', [WHY.NEW]: 'new thread' };
/* The letter by which ps calls a state. */
function letter(prevState) {
	if (!(prevState & 0xff))
		return 'R';
	const bit = Math.log2(prevState);
	return Number.isInteger(bit) ? LETTERS[bit] : '?';
}

function stateText(rows, row) {
	const flags = rows.flags[row];
	switch (rows.state[row]) {
	case STATE.RUNNING:
		return 'running';
	case STATE.RUNNABLE:
		return 'runnable';
	case STATE.BLOCKED: {
		const as = letter(rows.prevState[row]);
		return flags & FLAG.EDGE_START ? 'blocked' : `blocked (${as}: ${LETTER_WORDS[as] || 'blocked'})`;
	}
	default:
		return flags & FLAG.BETWEEN ? 'unknown: only some off-CPU intervals are recorded' :
			flags & FLAG.NEIGHBOUR ? 'not recorded' :
			flags & FLAG.LOSS ? 'unknown: events were lost' :
			flags & FLAG.UNSURE && !(flags & FLAG.HOLE) ? 'unknown: runnable or blocked' :
			'unknown: events are missing';
	}
}

/* From what a waking came: { by: a tid or NONE, text }. */
function wakerText(model, waker, space) {
	const { wakers } = model, raw = wakers.raw[waker], number = (raw >>> 3) - 1;
	switch (raw & 7) {
	case 2:
		return { by: NONE, text: number === 1 ? 'a timer' : `softirq ${SOFTIRQS[number] || (number >= 0 ? number : '')}`.trim() };
	case 3:
		return { by: NONE, text: `interrupt${number >= 0 ? ` ${number}` : ''}` };
	case 4:
		return { by: NONE, text: 'an inter-processor interrupt (IPI)' };
	case 5:
		return { by: NONE, text: 'a timer' };
	default:
		return { by: wakers.tid[waker], text: model.nameOfTid(wakers.tid[waker], space) };
	}
}

/* Adds to `sums` who ran on a CPU from when to when. */
function whoRan(model, space, cpu, from, to, sums) {
	const lane = cpu === NONE ? undefined : model.cpuOf(space, cpu);
	let knownNs = 0;
	if (lane) {
		const { start, end, tid } = lane, first = upperBound(end, from, 0, end.length);
		const last = lowerBound(start, to, first, start.length);
		for (let i = first; i < last; i++) {
			const ns = Math.min(end[i], to) - Math.max(start[i], from);
			sums.set(tid[i], (sums.get(tid[i]) || 0) + ns);
			knownNs += ns;
		}
	}
	if (to - from > knownNs)
		sums.set(NOBODY, (sums.get(NOBODY) || 0) + to - from - knownNs);
}

/*
 * Who ran on the CPUs on whose queues a runnable thread was, or on the CPU that a blocked one left, from when to
 * when of its interval: [{ tid, ns }], longest first. tid 0: idle, NOBODY: unknown. As intervals_behind() of
 * user/profile/sched/intervals.c.
 */
function ranInstead(model, row, start = model.rows.start[row], end = model.rows.end[row]) {
	const { rows } = model, { queues } = model.intervals, cpu = rows.cpu[row], sums = new Map();
	const { space } = model.trace.tasks[rows.task[row]], first = rows.queues[row];
	let to = end;
	if (rows.state[row] !== STATE.RUNNABLE || first === NONE) {
		whoRan(model, space, cpu, start, to, sums);
		to = start;
	}
	for (let i = rows.queueCount[row] - 1; i >= 0 && to > start; i--) {
		const since = queues.since[first + i], from = Math.max(since, start);
		/* one that came to another CPU in the end was moved there, who knows when */
		const known = i < rows.queueCount[row] - 1 || queues.cpu[first + i] === cpu;
		if (since >= end)
			continue;
		if (from < to)
			whoRan(model, space, known ? queues.cpu[first + i] : NONE, from, to, sums);
		to = Math.min(from, to);
	}
	if (to > start)
		sums.set(NOBODY, (sums.get(NOBODY) || 0) + to - start);
	return [...sums].map(([tid, ns]) => ({ tid, ns })).filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
}

/* By that much an application's clock and the recorder's may differ in what they saw first. */
const OFF_SLACK_NS = 50000;

function wasOff({ rows }, { rows: mine, ends }, ts) {
	const i = upperBound(ends, ts, 0, ends.length), row = i < mine.length ? mine[i] : NONE;
	return row !== NONE && rows.start[row] <= ts && (rows.state[row] === STATE.BLOCKED || rows.state[row] === STATE.RUNNABLE) &&
		ts - rows.start[row] >= OFF_SLACK_NS && rows.end[row] - ts >= OFF_SLACK_NS;
}

/*
 * Whether a thread (one of model.tasks) can be the one that told when a stretch began and ended: who reads a clock is
 * on a CPU. One that was not is another, of another pid namespace or born later. As user/cmd/explain/explain_slowest.c.
 */
function canBeItsThread(model, task, { from, to }) {
	return !wasOff(model, task, from) && !wasOff(model, task, to);
}

/*
 * What a thread (one of model.tasks) did from when to when: { pieces: [{ row, from, to }], left, leftNs }, in order
 * of time; of many the `most` longest.
 */
function pieces(model, task, { from, to }, most) {
	const { rows } = model, all = [];
	for (let i = lowerBound(task.ends, from, 0, task.ends.length); i < task.rows.length; i++) {
		const row = task.rows[i], piece = { row, from: Math.max(rows.start[row], from), to: Math.min(rows.end[row], to) };
		if (rows.start[row] >= to)
			break;
		if (piece.to > piece.from)
			all.push(piece);
	}
	const longest = all.slice().sort((a, b) => b.to - b.from - a.to + a.from), left = longest.slice(most);
	return { pieces: longest.slice(0, most).sort((a, b) => a.from - b.from), left: left.length,
		leftNs: left.reduce((sum, piece) => sum + piece.to - piece.from, 0) };
}

/* Of one half of a stack, the kernel's or the program's, the function that says most, or null. */
function bestFunction({ stacks, symbols }, stack, kernel) {
	let first = null;
	for (const frame of stacks.get(stack)) {
		const name = symbols.isKernel(frame) === kernel ? symbols.nameOf(frame) : null;
		if (name && !name.startsWith('_') && !(kernel && name.includes('schedule')))
			return name;
		first ??= name;
	}
	return first;
}

/* What a stack of a blocked thread is about, in one name. As user/profile/explain/causes.c. */
function gist({ trace }, stack) {
	if (stack === NONE)
		return '';
	return trace.stacks.gists[stack] ??= bestFunction(trace, stack, false) || bestFunction(trace, stack, true) || '';
}

module.exports = { stateText, wakerText, ranInstead, canBeItsThread, pieces, gist, letter, ENDS, WHYS };
