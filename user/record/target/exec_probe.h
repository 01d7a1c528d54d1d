/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_EXEC_PROBE_H
#define D9_RECORD_TARGET_EXEC_PROBE_H

#include <stdbool.h>

#include "record/target/elf_deps.h"

/*
 * A process that finds the files that a command will map. It has only the rights of the user that the command will
 * run as. It may hang, or be taken over by files that it reads. So answers are received for a tenth of a second
 * from its start, and each is validated. Even then they are unproven claims.
 */
struct exec_probe;

/* Chooses the user like launch_new(). Call before threads exist: it forks. -errno. */
int exec_probe_new(const char *command, bool as_root, struct exec_probe **out);
/*
 * Passes on all files until the time limit or an invalid answer; at most ELF_DEPS_FILES_MAX, valid during the call.
 * Call it once. Ends the process.
 */
void exec_probe_receive(struct exec_probe *s, elf_deps_found_fn found, void *ctx);
/* Never blocks: a process that cannot end is abandoned. NULL is allowed. */
void exec_probe_free(struct exec_probe *s);

/* Code to run in place of the search for a command's files, with the same restrictions. sock: its end of the pair. */
typedef void (*exec_probe_life_fn)(const void *ctx, int sock);
struct sudo_user;
int exec_probe_start(exec_probe_life_fn life, const void *ctx, const struct sudo_user *user,
		     struct exec_probe **out);

#endif
