// SPDX-License-Identifier: BSD-2-Clause
/* Values of fields as text, equal on the page and in script. */
'use strict';

const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');

const { TYPE } = require('../../../user/web/read/decode.js');
const { load } = require('../../../user/web/model/load.js');
const { HEADER, event, le, schema, str } = require('../bytes.js');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', '..', 'build');
const ERRNO = 9, ARRAY = 10;

test('error numbers have names, and other numbers have none', async () => {
	const values = [0, 7, ...Array.from({ length: 140 }, (_, i) => -1 - i), ...Array.from({ length: 9 }, (_, i) => -510 - i), -4095, -4096];
	const timed = (type, ...rest) => [2, ...le(type, 2), ...le(1, 3), ...rest.flat(9)];
	const bytes = Buffer.from([HEADER,
		schema(1, 'TracepointSymbol', [['event', TYPE.STRING], ['field', TYPE.STRING], ['kind', TYPE.U8], ['value', TYPE.VARINT],
			['name', TYPE.STRING]]),
		schema(2, 'syscalls:sys_exit_read', [['common_cpu', TYPE.VARINT], ['common_pid', TYPE.VARINT], ['ret', TYPE.I64]], 1),
		event(1, str('syscalls:sys_exit_read', 4), str('ret', 4), ERRNO, 0, str('', 4)),
		event(1, str('syscalls:sys_exit_read', 4), str('ret', 4), 8, 0, str('', 4)),
		values.map((v) => timed(2, 0, 9, le(BigInt.asUintN(64, BigInt(v)), 8)))].flat(9));
	const { status, stdout } = spawnSync(path.join(BUILD, 'dial9-prof'), ['script', '-'], { input: bytes, encoding: 'utf8' });
	assert.strictEqual(status, 0);
	const expected = stdout.trim().split('\n').map((line) => /ret=(.*)\)$/.exec(line)?.[1]);
	const { lanes, trace } = await load(bytes);
	const mine = Array.from(lanes.marks[0].row, (row) => trace.details(row).find(([field]) => field === 'ret')[1]);
	assert.strictEqual(mine.length, values.length);
	assert.deepStrictEqual(mine, expected);
	assert.strictEqual(mine[3], '-2 ENOENT');
});

test('bytes of an array are printed as numbers', async () => {
	const symbols = schema(1, 'TracepointSymbol', [['event', TYPE.STRING], ['field', TYPE.STRING], ['kind', TYPE.U8], ['value', TYPE.VARINT],
		['name', TYPE.STRING]]);
	const all = [[4, [1, 0, 0, 0, 0xff, 0xff, 0, 0]], [8, [0, 0, 0, 0, 0, 0, 0, 0x80]], [2, []], [4, [1, 2, 3]]];
	for (const [unit, data] of all) {
		const bytes = Buffer.from([HEADER, symbols,
			schema(2, 'a:b', [['common_cpu', TYPE.VARINT], ['common_pid', TYPE.VARINT], ['v', TYPE.BYTES]], 1),
			event(1, str('a:b', 4), str('v', 4), ARRAY, unit, str('', 4)),
			[2, ...le(2, 2), ...le(1, 3), 0, 9, ...le(data.length, 4), ...data]].flat(9));
		const { stdout } = spawnSync(path.join(BUILD, 'dial9-prof'), ['script', '-'], { input: bytes, encoding: 'utf8' });
		const { lanes, trace } = await load(bytes), expected = /v=(.*?)\)?$/m.exec(stdout)?.[1];
		assert.strictEqual(trace.details(lanes.marks[0].row[0])[2][1], expected, stdout);
	}
});
