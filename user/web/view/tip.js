// SPDX-License-Identifier: BSD-2-Clause
/* The tooltip at the pointer. */
'use strict';

const { el } = require('./dom.js');

const AWAY = 14, TEXT_MAX = 400;

class Tip {
	constructor(element) {
		this.element = element;
	}

	/* lines: texts, the first in bold; null: hide it. */
	show(lines, event) {
		const { element } = this;
		element.hidden = !lines || !event;
		if (element.hidden)
			return;
		element.replaceChildren(...lines.filter(Boolean).map((line, i) => el(i ? 'div' : 'strong', {}, line.slice(0, TEXT_MAX))));
		const { width, height } = element.getBoundingClientRect();
		const left = event.clientX + AWAY + width > innerWidth ? event.clientX - AWAY - width : event.clientX + AWAY;
		const top = event.clientY + AWAY + height > innerHeight ? event.clientY - AWAY - height : event.clientY + AWAY;
		element.style.left = `${Math.max(4, left)}px`;
		element.style.top = `${Math.max(4, top)}px`;
	}
}

module.exports = { Tip };
