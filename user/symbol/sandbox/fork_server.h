/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_FORK_SERVER_H
#define D9_SYMBOL_SANDBOX_FORK_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process that is confined at once and forks others like it on request. It exists because who
 * asks gives up its privileges and starts threads, and still wants fresh, confined processes later.
 * No call waits for it, but fork_server_stop().
 */
struct fork_server;

struct fork_server_cfg {
	/* gives up what children shall not have; in the spawner, before its first child */
	int (*confine)(void);
	/* a child's life: sock is its end of a SOCK_SEQPACKET pair; when this returns, it ends */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *ctx; /* as it is when the spawner starts */
};

enum fork_server_event_kind {
	FORK_SERVER_BORN, /* arg as asked; sock is the other end, the receiver's, or error is set */
	FORK_SERVER_DIED, /* pid and status, as waitpid() gives it */
};

struct fork_server_event {
	enum fork_server_event_kind kind;
	uint32_t arg;
	pid_t pid;
	int sock;
	int error; /* 0 or -errno */
	int status;
};

enum fork_server_pace {
	FORK_SERVER_IDLE, /* only when nothing else wants the CPU */
	FORK_SERVER_LOW, /* behind everything else, but not without a share */
	FORK_SERVER_EQUAL, /* beside everything else */
};

/* Forks it, and a spare; cfg's functions are called there. -errno of socketpair() or fork(). */
int fork_server_start(const struct fork_server_cfg *cfg, struct fork_server **out);

/*
 * To be called when it is gone, and all of its children with it: the spare takes its place, with another
 * fork_server_fd(). -EPIPE: there is none, it was used before.
 */
int fork_server_renew(struct fork_server *s);

/* Ends it and its children; waits at most half a second. NULL is allowed. */
void fork_server_stop(struct fork_server *s);

/* Readable when fork_server_next() has something. Stays the spawner's. */
int fork_server_fd(const struct fork_server *s);

enum { FORK_SERVER_PIDS_MAX = 2 };

/* The processes that were forked at the start and are still used: the spawner and its spare. Returns how many. */
size_t fork_server_pids(const struct fork_server *s, uint32_t pids[FORK_SERVER_PIDS_MAX]);

/* Asks for a child. 0, or -errno when the request could not be queued (-EPIPE: it is gone). */
int fork_server_ask(struct fork_server *s, uint32_t arg);
/*
 * Kills a child, as soon as the spawner takes the word, which fork_server_next() sees to; no effect on any
 * other process.
 */
void fork_server_kill(struct fork_server *s, pid_t pid);
/* Changes how eagerly a child runs, as far as that is allowed. */
int fork_server_set_pace(struct fork_server *s, pid_t pid, enum fork_server_pace pace);

/* The next event: 1, 0 when there is none now, -EPIPE when the spawner is gone, or -errno. */
int fork_server_next(struct fork_server *s, struct fork_server_event *ev);

#endif /* D9_SYMBOL_SANDBOX_FORK_SERVER_H */
