// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where one recording ends in a stream and the next begins, and which of them share a clock. As
 * user/trace/read/parts.c, which has the rules. The recorder's segments all begin with the same
 * metadata; any other start is a new part, and so is metadata that contradicts the part's. A merged
 * stream lists its parts (MergedPart), and each event has its part.
 */
'use strict';

const PARTS_MAX = 4096;
const META_MAX = 256;
const CLOCK_NS = 1000000000;

/* base: the first part of its stream; itself, unless merged. */
function newPart(at, base) {
	return { at, clock: at, base, merged: false, recordedClock: 0, movedNs: 0, ours: false, sync: null, meta: new Map(), events: 0 };
}

function differ(x, y, key) {
	const a = x.meta.get(key), b = y.meta.get(key);
	return a !== undefined && b !== undefined && a !== b;
}

function ofOneStream(x, y) {
	return x.merged && y.merged && x.base === y.base;
}

/* In one merged stream the clocks are recorded; those of different streams were moved apart. */
function contradict(x, y) {
	if (ofOneStream(x, y))
		return x.recordedClock !== y.recordedClock;
	if (x.movedNs !== y.movedNs)
		return true;
	if (x.meta.has('boot_id') && y.meta.has('boot_id'))
		return differ(x, y, 'boot_id');
	return differ(x, y, 'host');
}

/* Whether only the wall clocks must be compared. */
function areOfOneClock(x, y) {
	if (ofOneStream(x, y))
		return x.recordedClock === y.recordedClock;
	return x.meta.has('boot_id') && x.meta.get('boot_id') === y.meta.get('boot_id') && !contradict(x, y);
}

class Parts {
	#fresh = false; /* no event since the last header */
	#segmentSynced = false;
	#merged = new Map(); /* base's index * PARTS_MAX + number -> index, of merged parts */

	constructor() {
		this.all = [newPart(0, 0)];
		this.last = this.all[0]; /* the last one that is its own base */
		this.index = 0;
	}

	segment() {
		this.#fresh = true;
		this.#segmentSynced = false;
	}

	/* The index of the part with that number in the current stream. */
	of(number) {
		const at = number > 0 && number < PARTS_MAX ? this.#merged.get(this.last.at * PARTS_MAX + number) : undefined;
		return at === undefined ? this.last.at : at;
	}

	/* Handles a MergedPart event. */
	merge(number, clock, movedNs) {
		if (!number && (this.last.events || this.last.merged))
			this.#begin();
		this.#fresh = false;
		let at = this.of(number);
		if (number > 0 && number < PARTS_MAX && at === this.last.at && this.last.merged && this.all.length < PARTS_MAX) {
			at = this.all.push(newPart(this.all.length, this.last.at)) - 1;
			this.#merged.set(this.last.at * PARTS_MAX + number, at);
		}
		const part = this.all[at];
		part.events++;
		if (part.merged || number && at === this.last.at)
			return;
		Object.assign(part, { merged: true, recordedClock: clock, movedNs });
		this.#findClock(part);
	}

	/*
	 * Handles the entries of a SegmentMetadataEvent, pairs of texts; `number`: the event's
	 * part.
	 */
	metadata(entries, number) {
		const meta = new Map(entries.slice(0, META_MAX)), ours = meta.has('start_realtime_ns');
		const merged = this.of(number) !== this.last.at;
		if (!merged && !this.#belongs(meta, ours))
			this.#begin();
		const part = this.#count(number);
		part.ours ||= ours;
		for (const [key, value] of meta)
			if (part.meta.has(key) || part.meta.size < META_MAX)
				part.meta.set(key, value);
		this.#findClock(part);
	}

	/*
	 * Handles a ClockSyncEvent: how far wall-clock time is ahead of the trace's, in
	 * nanoseconds.
	 */
	clock(ahead, number) {
		const { last } = this, far = last.sync !== null && Math.abs(ahead - last.sync) > CLOCK_NS;
		const merged = this.of(number) !== last.at, known = last.ours || last.merged;
		if (!merged && (this.#fresh && known || !known && !this.#segmentSynced && far))
			this.#begin();
		const part = this.#count(number);
		if (!merged)
			this.#segmentSynced = true;
		if (part.sync !== null)
			return;
		part.sync = ahead;
		this.#findClock(part);
	}

	/* Handles any other event. */
	event(number) {
		const previous = this.last.at, at = number ? this.of(number) : previous;
		if (at === previous && this.#fresh)
			this.#first();
		this.index = at === previous ? this.last.at : at;
		this.all[this.index].events++;
	}

	#first() {
		if (this.last.ours || this.last.merged)
			this.#begin();
		this.#fresh = false;
	}

	#count(number) {
		this.index = this.of(number);
		if (this.index === this.last.at)
			this.#fresh = false;
		this.all[this.index].events++;
		return this.all[this.index];
	}

	#begin() {
		if (this.all.length < PARTS_MAX)
			this.all.push(newPart(this.all.length, this.all.length));
		this.last = this.all[this.all.length - 1];
		this.index = this.last.at;
	}

	#belongs(meta, ours) {
		const part = this.last;
		if (part.merged)
			return !this.#fresh;
		if (!part.meta.size)
			return !ours || !part.events;
		const known = [...meta].filter(([key]) => part.meta.has(key));
		const same = known.filter(([key, value]) => part.meta.get(key) === value).length;
		if (ours || part.ours)
			return same === meta.size && same === part.meta.size;
		return same > 0 && same === known.length;
	}

	/*
	 * By boot id, or otherwise by wall clocks that agree; agreement with two clocks proves
	 * nothing.
	 */
	#findClock(part) {
		const { at } = part, before = this.all.slice(0, at), found = new Set();
		const twin = before.find((other) => areOfOneClock(part, other));
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
