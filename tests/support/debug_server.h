/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_DEBUG_SERVER_H
#define D9_TESTS_SUPPORT_DEBUG_SERVER_H

/* A server of debug files on loopback, in a separate process, with selectable faults. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum debug_server_way {
	DEBUG_SERVER_FILE, /* returns the file for every request */
	DEBUG_SERVER_DEBUGINFO, /* returns the file for debug files, not for executables */
	DEBUG_SERVER_NOTHING, /* 404 */
	DEBUG_SERVER_SILENT, /* reads the request and does not answer */
	DEBUG_SERVER_SLOW, /* announces a file, then sends a byte now and then */
	DEBUG_SERVER_ENDLESS, /* sends without an end, with unknown size */
	DEBUG_SERVER_HUGE, /* announces 100 GB */
	DEBUG_SERVER_CUT, /* sends less than announced */
	DEBUG_SERVER_GARBAGE, /* not HTTP */
	DEBUG_SERVER_HANGS_UP,
};

struct debug_server {
	pid_t pid;
	char url[64];
	unsigned int *asked; /* number of requests; shared */
};

/* The client may have closed the connection. */
static inline bool debug_server_send(int sock, const void *data, size_t sz)
{
	return send(sock, data, sz, MSG_NOSIGNAL) == (ssize_t)sz;
}

static inline void debug_server_head(int sock, const char *status, const char *more)
{
	char head[256];

	snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nConnection: close\r\n%s\r\n", status, more);
	debug_server_send(sock, head, strlen(head));
}

static inline void debug_server_file(int sock, const char *path, size_t more)
{
	char head[64], block[4096];
	int fd = open(path, O_RDONLY);
	struct stat st;
	ssize_t n;

	fstat(fd, &st);
	snprintf(head, sizeof(head), "Content-Length: %zu\r\n", (size_t)st.st_size + more);
	debug_server_head(sock, "200 OK", head);
	while ((n = read(fd, block, sizeof(block))) > 0 &&
	       debug_server_send(sock, block, (size_t)n))
		;
	close(fd);
}

static inline void debug_server_answer(int sock, const char *question, enum debug_server_way way,
				       const char *path)
{
	static const char zeros[65536];
	char byte;

	switch (way) {
	case DEBUG_SERVER_DEBUGINFO:
		if (!strstr(question, "/debuginfo "))
			return debug_server_head(sock, "404 Not Found", "Content-Length: 0\r\n");
		/* fall through */
	case DEBUG_SERVER_FILE:
		return debug_server_file(sock, path, 0);
	case DEBUG_SERVER_CUT:
		return debug_server_file(sock, path, 1000);
	case DEBUG_SERVER_NOTHING:
		return debug_server_head(sock, "404 Not Found", "Content-Length: 0\r\n");
	case DEBUG_SERVER_SILENT:
		/* until the client closes */
		while (recv(sock, &byte, 1, 0) > 0)
			;
		return;
	case DEBUG_SERVER_SLOW:
		debug_server_head(sock, "200 OK", "Content-Length: 1000000\r\n");
		while (debug_server_send(sock, "x", 1))
			usleep(100000);
		return;
	case DEBUG_SERVER_ENDLESS:
		debug_server_head(sock, "200 OK", "");
		while (debug_server_send(sock, zeros, sizeof(zeros)))
			;
		return;
	case DEBUG_SERVER_HUGE:
		debug_server_head(sock, "200 OK", "Content-Length: 100000000000\r\n");
		while (debug_server_send(sock, zeros, sizeof(zeros)))
			;
		return;
	case DEBUG_SERVER_GARBAGE:
		debug_server_send(sock, zeros, sizeof(zeros));
		return;
	case DEBUG_SERVER_HANGS_UP:
		return;
	}
}

static inline void debug_server_run(int listener, enum debug_server_way way, const char *path,
				    unsigned int *asked)
{
	char question[4096];
	size_t len;
	ssize_t n;
	int sock;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((sock = accept(listener, NULL, NULL)) >= 0) {
		len = 0;
		question[0] = '\0';
		while (!strstr(question, "\r\n\r\n") && len < sizeof(question) - 1 &&
		       (n = recv(sock, question + len, sizeof(question) - 1 - len, 0)) > 0)
			question[len += (size_t)n] = '\0';
		++*asked;
		debug_server_answer(sock, question, way, path);
		close(sock);
	}
}

/* @path: the file to send. */
static inline void debug_server_start(struct debug_server *s, enum debug_server_way way,
				      const char *path)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t sz = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(bind(listener, (struct sockaddr *)&at, sz), 0);
	cr_assert_eq(listen(listener, 8), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &sz), 0);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", ntohs(at.sin_port));
	setenv("no_proxy", "127.0.0.1", 1);
	s->asked = mmap(NULL, sizeof(*s->asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	cr_assert_neq(s->asked, MAP_FAILED);
	s->pid = fork();
	if (!s->pid) {
		debug_server_run(listener, way, path, s->asked);
		_exit(0);
	}
	close(listener);
}

static inline void debug_server_stop(struct debug_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	munmap(s->asked, sizeof(*s->asked));
}

#endif /* D9_TESTS_SUPPORT_DEBUG_SERVER_H */
