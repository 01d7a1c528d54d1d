// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which parts of a trace share their threads and CPUs, and where each is on the time axis. Times of
 * different boots cannot be compared: parts are aligned by wall clock, or put one after the other
 * if too little would be visible.
 */
'use strict';

const SEEN_LEAST = 0.1; /* minimum share of the axis that recordings must fill */
const GAP = 0.03; /* share of the total time, between recordings put one after the other */

function overlap(a, b) {
	return a.first < b.last && b.first < a.last;
}

/*
 * Parts with switches of one boot at one time have the same threads twice: the second part gets
 * threads of its own. Sets part.space.
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

/* Names that distinguish them: hosts, if these are enough. */
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
 * Groups of parts with comparable times: on one clock or, if `joined`, on clocks that a merged
 * stream aligned. [{ parts, first, last, ahead, shift }]; ahead: wall-clock time minus the trace's
 * time, or null.
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

/* Whether they are visible at their places. */
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
 * parts: [{ clock, merged, base, meta, sync, switches, first, last }], from parts.js; first is
 * Infinity and last below it if a part has no time. Sets .space and .shift, which is to be added to
 * its times. Returns { spaces: [{ clock, name }], axis }; axis: "one" (clock), "wall" or "behind"
 * (one after the other).
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
