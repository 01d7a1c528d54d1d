/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_TASKS_H
#define D9_FORMATS_PERFDATA_TASKS_H

#include "formats/foreign.h"
#include "formats/perfdata/maps.h"
#include "formats/perfdata/modules.h"

/*
 * Threads, processes and their mappings, as the records say it. All functions return 0 or the encoder's -errno, and
 * write what became known to the trace, at the time @ts.
 */
struct perfdata_tasks;

/* Both are borrowed. */
void perfdata_tasks_new(struct emit *emit, struct perfdata_modules *modules,
			struct perfdata_tasks **out);
void perfdata_tasks_free(struct perfdata_tasks *t);

/* exec: the process runs another program from here on. */
int perfdata_tasks_comm(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, uint32_t tid,
			const char *comm, bool exec);

struct perfdata_fork {
	uint32_t pid, ppid, tid, ptid;
	bool bare; /* without the parent's mappings */
};
int perfdata_tasks_fork(struct perfdata_tasks *t, uint64_t ts, const struct perfdata_fork *f);

/* Of executable memory. */
struct perfdata_mmap {
	uint32_t pid; /* UINT32_MAX: of the kernel */
	uint64_t start, sz, off;
	struct perfdata_code code;
};
int perfdata_tasks_mmap(struct perfdata_tasks *t, uint64_t ts, const struct perfdata_mmap *m);

/* No longer mapped; of the kernel. */
void perfdata_tasks_munmap(struct perfdata_tasks *t, uint64_t start);

/* The frame of an address of the kernel, or of a process. */
int perfdata_tasks_frame(struct perfdata_tasks *t, uint64_t ts, uint32_t pid, uint64_t addr,
			 bool kernel, uint64_t *frame);

/* The mapping of a process at an address; NULL: none. Borrowed until the next record. */
const struct perfdata_map *perfdata_tasks_map(const struct perfdata_tasks *t, uint32_t pid,
					      uint64_t addr);
/* The file of a mapping's module, borrowed; false: it is no file. */
bool perfdata_tasks_file(const struct perfdata_tasks *t, uint32_t module,
			 struct foreign_module *out);

#endif /* D9_FORMATS_PERFDATA_TASKS_H */
