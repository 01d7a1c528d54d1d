/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_ATTEMPTS_H
#define D9_SHIP_ATTEMPTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Requests to one server until one succeeds: pauses between them, and when to give up. */
struct attempts;

struct attempts_opts {
	uint64_t pause_min_ns, pause_max_ns; /* between attempts: doubles up to the maximum */
	uint64_t give_up_ns; /* after this time without success; 0: never */
	int end_fd; /* at its end of file no more files come; -1: none */
	uint64_t end_give_up_ns; /* as give_up_ns, from then on */
	/* While the server is down, after each attempt: NULL: nothing */
	void (*idle)(void *ctx);
	void *ctx;
	const volatile sig_atomic_t *stop;
};

/* @server: its name in messages. Never NULL. Free with attempts_free(). */
struct attempts *attempts_new(const struct attempts_opts *opts, const char *server);
void attempts_free(struct attempts *a);

/* Waits until @ns passed, a signal comes, or end_fd ends. */
void attempts_pause(struct attempts *a, uint64_t ns);
/* Waits for the shortest pause. */
void attempts_pause_shortly(struct attempts *a);
/* Whether end_fd ended. */
bool attempts_is_ending(struct attempts *a);
bool attempts_is_stopped(const struct attempts *a);

/*
 * gives_up() of an HTTP client, with the attempts as its ctx: a server that accepts a request and does not answer must not
 * delay the end.
 */
bool attempts_is_silent(void *ctx, uint64_t silent_ns);

/* After a request that succeeded. */
void attempts_succeed(struct attempts *a);
/* After a request that failed: pauses. 0: try again; -EINTR: stopped; -ETIMEDOUT: gave up, after one line. */
int attempts_fail(struct attempts *a, const char *why);
/* After a request that will not succeed when repeated: -EPROTO, after one line. */
int attempts_refuse(const struct attempts *a, const char *why);

#endif /* D9_SHIP_ATTEMPTS_H */
