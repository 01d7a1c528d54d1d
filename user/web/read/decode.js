// SPDX-License-Identifier: BSD-2-Clause
/*
 * A reader of dial9 traces for browsers and Node: one file, no dependency. `require('./decode.js')`, or
 * a <script> tag, which defines `dial9`. user/libdial9/FORMAT.md describes the bytes.
 *
 *	const trace = dial9.read(input);		a Uint8Array, Blob, Response, or any stream of
 *	for await (const frame of trace)		Uint8Array; gzip is recognized
 *		if (frame.kind === 'event')
 *			console.log(frame.ts, frame.schema.name, frame.get('pid'));
 *	trace.outcome					{ status: 'ok', 'truncated', 'newer' or 'corrupt', offset, reason }
 *
 * The class below it, Decoder, accepts bytes in pieces of any size. It keeps only the incomplete frame, the
 * schemas and the pools. Frames belong to the caller and do not change when more is read.
 *
 * The C decoder (user/libdial9/decode.c) is the model: the same outcomes, offsets, reasons and limits. An
 * incomplete frame changes no state. It is parsed again from its first byte when the missing bytes are there.
 *
 * A value's JavaScript type follows from its field's type alone:
 *
 *	U8 U16 U32 F64		number			Bool		boolean
 *	I64 Varint		BigInt			Bytes		Uint8Array
 *	Stack			BigUint64Array, leaf first
 *	String			string; BadText where the bytes are not UTF-8 (names and keys likewise)
 *	PooledString		{ id, text }, text null if the id is not defined so far
 *	PooledStack		{ id, frames }, likewise
 *	StringMap		Entries of [key, value], in order and with duplicates
 *	List, Map		Entries of { type, value }, and of pairs of such
 *	absent optional		null
 *
 * With the option f64Bits, an F64 is a BigInt of its bits: engines may change those of a NaN. Timestamps are
 * BigInt, null if the event has none.
 */
'use strict';

(function (root) {

const TYPE = Object.freeze({
	I64: 1, F64: 2, BOOL: 3, STRING: 4, BYTES: 5, POOLED_STACK: 6, POOLED_STRING: 7, STACK: 8,
	VARINT: 9, STRING_MAP: 10, U8: 11, U16: 12, U32: 13, LIST: 14, MAP: 15, OPTIONAL: 0x80,
});
const TAG = { SCHEMA: 1, EVENT: 2, STRINGS: 3, STACKS: 4, RESET: 5, ANNOTATIONS: 6, HEADER: 0x54 };
const MAGIC = [0x54, 0x52, 0x43, 0];
const VERSION = 1;
const STOPS = ['corrupt', 'newer']; /* outcomes that no more bytes change */
const DEPTH_MAX = 64;
const TS_MAX = 0xffffffffffffffffn;
/* Size on the wire of each type with a fixed size; 0 for others. */
const FIXED = [0, 8, 8, 1, 0, 0, 4, 4, 0, 0, 0, 1, 2, 4, 0, 0];
/* Charged against limits for one schema field or pool entry, in addition to its bytes. */
const ITEM_COST = 128;
/* A larger incomplete frame is parsed again only after it grew by a quarter: many small pieces would be slow. */
const PATIENT_FROM = 1 << 20;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf8Lossy = new TextDecoder('utf-8', { ignoreBOM: true });
const hostIsLittle = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/* Text that is not valid UTF-8. As a string it has U+FFFD at the invalid places. */
class BadText {
	constructor(bytes) {
		this.bytes = bytes;
	}
	toString() {
		return utf8Lossy.decode(this.bytes);
	}
}

/* The input ends here; at least `by` more bytes are needed. */
class Short {
	constructor(by) {
		this.by = by;
	}
}

/* More bytes cannot fix this; `at` is an index in the cursor's bytes, `status` that of the outcome. */
class Fault {
	constructor(at, reason, status = 'corrupt') {
		Object.assign(this, { at, reason, status });
	}
}

/* A tag that 0.4 does not define belongs to a later format. Tag 0 is damage: lost data reads as zeros. */
function unknownTag(at, tag) {
	const hex = tag.toString(16).padStart(2, '0');
	return tag ? new Fault(at, `frame tag 0x${hex}: a newer writer (format later than 0.4)`, 'newer') :
		new Fault(at, 'unknown frame tag');
}

function decodeText(bytes, from, to) {
	if (to - from <= 24) {
		let text = '', i = from;
		for (; i < to && bytes[i] < 0x80; i++)
			text += String.fromCharCode(bytes[i]);
		if (i === to)
			return text;
	}
	try {
		return utf8.decode(bytes.subarray(from, to));
	} catch (err) {
		if (!(err instanceof TypeError))
			throw err;
		return new BadText(bytes.slice(from, to));
	}
}

function asBytes(data) {
	return ArrayBuffer.isView(data) ?
		new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}

/* A position in some bytes, and methods to read there. They advance `at`, and throw Short at `end`, or Fault. */
class Cursor {
	constructor(bytes, end) {
		this.reset(bytes, end);
	}

	reset(bytes, end) {
		this.bytes = bytes;
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.at = 0;
		this.end = end;
	}

	need(size) {
		if (this.end - this.at < size)
			throw new Short(size - (this.end - this.at));
	}

	/* Skips `size` bytes; returns where they began. */
	pass(size) {
		this.need(size);
		this.at += size;
		return this.at - size;
	}

	u8() { return this.bytes[this.pass(1)]; }
	u16() { return this.view.getUint16(this.pass(2), true); }
	u32() { return this.view.getUint32(this.pass(4), true); }
	u64() { return this.view.getBigUint64(this.pass(8), true); }

	f64(asBits) {
		return asBits ? this.u64() : this.view.getFloat64(this.pass(8), true);
	}

	/* Seven groups fit into a Number, which is faster than a BigInt; up to three more follow. */
	varint(complaint = 'varint beyond 64 bits') {
		const start = this.at;
		let low = 0, high = 0, scale = 1, byte;
		for (let i = 0; i < 7; i++, scale *= 128) {
			byte = this.u8();
			low += (byte & 0x7f) * scale;
			if (byte < 0x80)
				return BigInt(low);
		}
		scale = 1;
		for (let i = 0; i < 3; i++, scale *= 128) {
			byte = this.u8();
			if (i === 2 && byte > 1)
				throw new Fault(start, complaint);
			high += (byte & 0x7f) * scale;
			if (byte < 0x80)
				break;
		}
		return BigInt(low) | BigInt(high) << 49n;
	}

	/* Whether an optional value is present. */
	presence() {
		const present = this.u8();
		if (present > 1)
			throw new Fault(this.at - 1, 'optional value with a flag other than 0 (absent) or 1 (present)');
		return present === 1;
	}

	/* A count; checks that at least `each` bytes per element follow. */
	count(each) {
		const cnt = this.u32();
		this.need(cnt * each);
		return cnt;
	}

	text(len) {
		return decodeText(this.bytes, this.pass(len), this.at);
	}

	take(size) {
		return this.bytes.slice(this.pass(size), this.at);
	}

	stack(cnt) {
		const copy = this.take(cnt * 8);
		if (hostIsLittle)
			return new BigUint64Array(copy.buffer);
		const view = new DataView(copy.buffer);
		return BigUint64Array.from({ length: cnt }, (_, i) => view.getBigUint64(i * 8, true));
	}

	/* The type of an element of a List or Map. */
	tag() {
		const type = this.u8();
		if (type < 1 || type > 15)
			throw new Fault(this.at - 1, 'unknown type of a list or map element');
		return type;
	}

	/* Skips one value with all checks; lists may nest `depth` levels. Calls note() with pool ids. */
	skip(type, depth, note) {
		if (type === TYPE.POOLED_STRING || type === TYPE.POOLED_STACK)
			note(type, this.u32());
		else if (FIXED[type])
			this.pass(FIXED[type]);
		else if (type === TYPE.VARINT)
			this.varint();
		else if (type === TYPE.STRING || type === TYPE.BYTES)
			this.pass(this.u32());
		else if (type === TYPE.STACK)
			this.pass(this.u32() * 8);
		else if (type === TYPE.STRING_MAP)
			for (let left = this.count(8) * 2; left; left--)
				this.pass(this.u32());
		else
			this.skipNested(type, depth, note);
	}

	skipNested(type, depth, note) {
		if (!depth)
			throw new Fault(this.at, 'lists nested too deep');
		const each = type === TYPE.MAP ? 2 : 1;
		for (let left = this.count(2 * each) * each; left; left--)
			this.skip(this.tag(), depth - 1, note);
	}

	/* One value; `defs` has the strings and stacks of pool ids. Frequent types first. */
	value(type, depth, defs) {
		switch (type) {
		case TYPE.VARINT:
			return this.varint();
		case TYPE.POOLED_STRING:
			return this.pooled(this.u32(), 'text', defs.strings);
		case TYPE.U8:
			return this.u8();
		case TYPE.U16:
			return this.u16();
		case TYPE.U32:
			return this.u32();
		case TYPE.I64:
			return this.i64();
		case TYPE.STACK:
			return this.frames(this.u32());
		case TYPE.POOLED_STACK:
			return this.pooled(this.u32(), 'frames', defs.stacks);
		case TYPE.F64:
			return this.f64(defs.f64Bits);
		case TYPE.BOOL:
			return this.u8() !== 0;
		case TYPE.STRING:
			return this.text(this.u32());
		case TYPE.BYTES:
			return this.take(this.u32());
		default:
			return this.entries(type, depth, defs);
		}
	}

	/* The reads that lean.js overrides, besides varint(). `name` is "text" or "frames". */
	i64() { return BigInt.asIntN(64, this.u64()); }
	frames(cnt) { return this.stack(cnt); }

	pooled(id, name, defs) {
		const known = defs.get(id);
		return { id, [name]: known === undefined ? null : known };
	}

	/* Keeps a reference to the current definitions, because entries are decoded later. */
	entries(type, depth, defs) {
		const start = this.at;
		const used = { strings: new Map(), stacks: new Map(), f64Bits: defs.f64Bits };
		this.skip(type, depth, (idType, id) => {
			const kind = idType === TYPE.POOLED_STRING ? 'strings' : 'stacks';
			if (defs[kind].has(id))
				used[kind].set(id, defs[kind].get(id));
		});
		return new Entries(type, this.bytes.slice(start, this.at), used);
	}
}

/*
 * The contents of a StringMap, List or Map: `length` entries, and iteration over them. They are kept as checked bytes
 * and decoded one by one, so that a small trace cannot need much memory.
 */
class Entries {
	#bytes;
	#defs;

	constructor(type, bytes, defs) {
		this.type = type;
		this.length = new DataView(bytes.buffer).getUint32(0, true);
		this.#bytes = bytes;
		this.#defs = defs;
	}

	*[Symbol.iterator]() {
		const cursor = new Cursor(this.#bytes, this.#bytes.length);
		cursor.at = 4;
		for (let i = 0; i < this.length; i++)
			yield this.#entry(cursor);
	}

	#entry(cursor) {
		if (this.type === TYPE.STRING_MAP)
			return [cursor.text(cursor.u32()), cursor.text(cursor.u32())];
		const first = this.#element(cursor);
		return this.type === TYPE.LIST ? first : [first, this.#element(cursor)];
	}

	#element(cursor) {
		const type = cursor.tag();
		return { type, value: cursor.value(type, DEPTH_MAX, this.#defs) };
	}
}

class Schema {
	#places;

	/* fields: [{ name, type }], type as on the wire, with TYPE.OPTIONAL. */
	constructor(cursor) {
		const start = cursor.at, fields = [];
		this.name = cursor.text(cursor.u16());
		const flag = cursor.u8();
		if (flag > 1)
			throw new Fault(cursor.at - 1, 'schema with a timestamp flag other than 0 or 1');
		for (let left = cursor.u16(); left; left--) {
			const field = { name: cursor.text(cursor.u16()), type: cursor.u8() };
			if (!(field.type & 0x7f) || (field.type & 0x7f) > 15)
				throw new Fault(cursor.at - 1, 'unknown field type');
			fields.push(Object.freeze(field));
		}
		this.hasTimestamp = flag === 1;
		this.fields = Object.freeze(fields);
		this.wire = cursor.bytes.slice(start, cursor.at);
	}

	/* The index of the first field of that name, or -1. */
	find(name) {
		if (!this.#places) {
			this.#places = new Map();
			this.fields.forEach((field, i) => {
				if (!this.#places.has(field.name))
					this.#places.set(field.name, i);
			});
		}
		const place = this.#places.get(name);
		return place === undefined ? -1 : place;
	}

	equals(other) {
		return this.wire.length === other.wire.length &&
			this.wire.every((byte, i) => byte === other.wire[i]);
	}
}

/* An event as next() returns it; other frames are plain objects. */
class EventFrame {
	constructor(offset, typeId, schema, ts, values) {
		this.kind = 'event';
		this.offset = offset;
		this.typeId = typeId;
		this.schema = schema;
		this.ts = ts;
		this.values = values;
	}

	/* The value of the first field of that name; undefined if the schema has none. */
	get(name) {
		return this.values[this.schema.find(name)];
	}
}

/*
 * push() adds bytes and next() returns frames, or null: then `outcome` has the reason.
 *
 *	kind		in addition to `kind` and `offset`, of its first byte in the stream
 *	header		version: the first frame of every stream
 *	midheader	version: a new trace begins; schemas, pools and time base are forgotten
 *	schema		typeId, schema
 *	strings		entries: [[id, text], ...]
 *	stacks		entries: [[id, frames], ...]
 *	reset		ts
 *	annotations	typeId, entries: [[field, key, value], ...]
 *	event		typeId, schema, ts, values, get(name)
 *
 * limits: frameBytes (256 MiB), poolBytes (1 GiB), schemaBytes (64 MiB), depth (64, also the most).
 */
class Decoder {
	#cursor;
	#pos = 0; /* the cursor's bytes before it are consumed */
	#base = 0; /* offset in the stream of the cursor's first byte */
	#wanted = 0; /* with fewer bytes no frame can be complete */
	#ended = false;
	#started = false;
	#fault = null;
	#tsBase = 0n;
	#schemas = new Map();
	#schemaBytes = 0;
	#poolBytes = 0;
	#defs;
	#limits;
	#eventOf;

	/* lean: { cursor, eventOf }, from lean.js, which builds its own events. */
	constructor({ limits = {}, f64Bits = false, lean = null } = {}) {
		this.#eventOf = lean && lean.eventOf;
		this.#cursor = lean ? lean.cursor : new Cursor(new Uint8Array(0), 0);
		this.#limits = {
			frameBytes: limits.frameBytes || 256 * 1024 * 1024,
			poolBytes: limits.poolBytes || 1024 * 1024 * 1024,
			schemaBytes: limits.schemaBytes || 64 * 1024 * 1024,
			depth: Math.min(limits.depth || DEPTH_MAX, DEPTH_MAX),
		};
		this.#defs = { strings: new Map(), stacks: new Map(), f64Bits };
	}

	/* Adds bytes of the stream, which are copied. */
	push(data) {
		const chunk = asBytes(data), cursor = this.#cursor;
		this.#ended = false;
		if (cursor.bytes.length - cursor.end < chunk.length)
			this.#makeRoom(chunk.length);
		cursor.bytes.set(chunk, cursor.end);
		cursor.end += chunk.length;
	}

	/* No more bytes for now: next() works with those it has. */
	end() {
		this.#ended = true;
	}

	/* For the events since the last header: their schemas, and the pool definitions so far. */
	get scope() { return { schemas: this.#schemas, defs: this.#defs }; }

	/* Size of all frames returned so far. */
	get consumed() { return this.#base + this.#pos; }

	/*
	 * After next() returned null: 'ok', the bytes end with a frame; 'truncated', inside one, or before the header
	 * is complete (both may change with the next push()); 'corrupt' and 'newer', at byte `offset`, are final.
	 */
	get outcome() {
		if (this.#fault)
			return { ...this.#fault };
		if (this.#started && this.#pos === this.#cursor.end)
			return { status: 'ok', offset: this.consumed, reason: '' };
		return { status: 'truncated', offset: this.consumed,
			reason: 'the input ends inside a frame' };
	}

	/* The next frame, or null. */
	next() {
		const cursor = this.#cursor, left = cursor.end - this.#pos;
		if (this.#fault || !left || (left < this.#wanted && !this.#ended))
			return null;
		cursor.at = this.#pos;
		try {
			const frame = this.#frame(cursor);
			this.#pos = cursor.at;
			this.#wanted = 0;
			return frame;
		} catch (err) {
			this.#note(err, left);
			return null;
		}
	}

	#makeRoom(size) {
		const cursor = this.#cursor, left = cursor.end - this.#pos;
		const rest = cursor.bytes.subarray(this.#pos, cursor.end);
		let bytes = cursor.bytes;
		if (left + size > bytes.length / 2)
			bytes = new Uint8Array(Math.max((left + size) * 2, 1 << 16));
		bytes.set(rest);
		cursor.reset(bytes, left);
		this.#base += this.#pos;
		this.#pos = 0;
	}

	/* Sets the outcome when there is no frame although `left` bytes are there. */
	#note(err, left) {
		if (err instanceof Fault) {
			this.#fault = { status: err.status, offset: this.#base + err.at, reason: err.reason };
		} else if (!(err instanceof Short)) {
			throw err;
		} else if (left + err.by > this.#limits.frameBytes) {
			this.#fault = { status: 'corrupt', offset: this.consumed, reason: 'frame over the limit' };
		} else {
			this.#wanted = left + err.by;
			if (left > PATIENT_FROM)
				this.#wanted = Math.max(this.#wanted, left + left / 4);
		}
	}

	#frame(cursor) {
		const start = this.#pos, offset = this.consumed;
		if (!this.#started)
			return this.#header(cursor, offset);
		switch (cursor.u8()) {
		case TAG.EVENT:
			return this.#event(cursor, offset);
		case TAG.SCHEMA:
			return this.#schema(cursor, offset);
		case TAG.STRINGS:
			return this.#pool(cursor, offset, 'strings', 1, (len) => cursor.text(len));
		case TAG.STACKS:
			return this.#pool(cursor, offset, 'stacks', 8, (cnt) => cursor.stack(cnt));
		case TAG.RESET:
			this.#tsBase = cursor.u64();
			return { kind: 'reset', offset, ts: this.#tsBase };
		case TAG.ANNOTATIONS:
			return this.#annotations(cursor, offset);
		case TAG.HEADER:
			cursor.at = start;
			return this.#header(cursor, offset);
		default:
			throw unknownTag(start, cursor.bytes[start]);
		}
	}

	#header(cursor, offset) {
		const first = !this.#started;
		for (let i = 0; i < MAGIC.length && cursor.at + i < cursor.end; i++)
			if (cursor.bytes[cursor.at + i] !== MAGIC[i])
				throw new Fault(cursor.at + i,
					first ? 'not a dial9 stream' : 'damaged header');
		cursor.need(MAGIC.length + 1);
		cursor.at += MAGIC.length;
		const version = cursor.u8();
		if (version !== VERSION)
			throw new Fault(cursor.at - 1, 'unknown version');
		this.#started = true;
		this.#tsBase = 0n;
		this.#schemas = new Map();
		this.#schemaBytes = this.#poolBytes = 0;
		this.#defs = { strings: new Map(), stacks: new Map(), f64Bits: this.#defs.f64Bits };
		return { kind: first ? 'header' : 'midheader', offset, version };
	}

	#schema(cursor, offset) {
		const at = cursor.at, typeId = cursor.u16();
		const schema = new Schema(cursor), known = this.#schemas.get(typeId);
		if (known && !known.equals(schema))
			throw new Fault(at, 'type id defined again with another layout');
		if (!known) {
			this.#schemaBytes += schema.wire.length + ITEM_COST * (1 + schema.fields.length);
			if (this.#schemaBytes > this.#limits.schemaBytes)
				throw new Fault(at + 2, 'schemas over the limit');
			this.#schemas.set(typeId, schema);
		}
		return { kind: 'schema', offset, typeId, schema: known || schema };
	}

	/* Reads a count of entries, each an id and `unit` bytes, with take(). Checks all of them first. */
	#pool(cursor, offset, kind, unit, take) {
		const cnt = cursor.count(8), start = cursor.at;
		for (let left = cnt; left; left--) {
			cursor.need(left * 8);
			cursor.at += 4;
			const size = cursor.u32() * unit;
			cursor.need(size + (left - 1) * 8);
			cursor.at += size;
		}
		cursor.at = start;
		const entries = [];
		for (let i = 0; i < cnt; i++) {
			const id = cursor.u32(), from = cursor.at + 4, value = take(cursor.u32());
			this.#define(this.#defs[kind], id, value, cursor.at - from, cursor.at);
			entries.push([id, value]);
		}
		return { kind, offset, entries };
	}

	/* A redefined id is charged again, as in C, where the old bytes may still be in use. */
	#define(defs, id, value, size, at) {
		this.#poolBytes += size + (defs.has(id) ? 0 : ITEM_COST);
		if (this.#poolBytes > this.#limits.poolBytes)
			throw new Fault(at, 'pools over the limit');
		defs.set(id, value);
	}

	#annotations(cursor, offset) {
		const at = cursor.at;
		const impossible = 'annotations of an impossible type id';
		const typeId = Number(cursor.varint(impossible));
		if (typeId > 0xffff)
			throw new Fault(at, impossible);
		const entries = [];
		for (let left = cursor.u16(); left; left--) {
			const field = cursor.u16(), key = cursor.text(cursor.u16());
			entries.push([field, key, cursor.text(cursor.u32())]);
		}
		return { kind: 'annotations', offset, typeId, entries };
	}

	#event(cursor, offset) {
		const typeId = cursor.u16(), schema = this.#schemas.get(typeId);
		if (!schema)
			throw new Fault(cursor.at - 2, 'event of a type without schema');
		if (this.#eventOf)
			return this.#eventOf(cursor, offset, typeId, schema, this.scope);
		let ts = null;
		if (schema.hasTimestamp) {
			cursor.need(3);
			ts = this.#tsBase + BigInt(cursor.u16() + cursor.u8() * 0x10000);
			if (ts > TS_MAX)
				throw new Fault(cursor.at - 3, 'timestamp beyond 64 bits');
		}
		const values = readValues(cursor, schema.fields, this.#limits.depth, this.#defs);
		if (ts !== null)
			this.#tsBase = ts;
		return new EventFrame(offset, typeId, schema, ts, values);
	}
}

function readValues(cursor, fields, depth, defs) {
	const values = new Array(fields.length);
	for (let i = 0; i < fields.length; i++) {
		const type = fields[i].type;
		values[i] = type & TYPE.OPTIONAL && !cursor.presence() ? null :
			cursor.value(type & 0x7f, depth, defs);
	}
	return values;
}

/* ---- streams and gzip ----------------------------------------------------------------------------- */

async function* fromReader(reader) {
	try {
		for (let got = await reader.read(); !got.done; got = await reader.read())
			yield got.value;
	} finally {
		reader.cancel().catch(() => {});
	}
}

/* Any input, in pieces. */
async function* pieces(input) {
	if (input instanceof Uint8Array || input instanceof ArrayBuffer)
		input = [input];
	else if (input.body)
		input = input.body;
	else if (typeof input.stream === 'function')
		input = input.stream();
	for await (const piece of input.getReader ? fromReader(input.getReader()) : input)
		yield asBytes(piece);
}

/*
 * An inflater: write(piece) and close() return the output so far; then `fault` is null, 'cut' if the data ends too
 * early, or 'damaged'. Uses zlib if available, which handles several members.
 */
function inflateByZlib(zlib) {
	const gunzip = zlib.createGunzip();
	const self = { out: [], fault: null };
	gunzip.on('data', (data) => self.out.push(data));
	const ended = new Promise((resolve) => {
		gunzip.on('close', resolve);
		gunzip.on('error', (err) => {
			self.fault = err.code === 'Z_BUF_ERROR' ? 'cut' : 'damaged';
		});
	});
	self.write = (piece) => /* which does not call back after an error */
		Promise.race([ended, new Promise((resolve) => gunzip.write(piece, resolve))]);
	self.close = () => gunzip.end() && ended;
	return self;
}

/* The browser's own, which handles one member and reports few details of errors. */
function inflateByStream() {
	const { writable, readable } = new DecompressionStream('gzip');
	const writer = writable.getWriter();
	const self = { out: [], fault: null };
	const pump = (async () => {
		for await (const data of fromReader(readable.getReader()))
			self.out.push(data);
	})().catch(() => {});
	writer.closed.catch(() => {});
	self.write = (piece) => writer.write(piece).catch(() => void (self.fault ||= 'damaged'));
	self.close = async () => {
		await writer.close().catch(() => void (self.fault ||= 'cut'));
		await pump;
	};
	return self;
}

function newInflater(web) {
	const isNode = typeof process === 'object' && process.versions && process.versions.node;
	return isNode && !web ? inflateByZlib(require('zlib')) : inflateByStream();
}

const INFLATE_STEP = 16 * 1024; /* compressed bytes per step, which may expand a thousandfold */

async function* inflate(chunks, inflater) {
	for await (const chunk of chunks) {
		for (let at = 0; at < chunk.length && !inflater.fault; at += INFLATE_STEP) {
			await inflater.write(chunk.subarray(at, at + INFLATE_STEP));
			await new Promise((resolve) => setTimeout(resolve));
			yield* inflater.out.splice(0);
		}
	}
	if (!inflater.fault)
		await inflater.close();
	yield* inflater.out.splice(0);
}

/* A trace from any input, with or without gzip. Iterate over it once; then it has an outcome. */
class Trace {
	#input;
	#options;
	#decoder;
	#inflater = null;

	constructor(input, options) {
		this.#input = input;
		this.#options = options;
		this.#decoder = new Decoder(options);
	}

	/* The decoder's outcome; damage of the gzip data counts as damage of the trace. */
	get outcome() {
		const outcome = this.#decoder.outcome;
		const fault = this.#inflater && this.#inflater.fault;
		if (!fault || STOPS.includes(outcome.status))
			return outcome;
		return fault === 'damaged' ?
			{ status: 'corrupt', offset: outcome.offset, reason: 'damaged gzip data' } :
			{ status: 'truncated', offset: outcome.offset, reason: 'the gzip data ends too early' };
	}

	get consumed() { return this.#decoder.consumed; }

	async *[Symbol.asyncIterator]() {
		for await (const chunk of this.#plain()) {
			this.#decoder.push(chunk);
			yield* this.#frames();
			if (STOPS.includes(this.#decoder.outcome.status))
				return;
		}
		this.#decoder.end();
		yield* this.#frames();
	}

	*#frames() {
		for (let frame = this.#decoder.next(); frame; frame = this.#decoder.next())
			yield frame;
	}

	/* gzip is detected by two bytes, which may arrive one by one. */
	async *#plain() {
		const chunks = pieces(this.#input);
		const head = [];
		let size = 0;
		for (let got; size < 2 && !(got = await chunks.next()).done; size += got.value.length)
			head.push(got.value);
		const all = chain(head, chunks), first = head.flatMap((chunk) => [...chunk.subarray(0, 2)]);
		if (first[0] !== 0x1f || first[1] !== 0x8b) {
			yield* all;
			return;
		}
		this.#inflater = newInflater(this.#options.web);
		yield* inflate(all, this.#inflater);
	}
}

async function* chain(first, rest) {
	try {
		yield* first;
		yield* rest;
	} finally {
		await rest.return();
	}
}

/*
 * options: limits and f64Bits, as for Decoder; web: inflate as a browser does, also under Node. A browser handles
 * gzip of one member only.
 */
function read(input, options = {}) {
	return new Trace(input, options);
}

const api = { read, Decoder, TYPE, BadText, Entries, parts: { Cursor, EventFrame, Fault, readValues, asBytes, DEPTH_MAX, TS_MAX } };
if (typeof module === 'object' && module.exports)
	module.exports = api;
else
	root.dial9 = api;

})(globalThis);
