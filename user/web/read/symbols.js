// SPDX-License-Identifier: BSD-2-Clause
/*
 * Modules, frames and their functions. A frame in the trace has a module number that is valid only
 * within its segment; here each distinct frame has one small number for the whole trace. As
 * user/trace/read/names.c and user/profile/sums/profile.c.
 */
'use strict';

const DEPTH_MAX = 64; /* of inlined functions */
const MODULE_MAX = 0x7fffff;
const KIND_ELF = 0, KIND_ANON = 5;
const UNKNOWN = '[unknown]';
const HASHED = 16, HASHED_EACH = 7; /* of a stack's frames */

/* "[libc.so.6]": the location of an address without symbol. */
function isLabel(name) {
	return /^\[[^[\]]+\]$/.test(name);
}

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

class Symbols {
	#ids = new Map(); /* id in this segment -> index of a module with a ModuleEvent */
	#raw = new Map(); /* the same for modules without one, in this part */
	#byContent = new Map();
	#frames = new Map(); /* module's index * 2 + kernel -> Map of offset -> frame */
	#functions = new Map(); /* name and module -> function */
	#expanded = [];

	constructor() {
		this.modules = [{ path: '' }]; /* by index */
		this.symbols = []; /* by frame: rows by depth, outermost first, or undefined */
		this.frameModule = [];
		this.functions = []; /* by number: { name, path, module, named, kernel } */
	}

	/* A new segment: ids of modules change their meaning. */
	segment() {
		this.#ids.clear();
		this.#raw.clear();
	}

	/* A new part: addresses without a module belong to another program. */
	part() {
		this.#raw.clear();
	}

	/* Returns whether frames with that id change their meaning. */
	addModule(part, id, path, buildId, kind) {
		if (!(id > 0 && id <= MODULE_MAX))
			return false;
		const vague = kind === KIND_ANON || kind === KIND_ELF && !buildId;
		const key = JSON.stringify([path, buildId, kind, vague ? part : 0, vague ? id : 0]);
		const index = this.#module(key, path), was = this.#ids.get(id) ?? this.#raw.get(id);
		this.#ids.set(id, index);
		return was !== undefined && was !== index;
	}

	#module(key, path) {
		let index = this.#byContent.get(key);
		if (index === undefined) {
			index = this.modules.length;
			this.modules.push({ path });
			this.#byContent.set(key, index);
		}
		return index;
	}

	/* The number of a frame from the trace, given as two halves. */
	frame(part, low, high) {
		const id = high >>> 8 & MODULE_MAX, kernel = high >>> 31;
		let index = this.#ids.get(id) ?? this.#raw.get(id);
		if (index === undefined) {
			index = id || part ? this.#module(`${part}/${id}`, '') : 0;
			this.#raw.set(id, index);
		}
		const key = index * 2 + kernel, offset = low + (high & 0xff) * 0x100000000;
		let frames = this.#frames.get(key);
		if (!frames)
			this.#frames.set(key, frames = new Map());
		let frame = frames.get(offset);
		if (frame === undefined) {
			frame = this.frameModule.length;
			this.frameModule.push(key);
			frames.set(offset, frame);
		}
		return frame;
	}

	/* A later row replaces an earlier one, but a label never replaces a name. */
	setSymbol(frame, depth, name, size, file, line) {
		if (!(depth >= 0 && depth < DEPTH_MAX) || !name)
			return;
		const rows = this.symbols[frame] ||= [];
		const label = !depth && !size && isLabel(name);
		if (label && rows[depth] && !rows[depth].label)
			return;
		rows[depth] = { name, file, line, label };
	}

	/*
	 * [row, depth] of each function at a frame, innermost first; row null: unknown. A function
	 * inlined into itself is listed once.
	 */
	*#functionsAt(frame) {
		const rows = this.symbols[frame] || [];
		for (let depth = rows.length - 1; depth > 0; depth--)
			if (rows[depth] && (!rows[depth - 1] || rows[depth].name !== rows[depth - 1].name))
				yield [rows[depth], depth];
		yield [rows[0] || null, 0];
	}

	/*
	 * The numbers of the functions at a frame, innermost first. Call it when all symbols are
	 * known.
	 */
	expand(frame) {
		return this.#expanded[frame] ||=
			Array.from(this.#functionsAt(frame), ([row, depth]) => this.#function(frame, row, depth > 0));
	}

	/* One number per name and module, inlined or not. */
	#function(frame, row, inlined) {
		const key = this.frameModule[frame], module = this.modules[key >> 1];
		const name = row ? row.name : UNKNOWN, id = `${inlined ? 1 : 0}${name}\0${module.path}\0${key & 1}`;
		let number = this.#functions.get(id);
		if (number === undefined) {
			number = this.functions.length;
			this.functions.push({ name, path: module.path, module: baseName(module.path), inlined,
				named: Boolean(row) && !row.label, kernel: Boolean(key & 1) });
			this.#functions.set(id, number);
		}
		return number;
	}

	isKernel(frame) {
		return (this.frameModule[frame] & 1) === 1;
	}

	/*
	 * The name of the outermost function at a frame, into which others may be inlined, or null.
	 */
	nameOf(frame) {
		const row = this.symbols[frame] && this.symbols[frame][0];
		return row && !row.label ? row.name : null;
	}

	/* The functions at a frame, with lines: for lists of stacks. */
	lines(frame) {
		const module = baseName(this.modules[this.frameModule[frame] >> 1].path);
		return Array.from(this.#functionsAt(frame), ([row, depth]) => ({
			name: row ? row.name : UNKNOWN, inlined: depth > 0, module, file: row && row.file, line: row && row.line,
		}));
	}
}

/* Distinct stacks of frames, leaf first, each with a number. */
class Stacks {
	#index = new Map(); /* hash -> number, or several */

	constructor() {
		this.at = [0]; /* start of each in .frames; one more than there are stacks */
		this.frames = [];
		this.gists = []; /* by stack: cached text for blocked threads */
	}

	get length() { return this.at.length - 1; }

	add(frames) {
		let hash = frames.length;
		/* callers of deep stacks are mostly the same: hash only some of them */
		for (let i = 0; i < frames.length; i += i < HASHED ? 1 : HASHED_EACH)
			hash = Math.imul(hash ^ frames[i], 0x9e3779b1) + (hash >>> 15) | 0;
		const same = this.#index.get(hash);
		if (same !== undefined)
			for (const stack of same)
				if (this.#is(stack, frames))
					return stack;
		const stack = this.length;
		for (let i = 0; i < frames.length; i++)
			this.frames.push(frames[i]);
		this.at.push(this.frames.length);
		if (same)
			same.push(stack);
		else
			this.#index.set(hash, [stack]);
		return stack;
	}

	get(stack) {
		return this.frames.slice(this.at[stack], this.at[stack + 1]);
	}

	#is(stack, frames) {
		const at = this.at[stack];
		if (this.at[stack + 1] - at !== frames.length)
			return false;
		for (let i = 0; i < frames.length; i++)
			if (this.frames[at + i] !== frames[i])
				return false;
		return true;
	}
}

module.exports = { Symbols, Stacks, UNKNOWN, baseName };
