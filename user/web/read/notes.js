// SPDX-License-Identifier: BSD-2-Clause
/*
 * Annotations of a trace's fields: units, kinds and names of values, as in user/libdial9/FORMAT.md.
 * Any writer may add some: unknown ones are ignored.
 */
'use strict';

const KEYS = ['unit', 'kind', 'enum'];
const WORD_MAX = 64; /* of a unit */
const ENUM_MAX = 1 << 20;

/* Annotations of the types of one segment. */
class Notes {
	#types = new Map(); /* type id -> by field: { unit, kind, enum } */

	/*
	 * Adds the entries of a frame for a type with so many fields: for the same field and key
	 * the last one counts.
	 */
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

	/* The annotations of a field, or undefined. */
	of(typeId, field) {
		const notes = this.#types.get(typeId);
		return notes && notes[field];
	}
}

module.exports = { Notes };
