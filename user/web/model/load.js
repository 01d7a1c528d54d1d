// SPDX-License-Identifier: BSD-2-Clause
/* From the bytes of a trace to a Model, in steps, so that the page can draw in between. */
'use strict';

const { Model } = require('./model.js');
const { Trace } = require('../read/trace.js');

const FRAMES_AT_ONCE = 50000;

/* progress(share of the bytes) is called now and then, and awaited. */
async function load(bytes, progress = () => {}) {
	const trace = new Trace(bytes);
	while (trace.take(FRAMES_AT_ONCE))
		await progress(trace.consumed / bytes.length);
	trace.finish();
	return new Model(trace);
}

module.exports = { load };
