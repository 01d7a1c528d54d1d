// SPDX-License-Identifier: BSD-2-Clause
/* Gets the trace: from the page itself, as base64, or from the page's server. */
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

/*
 * Inflates a gzip stream; keeps what comes before an error, and the reader reports where it ends.
 */
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

/* Inflates the bytes of a trace if they are gzipped. */
async function plain(bytes) {
	return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflate(new Blob([bytes]).stream()) : bytes;
}

/* From the element that has the trace, or its path in data-from. */
async function traceOf(element) {
	if (!element.dataset.from)
		return plain(fromBase64(element.textContent.trim()));
	const response = await fetch(element.dataset.from);
	if (!response.ok)
		throw new Error(`the server says ${response.status}`);
	return plain(new Uint8Array(await response.arrayBuffer()));
}

module.exports = { traceOf, fromBase64, plain };
