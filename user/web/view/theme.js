// SPDX-License-Identifier: BSD-2-Clause
/* Light or dark: the system's setting, unless the button was used. */
'use strict';

const { byId } = require('./dom.js');

const KEY = 'dial9-theme';
const changed = [];

function system() {
	return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/* Pages from files may have no storage. */
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
		/* without storage the choice is not kept */
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

/* Calls fn after each change. */
function onTheme(fn) {
	changed.push(fn);
}

module.exports = { initTheme, isDark, onTheme };
