// SPDX-License-Identifier: BSD-2-Clause
/* Opens the trace, and connects the parts of the page. */
'use strict';

const { byId, say } = require('./dom.js');
const { load } = require('../model/load.js');
const { Page } = require('./app.js');
const { traceOf } = require('../read/source.js');
const { initTheme } = require('./theme.js');

const DRAW_EACH_MS = 60;

function nextFrame() {
	return new Promise((resolve) => setTimeout(resolve));
}

async function open() {
	const status = byId('status'), begun = performance.now();
	let drawn = begun;
	const bytes = await traceOf(byId('trace'));
	byId('trace').textContent = '';
	const model = await load(bytes, async (share) => {
		if (performance.now() - drawn < DRAW_EACH_MS)
			return;
		status.textContent = `Reading the trace: ${Math.round(100 * share)} %`;
		await nextFrame();
		drawn = performance.now();
	});
	const { count, outcome } = model.trace;
	if (!count)
		throw new Error(outcome.reason || 'it has no events');
	status.textContent = '';
	document.body.classList.add('open');
	const page = new Page(model);
	page.openedMs = performance.now() - begun;
	return page;
}

initTheme();
/* For tests, and for use in the console. null: there is nothing to show. */
window.dial9Page = open().catch((err) => {
	say('status', `This trace cannot be shown: ${err.message}`);
	return null;
});
