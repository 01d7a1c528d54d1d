// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reader's output in the format of `dial9-prof dump --json`, byte for byte. The golden traces come with
 * such lines, written by another implementation.
 */
'use strict';

const { TYPE, BadText } = require('../../user/web/read/decode.js');

function hex(bytes) {
	return `{"hex":"${Buffer.from(bytes).toString('hex')}"}`;
}

function text(value) {
	if (value instanceof BadText)
		return hex(value.bytes);
	/*
	 * Characters that JSON.stringify() writes in short form, or unescaped: controls, and those that hide or
	 * reverse text.
	 */
	const unsafe = new RegExp('[\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
		'\\ufeff\\ufff9-\\ufffb]|[\\udb40-\\udb43][\\udc00-\\udfff]', 'g');
	const code = (c) => Array.from({ length: c.length }, (_, i) =>
		`\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
	return `"${value.replace(/["\\]/g, '\\$&').replace(unsafe, code)}"`;
}

function frames(list) {
	return list === null ? 'null' : `[${list.join(',')}]`;
}

/* F64 as read with the option f64Bits. */
function value(type, v) {
	const elem = (e) => value(e.type, e.value);
	if (v === null)
		return 'null';
	switch (type & 0x7f) {
	case TYPE.F64:
		return `{"f64":"${v.toString(16).padStart(16, '0')}"}`;
	case TYPE.STRING:
		return text(v);
	case TYPE.BYTES:
		return hex(v);
	case TYPE.POOLED_STRING:
		return `{"pool":${v.id},"str":${v.text === null ? 'null' : text(v.text)}}`;
	case TYPE.POOLED_STACK:
		return `{"stack":${v.id},"frames":${frames(v.frames)}}`;
	case TYPE.STACK:
		return frames(v);
	case TYPE.STRING_MAP:
		return `[${[...v].map((pair) => `[${pair.map(text)}]`)}]`;
	case TYPE.LIST:
		return `{"list":[${[...v].map(elem)}]}`;
	case TYPE.MAP:
		return `{"map":[${[...v].map((pair) => `[${pair.map(elem)}]`)}]}`;
	default:
		return String(v);
	}
}

function line(f) {
	const entries = (put) => `"entries":[${f.entries.map((e) => `[${put(e)}]`)}]}`;
	switch (f.kind) {
	case 'header':
	case 'midheader':
		return `{"f":"${f.kind}","version":${f.version}}`;
	case 'schema':
		return `{"f":"schema","type_id":${f.typeId},"name":${text(f.schema.name)},` +
			`"has_ts":${f.schema.hasTimestamp},"fields":[` +
			`${f.schema.fields.map((field) => `[${text(field.name)},${field.type}]`)}]}`;
	case 'strings':
		return `{"f":"strings",${entries(([id, s]) => `${id},${text(s)}`)}`;
	case 'stacks':
		return `{"f":"stacks",${entries(([id, list]) => `${id},${frames(list)}`)}`;
	case 'reset':
		return `{"f":"reset","ts":${f.ts}}`;
	case 'annotations':
		return `{"f":"annotations","type_id":${f.typeId},` +
			entries(([field, key, v]) => `${field},${text(key)},${text(v)}`);
	case 'event':
		return `{"f":"event","type_id":${f.typeId},"name":${text(f.schema.name)},"ts":${f.ts},` +
			`"fields":[${f.values.map((v, i) => {
				const field = f.schema.fields[i];
				return `[${text(field.name)},${field.type},${value(field.type, v)}]`;
			})}]}`;
	default:
		throw new Error(`unknown kind ${f.kind}`);
	}
}

/* Counts like the dump; add() and end() return the lines. */
class Tally {
	constructor() {
		this.frames = 0;
		this.events = 0;
	}

	add(f) {
		if (!['header', 'midheader', 'reset'].includes(f.kind))
			this.frames++;
		if (f.kind === 'event')
			this.events++;
		return line(f);
	}

	end({ outcome, consumed }) {
		const { status, offset, reason } = outcome;
		const why = status === 'ok' ? '' : `,"msg":${text(reason)},"offset":${offset}`;
		return `{"f":"end","status":"${status}","frames":${this.frames},` +
			`"events":${this.events},"consumed":${consumed}${why}}`;
	}
}

module.exports = { Tally };
