// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which threads a recording followed: only of these the trace has every switch and waking. As
 * user/profile/followed.c: by the metadata, then by forks as they come.
 */
'use strict';

const { NONE } = require('./columns.js');

const NAMED = 1, FORKED = 2;

function addList(map, text) {
	for (const [, id] of text.matchAll(/(\d+)(?:,|$)/gy))
		map.set(Number(id), NAMED);
}

class Followed {
	#pids = new Map();
	#tids = new Map();
	#inherit;
	#command = false;

	/* meta: a Map of the part's metadata. */
	constructor(meta) {
		const target = meta.get('target') || '', pids = meta.get('target_pids');
		this.#inherit = meta.get('inherit') !== 'no';
		this.#command = target.startsWith('command ');
		this.some = this.#command || target.startsWith('pid ') || target.startsWith('tid ');
		if (target.startsWith('pid '))
			addList(this.#pids, target.slice(4));
		if (target.startsWith('tid ')) {
			addList(this.#tids, target.slice(4));
			this.#inherit = false;
		}
		if (this.#command && pids !== undefined) {
			addList(this.#pids, pids);
			this.#command = false;
		}
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
		const how = this.#tids.get(old);
		if (how && this.#inherit && tid !== NONE)
			this.#tids.set(tid, how);
	}

	/* A thread is told to be of that process. */
	task(pid, tid) {
		if (this.some && pid !== NONE && this.#tids.get(tid) === FORKED)
			this.#pids.set(pid, FORKED);
	}

	forget(tid) {
		this.#tids.delete(tid);
	}
}

module.exports = { Followed };
