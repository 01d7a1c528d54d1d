// SPDX-License-Identifier: BSD-2-Clause
/*
 * stream.c - sends a recording to a listener
 *
 * We connect to a listener, so any program that passes on its input will do: nc -l, or a reader that systemd
 * starts. Nothing is ever read from it.
 */
#include "record/output/stream.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#define UNIX "unix:"
#define TCP "tcp:"

bool stream_is(const char *path)
{
	return str_starts(path, UNIX) || str_starts(path, TCP);
}

static int refuse(const char *path, int err)
{
	log_error("cannot connect to %s: %s%s", path, strerror(-err),
		  err == -ECONNREFUSED || err == -ENOENT ? " (is a listener running?)" : "");
	return err;
}

/* Waits for the result of a pending connect. */
static int wait_for(int fd, uint64_t deadline_ns)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t sz = sizeof(err);

	for (;;) {
		uint64_t now = clock_mono_ns();
		int left = now < deadline_ns ? (int)((deadline_ns - now) / 1000000 + 1) : 0;
		int n = poll(&pfd, 1, left);

		if (n > 0)
			break;
		if (!n || now >= deadline_ns)
			return -ETIMEDOUT;
	}
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &sz) ? -errno : -err;
}

static int connect_to(int family, const struct sockaddr *addr, socklen_t sz, uint64_t deadline_ns,
		      int *out)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : 0;

	if (!err && connect(fd, addr, sz))
		err = errno == EINPROGRESS || errno == EINTR ? wait_for(fd, deadline_ns) : -errno;
	if (!err)
		*out = fd;
	else if (fd >= 0)
		close(fd);
	return err;
}

static int connect_unix(const char *name, uint64_t deadline_ns, int *fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (!*name)
		return -EINVAL;
	if (strlen(name) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, name);
	return connect_to(AF_UNIX, (struct sockaddr *)&addr, sizeof(addr), deadline_ns, fd);
}

/* "host:80", "10.0.0.1:80", "[::1]:80": splits @copy in place. False: the form is invalid. */
static bool split_host(char *copy, char **host, char **port)
{
	char *colon = strrchr(copy, ':');
	size_t len;

	if (!colon || !colon[1] || strchr(colon, ']'))
		return false;
	*colon = '\0';
	*port = colon + 1;
	*host = copy;
	len = strlen(copy);
	if (len > 2 && *copy == '[' && copy[len - 1] == ']') {
		copy[len - 1] = '\0';
		(*host)++;
	}
	return **host;
}

static bool port_is_wrong(const char *port)
{
	uint64_t n;

	/* some resolvers truncate numbers beyond 16 bits; the resolver checks service names */
	return !port[strspn(port, "0123456789")] && (str_parse_u64(port, UINT16_MAX, &n) || !n);
}

static const char *tcp_is_wrong(const char *name)
{
	char *copy = xstrdup(name), *host, *port;
	const char *wrong = NULL;

	if (!split_host(copy, &host, &port))
		wrong = "-o tcp:HOST:PORT takes a host and a port, as in tcp:10.0.0.1:9000";
	else if (port_is_wrong(port))
		wrong = "-o tcp:HOST:PORT takes a port from 1 to 65535";
	free(copy);
	return wrong;
}

/* "udp:1:2", but not "run-12:30.bin" or a path with a directory. */
static bool has_scheme(const char *path)
{
	size_t len = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	len = len ? len + strspn(path + len, "0123456789") : 0;
	return len > 1 && path[len] == ':';
}

const char *stream_name_is_wrong(const char *path)
{
	if (str_starts(path, TCP))
		return tcp_is_wrong(path + strlen(TCP));
	if (str_starts(path, UNIX))
		return path[strlen(UNIX)] ? NULL : "-o unix:PATH takes the path of a socket";
	return has_scheme(path) ?
		       "-o takes tcp:HOST:PORT and unix:PATH, and no other prefix; for a file of "
		       "that name, put ./ before it" :
		       NULL;
}

static int connect_tcp(const char *path, const char *name, uint64_t deadline_ns, int *fd)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL, *at;
	char *copy = xstrdup(name), *host, *port;
	int err = split_host(copy, &host, &port) ? 0 : -EINVAL, failed = 0;

	if (!err)
		failed = getaddrinfo(host, port, &hints, &list);
	if (failed) {
		log_error("cannot connect to %s: %s", path,
			  failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
		free(copy);
		return -EHOSTUNREACH;
	}
	if (!err)
		err = -EHOSTUNREACH;
	for (at = list; at && err; at = at->ai_next)
		err = connect_to(at->ai_family, at->ai_addr, at->ai_addrlen, deadline_ns, fd);
	if (list)
		freeaddrinfo(list);
	free(copy);
	return err ? refuse(path, err) : 0;
}

int stream_connect(const char *path, uint64_t wait_ns, int *fd)
{
	uint64_t deadline_ns = clock_mono_ns() + wait_ns;
	int err;

	if (str_starts(path, TCP))
		return connect_tcp(path, path + strlen(TCP), deadline_ns, fd);
	err = connect_unix(path + strlen(UNIX), deadline_ns, fd);
	return err ? refuse(path, err) : 0;
}

bool stream_is_gone(int err)
{
	return err == -EPIPE || err == -ECONNRESET || err == -ETIMEDOUT;
}
