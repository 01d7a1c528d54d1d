/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_SANDBOX_FORK_SERVER_H
#define D9_SYMBOL_SANDBOX_FORK_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A restricted process that forks restricted children on request. The recorder drops its privileges
 * and starts threads, so later it cannot fork such processes itself. Only fork_server_stop()
 * blocks.
 */
struct fork_server;

struct fork_server_cfg {
	/*
	 * drops the rights that children must not have; called in the fork server before its first
	 * child
	 */
	int (*confine)(void);
	/*
	 * main function of a child: sock is its end of a SOCK_SEQPACKET pair; the child exits when
	 * it returns
	 */
	void (*child)(const void *ctx, int sock, uint32_t arg);
	const void *ctx; /* its contents at the time of fork_server_start() */
	int urgent_nice; /* nice value of the server, and of children with FORK_SERVER_URGENT */
};

enum fork_server_event_kind {
	/* arg as requested; sock is the other end, which the receiver closes; or error is set */
	FORK_SERVER_BORN,
	FORK_SERVER_DIED, /* pid, and status from waitpid() */
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
	FORK_SERVER_IDLE, /* only if the CPU is idle otherwise */
	FORK_SERVER_LOW, /* lower priority than other processes, but with a share */
	FORK_SERVER_EQUAL, /* normal priority */
	FORK_SERVER_URGENT, /* fork_server_cfg.urgent_nice */
};

/*
 * Forks a server and a spare, which call the functions of cfg. 0, or -errno of socketpair() or
 * fork().
 */
int fork_server_start(const struct fork_server_cfg *cfg, struct fork_server **out);

/*
 * Call after the server and all of its children have exited: the spare replaces it, with another
 * fork_server_fd(). 0; -EPIPE if the spare was used before.
 */
int fork_server_renew(struct fork_server *s);

/* Ends the server and its children; waits for at most half a second. NULL is allowed. */
void fork_server_stop(struct fork_server *s);

/* Readable if fork_server_next() has an event. Borrowed. */
int fork_server_fd(const struct fork_server *s);

/*
 * Adds that descriptor, and any descriptor that replaces it, to an epoll instance (-1: none). From then on
 * fork_server_next() finds an event only after a readiness_update().
 */
void fork_server_watch(struct fork_server *s, int epoll_fd);
void fork_server_unwatch(struct fork_server *s);

enum { FORK_SERVER_PIDS_MAX = 2 };

/*
 * The running processes that were forked at the start: the server and its spare. Returns their
 * number.
 */
size_t fork_server_pids(const struct fork_server *s, uint32_t pids[FORK_SERVER_PIDS_MAX]);

/*
 * Requests a child. 0, or -errno if the request cannot be queued (-EPIPE: the server has exited).
 */
int fork_server_ask(struct fork_server *s, uint32_t arg);
/*
 * Kills a child, but no other process. fork_server_next() repeats the request until the server
 * accepts it.
 */
void fork_server_kill(struct fork_server *s, pid_t pid);
/* Sets the priority of a child, as far as allowed. 0 or -errno. */
int fork_server_set_pace(struct fork_server *s, pid_t pid, enum fork_server_pace pace);

/* The next event: 1; 0 if there is none; -EPIPE if the server has exited; or -errno. */
int fork_server_next(struct fork_server *s, struct fork_server_event *ev);

#endif /* D9_SYMBOL_SANDBOX_FORK_SERVER_H */
