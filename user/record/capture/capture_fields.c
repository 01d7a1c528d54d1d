// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_fields.c - the offsets at which the scheduler's own programs write the fields of their records
 *
 * Offsets come from the kernel's format files and become constants of the programs before load. A program whose
 * event is not recorded is not loaded.
 */
#include "record/capture/capture_fields.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "kernel/tracefs/format.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/tracepoint/eventset.h"

enum { SWITCH_ARGS_WITH_STATE = 5 };

/*
 * Since 5.18 the tracepoint passes the state that the scheduler used. For older kernels their BTF is read, which
 * takes 20 ms.
 */
static bool switch_has_state_arg(void)
{
	const struct btf_type *t = NULL;
	struct utsname uts;
	unsigned int major;
	struct btf *btf;
	bool has = true;
	int id;

	if (!uname(&uts) && sscanf(uts.release, "%u.", &major) == 1 && major >= 6)
		return true;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return true;
	id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	if (id > 0)
		t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (t && btf_is_ptr(t))
		t = btf__type_by_id(btf, t->type);
	if (t && btf_is_func_proto(t))
		has = btf_vlen(t) >= SWITCH_ARGS_WITH_STATE;
	btf__free(btf);
	return has;
}

static int field_off(const struct event_def *def, const char *name, uint16_t size, uint16_t *off)
{
	const struct format_field *f = format_find(def->format, name);

	if (!f || f->size != size) {
		log_error("record: %s has no field '%s' of %u bytes on this kernel; "
			  "use --no-sched",
			  def->name, name, size);
		return -ENOTSUP;
	}
	*off = f->off;
	return 0;
}

struct layout_field {
	const char *name;
	uint16_t size;
	uint16_t *off;
};

static int find_layout(const struct event_def *def, const struct layout_field *fields, size_t cnt)
{
	size_t i;
	int err;

	for (i = 0; i < cnt; i++) {
		err = field_off(def, fields[i].name, fields[i].size, fields[i].off);
		if (err)
			return err;
	}
	return 0;
}

/* A task's name: a fixed array, or a __data_loc string. */
static int find_comm(const struct event_def *def, const char *name, uint16_t *off, uint16_t *dyn)
{
	const struct format_field *f = format_find(def->format, name);

	*dyn = f && f->kind == FORMAT_STRING;
	return field_off(def, name, *dyn ? 4 : PROF_COMM_SIZE, off);
}

static int configure_switch(struct prof_switch_layout *l, const struct eventset *set)
{
	const struct event_def *def = set->defs[set->hot[EVENTSET_SWITCH]];
	const struct layout_field fields[] = {
		{ "prev_pid", 4, &l->prev_pid },     { "prev_prio", 4, &l->prev_prio },
		{ "prev_state", 8, &l->prev_state }, { "next_pid", 4, &l->next_pid },
		{ "next_prio", 4, &l->next_prio },
	};
	int err;

	l->type = def->cfg.type;
	l->size = def->cfg.size;
	l->filter = def->cfg.filter;
	l->event = set->hot[EVENTSET_SWITCH];
	err = find_comm(def, "prev_comm", &l->prev_comm, &l->comm_dyn);
	if (!err)
		err = find_comm(def, "next_comm", &l->next_comm, &l->comm_dyn);
	return err ? err : find_layout(def, fields, sizeof(fields) / sizeof(fields[0]));
}

static int configure_wakeup(struct prof_wakeup_layout *l, const struct eventset *set,
			    enum eventset_hot which)
{
	const struct event_def *def = set->defs[set->hot[which]];
	const struct layout_field fields[] = {
		{ "pid", 4, &l->pid },
		{ "prio", 4, &l->prio },
		{ "target_cpu", 4, &l->target_cpu },
	};
	int err;

	l->type = def->cfg.type;
	l->size = def->cfg.size;
	l->filter = def->cfg.filter;
	l->event = set->hot[which];
	err = find_comm(def, "comm", &l->comm, &l->comm_dyn);
	return err ? err : find_layout(def, fields, sizeof(fields) / sizeof(fields[0]));
}

static int configure_migrate(struct prof_migrate_layout *l, const struct eventset *set)
{
	const struct event_def *def = set->defs[set->hot[EVENTSET_MIGRATE]];
	const struct layout_field fields[] = {
		{ "pid", 4, &l->pid },
		{ "prio", 4, &l->prio },
		{ "orig_cpu", 4, &l->orig_cpu },
		{ "dest_cpu", 4, &l->dest_cpu },
	};
	int err;

	l->type = def->cfg.type;
	l->size = def->cfg.size;
	l->filter = def->cfg.filter;
	l->event = set->hot[EVENTSET_MIGRATE];
	err = find_comm(def, "comm", &l->comm, &l->comm_dyn);
	return err ? err : find_layout(def, fields, sizeof(fields) / sizeof(fields[0]));
}

int capture_fields(struct prof *s, const struct eventset *set)
{
	int err = 0;

	s->rodata->cfg_switch_state_arg = switch_has_state_arg();
	if (set->hot[EVENTSET_SWITCH] >= 0) {
		bpf_program__set_autoload(s->progs.prof_sched_switch, true);
		err = configure_switch(&s->rodata->cfg_switch, set);
	}
	if (!err && set->hot[EVENTSET_WAKEUP] >= 0) {
		bpf_program__set_autoload(s->progs.prof_sched_waking, true);
		err = configure_wakeup(&s->rodata->cfg_wakeup, set, EVENTSET_WAKEUP);
	}
	if (!err && set->hot[EVENTSET_WAKEUP_NEW] >= 0) {
		bpf_program__set_autoload(s->progs.prof_sched_wakeup_new, true);
		err = configure_wakeup(&s->rodata->cfg_wakeup_new, set, EVENTSET_WAKEUP_NEW);
	}
	if (!err && set->hot[EVENTSET_MIGRATE] >= 0) {
		bpf_program__set_autoload(s->progs.prof_sched_migrate, true);
		err = configure_migrate(&s->rodata->cfg_migrate, set);
	}
	return err;
}
