/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_KALLSYMS_H
#define D9_KERNEL_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

enum kallsyms_kind {
	KALLSYMS_KERNEL, /* the image itself, _stext to _etext */
	KALLSYMS_MODULE, /* "[name]" */
	KALLSYMS_BPF, /* a bpf_prog_*, bpf_trampoline_* or bpf_dispatcher_* image of its own */
};

struct kallsyms_module {
	const char *name; /* "[kernel.kallsyms]", "xfs", "bpf_prog_6deef7357e7b4530_x" */
	uint64_t start; /* offsets in a trace count from here */
	uint64_t end; /* first address behind; never overlaps the next module */
	enum kallsyms_kind kind;
};

struct kallsyms_sym {
	uint64_t start;
	uint64_t size; /* to the next symbol or the module's end: never 0 */
	const char *name; /* borrowed until kallsyms_free */
	const char *module;
	enum kallsyms_kind kind;
};

/* Addresses in the kernel's image; 0: kallsyms do not tell. */
enum kallsyms_mark {
	KALLSYMS_STEXT, /* its text: from here */
	KALLSYMS_ETEXT, /* to here */
	KALLSYMS_ORC_IPS, /* ORC tables: places */
	KALLSYMS_ORC_IPS_END,
	KALLSYMS_ORC_ROWS, /* and what they say of each */
	KALLSYMS_ORC_ROWS_END,
	KALLSYMS_RETHOOK, /* where functions return to that are watched by a kretprobe */
	KALLSYMS_GRAPH_RETURN, /* and by the function graph tracer */
	KALLSYMS_MARK_CNT,
};

struct kallsyms;

/*
 * Loads the text symbols. NULL paths are /proc/kallsyms and /proc/modules (which may be missing:
 * a module then ends one page behind its last symbol). -EPERM with the remedy printed when
 * kptr_restrict hides the addresses. The caller frees with kallsyms_free().
 */
int kallsyms_load(const char *kallsyms_path, const char *modules_path, struct kallsyms **out);
/* The same from text, silent, for tests: modules may be NULL. */
int kallsyms_parse(const char *text, size_t len, const char *modules, size_t modules_len,
		   struct kallsyms **out);
/* A number that is another one when modules came or went, of the text of /proc/modules. */
uint64_t kallsyms_modules_state(const char *modules, size_t len);
void kallsyms_free(struct kallsyms *k);

/* 0, or -ENOENT for an address in no module. In a module but in front of all its symbols: -ENOENT. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *out);
/* The module that addr lies in, or NULL. */
const struct kallsyms_module *kallsyms_module_find(const struct kallsyms *k, uint64_t addr);

uint64_t kallsyms_mark(const struct kallsyms *k, enum kallsyms_mark mark);

/* The kernel's own image; NULL: the table has none. */
const struct kallsyms_module *kallsyms_image(const struct kallsyms *k);

#endif /* D9_KERNEL_KALLSYMS_H */
