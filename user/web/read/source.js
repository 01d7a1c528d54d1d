// SPDX-License-Identifier: BSD-2-Clause
/* Where the trace comes from: the page itself, as base64, or the server that gave the page. */
'use strict';

const BYTES_MAX = 0x7fffffff; /* of a trace, inflated */

/* Text of base64, without white space, as bytes. */
function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/* What is in a stream of gzip; what comes before a fault is kept: the reader tells where it ends. */
async function inflate(stream) {
	const reader = stream.pipeThrough(new DecompressionStream('gzip')).getReader(), chunks = [];
	let size = 0;
	try {
		for (let got = await reader.read(); !got.done; got = await reader.read()) {
			chunks.push(got.value);
			size += got.value.length;
			if (size > BYTES_MAX)
				throw new Error('the trace is too large for a browser: cut it');
		}
	} catch (err) {
		if (!(err instanceof TypeError))
			throw err;
	}
	const bytes = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.length;
	}
	return bytes;
}

/* The bytes of a trace that may be gzipped. */
async function plain(bytes) {
	return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflate(new Blob([bytes]).stream()) : bytes;
}

/* Of the element that holds the trace, or says in data-from which path does. */
async function traceOf(element) {
	if (!element.dataset.from)
		return plain(fromBase64(element.textContent.trim()));
	const response = await fetch(element.dataset.from);
	if (!response.ok)
		throw new Error(`the server says ${response.status}`);
	return plain(new Uint8Array(await response.arrayBuffer()));
}

module.exports = { traceOf, fromBase64, plain };
