// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where one recording ends in a stream and the next begins, and which of them share a clock. As
 * user/trace/parts.c, which says why: the recorder's segments all begin with the same metadata, any other
 * beginning is another part, and so are metadata that contradict the part's.
 */
'use strict';

const PARTS_MAX = 4096;
const META_MAX = 256;
const CLOCK_NS = 1000000000;

function newPart(clock) {
	return { clock, ours: false, sync: null, meta: new Map(), events: 0 };
}

function differ(x, y, key) {
	const a = x.meta.get(key), b = y.meta.get(key);
	return a !== undefined && b !== undefined && a !== b;
}

function contradict(x, y) {
	if (x.meta.has('boot_id') && y.meta.has('boot_id'))
		return differ(x, y, 'boot_id');
	return differ(x, y, 'host');
}

class Parts {
	#fresh = false; /* no event since the last header */
	#segmentSynced = false;

	constructor() {
		this.all = [newPart(0)];
		this.last = this.all[0];
		this.index = 0;
	}

	segment() {
		this.#fresh = true;
		this.#segmentSynced = false;
	}

	/* Of entries, pairs of texts, of a SegmentMetadataEvent. */
	metadata(entries) {
		const meta = new Map(entries.slice(0, META_MAX)), ours = meta.has('start_realtime_ns');
		if (!this.#belongs(meta, ours))
			this.#begin();
		this.#count();
		const part = this.last;
		part.ours ||= ours;
		for (const [key, value] of meta)
			if (part.meta.has(key) || part.meta.size < META_MAX)
				part.meta.set(key, value);
		this.#findClock();
	}

	/* Of a ClockSyncEvent: how far wall-clock time is ahead of the trace's, in nanoseconds. */
	clock(ahead) {
		const part = this.last, far = part.sync !== null && Math.abs(ahead - part.sync) > CLOCK_NS;
		if (this.#fresh && part.ours || !part.ours && !this.#segmentSynced && far)
			this.#begin();
		this.#count();
		this.#segmentSynced = true;
		if (this.last.sync !== null)
			return;
		this.last.sync = ahead;
		this.#findClock();
	}

	/* Of any other event. */
	event() {
		if (this.#fresh)
			this.#first();
		this.last.events++;
	}

	#first() {
		if (this.last.ours)
			this.#begin();
		this.#fresh = false;
	}

	#count() {
		this.#fresh = false;
		this.last.events++;
	}

	#begin() {
		if (this.all.length < PARTS_MAX)
			this.all.push(newPart(this.all.length));
		this.index = this.all.length - 1;
		this.last = this.all[this.index];
	}

	#belongs(meta, ours) {
		const part = this.last;
		if (!part.meta.size)
			return !ours || !part.events;
		const known = [...meta].filter(([key]) => part.meta.has(key));
		const same = known.filter(([key, value]) => part.meta.get(key) === value).length;
		if (ours || part.ours)
			return same === meta.size && same === part.meta.size;
		return same > 0 && same === known.length;
	}

	/* By the boot, or else by wall clocks that agree; those that agree with two clocks tell nothing. */
	#findClock() {
		const at = this.index, part = this.last, found = new Set();
		const before = this.all.slice(0, at);
		const boot = part.meta.get('boot_id');
		const twin = before.find((other) => boot !== undefined && other.meta.get('boot_id') === boot);
		if (twin) {
			part.clock = twin.clock;
			return;
		}
		for (const other of before)
			if (!contradict(part, other) && part.sync !== null && other.sync !== null &&
			    Math.abs(part.sync - other.sync) <= CLOCK_NS)
				found.add(other.clock);
		const [clock] = found;
		const free = found.size === 1 &&
			before.every((other) => other.clock !== clock || !contradict(part, other));
		part.clock = free ? clock : at;
	}
}

module.exports = { Parts };
