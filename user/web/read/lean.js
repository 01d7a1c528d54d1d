// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reader of decode.js for those who read millions of events: without BigInt, without an object for each
 * value, and only the fields that are wanted. Frames are those of Decoder, but in an event
 *
 *	I64 Varint		number; BigInt only beyond 2^53
 *	Stack, PooledStack	Uint32Array, of each frame the low and the high half; null if the id is not defined so far
 *	PooledString		string or BadText; null if the id is not defined so far
 *	ts			number: nanoseconds since `origin`, a BigInt, the time of the first event; exact as far
 *				as 2^53 from it
 *
 * and values of fields that are not wanted are undefined. eventAt() has them. An event's frame and its stacks are the
 * reader's, and change with the next one.
 */
'use strict';

const { Decoder, TYPE, parts } = require('./decode.js');
const { Cursor, EventFrame, Fault, readValues, asBytes, DEPTH_MAX, TS_MAX } = parts;

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const FIRSTS_MAX = 1024;
const COPY_FROM = 8; /* longer stacks are faster to copy with set() */
const HOST_IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function asNumber(big) {
	return big <= SAFE_MAX && big >= -SAFE_MAX ? Number(big) : big;
}

/* Buffer for the stacks of one event. */
let room = new Uint32Array(1024), roomBytes = new Uint8Array(room.buffer), used = 0;
let firsts = []; /* by length: views of the start of the buffer, for the first stack of an event */

function take(halves) {
	if (room.length - used < halves) {
		room = new Uint32Array(halves * 2 + room.length);
		roomBytes = new Uint8Array(room.buffer);
		firsts = [];
		used = 0;
	}
	const begin = used;
	used += halves;
	if (begin || halves >= FIRSTS_MAX)
		return room.subarray(begin, used);
	return firsts[halves] ||= room.subarray(0, halves);
}

/* For a stack in the pool. */
function halvesOf(frames) {
	if (HOST_IS_LITTLE)
		return new Uint32Array(frames.buffer, frames.byteOffset, frames.length * 2);
	return Uint32Array.from({ length: frames.length * 2 },
		(_, i) => Number(frames[i >> 1] >> BigInt(i & 1) * 32n & 0xffffffffn));
}

class LeanCursor extends Cursor {
	varint(complaint) {
		const { bytes, at } = this;
		if (at < this.end && bytes[at] < 0x80) {
			this.at = at + 1;
			return bytes[at];
		}
		return this.#long(complaint);
	}

	#long(complaint) {
		const start = this.at;
		let sum = 0;
		for (let i = 0, scale = 1; i < 7; i++, scale *= 128) {
			const byte = this.u8();
			sum += (byte & 0x7f) * scale;
			if (byte < 0x80)
				return sum;
		}
		this.at = start;
		return asNumber(super.varint(complaint));
	}

	i64() {
		return asNumber(super.i64());
	}

	frames(cnt) {
		const at = this.pass(cnt * 8), { bytes, view } = this, halves = take(cnt * 2);
		if (HOST_IS_LITTLE && cnt > COPY_FROM)
			roomBytes.set(bytes.subarray(at, at + cnt * 8), halves.byteOffset);
		else
			for (let i = 0; i < cnt * 2; i++)
				halves[i] = view.getUint32(at + i * 4, true);
		return halves;
	}

	pooled(id, name, defs) {
		const known = defs.get(id);
		return known === undefined ? null : name === 'frames' ? halvesOf(known) : known;
	}
}

function ignore() {}

/*
 * As Decoder, with its options and want: a function that returns for a schema an array of booleans,
 * one per field.
 */
class LeanDecoder extends Decoder {
	#want;
	#wants = new WeakMap();
	#frames = new WeakMap(); /* schema -> the frame of its events */
	#depth;
	#origin = null;
	#base = 0n; /* of the last reset */
	#ts = 0; /* the time base, relative to the origin */
	#left = Number(TS_MAX); /* time left until the maximum timestamp */

	constructor({ want = null, limits = {}, ...options } = {}) {
		super({ ...options, limits, lean: { cursor: new LeanCursor(new Uint8Array(0), 0),
			eventOf: (cursor, offset, typeId, schema, scope) => this.#eventOf(cursor, offset, typeId, schema, scope) } });
		this.#want = want;
		this.#depth = Math.min(limits.depth || DEPTH_MAX, DEPTH_MAX);
	}

	/* The time that timestamps count from; null before the first. */
	get origin() { return this.#origin; }

	next() {
		const frame = super.next();
		if (frame && frame.kind !== 'event')
			this.#see(frame);
		return frame;
	}

	#see({ kind, ts }) {
		if (kind !== 'reset' && kind !== 'header' && kind !== 'midheader')
			return;
		this.#base = kind === 'reset' ? ts : 0n;
		this.#ts = this.#origin === null ? 0 : Number(this.#base - this.#origin);
		this.#left = Number(TS_MAX - this.#base);
	}

	#eventOf(cursor, offset, typeId, schema, { defs }) {
		let delta = 0;
		if (schema.hasTimestamp) {
			cursor.need(3);
			delta = cursor.u16() + cursor.u8() * 0x10000;
			if (delta > this.#left)
				throw new Fault(cursor.at - 3, 'timestamp beyond 64 bits');
		}
		const frame = this.#frameOf(typeId, schema);
		frame.offset = offset;
		this.#fill(frame.values, cursor, schema, defs);
		if (!schema.hasTimestamp)
			return frame;
		if (this.#origin === null)
			this.#origin = this.#base + BigInt(delta);
		else
			this.#ts += delta;
		this.#left -= delta;
		frame.ts = this.#ts;
		return frame;
	}

	/* One per type: creating millions would dominate the cost. */
	#frameOf(typeId, schema) {
		let frame = this.#frames.get(schema);
		if (!frame) {
			frame = new EventFrame(0, typeId, schema, schema.hasTimestamp ? 0 : null,
				new Array(schema.fields.length).fill(undefined));
			this.#frames.set(schema, frame);
		}
		return frame;
	}

	#fill(values, cursor, schema, defs) {
		const fields = schema.fields, depth = this.#depth;
		const wanted = this.#wantedOf(schema);
		used = 0;
		for (let i = 0; i < fields.length; i++) {
			const type = fields[i].type;
			if (type & TYPE.OPTIONAL && !cursor.presence())
				values[i] = null;
			else if (wanted === null || wanted[i])
				values[i] = cursor.value(type & 0x7f, depth, defs);
			else
				cursor.skip(type & 0x7f, depth, ignore);
		}
	}

	#wantedOf(schema) {
		if (!this.#want)
			return null;
		let wanted = this.#wants.get(schema);
		if (!wanted) {
			wanted = this.#want(schema);
			this.#wants.set(schema, wanted);
		}
		return wanted;
	}
}

/*
 * The event at that offset of a stream, with all values as Decoder gives them, but without its
 * time. `bytes` are those of the stream from its start; `scope` is the decoder's when it returned
 * the event, or later before the next header. Only for offsets of events: others throw or return
 * garbage.
 */
function eventAt(bytes, offset, scope) {
	const cursor = new Cursor(asBytes(bytes), bytes.length);
	cursor.at = offset + 1;
	const typeId = cursor.u16(), schema = scope.schemas.get(typeId);
	cursor.pass(schema.hasTimestamp ? 3 : 0);
	return new EventFrame(offset, typeId, schema, null,
		readValues(cursor, schema.fields, DEPTH_MAX, scope.defs));
}

module.exports = { LeanDecoder, eventAt };
