/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_SPAWNER_H
#define D9_SYMBOL_SANDBOX_SPAWNER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process that is confined at once and forks others like it on request. It exists because who
 * asks gives up its privileges and starts threads, and still wants fresh, confined processes later.
 * No call waits for it, but spawner_stop().
 */
struct spawner;

struct spawner_cfg {
	/* gives up what children shall not have; in the spawner, before its first child */
	int (*confine)(void);
	/* a child's life: sock is its end of a SOCK_SEQPACKET pair; when this returns, it ends */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *ctx; /* as it is when the spawner starts */
};

enum spawner_event_kind {
	SPAWNER_BORN, /* arg as asked; sock is the other end, the receiver's, or error is set */
	SPAWNER_DIED, /* pid and status, as waitpid() gives it */
};

struct spawner_event {
	enum spawner_event_kind kind;
	uint32_t arg;
	pid_t pid;
	int sock;
	int error; /* 0 or -errno */
	int status;
};

enum spawner_pace {
	SPAWNER_IDLE, /* only when nothing else wants the CPU */
	SPAWNER_LOW, /* behind everything else, but not without a share */
	SPAWNER_EQUAL, /* beside everything else */
};

/* Forks it, and a spare; cfg's functions are called there. -errno of socketpair() or fork(). */
int spawner_start(const struct spawner_cfg *cfg, struct spawner **out);

/*
 * To be called when it is gone, and all of its children with it: the spare takes its place, with another
 * spawner_fd(). -EPIPE: there is none, it was used before.
 */
int spawner_renew(struct spawner *s);

/* Ends it and its children; waits at most half a second. NULL is allowed. */
void spawner_stop(struct spawner *s);

/* Readable when spawner_next() has something. Stays the spawner's. */
int spawner_fd(const struct spawner *s);

enum { SPAWNER_PIDS_MAX = 2 };

/* The processes that were forked at the start and are still used: the spawner and its spare. Returns how many. */
size_t spawner_pids(const struct spawner *s, uint32_t pids[SPAWNER_PIDS_MAX]);

/* Asks for a child. 0, or -errno when the request could not be queued (-EPIPE: it is gone). */
int spawner_ask(struct spawner *s, uint32_t arg);
/*
 * Kills a child, as soon as the spawner takes the word, which spawner_next() sees to; no effect on any
 * other process.
 */
void spawner_kill(struct spawner *s, pid_t pid);
/* Changes how eagerly a child runs, as far as that is allowed. */
int spawner_set_pace(struct spawner *s, pid_t pid, enum spawner_pace pace);

/* The next event: 1, 0 when there is none now, -EPIPE when the spawner is gone, or -errno. */
int spawner_next(struct spawner *s, struct spawner_event *ev);

#endif /* D9_SYMBOL_SANDBOX_SPAWNER_H */
