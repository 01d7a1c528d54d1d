/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_EXEC_PROBE_H
#define D9_RECORD_TARGET_EXEC_PROBE_H

#include <stdbool.h>

#include "record/target/elf_deps.h"

/*
 * A process that looks which files a command will map, with the rights of the user that the command will run
 * as and no others. It may hang or be taken over by what it reads: it is heard for a tenth of a second from its
 * start, and each word of it is checked. What it says is still no more than a claim.
 */
struct exec_probe;

/* The same choice of the user as launch_new(); to be forked when that may be. -errno. */
int exec_probe_new(const char *command, bool as_root, struct exec_probe **out);
/*
 * Hands over what it has found and finds until its time is over, or it says something that cannot be; ELF_DEPS_FILES_MAX
 * files at most, valid during the call. Once. Ends it.
 */
void exec_probe_receive(struct exec_probe *s, elf_deps_found_fn found, void *ctx);
/* Never waits: a process that cannot end is left behind. NULL is allowed. */
void exec_probe_free(struct exec_probe *s);

/* Another life than looking for a command's files, confined in the same way: sock is its end. */
typedef void (*exec_probe_life_fn)(const void *ctx, int sock);
struct sudo_user;
int exec_probe_start(exec_probe_life_fn life, const void *ctx, const struct sudo_user *user,
		     struct exec_probe **out);

#endif
