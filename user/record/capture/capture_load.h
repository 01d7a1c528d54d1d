/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_LOAD_H
#define D9_RECORD_CAPTURE_CAPTURE_LOAD_H

#include <stdbool.h>
#include <stddef.h>

struct prof;

enum { CAPTURE_LOAD_NAME = 64, CAPTURE_LOAD_TEXT = 256 };

/* The object that the kernel did not load, and the reason. */
struct capture_refusal {
	int err; /* -errno */
	char program[CAPTURE_LOAD_NAME]; /* empty: a map, or the whole load */
	char map[CAPTURE_LOAD_NAME]; /* the map that could not be created; empty: none */
	size_t files_needed; /* if err is EMFILE; 0: unknown */
	char reason[CAPTURE_LOAD_TEXT]; /* the verifier's last meaningful line; empty: none */
	char *log; /* the verifier's log, possibly cut; NULL: none. Freed by capture_refusal_fini() */
	bool logged; /* a verifier's refusal would have left a log */
};

/*
 * Loads the configured programs. 0, or -errno with @why filled. Prints only at -vv: libbpf's messages and the log.
 * A program that has its own log buffer keeps it; @why does not contain that log.
 */
int capture_load(struct prof *skel, struct capture_refusal *why);
/*
 * Whether the verifier refused a program, not missing rights, memory, files, or a security module. Without a log,
 * EACCES counts as the verifier's.
 */
bool capture_refusal_is_verifiers(const struct capture_refusal *why);
void capture_refusal_fini(struct capture_refusal *why);

/* The line of a verifier's log that gives the reason, without its end of line. */
void capture_load_reason(const char *log, char *out);

#endif
