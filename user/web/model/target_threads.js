// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which threads a recording followed: only of these the trace has every switch and waking. As
 * user/profile/sched/followed.c: by the metadata, then by forks as they come, and by what TaskEvents say of children from before.
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
	#pending = new Set(); /* processes that are the command's once it has begun */
	#inherit;
	#command = false;
	fromTaskEvents = false;
	within = false;

	/* meta: a Map of the part's metadata. */
	constructor(meta) {
		const target = meta.get('target') || '', pids = meta.get('target_pids');
		this.#inherit = meta.get('inherit') !== 'no';
		this.#command = target.startsWith('command ');
		/* TaskEvents say who is followed; of those that the target names, if the trace was cut to it */
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

	/* A sign of life of a process. */
	activatePending(pid) {
		if (this.#pending.size && this.#pending.delete(pid))
			this.#pids.set(pid, NAMED);
	}

	/* Any of these may be NONE. */
	has(pid, tid) {
		return !this.some || pid !== NONE && this.#pids.has(pid) || this.#tids.has(tid);
	}

	fork(pid, tid, child) {
		if (this.some && this.#inherit && this.has(pid, tid) && child !== NONE)
			this.#tids.set(child, FORKED);
	}

	/* The thread `old` has executed a program, and is `tid` from now on. */
	exec(tid, old) {
		if (!this.some)
			return;
		if (this.#command && tid !== NONE)
			this.#pids.set(tid, NAMED);
		this.#command = false;
		this.activatePending(tid);
		const how = this.#tids.get(old);
		if (how && this.#inherit && tid !== NONE)
			this.#tids.set(tid, how);
	}

	/* A thread is told to be of that process, which is followed or of which nothing is said. */
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
