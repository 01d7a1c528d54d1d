// SPDX-License-Identifier: BSD-2-Clause
/* Light or dark: as the system has it, until the switch says otherwise. */
'use strict';

const { byId } = require('./dom.js');

const KEY = 'dial9-theme';
const changed = [];

function system() {
	return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/* Pages from files may not be allowed to remember. */
function remembered() {
	try {
		return localStorage.getItem(KEY);
	} catch {
		return null;
	}
}

function remember(theme) {
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		/* then it is as the system has it next time */
	}
}

function isDark() {
	return (document.documentElement.dataset.theme || system()) === 'dark';
}

function notify() {
	const other = isDark() ? 'light' : 'dark';
	byId('theme').textContent = other === 'dark' ? '☾ Dark' : '☀ Light';
	byId('theme').setAttribute('aria-label', `Switch to ${other} colours`);
	for (const fn of changed)
		fn();
}

function initTheme() {
	const theme = remembered();
	if (theme === 'dark' || theme === 'light')
		document.documentElement.dataset.theme = theme;
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', notify);
	byId('theme').addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		remember(document.documentElement.dataset.theme);
		notify();
	});
	notify();
}

/* fn is called after each change. */
function onTheme(fn) {
	changed.push(fn);
}

module.exports = { initTheme, isDark, onTheme };
