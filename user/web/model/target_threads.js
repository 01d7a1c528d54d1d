// SPDX-License-Identifier: BSD-2-Clause
/*
 * Target threads of a recording: only these have every switch and wakeup in the trace. As
 * user/profile/sched/target_threads.c: from the metadata, from forks, and for earlier children from
 * TaskEvents.
 */
'use strict';

const { NONE } = require('../read/columns.js');

const NAMED = 1, FORKED = 2;

function numbers(text) {
	return Array.from(text.matchAll(/(\d+)(?:,|$)/gy), ([, id]) => Number(id));
}

class TargetThreads {
	#pids = new Map();
	#tids = new Map();
	#pending = new Set(); /* PIDs of the command until it runs */
	#excluded = new Set(); /* without inherit: TIDs of threads that are new; a reused TID is new, too */
	#inherit;
	#command = false;
	fromTaskEvents = false;
	within = false;

	/* meta: a Map of the part's metadata. */
	constructor(meta) {
		const target = meta.get('target') || '', pids = meta.get('target_pids');
		this.#inherit = meta.get('inherit') !== 'no';
		this.#command = target.startsWith('command ');
		/*
		 * TaskEvents name targets; only among the named PIDs if the trace was cut to them
		 */
		this.fromTaskEvents = meta.has('followed');
		this.within = meta.get('followed') === 'within';
		if (this.fromTaskEvents && !this.within) {
			this.some = true;
			return;
		}
		this.some = this.fromTaskEvents || this.#command || target.startsWith('pid ') || target.startsWith('tid ');
		if (target.startsWith('pid '))
			numbers(target.slice(4)).forEach((pid) => this.#pids.set(pid, NAMED));
		if (target.startsWith('tid ')) {
			numbers(target.slice(4)).forEach((tid) => this.#tids.set(tid, NAMED));
			this.#inherit = false;
		}
		if (this.#command && pids !== undefined) {
			this.#pending = new Set(numbers(pids));
			this.#command = false;
		}
	}

	/* Without inherit, a command is its first thread: the others are new. */
	#addCommand(pid) {
		(this.#inherit ? this.#pids : this.#tids).set(pid, NAMED);
	}

	/* An event shows that the process runs. */
	activatePending(pid) {
		if (this.#pending.size && this.#pending.delete(pid))
			this.#addCommand(pid);
	}

	/* Either may be NONE. */
	has(pid, tid) {
		return !this.some || this.#tids.has(tid) || pid !== NONE && this.#pids.has(pid) && !this.#excluded.has(tid);
	}

	fork(pid, tid, child) {
		if (!this.some || child === NONE)
			return;
		if (!this.#inherit)
			this.#excluded.add(child);
		else if (this.has(pid, tid))
			this.#tids.set(child, FORKED);
	}

	/* The thread `old` has exec'ed, and is `tid` from now on. */
	exec(tid, old) {
		if (!this.some)
			return;
		if (this.#command && tid !== NONE)
			this.#addCommand(tid);
		this.#command = false;
		this.activatePending(tid);
		const how = this.#tids.get(old);
		if (how && this.#inherit && tid !== NONE)
			this.#tids.set(tid, how);
	}

	/* A thread belongs to that process, which is a target or not named. */
	task(pid, tid, isTarget) {
		if (!this.some)
			return;
		this.activatePending(pid);
		if (pid !== NONE && (this.#tids.get(tid) === FORKED || isTarget && this.#inherit && !this.fromTaskEvents))
			this.#pids.set(pid, FORKED);
	}

	forget(tid) {
		this.#tids.delete(tid);
	}
}

module.exports = { TargetThreads };
