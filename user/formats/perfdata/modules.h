/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_MODULES_H
#define D9_FORMATS_PERFDATA_MODULES_H

#include "events/emit.h"
#include "formats/perfdata/header.h"

/* The files and other code that frames are in, numbered as in dial9 traces. */
struct perfdata_modules;

void perfdata_modules_new(struct emit *emit, struct perfdata_modules **out);
void perfdata_modules_free(struct perfdata_modules *m);

/* A piece of code in memory. */
struct perfdata_code {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_sz;
	enum prof_module_kind kind;
	uint32_t dev; /* the file, as struct foreign_module has it */
	uint64_t inode;
	uint64_t place; /* different for each place of anonymous memory; otherwise 0 */
};

/* The index of a module, made if it is new. */
uint32_t perfdata_modules_add(struct perfdata_modules *m, const struct perfdata_code *code);

/*
 * The module's number in frames, 0 if there are too many. Writes its ModuleEvent at time @ts the first time: 0, or the
 * encoder's -errno.
 */
int perfdata_modules_use(struct perfdata_modules *m, uint32_t index, uint64_t ts,
			 uint32_t *module_id);

enum prof_module_kind perfdata_modules_kind(const struct perfdata_modules *m, uint32_t index);
/* Borrowed. */
const char *perfdata_modules_path(const struct perfdata_modules *m, uint32_t index);
/* Members are borrowed. */
void perfdata_modules_file(const struct perfdata_modules *m, uint32_t index,
			   struct foreign_module *out);

#endif /* D9_FORMATS_PERFDATA_MODULES_H */
