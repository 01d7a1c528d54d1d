/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_JOB_H
#define D9_SYMBOL_CFI_CFI_JOB_H

#include <stddef.h>
#include <stdint.h>

struct unwind_table;

/* A file whose unwind table is built, with the limits of a symbolizer, in the same process. */
struct cfi_job;

/* Errors and ownership are as in symbolizer_open() and symbolizer_open_vdso(). */
int cfi_job_open(int fd, const uint8_t *build_id, size_t build_id_sz, struct cfi_job **out);
int cfi_job_open_vdso(struct cfi_job **out);
/* Sets the memory limit of one build; 192 MiB without this call. */
void cfi_job_limit_mem(struct cfi_job *t, size_t max);
/* Bytes of memory. */
size_t cfi_job_mem(const struct cfi_job *t);
/* Unmaps what was read of the file; reading maps it again. */
void cfi_job_release_pages(const struct cfi_job *t);

/*
 * Continues the build for this CPU time of the calling thread. 0: *out is set, and the caller frees
 * it with unwind_table_free(); -EAGAIN: call again; -EDQUOT: a limit was reached; -ENODATA: the
 * file has no unwind information. After any result except -EAGAIN the next call restarts.
 */
int cfi_job_build(struct cfi_job *t, uint64_t cpu_ns, struct unwind_table *out);

/* NULL is allowed. */
void cfi_job_free(struct cfi_job *t);

#endif /* D9_SYMBOL_CFI_CFI_JOB_H */
