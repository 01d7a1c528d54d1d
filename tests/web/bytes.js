// SPDX-License-Identifier: BSD-2-Clause
/* Streams put together byte by byte, as FORMAT.md describes them: arrays of bytes, possibly nested. */
'use strict';

const HEADER = [0x54, 0x52, 0x43, 0, 1];
const le = (v, size) => Array.from({ length: size }, (_, i) => Number(BigInt(v) >> BigInt(8 * i) & 255n));
const str = (s, size) => [...le(Buffer.byteLength(s), size), ...Buffer.from(s)];
const schema = (id, name, fields, ts = 0) => [1, ...le(id, 2), ...str(name, 2), ts,
	...le(fields.length, 2), ...fields.flatMap(([field, type]) => [...str(field, 2), type])];
const event = (id, ...values) => [2, ...le(id, 2), ...values.flat(9)];
const strings = (...entries) => [3, ...le(entries.length, 4),
	...entries.flatMap(([id, s]) => [...le(id, 4), ...str(s, 4)])];

module.exports = { HEADER, le, str, schema, event, strings };
