// SPDX-License-Identifier: BSD-2-Clause
/*
 * States of threads, and the events and constants that intervals.js and offcpu_intervals.js share.
 */
'use strict';

const STATE = { UNKNOWN: 0, RUNNING: 1, RUNNABLE: 2, BLOCKED: 3 };
const END = { NOTHING: 0, CPU: 1, WAKEUP: 2, BLOCK: 3, PREEMPTED: 4, RESCHED: 5, EXIT: 6 };
const WHY = { UNKNOWN: 0, WOKEN: 1, WOKEN_EARLY: 2, PREEMPTED: 3, RESCHED: 4, NEW: 5 };
/*
 * BETWEEN: not recorded, because only off-CPU intervals were. ELSEWHERE: it was, or may have been,
 * on a CPU that is not in the trace. UNSURE: off the CPU until a switch in
 * without a wakeup.
 */
const FLAG = { LOSS: 1, HOLE: 2, EDGE_START: 4, EDGE_END: 8, BETWEEN: 0x10, NEIGHBOUR: 0x40,
	UNSURE: 0x80, ELSEWHERE: 0x100 };
/* Whether these are the flags of an unknown interval in which the thread was off the CPU all the time. */
const isUnsure = (flags) => (flags & (FLAG.UNSURE | FLAG.LOSS | FLAG.HOLE | FLAG.NEIGHBOUR | FLAG.ELSEWHERE)) === FLAG.UNSURE;
const CUT = FLAG.LOSS | FLAG.HOLE | FLAG.EDGE_START | FLAG.EDGE_END;
/* Kinds of events that change states; others only advance the time. */
const EVENT = { OTHER: 0, SWITCH: 1, WAKEUP: 2, BIRTH: 3, SAMPLE: 4, TRACEPOINT: 5, TASK: 6, WATCH: 7,
	OFF_CPU: 8, EXIT: 9 };
const WATCH = { ENDED: 0, BEGUN: 1, BEGUN_UNSEEN: 2 };
const SOURCE = { SAMPLE: 0, SWITCH_OUT: 1, WAKEUP: 2, EVENT: 3 };

/* The thread on a CPU if a switch is missing. */
const NOBODY = 0xfffffffe, TID_MAX = 4194304;
const LETTERS_MASK = 0xff, DEAD_OR_ZOMBIE = 0x30;

/*
 * Columns of events. The meaning of a to d depends on the kind:
 *	SWITCH			prev pid, next pid, prev state
 *	WAKEUP, BIRTH		pid, target CPU, context
 *	SAMPLE			stack, pid, source
 *	TRACEPOINT		pid, child pid, old pid, destination CPU; NONE without such a field
 *	TASK			pid
 *	WATCH			one of WATCH
 *	EXIT			as TRACEPOINT
 *	OFF_CPU			the row in a table of OFF_CPU_COLUMNS
 */
const EVENT_COLUMNS = { ts: Float64Array, kind: Uint8Array, part: Uint16Array, tid: Uint32Array, cpu: Uint32Array,
	a: Uint32Array, b: Uint32Array, c: Uint32Array, d: Uint32Array, schema: Uint16Array, offset: Float64Array };
const OFF_CPU_COLUMNS = { offNs: Float64Array, blockedNs: Float64Array, prevState: Uint32Array, fromCpu: Uint32Array,
	waker: Uint32Array, context: Uint32Array, woken: Uint8Array, unfinished: Uint8Array };

/* Whether a thread with this prev_state needs a wakeup to continue. */
function isBlocked(state) {
	return (state & LETTERS_MASK) !== 0;
}

function endOfSwitch(state) {
	if (state & DEAD_OR_ZOMBIE)
		return END.EXIT;
	if (isBlocked(state))
		return END.BLOCK;
	return state ? END.PREEMPTED : END.RESCHED;
}

module.exports = { STATE, END, WHY, FLAG, CUT, EVENT, WATCH, SOURCE, NOBODY, TID_MAX, EVENT_COLUMNS, OFF_CPU_COLUMNS, isBlocked, isUnsure,
	endOfSwitch };
