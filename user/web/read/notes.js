// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a trace says of the fields of its events: annotations of units, kinds and names of values, as
 * user/libdial9/FORMAT.md lists them. They are anybody's: what is not known here is left alone.
 */
'use strict';

const KEYS = ['unit', 'kind', 'enum'];
const WORD_MAX = 64; /* of a unit */
const ENUM_MAX = 1 << 20;

/* Those of the types of one segment. */
class Notes {
	#types = new Map(); /* type id -> by field: { unit, kind, enum } */

	/* Entries of a frame about a type of so many fields: of the same field and key the last one counts. */
	learn(typeId, fieldCount, entries) {
		for (const [field, key, value] of entries) {
			const most = key === 'enum' ? ENUM_MAX : WORD_MAX;
			if (field >= fieldCount || !KEYS.includes(key) || typeof value !== 'string' || value.length > most)
				continue;
			if (!this.#types.has(typeId))
				this.#types.set(typeId, []);
			const notes = this.#types.get(typeId);
			(notes[field] ||= {})[key] = value;
		}
	}

	/* What was said of a field, or undefined. */
	of(typeId, field) {
		const notes = this.#types.get(typeId);
		return notes && notes[field];
	}
}

module.exports = { Notes };
