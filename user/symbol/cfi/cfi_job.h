/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_JOB_H
#define D9_SYMBOL_CFI_CFI_JOB_H

#include <stddef.h>
#include <stdint.h>

struct unwind_table;

/* A file whose unwind table is built, bounded as a symbolizer is, and in the same place. */
struct cfi_job;

/* Errors and ownership are those of symbolizer_open() and symbolizer_open_vdso(). */
int cfi_job_open(int fd, const uint8_t *build_id, size_t build_id_sz, struct cfi_job **out);
int cfi_job_open_vdso(struct cfi_job **out);

/*
 * Builds on for that much CPU time of the calling thread. 0: *out is filled, and the caller's to free
 * with unwind_table_free(); -EAGAIN: call again; -EDQUOT: given up; -ENODATA: there is nothing to build
 * it from. After any but -EAGAIN it begins anew.
 */
int cfi_job_build(struct cfi_job *t, uint64_t cpu_ns, struct unwind_table *out);

/* NULL is allowed. */
void cfi_job_free(struct cfi_job *t);

#endif /* D9_SYMBOL_CFI_CFI_JOB_H */
