// SPDX-License-Identifier: BSD-2-Clause
/* Numbers in readable form. */
'use strict';

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

function digits(v, most) {
	return v >= 1000 ? v.toFixed(0) : v.toFixed(Math.max(0, most - Math.max(1, Math.floor(Math.log10(Math.max(v, 1))) + 1)));
}

/* Nanoseconds with four digits: "12.34 ms". */
function duration(ns) {
	const [unit, name] = UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
	return `${ns < 0 ? '-' : ''}${name === 'ns' ? Math.abs(ns).toFixed(0) : digits(Math.abs(ns) / unit, 4)} ${name}`;
}

/* A time since the start of the trace, with the precision that a step on the axis needs. */
function moment(ns, step = 1000) {
	const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / 1e9) - 1e-9)));
	return `${(ns / 1e9).toFixed(decimals)} s`;
}

function percent(part, whole) {
	return whole ? `${(100 * part / whole).toFixed(part === whole ? 0 : 1)} %` : '–';
}

/* "1,234,567"; toLocaleString() would load tables for it. */
function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

const TEXT_MAX = 4000;
/*
 * Control characters, those that change text direction or are invisible, unpaired surrogates; not
 * those that join letters.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/*
 * Text of the trace that can be shown anywhere: invisible characters are escaped, and long text is
 * cut.
 */
function shown(text, most = TEXT_MAX) {
	const cut = text.length > most ? `${text.slice(0, most)}…` : text;
	return cut.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/* "1 sample", "12 samples" */
function counted(n, word) {
	return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

/* A weight of a flame graph. */
function weight(v, unit) {
	return unit === 'ns' ? duration(v) : counted(v, 'sample');
}

module.exports = { shown, duration, moment, percent, count, counted, weight };
