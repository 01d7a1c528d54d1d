// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which parts of a trace share their threads and CPUs, and where each lies on the one axis of time. Times of
 * different boots do not compare: by their wall clocks they are put beside each other, or one behind the other where
 * that leaves hardly anything to see.
 */
'use strict';

const SEEN_LEAST = 0.1; /* of the axis: less of it filled is no picture */
const GAP = 0.03; /* of all times together, between recordings put behind each other */

function overlap(a, b) {
	return a.first < b.last && b.first < a.last;
}

/*
 * The parts that have switches of one boot at one time tell of the same threads twice: the second one gets threads of
 * its own. Fills part.space.
 */
function findSpaces(parts) {
	const spaces = [];
	const spaceOf = (part, fits) => {
		let space = spaces.findIndex((one) => one.clock === part.clock && one.parts.every(fits));
		if (space < 0)
			space = spaces.push({ clock: part.clock, parts: [] }) - 1;
		part.space = space;
		return spaces[space];
	};
	for (const part of parts.filter((one) => one.switches))
		spaceOf(part, (other) => !overlap(part, other)).parts.push(part);
	for (const part of parts.filter((one) => !one.switches))
		spaceOf(part, () => true);
	return spaces.map(({ clock }) => ({ clock, name: '' }));
}

/* What tells them apart for people: hosts, if that is enough. */
function nameSpaces(spaces, parts) {
	const hosts = spaces.map((_, space) => {
		const named = parts.find((part) => part.space === space && part.meta.has('host'));
		return named ? named.meta.get('host') : 'unknown host';
	});
	spaces.forEach((one, space) => {
		const same = hosts.reduce((all, host, i) => host === hosts[space] ? [...all, i] : all, []);
		const boots = new Set(same.map((i) => spaces[i].clock)).size > 1;
		one.name = hosts[space] + (same.length > 1 ?
			` (${boots ? 'boot' : 'recording'} ${same.indexOf(space) + 1})` : '');
	});
}

/*
 * Times that compare: of one clock, or, if `joined`, of clocks that a merged stream has put beside each other. [{ parts, first, last,
 * ahead, shift }], ahead of the trace's time the wall's, or null.
 */
function findFrames(parts, joined) {
	const byClock = new Map(), byBase = new Map(), frames = [];
	for (const part of parts) {
		let frame = byClock.get(part.clock) || joined && part.merged && byBase.get(part.base);
		if (!frame)
			frames.push(frame = { parts: [], first: Infinity, last: -Infinity, ahead: null, shift: 0 });
		byClock.set(part.clock, frame);
		if (part.merged)
			byBase.set(part.base, frame);
		frame.parts.push(part);
		frame.first = Math.min(frame.first, part.first);
		frame.last = Math.max(frame.last, part.last);
		frame.ahead ??= part.sync;
	}
	return frames.filter((one) => one.first <= one.last);
}

/* Whether they make a picture where they are. */
function areSeen(frames) {
	const length = frames.reduce((sum, one) => sum + one.last - one.first, 0);
	const first = Math.min(...frames.map((one) => one.first + one.shift));
	const last = Math.max(...frames.map((one) => one.last + one.shift));
	return length >= SEEN_LEAST * (last - first);
}

function shiftByWall(frames) {
	if (frames.some((one) => one.ahead === null))
		return false;
	for (const one of frames)
		one.shift = one.ahead - frames[0].ahead;
	return areSeen(frames);
}

function shiftBehind(frames) {
	const gap = GAP * frames.reduce((sum, one) => sum + one.last - one.first, 0);
	const order = frames.every((one) => one.ahead !== null) ?
		frames.slice().sort((a, b) => a.first + a.ahead - b.first - b.ahead) : frames;
	let at = order[0].first;
	for (const one of order) {
		one.shift = at - one.first;
		at += one.last - one.first + gap;
	}
}

/*
 * parts: [{ clock, merged, base, meta, sync, switches, first, last }], as of parts.js; first and last Infinity and less
 * where a part has no time. Fills .space and .shift, which is to be added to its times, and returns { spaces: [{ clock, name }], axis }: axis
 * "one" (clock), "wall" or "behind".
 */
function placeParts(parts) {
	const spaces = findSpaces(parts), apart = findFrames(parts, false), frames = areSeen(apart) ? findFrames(parts, true) : apart;
	let axis = apart.length > 1 ? 'wall' : 'one';
	if (spaces.length > 1)
		nameSpaces(spaces, parts);
	for (const part of parts)
		part.shift = 0;
	if (frames.length > 1) {
		axis = shiftByWall(frames) ? 'wall' : 'behind';
		if (axis === 'behind')
			shiftBehind(frames);
	}
	for (const { parts: mine, shift } of frames)
		for (const part of mine)
			part.shift = Math.round(shift);
	return { spaces, axis };
}

module.exports = { placeParts };
