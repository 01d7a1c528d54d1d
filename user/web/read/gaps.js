// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time ranges in which events were lost. As user/profile/sched/gaps.c and the kinds of
 * user/profile/sched/loss_accounting.c.
 */
'use strict';

const { lowerBound } = require('./columns.js');

const HARMLESS = ['nested', 'nested_at_most', 'sample_ring_full', 'sample_estimate', 'stacks_thinned', 'stacks_off'];

/* Whether switches or wakeups may be missing because of a loss of that kind. */
function hidesSwitches(kind) {
	return !HARMLESS.includes(kind) && kind !== 'sideband' && !kind.startsWith('sideband_');
}

class Gaps {
	#spans = [];
	#from = null;
	#to = null;

	add(from, to) {
		if (from <= to)
			this.#spans.push([from, to]);
		this.#to = null;
	}

	/* Whether the range, inclusive, overlaps a gap. */
	touch(from, to) {
		if (!this.#spans.length)
			return false;
		if (!this.#to)
			this.#sort();
		const i = lowerBound(this.#to, from, 0, this.#to.length);
		return i < this.#to.length && this.#from[i] <= to;
	}

	#sort() {
		this.#spans.sort((a, b) => a[0] - b[0]);
		const apart = [];
		for (const [from, to] of this.#spans) {
			const last = apart[apart.length - 1];
			if (last && from <= last[1])
				last[1] = Math.max(last[1], to);
			else
				apart.push([from, to]);
		}
		this.#from = Float64Array.from(apart, (span) => span[0]);
		this.#to = Float64Array.from(apart, (span) => span[1]);
	}
}

module.exports = { Gaps, hidesSwitches };
