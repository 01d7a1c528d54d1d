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
		const told = parts.find((part) => part.space === space && part.meta.has('host'));
		return told ? told.meta.get('host') : 'unknown host';
	});
	spaces.forEach((one, space) => {
		const same = hosts.reduce((all, host, i) => host === hosts[space] ? [...all, i] : all, []);
		const boots = new Set(same.map((i) => spaces[i].clock)).size > 1;
		one.name = hosts[space] + (same.length > 1 ?
			` (${boots ? 'boot' : 'recording'} ${same.indexOf(space) + 1})` : '');
	});
}

/* By clock: { first, last, ahead }, ahead of the trace's time the wall's, or null. */
function spansByClock(parts) {
	const clocks = new Map();
	for (const { clock, first, last, sync } of parts) {
		const one = clocks.get(clock) || { clock, first: Infinity, last: -Infinity, ahead: null, shift: 0 };
		one.first = Math.min(one.first, first);
		one.last = Math.max(one.last, last);
		one.ahead ??= sync;
		clocks.set(clock, one);
	}
	return [...clocks.values()].filter((one) => one.first <= one.last);
}

/* Whether it makes a picture. */
function shiftByWall(clocks) {
	if (clocks.some((one) => one.ahead === null))
		return false;
	const length = clocks.reduce((sum, one) => sum + one.last - one.first, 0);
	for (const one of clocks)
		one.shift = one.ahead - clocks[0].ahead;
	const first = Math.min(...clocks.map((one) => one.first + one.shift));
	const last = Math.max(...clocks.map((one) => one.last + one.shift));
	return length >= SEEN_LEAST * (last - first);
}

function shiftBehind(clocks) {
	const gap = GAP * clocks.reduce((sum, one) => sum + one.last - one.first, 0);
	const order = clocks.every((one) => one.ahead !== null) ?
		clocks.slice().sort((a, b) => a.first + a.ahead - b.first - b.ahead) : clocks;
	let at = order[0].first;
	for (const one of order) {
		one.shift = at - one.first;
		at += one.last - one.first + gap;
	}
}

/*
 * parts: [{ clock, meta, sync, switches, first, last }], first and last Infinity and less where a part has no time.
 * Fills .space and .shift, which is to be added to its times, and returns { spaces: [{ clock, name }], axis }: axis
 * "one" (clock), "wall" or "behind".
 */
function placeParts(parts) {
	const spaces = findSpaces(parts), clocks = spansByClock(parts);
	let axis = 'one';
	if (spaces.length > 1)
		nameSpaces(spaces, parts);
	if (clocks.length > 1) {
		axis = shiftByWall(clocks) ? 'wall' : 'behind';
		if (axis === 'behind')
			shiftBehind(clocks);
	}
	const shifts = new Map(clocks.map((one) => [one.clock, Math.round(one.shift)]));
	for (const part of parts)
		part.shift = shifts.get(part.clock) || 0;
	return { spaces, axis };
}

module.exports = { placeParts };
