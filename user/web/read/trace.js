// SPDX-License-Identifier: BSD-2-Clause
/*
 * A trace in memory: from frames of the reader to rows of events, names of threads, modules and
 * functions. Knows the fields it needs; others stay in the bytes, where details() finds them.
 */
'use strict';

const dial9 = require('./decode.js');
const { LeanDecoder, eventAt } = require('./lean.js');
const { NONE, Table } = require('./columns.js');
const { Gaps, hidesSwitches } = require('./gaps.js');
const { EVENT, EVENT_COLUMNS, SOURCE, OFF_CPU_COLUMNS, TID_MAX } = require('./states.js');
const { Notes } = require('./notes.js');
const { Parts } = require('./parts.js');
const { placeParts } = require('./time_axis.js');
const { Symbols, Stacks } = require('./symbols.js');
const { Values } = require('./values.js');

const PERIOD_MAX_NS = 3600e9;
const SCHEMAS_MAX = 0xffff;
const EVENT_BYTES = 20; /* minimum size of most events */
/*
 * The columns a to d of an event's row: fields by name. Other tracepoints have those of TRACEPOINT.
 */
const TRACEPOINT = { kind: EVENT.TRACEPOINT, fields: ['pid', 'child_pid', 'old_pid', 'dest_cpu'] };
const HOT = new Map([
	['sched:sched_switch', { kind: EVENT.SWITCH, fields: ['prev_pid', 'next_pid', 'prev_state'] }],
	['sched:sched_waking', { kind: EVENT.WAKEUP, fields: ['pid', 'target_cpu', 'context'] }],
	['sched:sched_wakeup_new', { kind: EVENT.BIRTH, fields: ['pid', 'target_cpu', 'context'] }],
	['dial9:cpu_watch', { kind: EVENT.WATCH, fields: ['watch'] }],
	['dial9:off_cpu', { kind: EVENT.OFF_CPU, fields: ['off_ns', 'blocked_ns', 'prev_state', 'from_cpu', 'waker_pid', 'context',
		'woken', 'unfinished'] }],
	['sched:sched_process_exit', { ...TRACEPOINT, kind: EVENT.EXIT }],
]);
const OTHERS = [EVENT.TRACEPOINT, EVENT.EXIT];
/* The fields of a sample; #put() stores their values in this order. */
const SAMPLE = ['callchain', 'source', 'pid', 'thread_name'];
/*
 * Application events: as HOT, but b may be any number, of which the low bits are stored, and c is a
 * text.
 */
const APPLICATION = [
	[/^Poll(Start|End)Event$/, ['worker_id', 'task_id', 'spawn_loc']],
	[/^Worker(Park|Unpark)Event$/, ['worker_id']],
	[/^Span(Enter|Exit):/, ['worker_id', 'span_id', 'span_name']],
];
/* Events about the trace and its names; each has a method below. */
const HANDLED = ['MergedPart', 'CpuSampleEvent', 'ModuleEvent', 'TaskEvent', 'SymbolTableEntry', 'LostEvents', 'ClockSyncEvent',
	'SegmentMetadataEvent', 'TracepointSymbol'];
/* Events that only name things: their time is that of writing. */
const NAMING = ['MergedPart', 'ModuleEvent', 'ModuleStatus', 'ProcMapsEntry', 'TaskEvent', 'SymbolTableEntry',
	'SegmentMetadataEvent', 'TracepointSymbol'];
/* Events without a row in the timeline. */
const UNSEEN = [...NAMING, 'CpuSampleEvent', 'ClockSyncEvent', 'RecorderStats', 'LostEvents', 'SegmentEnd'];

/* A field's number in 32 bits. */
function u32(v) {
	return typeof v === 'number' && v >= 0 && v < NONE ? v : NONE;
}

function bits32(v) {
	return typeof v === 'number' ? v : typeof v === 'bigint' ? Number(v & 0xffffffffn) : 0;
}

/* A count; a number beyond 2^53 is rounded. */
function amount(v) {
	return typeof v === 'number' || typeof v === 'bigint' ? Math.max(Number(v), 0) : 0;
}

function text(v) {
	return v === null || v === undefined ? '' : String(v);
}

function hex(bytes) {
	return Array.from(bytes || [], (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/* Entries of a SegmentMetadataEvent: pairs of texts. */
function entriesOf(frame) {
	const entries = frame.get('entries');
	return entries && entries.type === dial9.TYPE.STRING_MAP ?
		Array.from(entries, ([key, value]) => [text(key), text(value)]) : [];
}

/* Which fields of a schema's events are read. */
class Layout {
	constructor(schema) {
		this.name = text(schema.name);
		this.fields = schema.fields.map((field) => text(field.name));
		this.tracepoint = schema.find('common_pid') >= 0 && this.name.includes(':');
		this.handler = HANDLED.includes(this.name) ? `handle${this.name}` : null;
		this.part = schema.find('dial9:part');
		this.naming = NAMING.includes(this.name);
		this.shown = !UNSEEN.includes(this.name);
		this.number = NONE; /* index in trace.layouts, once there is an event */
		const hot = HOT.get(this.name) || TRACEPOINT;
		this.kind = this.tracepoint ? hot.kind : EVENT.OTHER;
		this.other = OTHERS.includes(this.kind);
		this.shown &&= OTHERS.includes(hot.kind);
		this.tid = schema.find(this.tracepoint ? 'common_pid' : 'tid');
		this.cpu = schema.find(this.tracepoint ? 'common_cpu' : 'cpu');
		this.application = this.tracepoint ? undefined : APPLICATION.find(([name]) => name.test(this.name));
		const fields = this.application ? this.application[1] : this.tracepoint ? hot.fields : SAMPLE;
		this.places = fields.map((name) => schema.find(name));
		this.shown &&= !this.application;
		this.comm = this.kind === EVENT.SWITCH ? schema.find('next_comm') : this.kind === EVENT.OFF_CPU ? schema.find('comm') : -1;
		this.prevComm = this.kind === EVENT.SWITCH ? schema.find('prev_comm') : -1;
	}

	/* As Decoder's want(). */
	get wanted() {
		const places = [this.tid, this.cpu, this.comm, this.prevComm, this.part, ...this.places];
		return this.fields.map((_, i) => this.handler !== null || places.includes(i));
	}
}

/*
 * Call take() for frames, then finish(). Then it has, with times in nanoseconds since `origin`, a
 * BigInt:
 *
 *	events		a Table of EVENT_COLUMNS, and .schema the index in `layouts`
 *	samples		rows of `events` that are CPU samples
 *	layouts		[{ name, fields, shown }]
 *	labels		texts; column c of an application's events is an index
 *	tasks		[{ space, tid, pid, comm, exe, cgroup }]
 *	parts		[{ clock, space, shift, meta, start, switches, offCpu }], gaps: [Gaps] by part; offCpu: it has off-CPU
 *			intervals instead of switches, which `switches` counts then
 *	offCpu		a Table of OFF_CPU_COLUMNS
 *	spaces		[{ clock, name }]: threads and CPUs of two are never the same; axis: see time_axis.js
 *	symbols, stacks, values (text of field values)
 *	first, last	its time range
 *	losses		[{ kind, cpu, count, first, last }]
 */
class Trace {
	#decoder;
	#layouts = new Map(); /* of schemas of this segment */
	#byContent = new Map();
	#parts = new Parts();
	#part = 0;
	/*
	 * By part: stacks as in the trace, whose frames are valid within a segment, and their
	 * numbers in .stacks.
	 */
	#raws = [];
	#raw = null;
	#taskEvents = []; /* TaskEvents, in order */
	#guessed = new Map(); /* by part: tid -> name */
	#guessedIn = new Uint16Array(TID_MAX + 1); /* by tid: the last part with such a guess, + 1 */
	#labels = new Map();
	#tasks = []; /* by space: tid -> index */
	#span = null; /* { first, last } of the part */

	constructor(bytes) {
		this.bytes = bytes;
		this.#decoder = new LeanDecoder({ want: (schema) => this.#layoutOf(schema).wanted,
			limits: { frameBytes: Math.max(bytes.length, 1) } });
		this.#decoder.push(bytes);
		this.#decoder.end();
		this.events = new Table(EVENT_COLUMNS, Math.ceil(bytes.length / EVENT_BYTES));
		this.samples = [];
		this.layouts = [];
		this.labels = [];
		this.tasks = [];
		this.gaps = [];
		this.losses = [];
		this.scopes = []; /* { at, scope, notes } of each segment */
		this.symbols = new Symbols();
		this.stacks = new Stacks();
		this.values = new Values();
		this.first = Infinity;
		this.last = -Infinity;
		this.count = 0;
		this.partStarts = [];
		this.partSpans = [];
		this.partSwitches = [];
		this.partOffCpu = [];
		this.offCpu = new Table(OFF_CPU_COLUMNS);
		this.wakeups = 0;
		this.#seePart(0);
	}

	get origin() { return this.#decoder.origin === null ? 0n : this.#decoder.origin; }
	get switches() { return this.partSwitches.reduce((sum, count) => sum + (count || 0), 0); }
	get outcome() { return this.#decoder.outcome; }
	get consumed() { return this.#decoder.consumed; }

	/* Reads at most `most` frames; false if there are no more. */
	take(most) {
		const decoder = this.#decoder;
		for (let left = most; left; left--) {
			const frame = decoder.next();
			if (!frame)
				return false;
			if (frame.kind === 'event')
				this.#event(frame);
			else if (frame.kind === 'header' || frame.kind === 'midheader')
				this.#segment(frame.offset);
			else if (frame.kind === 'annotations')
				this.#annotate(frame);
		}
		return true;
	}

	finish() {
		this.parts = this.#parts.all.map((part, i) => ({ ...part, ...this.partSpans[i], start: this.partStarts[i] || 0,
			switches: this.partSwitches[i] || this.partOffCpu[i] || 0, offCpu: hasOffCpuEvents(part, this.partSwitches[i], this.partOffCpu[i]),
			periodNs: periodOf(part.meta) }));
		Object.assign(this, placeParts(this.parts));
		this.#toAxis();
		for (const event of this.#taskEvents)
			Object.assign(this.tasks[this.taskOf(this.parts[event.part].space, event.tid)], event.names);
		for (const [part, guessed] of this.#guessed)
			for (const [tid, comm] of guessed)
				this.tasks[this.taskOf(this.parts[part].space, tid)].comm ||= comm;
	}

	/* Converts the times of each part to the common axis. */
	#toAxis() {
		const { events, parts } = this;
		if (parts.some((part) => part.shift))
			for (let i = 0; i < events.length; i++)
				events.ts[i] += parts[events.part[i]].shift;
		for (const { part, kind, first, last } of this.losses)
			if (hidesSwitches(kind))
				(this.gaps[part] ||= new Gaps()).add(first + parts[part].shift, last + parts[part].shift);
		for (const part of parts) {
			part.start += part.shift;
			if (part.first <= part.last) {
				this.first = Math.min(this.first, part.first + part.shift);
				this.last = Math.max(this.last, part.last + part.shift);
			}
		}
		if (this.first > this.last)
			this.first = this.last = 0;
	}

	taskOf(space, tid) {
		const tasks = this.#tasks[space] ||= new Map();
		let task = tasks.get(tid);
		if (task === undefined) {
			task = this.tasks.length;
			this.tasks.push({ space, tid, pid: NONE, comm: '', exe: '', cgroup: '' });
			tasks.set(tid, task);
		}
		return task;
	}

	firstPid(task) {
		return this.tasks[task].pid;
	}

	/* All fields of a row of `events`: [[name, text], ...]. */
	details(row) {
		const offset = this.events.offset[row];
		const { scope, notes } = this.scopes.findLast((segment) => segment.at <= offset);
		const frame = eventAt(this.bytes, offset, scope), name = text(frame.schema.name);
		return frame.schema.fields.map((field, i) =>
			[text(field.name), this.values.text(name, text(field.name), frame.values[i],
				notes.of(frame.typeId, i))]);
	}

	/* Annotations of a type before its schema do not count. */
	#annotate({ typeId, entries }) {
		const { scope, notes } = this.scopes[this.scopes.length - 1], schema = scope.schemas.get(typeId);
		if (schema)
			notes.learn(typeId, schema.fields.length, entries);
	}

	#segment(offset) {
		this.#layouts.clear();
		this.#parts.segment();
		this.#forgetRaw();
		this.symbols.segment();
		this.scopes.push({ at: offset, scope: this.#decoder.scope, notes: new Notes() });
	}

	#forgetRaw() {
		this.#raws = [];
		this.#raw = this.#raws[this.#part] = { stacks: new Stacks(), numbers: [] };
	}

	/* One layout per distinct schema. */
	#layoutOf(schema) {
		let layout = this.#layouts.get(schema);
		if (!layout) {
			const key = JSON.stringify([text(schema.name),
				schema.fields.map((field) => [text(field.name), field.type])]);
			layout = this.#byContent.get(key);
			if (!layout)
				this.#byContent.set(key, layout = new Layout(schema));
			this.#layouts.set(schema, layout);
		}
		return layout;
	}

	#event(frame) {
		const layout = this.#layoutOf(frame.schema);
		this.count++;
		this.#findPart(frame, layout);
		if (frame.ts !== null && !layout.naming) {
			if (frame.ts < this.#span.first)
				this.#span.first = frame.ts;
			if (frame.ts > this.#span.last)
				this.#span.last = frame.ts;
		}
		if (layout.handler)
			this[layout.handler](frame, layout);
		else if (frame.ts !== null && !layout.naming)
			this.#put(frame, layout);
	}

	#findPart(frame, layout) {
		const parts = this.#parts, number = layout.part < 0 ? 0 : Number(frame.values[layout.part]);
		switch (layout.handler) {
		case 'handleMergedPart':
			parts.merge(number, Number(frame.get('clock')), Number(frame.get('shift_ns')));
			break;
		case 'handleSegmentMetadataEvent':
			parts.metadata(entriesOf(frame), number);
			break;
		case 'handleClockSyncEvent':
			parts.clock(Number(BigInt(frame.get('realtime_ns') || 0) - this.origin) - (frame.ts || 0), number);
			break;
		default:
			parts.event(number);
		}
		if (parts.index !== this.#part)
			this.#seePart(parts.index);
		if (frame.ts !== null && this.partStarts[this.#part] === undefined)
			this.partStarts[this.#part] = frame.ts;
	}

	#seePart(part) {
		this.#part = part;
		this.symbols.part(part);
		this.#raw = this.#raws[part] ||= { stacks: new Stacks(), numbers: [] };
		this.#span = this.partSpans[part] ||= { first: Infinity, last: -Infinity };
	}

	#put(frame, layout) {
		const events = this.events, row = events.add(), values = frame.values, places = layout.places;
		if (layout.number === NONE && this.layouts.length < SCHEMAS_MAX) {
			layout.number = this.layouts.length;
			this.layouts.push(layout);
		}
		events.ts[row] = frame.ts;
		events.kind[row] = layout.kind;
		events.part[row] = this.#part;
		events.schema[row] = layout.number;
		events.offset[row] = frame.offset;
		events.tid[row] = u32(values[layout.tid]);
		events.cpu[row] = u32(values[layout.cpu]);
		events.a[row] = u32(values[places[0]]);
		events.b[row] = layout.application ? bits32(values[places[1]]) : u32(values[places[1]]);
		events.c[row] = layout.application ? this.#label(values[places[2]]) :
			layout.other ? u32(values[places[2]]) : bits32(values[places[2]]);
		events.d[row] = layout.other ? u32(values[places[3]]) : NONE;
		if (layout.kind === EVENT.SWITCH) {
			this.partSwitches[this.#part] = (this.partSwitches[this.#part] || 0) + 1;
			this.#guess(events.a[row], values[layout.prevComm]);
			this.#guess(events.b[row], values[layout.comm]);
		} else if (layout.kind === EVENT.WAKEUP || layout.kind === EVENT.BIRTH) {
			this.wakeups++;
		} else if (layout.kind === EVENT.OFF_CPU) {
			this.#putOffCpu(row, values, layout);
		}
		return row;
	}

	/* In a table of its own: the numbers are too large for a column of `events`. */
	#putOffCpu(row, values, { places, comm }) {
		const { events, offCpu } = this, entry = offCpu.add(), [off, blocked, state, cpu, waker, context, woken, unfinished] = places;
		this.partOffCpu[this.#part] = (this.partOffCpu[this.#part] || 0) + 1;
		this.#guess(events.tid[row], values[comm]);
		events.a[row] = entry;
		offCpu.offNs[entry] = amount(values[off]);
		offCpu.blockedNs[entry] = amount(values[blocked]);
		offCpu.prevState[entry] = bits32(values[state]);
		offCpu.fromCpu[entry] = u32(values[cpu]);
		offCpu.waker[entry] = u32(values[waker]);
		offCpu.context[entry] = bits32(values[context]);
		offCpu.woken[entry] = amount(values[woken]) ? 1 : 0;
		offCpu.unfinished[entry] = amount(values[unfinished]) ? 1 : 0;
	}

	#label(v) {
		const label = text(v);
		let number = this.#labels.get(label);
		if (number === undefined) {
			number = this.labels.length;
			this.labels.push(label);
			this.#labels.set(label, number);
		}
		return number;
	}

	/* A thread without a TaskEvent gets its name from a switch. */
	#guess(tid, comm) {
		if (tid > TID_MAX || !tid || !comm || this.#guessedIn[tid] === this.#part + 1)
			return;
		this.#guessedIn[tid] = this.#part + 1;
		if (!this.#guessed.has(this.#part))
			this.#guessed.set(this.#part, new Map());
		this.#guessed.get(this.#part).set(tid, text(comm));
	}

	#stack(halves) {
		const { stacks, numbers } = this.#raw, raw = stacks.add(halves);
		if (raw < numbers.length)
			return numbers[raw];
		const frames = [];
		for (let i = 0; i < halves.length; i += 2)
			frames.push(this.symbols.frame(this.#part, halves[i], halves[i + 1]));
		return numbers[raw] = this.stacks.add(frames);
	}

	handleCpuSampleEvent(frame, layout) {
		if (frame.ts === null)
			return;
		const row = this.#put(frame, layout), events = this.events, { values } = frame;
		const [callchain, at, pid, name] = layout.places, halves = values[callchain], source = u32(values[at]);
		events.kind[row] = EVENT.SAMPLE;
		events.a[row] = halves instanceof Uint32Array ? this.#stack(halves) : NONE;
		events.b[row] = u32(values[pid]);
		events.c[row] = source === NONE ? SOURCE.SAMPLE : source;
		if (events.c[row] === SOURCE.SAMPLE)
			this.samples.push(row);
		this.#guess(events.tid[row], values[name]);
	}

	handleModuleEvent(frame) {
		if (this.symbols.addModule(this.#part, frame.get('module_id'), text(frame.get('path')),
			hex(frame.get('build_id')), frame.get('kind')))
			this.#forgetRaw();
	}

	handleTaskEvent(frame) {
		const tid = u32(frame.get('tid')), pid = u32(frame.get('pid')), names = {};
		if (tid === NONE)
			return;
		for (const key of ['comm', 'exe', 'cgroup'])
			if (frame.get(key))
				names[key] = text(frame.get(key));
		if (pid !== NONE)
			names.pid = pid;
		this.#taskEvents.push({ part: this.#part, tid, names });
		if (frame.ts === null)
			return;
		const events = this.events, row = events.add();
		events.ts[row] = frame.ts;
		events.kind[row] = EVENT.TASK;
		events.part[row] = this.#part;
		events.schema[row] = SCHEMAS_MAX;
		events.tid[row] = tid;
		events.a[row] = pid;
		events.b[row] = frame.get('followed') ? 1 : 0;
	}

	handleSymbolTableEntry(frame) {
		const addr = frame.get('addr');
		if (typeof addr !== 'number' && typeof addr !== 'bigint')
			return;
		const big = BigInt.asUintN(64, BigInt(addr));
		this.symbols.setSymbol(
			this.symbols.frame(this.#part, Number(big & 0xffffffffn), Number(big >> 32n)),
			Number(frame.get('inline_depth') || 0), text(frame.get('symbol_name')),
			Number(frame.get('size') || 0), text(frame.get('source_file')),
			Number(frame.get('source_line') || 0));
	}

	handleLostEvents(frame) {
		const kind = text(frame.get('kind')), count = Number(frame.get('count') || 0);
		const [first, last] = ['first_ns', 'last_ns'].map((name) =>
			Number(BigInt(frame.get(name) || 0) - this.origin));
		this.losses.push({ part: this.#part, kind, count, cpu: frame.get('cpu'), first, last });
	}

	/* findPart() handles these. */
	handleMergedPart() {}
	handleClockSyncEvent() {}
	handleSegmentMetadataEvent() {}

	handleTracepointSymbol(frame) {
		this.values.learn(text(frame.get('event')), text(frame.get('field')), frame.get('kind'),
			frame.get('value'), text(frame.get('name')));
	}
}

/* Whether it has off-CPU intervals instead of switches. */
function hasOffCpuEvents({ meta }, switches, offCpu) {
	return meta.has('off_cpu_min_ns') || !switches && offCpu > 0;
}

/* CPU time in ns that a sample stands for; 0: unknown. */
function periodOf(meta) {
	const ns = Number(meta.get('sample_period_ns') || 0), hz = Number(meta.get('sample_hz') || 0);
	const period = ns || (hz ? Math.floor(1e9 / hz) : 0);
	return period > 0 && period <= PERIOD_MAX_NS ? period : 0;
}

module.exports = { Trace };
