// SPDX-License-Identifier: BSD-2-Clause
/*
 * A headless Chromium, driven by its DevTools protocol over a pipe. Only the features that the tests of the
 * page need.
 */
'use strict';

const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const ANSWER_MS = 60000;

/* The first installed program, or null. */
function findBrowser() {
	const wanted = process.env.D9_BROWSER ? [process.env.D9_BROWSER] : PROGRAMS;
	return wanted.find((name) => !spawnSync(name, ['--version'], { stdio: 'ignore' }).error) || null;
}

class Browser {
	#child;
	#next = 1;
	#waiting = new Map();
	#listeners = new Map();
	#rest = '';
	#profile;

	/* Errors in pages, as text: exceptions, errors on the console, refusals of the policy. */
	errors = [];

	/* `more`: arguments of its command line. */
	constructor(program, more = []) {
		this.#profile = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-browser-'));
		this.#child = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
			'--remote-debugging-pipe', '--no-first-run', '--hide-scrollbars', '--force-color-profile=srgb',
			`--user-data-dir=${this.#profile}`, ...more, 'about:blank'],
		{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
		this.#child.stdio[4].setEncoding('utf8');
		this.#child.stdio[4].on('data', (text) => this.#take(text));
		this.#child.on('exit', () => this.#fail(new Error('the browser ended')));
	}

	#take(text) {
		const parts = (this.#rest + text).split('\0');
		this.#rest = parts.pop();
		for (const part of parts)
			this.#message(JSON.parse(part));
	}

	#message({ id, method, params, result, error, sessionId }) {
		const waiting = this.#waiting.get(id);
		if (waiting) {
			this.#waiting.delete(id);
			clearTimeout(waiting.timer);
			if (error)
				waiting.reject(new Error(`${waiting.method}: ${error.message}`));
			else
				waiting.resolve(result);
		}
		for (const fn of this.#listeners.get(method) || [])
			fn(params, sessionId);
	}

	#fail(err) {
		for (const { reject, timer } of this.#waiting.values()) {
			clearTimeout(timer);
			reject(err);
		}
		this.#waiting.clear();
	}

	on(method, fn) {
		this.#listeners.set(method, [...this.#listeners.get(method) || [], fn]);
	}

	send(method, params = {}, sessionId = undefined) {
		const id = this.#next++;
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS);
			this.#waiting.set(id, { resolve, reject, timer, method });
			this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		});
	}

	/* A page of that size; `scheme`: "light" or "dark". */
	async open(url, { width = 1280, height = 800, scheme = 'light' } = {}) {
		const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
		const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
		const page = new Tab(this, sessionId, targetId);
		this.on('Runtime.exceptionThrown', ({ exceptionDetails: e }, session) => session === sessionId &&
			this.errors.push(`exception: ${(e.exception && e.exception.description) || e.text}`));
		this.on('Runtime.consoleAPICalled', ({ type, args }, session) => session === sessionId && type === 'error' &&
			this.errors.push(`console: ${args.map((arg) => arg.value || arg.description).join(' ')}`));
		this.on('Log.entryAdded', ({ entry }, session) => session === sessionId &&
			this.errors.push(`log: ${entry.level} ${entry.text}`));
		for (const method of ['Page.enable', 'Runtime.enable', 'Log.enable'])
			await page.send(method);
		await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
		await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
		await page.send('Page.navigate', { url });
		return page;
	}

	async close() {
		const ended = new Promise((resolve) => this.#child.once('exit', resolve));
		await this.send('Browser.close').catch(() => this.#child.kill('SIGKILL'));
		await ended;
		fs.rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
	}
}

class Tab {
	constructor(browser, session, target) {
		Object.assign(this, { browser, session, target });
	}

	send(method, params) {
		return this.browser.send(method, params, this.session);
	}

	/* The value of an expression in the page, awaited. */
	async evaluate(expression) {
		const { result, exceptionDetails: e } = await this.send('Runtime.evaluate',
			{ expression, awaitPromise: true, returnByValue: true });
		if (e)
			throw new Error((e.exception && e.exception.description) || e.text);
		return result.value;
	}

	/* Until an expression is true: evaluated once per frame of the page. */
	async until(expression) {
		return this.evaluate(`new Promise((resolve, reject) => {
			const end = performance.now() + ${ANSWER_MS / 2}, ask = () => {
				const value = ${expression};
				if (value) resolve(value);
				else if (performance.now() > end) reject(new Error(${JSON.stringify(`never: ${expression}`)}));
				else requestAnimationFrame(ask);
			};
			ask();
		})`);
	}

	/* The page of the application, once it has opened its trace. */
	async ready() {
		await this.until("document.readyState === 'complete' && window.dial9Page !== undefined");
		return this.evaluate('dial9Page.then((page) => { window.page = page; return page.openedMs; })');
	}

	mouse(type, x, y, more = {}) {
		return this.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left',
			buttons: type === 'mouseReleased' ? 0 : 1, clickCount: type === 'mouseMoved' ? 0 : 1, ...more });
	}

	async click(x, y) {
		await this.mouse('mousePressed', x, y);
		await this.mouse('mouseReleased', x, y);
	}

	wheel(x, y, deltaY, modifiers = 0) {
		return this.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: 0, deltaY, modifiers });
	}

	/* A key by its name: "a", "Enter", "ArrowUp". */
	async key(key, modifiers = 0) {
		const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
		const code = { Enter: 13, Escape: 27, Tab: 9, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key] ||
			key.toUpperCase().charCodeAt(0);
		await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', key, text, modifiers,
			windowsVirtualKeyCode: code });
		await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, modifiers, windowsVirtualKeyCode: code });
	}

	type(text) {
		return this.send('Input.insertText', { text });
	}

	/* As PNG. */
	async screenshot(file) {
		const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}

	close() {
		return this.browser.send('Target.closeTarget', { targetId: this.target });
	}
}

module.exports = { Browser, findBrowser };
