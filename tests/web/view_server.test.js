// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof view` as a server: which requests it answers, and which it refuses. */
'use strict';

const assert = require('node:assert');
const { spawn, execFile, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const BUILD = process.env.D9_BUILD || path.join(__dirname, '..', '..', 'build');
const PROGRAM = path.join(BUILD, 'dial9-prof');
const GOLDEN = path.join(__dirname, '..', 'golden', 'dial9');

/* The server of a trace, once it has printed its address: { url, port, token, child }. */
function start(...args) {
	const child = spawn(PROGRAM, ['view', '--no-open', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
	return new Promise((resolve, reject) => {
		let text = '';
		child.on('exit', (code) => reject(new Error(`it ended with ${code}`)));
		child.stdout.setEncoding('utf8').on('data', (more) => {
			text += more;
			const said = /^http:\/\/127\.0\.0\.1:(\d+)\/([0-9a-f]{32})\/\n$/.exec(text);
			if (said)
				resolve({ url: text.trim(), port: Number(said[1]), token: said[2], child });
		});
	});
}

function stop({ child }, signal = 'SIGINT') {
	return new Promise((resolve) => {
		child.removeAllListeners('exit');
		child.on('exit', (code) => resolve(code));
		child.kill(signal);
	});
}

/* The complete response to these bytes, as latin1. */
function ask(port, request) {
	return new Promise((resolve, reject) => {
		const socket = net.connect(port, '127.0.0.1'), chunks = [];
		socket.on('data', (data) => chunks.push(data)).on('error', reject)
			.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
		socket.write(request);
	});
}

function get(server, what, host = `127.0.0.1:${server.port}`, method = 'GET') {
	return ask(server.port, `${method} ${what} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
}

function status(answer) {
	return Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]);
}

function body(answer) {
	return Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1');
}

let server;
const MIXED = path.join(GOLDEN, 'mixed_1k.bin');

before(async () => {
	server = await start(MIXED);
});

after(async () => assert.strictEqual(await stop(server), 0, 'Ctrl-C is a good end'));

test('serves the page, which requests the trace, and the trace', async () => {
	const page = await get(server, `/${server.token}/`), trace = await get(server, `/${server.token}/trace`);
	assert.strictEqual(status(page), 200);
	assert.match(page, /Content-Type: text\/html; charset=utf-8\r\n/);
	assert.match(page, /X-Content-Type-Options: nosniff\r\n/);
	assert.match(page, /connect-src 'self'/);
	assert.match(page, /id="trace" data-from="trace"><\/script>/);
	assert.strictEqual(status(trace), 200);
	assert.deepStrictEqual(body(trace), fs.readFileSync(MIXED));
	assert.strictEqual(status(await get(server, `/${server.token}/`, `localhost:${server.port}`)), 200);
});

test('refuses requests without the token', async () => {
	const wrong = server.token.replace(/^./, (c) => c === '0' ? '1' : '0');
	for (const what of ['/', '/trace', `/${wrong}/trace`, `/${server.token}`, `/${server.token}/x`, `/${server.token}//trace`,
		`/${server.token}/../trace`, `/${server.token}/trace?x`, '/../../etc/passwd', `/x${server.token}/trace`,
		`http://127.0.0.1:${server.port}/${server.token}/trace`])
		assert.strictEqual(status(await get(server, what)), 404, what);
});

/* A name that resolves to 127.0.0.1 must not make a browser read the trace. */
test('refuses other names for itself', async () => {
	const what = `/${server.token}/trace`, { port } = server;
	for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:${port}.evil.example`, `127.0.0.1:${port + 1}`,
		`127.0.0.1:${port}\r\nHost: evil.example`, `127.0.0.1:${port}\r\nHost: 127.0.0.1:${port}`, ''])
		assert.strictEqual(status(await get(server, what, host)), 421, host);
	assert.strictEqual(status(await ask(port, `GET ${what} HTTP/1.1\r\n\r\n`)), 421);
});

test('answers only GET and refuses malformed requests', async () => {
	const { port, token } = server, host = `Host: 127.0.0.1:${port}\r\n`;
	for (const method of ['POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'get'])
		assert.strictEqual(status(await get(server, `/${token}/trace`, undefined, method)), 405, method);
	for (const nonsense of ['\r\n\r\n', 'GET\r\n\r\n', `GET /${token}/trace\r\n${host}\r\n`, `GET  HTTP/1.1\r\n${host}\r\n`,
		`GET /${token}/trace HTTP/2.0\r\n${host}\r\n`, `GET /\0 HTTP/1.1\r\n${host}\r\n`, `${'x'.repeat(9000)}\r\n\r\n`])
		assert([400, 404, undefined, NaN].includes(status(await ask(port, nonsense).catch(() => ''))), nonsense.slice(0, 40));
});

test('answers requests while other connections are silent', async () => {
	const idle = Array.from({ length: 12 }, () => net.connect(server.port, '127.0.0.1'));
	for (const socket of idle)
		socket.on('error', () => {});
	assert.strictEqual(status(await get(server, `/${server.token}/trace`)), 200);
	for (const socket of idle)
		socket.destroy();
});

test('serves a selection and decompressed gzip', async () => {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-view-')), out = path.join(dir, 'cut.bin');
	const service = path.join(GOLDEN, 'tokio-service.bin.gz'), whole = await start(service);
	assert.strictEqual(body(await get(whole, `/${whole.token}/trace`)).length, 4047237);
	await stop(whole, 'SIGTERM');
	execFileSync(PROGRAM, ['cut', '-q', '-t', '31710', service, '-o', out]);
	const some = await start('-t', '31710', service);
	assert.deepStrictEqual(body(await get(some, `/${some.token}/trace`)), fs.readFileSync(out));
	await stop(some);
	fs.rmSync(dir, { recursive: true });
});

test('does not start with a file that is not a trace', () => {
	for (const args of [['/etc/passwd'], ['/nonexistent'], [__dirname], ['-t', '7', '/etc/passwd']])
		assert.throws(() => execFileSync(PROGRAM, ['view', '--no-open', ...args], { stdio: 'pipe' }),
			(err) => err.status === 5 && String(err.stderr).split('\n').length === 2, args.join());
});

test('prints a remedy if the port is in use', async () => {
	const other = net.createServer();
	await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
	const args = ['view', '--no-open', '--port', other.address().port, path.join(GOLDEN, 'core', 'small.bin')];
	const [err, said] = await new Promise((resolve) => {
		execFile(PROGRAM, args, { timeout: 20000 }, (error, out, text) => resolve([error, text]));
	});
	await new Promise((resolve) => other.close(resolve));
	assert.strictEqual(err.code, 2);
	assert.strictEqual(said, 'dial9-prof: view: cannot listen on 127.0.0.1: Address already in use; use another --port, or none ' +
		'for any free port\n');
});

/* A browser that reports its arguments and its file, as another user than root, which must get neither. */
test('keeps the token out of command lines', async () => {
	const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'd9-view-')), words = path.join(dir, 'words');
	const uid = process.getuid() || 65534, bin = path.join(dir, 'bin'), runtime = path.join(dir, 'runtime');
	fs.mkdirSync(bin);
	fs.mkdirSync(runtime);
	fs.writeFileSync(path.join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" >${words}\n`, { mode: 0o755 });
	execFileSync('mkfifo', [words]);
	for (const name of [dir, words, runtime])
		fs.chownSync(name, uid, process.getgid());
	const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':9', XDG_RUNTIME_DIR: runtime };
	const child = spawn(PROGRAM, ['view', path.join(GOLDEN, 'core', 'small.bin')],
		{ stdio: ['ignore', 'pipe', 'inherit'], env, uid });
	const said = await new Promise((resolve, reject) => {
		child.on('exit', (code) => reject(new Error(`it ended with ${code}`)));
		child.stdout.setEncoding('utf8').once('data', resolve);
	});
	try {
		const given = (await fs.promises.readFile(words, 'utf8')).trim(), token = said.trim().split('/')[3];
		assert.strictEqual(token.length, 32);
		assert.ok(!given.includes(token), `xdg-open got ${given}`);
		assert.strictEqual(path.dirname(path.dirname(given)), runtime);
		assert.ok(fs.readFileSync(given, 'utf8').includes(`url=${said.trim()}"`));
		assert.strictEqual(fs.statSync(given).mode & 0o777, 0o600);
		assert.strictEqual(fs.statSync(path.dirname(given)).mode & 0o777, 0o700);
	} finally {
		assert.strictEqual(await stop({ child }, 'SIGHUP'), 0);
	}
	assert.deepStrictEqual(fs.readdirSync(runtime), []);
	fs.rmSync(dir, { recursive: true });
});
