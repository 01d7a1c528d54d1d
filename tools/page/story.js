// SPDX-License-Identifier: BSD-2-Clause
/* What can be told of an interval in words: why it began, how it ended, who ran meanwhile. Text, no elements. */
'use strict';

const { NONE, lowerBound, upperBound } = require('./columns.js');
const { END, FLAG, NOBODY, STATE, WHY } = require('./intervals.js');

const LETTERS = 'SDTtXZPI';
const LETTER_WORDS = { S: 'asleep', D: 'uninterruptible', T: 'stopped', t: 'traced', X: 'dead', Z: 'zombie', P: 'parked',
	I: 'idle' };
const SOFTIRQS = ['HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'];
const ENDS = { [END.NOTHING]: 'the recording ended', [END.CPU]: 'got a CPU', [END.WAKING]: 'was woken',
	[END.BLOCK]: 'blocked', [END.PREEMPTED]: 'was preempted', [END.GIVE_WAY]: 'gave way', [END.EXIT]: 'exited' };
const WHYS = { [WHY.WOKEN]: 'it was woken', [WHY.WOKEN_EARLY]: 'it was woken before it had left its CPU',
	[WHY.PREEMPTED]: 'it was preempted', [WHY.GAVE_WAY]: 'its turn was over', [WHY.NEW]: 'it was born' };
/* Functions that every switch goes through: what called them says more. */
const SCHEDULER = /^(__)?schedule(_\w+)?(\.\w+)*$|^preempt_schedule|^finish_task_switch|^context_switch|^do_nanosleep$|^futex_(do_)?wait(_queue)?$/;

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
		return 'waiting for a CPU';
	case STATE.BLOCKED: {
		const as = letter(rows.prevState[row]);
		return flags & FLAG.EDGE_START ? 'blocked or asleep' : `blocked (${as}: ${LETTER_WORDS[as] || 'blocked'})`;
	}
	default:
		return flags & FLAG.NEIGHBOUR ? 'not followed by the recording' :
			flags & FLAG.LOSS ? 'unknown: events were lost' : 'unknown: events are missing';
	}
}

/* From what a waking came: { by: a tid or NONE, text }. */
function wakerText(model, waker, clock) {
	const { wakers } = model, said = wakers.said[waker], number = (said >>> 3) - 1;
	switch (said & 7) {
	case 2:
		return { by: NONE, text: number === 1 ? 'a timer' : `softirq ${SOFTIRQS[number] || (number >= 0 ? number : '')}`.trim() };
	case 3:
		return { by: NONE, text: `interrupt${number >= 0 ? ` ${number}` : ''}` };
	case 4:
		return { by: NONE, text: 'an interrupt of the kernel (IPI)' };
	case 5:
		return { by: NONE, text: 'a timer' };
	default:
		return { by: wakers.tid[waker], text: model.nameOfTid(wakers.tid[waker], clock) };
	}
}

/* Who ran on a CPU from when to when: [{ tid, ns }], longest first. tid 0: idle, NOBODY: unknown. */
function whoRan(model, cpu, from, to, sums = new Map()) {
	const lane = model.cpus.find((one) => one.cpu === cpu);
	let told = 0;
	if (lane) {
		const { start, end, tid } = lane, first = upperBound(end, from, 0, end.length);
		const last = lowerBound(start, to, first, start.length);
		for (let i = first; i < last; i++) {
			const ns = Math.min(end[i], to) - Math.max(start[i], from);
			sums.set(tid[i], (sums.get(tid[i]) || 0) + ns);
			told += ns;
		}
	}
	if (to - from > told)
		sums.set(NOBODY, (sums.get(NOBODY) || 0) + to - from - told);
	return sums;
}

/* Who ran on the CPUs on whose queues a runnable thread was; or on the CPU that a blocked one left. */
function meanwhile(model, row) {
	const { rows } = model, from = rows.start[row], to = rows.end[row], sums = new Map();
	const hops = model.intervals.hops.get(row) || [{ since: from, cpu: rows.cpu[row] }];
	if (rows.state[row] !== STATE.RUNNABLE)
		whoRan(model, rows.cpu[row], from, to, sums);
	else
		hops.forEach((hop, i) => whoRan(model, i === hops.length - 1 ? rows.cpu[row] : hop.cpu,
			Math.max(hop.since, from), i === hops.length - 1 ? to : hops[i + 1].since, sums));
	return [...sums].map(([tid, ns]) => ({ tid, ns })).filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
}

/* What a stack is about, in one name: the function nearest to the leaf that is not the scheduler's own. */
function gist(model, stack) {
	if (stack === NONE)
		return '';
	for (const frame of model.trace.stacks.get(stack))
		for (const line of model.trace.symbols.lines(frame))
			if (!SCHEDULER.test(line.name))
				return line.name;
	return '';
}

module.exports = { stateText, wakerText, meanwhile, gist, letter, ENDS, WHYS };
