// SPDX-License-Identifier: BSD-2-Clause
/*
 * The colours of canvases: those of the style sheet, light or dark, as numbers; and colours by
 * name.
 */
'use strict';

const { isDark } = require('./theme.js');

const VARIABLES = ['bg', 'panel', 'lane', 'line', 'text', 'muted', 'accent', 'run', 'wait', 'sleep', 'disk', 'unknown',
	'poll', 'slow', 'park', 'span', 'mark', 'hit', 'range', 'kernel', 'jit', 'nameless'];

function hash(text) {
	let h = 0;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) + (h >>> 13) | 0;
	return h >>> 0;
}

function parse(color) {
	const n = parseInt(color.slice(1), 16);
	return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

function fromHsl(h, s, l) {
	const part = (n) => {
		const k = (n + h / 30) % 12;
		return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return [part(0), part(8), part(4)];
}

class Palette {
	constructor() {
		this.read();
	}

	/*
	 * Call it again when the theme changes. Colours in the style sheet are light-dark(#rrggbb,
	 * #rrggbb).
	 */
	read() {
		const style = getComputedStyle(document.documentElement);
		this.dark = isDark();
		this.css = {};
		this.rgb = {};
		for (const name of VARIABLES) {
			const [light, dark] = style.getPropertyValue(`--${name}`).match(/#[0-9a-f]{6}/g);
			this.css[name] = this.dark ? dark : light;
			this.rgb[name] = parse(this.css[name]);
		}
		this.font = style.getPropertyValue('--font').trim();
		this.threads = new Map();
		this.modules = new Map();
	}

	/* By thread number. */
	thread(tid) {
		return this.#known(this.threads, tid, () =>
			fromHsl(tid * 137.508 % 360, this.dark ? 0.38 : 0.48, this.dark ? 0.46 : 0.64));
	}

	/* By module and function name: warm; kernel functions cool. */
	function({ name, module, named, kernel }) {
		return this.#known(this.modules, `${kernel ? 1 : 0}${named ? 1 : 0}${module}\0${name}`, () => {
			const h = hash(module), light = (hash(name) % 100 / 100 - 0.5) * 0.1;
			if (!named)
				return this.rgb[name === '[jit]' ? 'jit' : 'nameless'];
			if (this.dark)
				return kernel ? fromHsl(205 + h % 20, 0.36, 0.38 + light / 2) : fromHsl(6 + h % 36, 0.5, 0.37 + light / 2);
			return kernel ? fromHsl(205 + h % 20, 0.5, 0.77 + light) : fromHsl(12 + h % 36, 0.78, 0.72 + light);
		});
	}

	#known(map, key, make) {
		let color = map.get(key);
		if (!color)
			map.set(key, color = make());
		return color;
	}
}

function css([r, g, b], alpha = 1) {
	return `rgba(${r},${g},${b},${alpha})`;
}

module.exports = { Palette, css, fromHsl };
