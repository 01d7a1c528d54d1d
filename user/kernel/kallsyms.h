/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_KALLSYMS_H
#define D9_KERNEL_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

enum kallsyms_kind {
	KALLSYMS_KERNEL, /* the kernel image, _stext to _etext */
	KALLSYMS_MODULE, /* "[name]" */
	KALLSYMS_BPF, /* one bpf_prog_*, bpf_trampoline_* or bpf_dispatcher_* image */
};

struct kallsyms_module {
	const char *name; /* "[kernel.kallsyms]", "xfs", "bpf_prog_6deef7357e7b4530_x" */
	uint64_t start; /* offsets in a trace are relative to this */
	uint64_t end; /* first address after the module; at most the start of the next one */
	enum kallsyms_kind kind;
};

struct kallsyms_sym {
	uint64_t start;
	uint64_t size; /* up to the next symbol or the end of the module; never 0 */
	const char *name; /* borrowed until kallsyms_free() */
	const char *module;
	enum kallsyms_kind kind;
};

/* Addresses in the kernel image; 0 if kallsyms lacks them */
enum kallsyms_mark {
	KALLSYMS_STEXT, /* start of text */
	KALLSYMS_ETEXT, /* end of text */
	KALLSYMS_SINITTEXT, /* boot code, freed after boot: outside of the image's module */
	KALLSYMS_EINITTEXT,
	KALLSYMS_ORC_IPS, /* ORC tables: addresses */
	KALLSYMS_ORC_IPS_END,
	KALLSYMS_ORC_ROWS, /* ORC tables: entries */
	KALLSYMS_ORC_ROWS_END,
	KALLSYMS_RETHOOK, /* return address of functions with a kretprobe */
	KALLSYMS_GRAPH_RETURN, /* return address of functions with the function graph tracer */
	KALLSYMS_MARK_CNT,
};

struct kallsyms;

/*
 * Loads text symbols. NULL paths are /proc/kallsyms and /proc/modules. If the latter is missing, a
 * module ends one page after its last symbol. If kptr_restrict hides the addresses, prints the
 * remedy and returns -EPERM. The caller frees with kallsyms_free().
 */
int kallsyms_load(const char *kallsyms_path, const char *modules_path, struct kallsyms **out);
/* The same from text, without messages, for tests. modules may be NULL. */
int kallsyms_parse(const char *text, size_t len, const char *modules, size_t modules_len,
		   struct kallsyms **out);
/* A hash of the text of /proc/modules that changes with the set of modules. */
uint64_t kallsyms_modules_state(const char *modules, size_t len);
void kallsyms_free(struct kallsyms *k);

/* 0; -ENOENT if addr is in no module and no boot code, or before the first symbol of its module. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *out);
/* The module that contains addr, or NULL */
const struct kallsyms_module *kallsyms_module_find(const struct kallsyms *k, uint64_t addr);

uint64_t kallsyms_mark(const struct kallsyms *k, enum kallsyms_mark mark);

/* The kernel image; NULL if the table has none */
const struct kallsyms_module *kallsyms_image(const struct kallsyms *k);

/* The build-id of the running kernel: its size; 0 if it is unknown or larger than max. */
size_t kallsyms_build_id(uint8_t *out, size_t max);

#endif /* D9_KERNEL_KALLSYMS_H */
