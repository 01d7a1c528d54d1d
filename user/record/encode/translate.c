// SPDX-License-Identifier: BSD-2-Clause
/*
 * translate.c - translates one record to its dial9 event
 *
 * One loop over the event's field table encodes every tracepoint. Offsets inside the payload (__data_loc) are taken
 * from the record, so they are validated here, before use. A value that points outside its record is written empty.
 */
#include "record/encode/translate.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "dial9.h"
#include "events/emit.h"
#include "record/encode/field_cache.h"
#include "record/process/tasks.h"
#include "record/symbols/code_names.h"
#include "record/symbols/stacks.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"

enum {
	TEXT_SLOTS = 1024,
	TEXT_MAX = EVENT_NAME_SIZE,
	NUMBERS_MAX = 16,
	/* event that is written by steps: CPU, thread, fields, context */
	STEPS_SZ_MAX = (EVENT_STEPS_MAX + 3) * 10,
};

/* A short text written recently, up to its first 0, with its id in the trace's pool. */
struct text_slot {
	uint64_t words[TEXT_MAX / 8];
	uint32_t id;
	bool used;
};

struct translate {
	struct translate_cfg cfg;
	struct code_names *code_names;
	struct buf text;
	struct text_slot texts[TEXT_SLOTS];
	struct field_cache fields;
	uint64_t written[PROF_CLASS_CNT];
	uint64_t dropped_stacks;
	uint64_t segments; /* before the current one */
	struct translate_span thinned_at;
};

struct translate *translate_new(const struct translate_cfg *cfg)
{
	struct translate *t = xcalloc(1, sizeof(*t));

	t->cfg = *cfg;
	t->code_names = code_names_new(cfg->frames, cfg->emit);
	return t;
}

void translate_free(struct translate *t)
{
	if (!t)
		return;
	code_names_free(t->code_names);
	buf_free(&t->text);
	free(t);
}

void translate_next_segment(struct translate *t, struct dial9_enc *enc, struct emit *emit)
{
	t->cfg.enc = enc;
	t->cfg.emit = emit;
	t->segments++;
	memset(t->texts, 0, sizeof(t->texts));
	field_cache_clear(&t->fields);
	code_names_next_segment(t->code_names, emit);
	tasks_renounce_all(t->cfg.tasks);
}

uint64_t translate_written(const struct translate *t, enum prof_class class)
{
	return t->written[class];
}

uint64_t translate_dropped_stacks(struct translate *t, struct translate_span *span)
{
	if (span) {
		*span = t->thinned_at;
		t->thinned_at = (struct translate_span){ 0 };
	}
	return t->dropped_stacks;
}

int translate_task(struct translate *t, uint64_t ts, uint32_t tid, uint32_t pid)
{
	struct own_task event;
	struct task *task;

	if (tasks_is_announced(t->cfg.tasks, tid))
		return 0;
	task = tasks_get(t->cfg.tasks, tid, pid);
	tasks_need_cgroup(t->cfg.tasks, task->proc);
	tasks_set_announced(t->cfg.tasks, tid);
	event = (struct own_task){
		.pid = task->proc->pid,
		.tid = tid,
		.ppid = task->proc->ppid,
		.comm = own_text(task->comm),
		.exe = own_text(task->proc->exe),
		.cgroup = own_text(task->proc->cgroup),
		.followed = task->followed || (t->cfg.family_followed && task->proc->wanted),
	};
	return emit_task(t->cfg.emit, ts, &event);
}

/* The numbers of a record, each read once; fields beyond these are read on demand. */
struct numbers {
	int64_t v[NUMBERS_MAX];
	bool negative; /* any signed number is negative */
};

static void read_numbers(const struct event_def *def, const uint8_t *raw, size_t len,
			 struct numbers *n)
{
	int64_t v;
	size_t i;

	n->negative = false;
	for (i = 0; i < def->field_cnt; i++) {
		v = event_field_int(&def->fields[i], raw, len);
		if (v < 0 && event_op_is_signed(def->fields[i].op))
			n->negative = true;
		if (i < NUMBERS_MAX)
			n->v[i] = v;
	}
}

/*
 * Almost every record has task names, and there are few of them: a hit saves validating and interning the name. The
 * key is the whole field, including bytes after a name's end, which saves searching for the end. False: the pool
 * does not accept it.
 */
static bool find_text(struct translate *t, const uint64_t words[TEXT_MAX / 8], uint32_t *id)
{
	struct text_slot *slot = &t->texts[hash_u64(words[0] ^ words[1] * 31) % TEXT_SLOTS];
	struct dial9_str str;

	if (!slot->used || slot->words[0] != words[0] || slot->words[1] != words[1]) {
		str = emit_text(&t->text, (const char *)words,
				strnlen((const char *)words, TEXT_MAX));
		if (dial9_enc_intern(t->cfg.enc, str.ptr, str.len, id))
			return false;
		*slot = (struct text_slot){ .words = { words[0], words[1] },
					    .id = *id,
					    .used = true };
	}
	*id = slot->id;
	return true;
}

static void put_short_text(struct translate *t, const char *s, size_t len)
{
	uint64_t words[TEXT_MAX / 8] = { 0 };
	struct dial9_str str;
	uint32_t id;

	memcpy(words, s, len);
	if (find_text(t, words, &id)) {
		dial9_enc_put_str_id(t->cfg.enc, id);
		return;
	}
	str = emit_text(&t->text, s, len);
	dial9_enc_put_str(t->cfg.enc, str.ptr, str.len);
}

static void put_bytes(struct translate *t, const struct event_field *f, const uint8_t *raw,
		      size_t len, bool text)
{
	const uint8_t *data;
	struct dial9_str str;
	size_t sz;

	if (event_field_bytes(f, raw, len, &data, &sz))
		data = raw, sz = 0;
	if (!text) {
		dial9_enc_put_bytes(t->cfg.enc, data, sz);
		return;
	}
	if (sz <= TEXT_MAX) {
		put_short_text(t, (const char *)data, sz);
		return;
	}
	str = emit_text(&t->text, (const char *)data, sz);
	dial9_enc_put_str(t->cfg.enc, str.ptr, str.len);
}

static bool has_text(const struct event_field *f, const uint8_t *raw, size_t len)
{
	uint32_t word = 0;

	if (f->off + sizeof(word) <= len)
		memcpy(&word, raw + f->off, sizeof(word));
	return word;
}

static void put_field(struct translate *t, const struct event_field *f, int64_t number,
		      const uint8_t *raw, size_t len, bool wide)
{
	struct dial9_enc *enc = t->cfg.enc;

	switch (f->op) {
	case EVENT_OP_U8:
	case EVENT_OP_U16:
	case EVENT_OP_U32:
	case EVENT_OP_U64:
		dial9_enc_put_u64(enc, number);
		break;
	case EVENT_OP_BOOL:
		dial9_enc_put_bool(enc, number);
		break;
	case EVENT_OP_S8:
	case EVENT_OP_S16:
	case EVENT_OP_S32:
	case EVENT_OP_S64:
		if (wide)
			dial9_enc_put_i64(enc, number);
		else
			dial9_enc_put_u64(enc, number);
		break;
	case EVENT_OP_CHARS:
	case EVENT_OP_STRING:
	case EVENT_OP_REL_STRING:
		put_bytes(t, f, raw, len, true);
		break;
	case EVENT_OP_BYTES:
	case EVENT_OP_DYN_BYTES:
	case EVENT_OP_REL_BYTES:
		put_bytes(t, f, raw, len, false);
		break;
	case EVENT_OP_USER_TEXT:
		if (has_text(f, raw, len))
			put_bytes(t, f, raw, len, true);
		else
			dial9_enc_put_none(enc);
		break;
	}
}

static int name_code(struct translate *t, const struct prof_rec *rec, const struct event_def *def)
{
	const struct event_field *f = def->fields;
	int err = 0;

	for (size_t i = 0; i < def->field_cnt && !err; i++, f++)
		if (f->code)
			err = code_names_meet(t->code_names, def->name, def->names[i],
					      (uint32_t)rec->event << 16 | (uint32_t)i,
					      (uint64_t)event_field_int(
						      f, (const uint8_t *)(rec + 1), rec->raw_len));
	return err;
}

/* Only tasks have stacks. */
static uint64_t context_of(const struct prof_rec *rec)
{
	return rec->flags & PROF_REC_STACKS ? PROF_CONTEXT_TASK : rec->context;
}

/* Reads the fields as the trace has them. False: the event needs the other schema. */
static bool read_steps(struct translate *t, const struct prof_rec *rec, const struct event_def *def,
		       uint64_t *values)
{
	const uint8_t *raw = (const uint8_t *)(rec + 1);
	uint64_t words[TEXT_MAX / 8];
	int64_t v, signs = 0;
	uint32_t id;
	size_t i;

	for (i = 0; i < def->field_cnt; i++) {
		const struct event_step *step = &def->steps[i];

		if (step->is_name) {
			memcpy(words, raw + step->at, sizeof(words));
			if (!find_text(t, words, &id))
				return false;
			values[i] = id;
			continue;
		}
		memcpy(words, raw + step->at, sizeof(*words));
		v = (int64_t)(le64toh(*words) << step->up) >> step->down;
		signs |= step->is_signed ? v : 0;
		values[i] =
			step->is_signed ? (uint64_t)v : le64toh(*words) << step->up >> step->down;
	}
	return signs >= 0;
}

/* Where the fields of a record go: after the CPU and the thread. */
static inline uint8_t *begin_steps(struct translate *t, const struct prof_rec *rec,
				   struct event_def *def, int *err)
{
	uint8_t *p = dial9_inline_begin(t->cfg.enc, &def->type, rec->ts, STEPS_SZ_MAX, err);

	if (!p)
		return NULL;
	p = dial9_inline_varint(p, rec->cpu);
	return dial9_inline_varint(p, rec->tid);
}

static void end_steps(struct translate *t, const struct prof_rec *rec, const struct event_def *def,
		      uint8_t *p)
{
	if (def->has_context)
		p = dial9_inline_varint(p, context_of(rec));
	dial9_inline_end(t->cfg.enc, p);
}

static int write_known(struct translate *t, const struct prof_rec *rec, struct event_def *def,
		       const struct field_cache_slot *known)
{
	int err;
	uint8_t *p = begin_steps(t, rec, def, &err);

	if (!p)
		return err;
	memcpy(p, known->fields, sizeof(known->fields));
	end_steps(t, rec, def, p + known->sz);
	return 0;
}

static int write_steps(struct translate *t, const struct prof_rec *rec, struct event_def *def,
		       const uint64_t *values, const struct field_cache_key *key)
{
	size_t i;
	int err;
	uint8_t *fields = begin_steps(t, rec, def, &err), *p = fields;

	if (!p)
		return err;
	for (i = 0; i < def->field_cnt; i++)
		p = def->steps[i].width ? dial9_inline_int(p, values[i], def->steps[i].width) :
					  dial9_inline_varint(p, values[i]);
	field_cache_put(&t->fields, key, fields, (size_t)(p - fields));
	end_steps(t, rec, def, p);
	return 0;
}

static __attribute__((noinline)) int write_fields(struct translate *t, const struct prof_rec *rec,
						  const struct event_def *def)
{
	const uint8_t *raw = (const uint8_t *)(rec + 1);
	int err = def->any_code ? name_code(t, rec, def) : 0;
	struct numbers numbers;
	bool wide;
	size_t i;

	if (err)
		return err;
	read_numbers(def, raw, rec->raw_len, &numbers);
	wide = def->wide && numbers.negative;
	dial9_enc_begin(t->cfg.enc, wide ? def->wide : def->compact, rec->ts);
	dial9_enc_put_u64(t->cfg.enc, rec->cpu);
	dial9_enc_put_u64(t->cfg.enc, rec->tid);
	for (i = 0; i < def->field_cnt; i++)
		put_field(t, &def->fields[i],
			  i < NUMBERS_MAX ? numbers.v[i] :
					    event_field_int(&def->fields[i], raw, rec->raw_len),
			  raw, rec->raw_len, wide);
	if (def->has_context)
		dial9_enc_put_u64(t->cfg.enc, context_of(rec));
	return dial9_enc_end(t->cfg.enc);
}

static __attribute__((noinline)) int write_unknown(struct translate *t, const struct prof_rec *rec,
						   struct event_def *def,
						   const struct field_cache_key *key)
{
	uint64_t values[EVENT_STEPS_MAX];

	return read_steps(t, rec, def, values) ? write_steps(t, rec, def, values, key) :
						 write_fields(t, rec, def);
}

static int write_tracepoint(struct translate *t, const struct prof_rec *rec)
{
	struct event_def *def = t->cfg.events->defs[rec->event];
	const uint8_t *raw = (const uint8_t *)(rec + 1);
	const struct field_cache_slot *known;
	struct field_cache_key key;

	if (!def->steps || rec->raw_len < def->steps_sz)
		return write_fields(t, rec, def);
	field_cache_key(&key, rec->event, raw + def->steps_at, def->steps_sz - def->steps_at);
	known = field_cache_find(&t->fields, &key);
	return known ? write_known(t, rec, def, known) : write_unknown(t, rec, def, &key);
}

static uint8_t source_of(const struct translate *t, const struct prof_rec *rec)
{
	const struct event_def *def;

	if (rec->kind == PROF_REC_SAMPLE)
		return PROF_SOURCE_SAMPLE;
	def = t->cfg.events->defs[rec->event];
	if (def->is_stay || (def->cfg.has_stacks && !eventset_is_hot(t->cfg.events, rec->event)))
		return PROF_SOURCE_EVENT;
	return def->has_context ? PROF_SOURCE_WAKING : PROF_SOURCE_SWITCH_OUT;
}

/* A stack as the trace has it. */
struct resolved {
	const uint64_t *frames;
	size_t cnt;
	struct emit_stack_id *id;
};

static int write_stack(struct translate *t, const struct prof_rec *rec,
		       const struct resolved *stack)
{
	bool is_sample = rec->kind == PROF_REC_SAMPLE;
	struct emit_sample sample = {
		.ts = rec->ts,
		.tid = rec->tid,
		.pid = rec->pid,
		.cpu = rec->cpu,
		.source = source_of(t, rec),
		.frames = stack->frames,
		.frame_cnt = stack->cnt,
		.stack_id = stack->id,
		.user_end = rec->user_end,
	};

	if (is_sample)
		sample.thread_name = tasks_get(t->cfg.tasks, rec->tid, rec->pid)->comm;
	if (rec->flags & PROF_REC_USTACK_CUT)
		sample.flags |= PROF_SAMPLE_USER_TRUNCATED;
	if (rec->flags & PROF_REC_KSTACK_CUT)
		sample.flags |= PROF_SAMPLE_KERNEL_TRUNCATED;
	return emit_sample(t->cfg.emit, &sample);
}

/* If a task exited before its name was read, its own switch may still name it. */
static void learn_comm(struct translate *t, const struct prof_rec *rec)
{
	const struct event_field *f = t->cfg.events->defs[rec->event]->current_comm;
	const uint8_t *data;
	size_t sz;

	if (!f || event_field_bytes(f, (const uint8_t *)(rec + 1), rec->raw_len, &data, &sz))
		return;
	tasks_name(t->cfg.tasks, tasks_get(t->cfg.tasks, rec->tid, rec->pid), (const char *)data,
		   sz);
}

/* The thread's switch out comes later, and may contain a name that is otherwise unknown. */
static bool is_named_later(struct translate *t, const struct prof_rec *rec)
{
	return rec->kind == PROF_REC_TRACEPOINT && t->cfg.events->defs[rec->event]->is_watch &&
	       !tasks_get(t->cfg.tasks, rec->tid, rec->pid)->comm[0];
}

/* Writes what is known of the record's thread before the record. */
static int announce(struct translate *t, const struct prof_rec *rec)
{
	if (rec->kind != PROF_REC_SAMPLE)
		learn_comm(t, rec);
	return is_named_later(t, rec) ? 0 : translate_task(t, rec->ts, rec->tid, rec->pid);
}

static void resolve(struct translate *t, const struct prof_rec *rec, struct resolved *stack)
{
	struct process *proc = tasks_process(t->cfg.tasks, rec->pid);

	if (proc && rec->ustack_cnt && !(rec->flags & PROF_REC_WALKED))
		tasks_count_stack(t->cfg.tasks, proc, rec->ts);
	stack->frames = stacks_resolve(t->cfg.stacks, rec, proc, &stack->cnt, &stack->id);
	if (stack->id->segment != t->segments)
		*stack->id = (struct emit_stack_id){ .segment = t->segments };
}

/* The task became a target, or is no longer a target. */
static int follow(struct translate *t, const struct prof_rec *rec)
{
	tasks_follow(t->cfg.tasks, tasks_get(t->cfg.tasks, rec->tid, rec->pid), rec->event);
	return translate_task(t, rec->ts, rec->tid, rec->pid);
}

static void count_dropped_stacks(struct translate *t, uint64_t ts)
{
	t->dropped_stacks++;
	t->thinned_at.last_ns = ts;
	if (!t->thinned_at.first_ns)
		t->thinned_at.first_ns = ts;
}

static __attribute__((noinline)) int translate_any(struct translate *t, const struct prof_rec *rec)
{
	bool is_sample = rec->kind == PROF_REC_SAMPLE;
	struct resolved stack = { 0 };
	int err = 0;

	if (rec->kind == PROF_REC_FOLLOWED)
		return follow(t, rec);
	if (!is_sample && rec->event >= t->cfg.events->cnt)
		return -EBADMSG;
	if (!tasks_is_announced(t->cfg.tasks, rec->tid))
		err = announce(t, rec);
	if (err)
		return err;
	if (rec->flags & PROF_REC_STACKS)
		resolve(t, rec, &stack);
	if (!is_sample)
		err = write_tracepoint(t, rec);
	if (!err && (is_sample || stack.cnt))
		err = write_stack(t, rec, &stack);
	if (!err && rec->flags & PROF_REC_THINNED)
		count_dropped_stacks(t, rec->ts);
	if (!err)
		t->written[is_sample ? PROF_CLASS_SAMPLE : PROF_CLASS_TRACEPOINT]++;
	return err;
}

/* Most records: an event of a known thread, without stacks. */
static bool is_plain(const struct translate *t, const struct prof_rec *rec)
{
	return rec->kind == PROF_REC_TRACEPOINT &&
	       !(rec->flags & (PROF_REC_STACKS | PROF_REC_THINNED)) &&
	       rec->event < t->cfg.events->cnt && tasks_is_announced(t->cfg.tasks, rec->tid);
}

int translate_record(struct translate *t, const struct prof_rec *rec)
{
	int err;

	if (!is_plain(t, rec))
		return translate_any(t, rec);
	err = write_tracepoint(t, rec);
	t->written[PROF_CLASS_TRACEPOINT] += !err;
	return err;
}
