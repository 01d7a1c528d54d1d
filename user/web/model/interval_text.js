// SPDX-License-Identifier: BSD-2-Clause
/*
 * An interval in words: why it started, how it ended, which threads ran instead. Text, no elements.
 */
'use strict';

const { NONE, lowerBound, upperBound } = require('../read/columns.js');
const { END, FLAG, NOBODY, STATE, WHY, isUnsure } = require('../read/states.js');

const LETTERS = 'SDTtXZPI';
const LETTER_WORDS = { S: 'sleeping', D: 'uninterruptible', T: 'stopped', t: 'traced', X: 'dead', Z: 'zombie', P: 'parked',
	I: 'idle' };
const SOFTIRQS = ['HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'];
const ENDS = { [END.NOTHING]: 'with the recording', [END.CPU]: 'switched in', [END.WAKEUP]: 'woken',
	[END.BLOCK]: 'blocked', [END.PREEMPTED]: 'preempted', [END.RESCHED]: 'time slice over, or yielded', [END.EXIT]: 'exited' };
const WHYS = { [WHY.WOKEN]: 'woken', [WHY.WOKEN_EARLY]: 'woken before it left its CPU',
	[WHY.PREEMPTED]: 'preempted', [WHY.RESCHED]: 'time slice over, or yielded', [WHY.NEW]: 'new thread' };
/* The letter of a state as in ps. */
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
			flags & (FLAG.NEIGHBOUR | FLAG.ELSEWHERE) ? 'not recorded' :
			flags & FLAG.LOSS ? 'unknown: events were lost' :
			isUnsure(flags) ? 'unknown: runnable or blocked, wakeup not recorded' :
			'unknown: events are missing';
	}
}

/* The waker: { by: a tid or NONE, text }. */
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

/* Adds to `sums` the threads that ran on a CPU in a time range. */
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
 * Threads that ran on the CPUs whose run queues a runnable thread was on, or on the CPU that a
 * blocked one left, in a range of its interval: [{ tid, ns }], longest first. tid 0: idle, NOBODY:
 * unknown. As intervals_preemptors() of user/profile/sched/intervals.c.
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
		/* if it was switched in on another CPU, it was migrated at an unknown time */
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

/* Tolerance between the clock readings of the application and the recorder. */
const OFF_SLACK_NS = 50000;

function wasOff({ rows }, { rows: mine, ends }, ts) {
	const i = upperBound(ends, ts, 0, ends.length), row = i < mine.length ? mine[i] : NONE;
	return row !== NONE && rows.start[row] <= ts && (rows.state[row] === STATE.BLOCKED || rows.state[row] === STATE.RUNNABLE) &&
		ts - rows.start[row] >= OFF_SLACK_NS && rows.end[row] - ts >= OFF_SLACK_NS;
}

/*
 * Whether a thread (one of model.tasks) can be the one that wrote the start and end of a range: it
 * reads the clock on a CPU. If it was off the CPU, the TID belongs to another thread, in another
 * PID namespace or created later. As user/cmd/explain/explain_slowest.c.
 */
function canBeItsThread(model, task, { from, to }) {
	return !wasOff(model, task, from) && !wasOff(model, task, to);
}

/*
 * What a thread (one of model.tasks) did in a range: { pieces: [{ row, from, to }], left, leftNs },
 * in order of time; at most the `most` longest ones.
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

/* The most informative function of one half of a stack, kernel or user, or null. */
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

/* The name that best describes the stack of a blocked thread. As user/profile/explain/causes.c. */
function gist({ trace }, stack) {
	if (stack === NONE)
		return '';
	return trace.stacks.gists[stack] ??= bestFunction(trace, stack, false) || bestFunction(trace, stack, true) || '';
}

module.exports = { stateText, wakerText, ranInstead, canBeItsThread, pieces, gist, letter, ENDS, WHYS };
