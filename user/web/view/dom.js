// SPDX-License-Identifier: BSD-2-Clause
/*
 * Elements of the page. Names in a trace are untrusted: here they become text nodes and attributes,
 * never markup.
 */
'use strict';

const { shown } = require('../read/format.js');

/* el('td', { class: 'number', onclick: fn }, 'text', child, ...): null children are skipped. */
function el(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : shown(String(value)));
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined)
			element.append(typeof child === 'string' ? shown(child) : child);
	return element;
}

function byId(id) {
	return document.getElementById(id);
}

function say(id, text) {
	byId(id).textContent = shown(text);
}

function button(text, onclick, attributes = {}) {
	return el('button', { type: 'button', onclick, ...attributes }, text);
}

/* Resizes a canvas to its box in device pixels. Returns { width, height, ratio }, in CSS pixels. */
function fitCanvas(canvas) {
	const ratio = window.devicePixelRatio || 1, { width, height } = canvas.getBoundingClientRect();
	const across = Math.max(1, Math.round(width * ratio)), down = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== across || canvas.height !== down) {
		canvas.width = across;
		canvas.height = down;
	}
	return { width, height, ratio };
}

module.exports = { el, byId, say, button, fitCanvas };
