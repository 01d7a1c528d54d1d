// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof view`: serves the page of `export html` on this machine only, for traces that are too large to embed
 * in a page. Owns the options, the socket, and the answers.
 *
 * Clients are not trusted: they may be other users of the machine, or any web page in a browser on it. The address
 * contains a secret token. The Host header must be this server's, so that other names for this machine are
 * rejected. Only GET of two paths is answered. Each connection has a separate process; their number and run time
 * are bounded.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/export/redirect_page.h"
#include "cmd/rewrite/trace_bytes.h"
#include "export/html/page.h"
#include "rewrite/copy/spool.h"

enum {
	TOKEN_BYTES = 16,
	REQUEST_MAX = 8192,
	REQUEST_SECONDS = 10, /* until all of a request must be there */
	SEND_SECONDS = 60, /* in which a client must take something */
	CONNECTIONS_MAX = 24,
	BLOCK = 1 << 16,
};

struct view_server_opts {
	struct select_opts sel;
	uint64_t port;
	bool no_open;
};

struct server {
	const char *path; /* of the trace */
	int temp; /* the trace, where it does not stand in a file as it is to be shown; or -1 */
	int listener;
	uint16_t port;
	char token[2 * TOKEN_BYTES + 1];
	unsigned int children;
};

#define O(m) offsetof(struct view_server_opts, m)

static const struct opt serve_opts[] = {
	SELECT_READ_OPTS(struct view_server_opts, sel),
	{ .name = "port",
	  .kind = OPT_U64,
	  .off = O(port),
	  .arg = "N",
	  .max = 65535,
	  .help = "Listen on this port of 127.0.0.1 (default: any free port)",
	  .group = "Server" },
	{ .name = "no-open",
	  .kind = OPT_FLAG,
	  .off = O(no_open),
	  .help = "Only print the address; do not start a browser" },
	OPT_ROW_HELP,
};

static const struct opt_spec serve_spec = {
	.name = "view",
	.usage = "dial9-prof view [OPTIONS] [FILE]",
	.brief = "Show a trace in a browser until Ctrl-C: timeline, flame graph, tables.",
	OPT_ROWS(serve_opts),
	.examples =
		"  dial9-prof view\n"
		"  dial9-prof view --time +10,+20 trace.bin\n"
		"  ssh -L 8000:127.0.0.1:8000 host dial9-prof view --no-open --port 8000 trace.bin\n",
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = 1;
}

/* ---- answers ----------------------------------------------------------------------------------- */

static int send_all(int fd, const void *data, size_t sz)
{
	const char *at = data;
	ssize_t n;

	for (; sz; at += n, sz -= (size_t)n) {
		n = send(fd, at, sz, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return -EPIPE;
	}
	return 0;
}

/* Of a body that ends with the connection. */
static int send_head(int fd, const char *status, const char *type)
{
	char head[512];
	int len = snprintf(
		head, sizeof(head),
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
		"Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\r\n",
		status, type);

	return send_all(fd, head, (size_t)len);
}

static void refuse(int fd, const char *status)
{
	if (!send_head(fd, status, "text/plain"))
		send_all(fd, status, strlen(status));
}

static void send_page(int fd)
{
	struct buf page = { 0 };

	page_put_head(&page, "trace");
	page_put_tail(&page);
	if (!send_head(fd, "200 OK", "text/html; charset=utf-8"))
		send_all(fd, page.data, page.len);
	buf_free(&page);
}

/* Another description of the file, whose place is its own. */
static int open_trace(const struct server *s, struct source **out)
{
	int fd;

	if (s->temp < 0)
		return source_open(s->path, out);
	fd = file_reopen(s->temp);
	return fd < 0 ? fd : source_open_fd(fd, s->path, out);
}

static void send_trace(const struct server *s, int fd)
{
	struct source *src;
	char *block;
	ssize_t n;

	if (open_trace(s, &src)) {
		refuse(fd, "500 Internal Server Error");
		return;
	}
	block = xmalloc(BLOCK);
	if (!send_head(fd, "200 OK", "application/octet-stream"))
		while ((n = source_read(src, block, BLOCK)) > 0 && !send_all(fd, block, (size_t)n))
			;
	free(block);
	source_close(src);
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* All of the head of a request: its length, or -1. */
static ssize_t read_head(int fd, char *buf, size_t max)
{
	size_t len = 0;
	ssize_t n;

	alarm(REQUEST_SECONDS); /* this is a process for one connection */
	while (len < max) {
		n = recv(fd, buf + len, max - len, 0);
		if (n <= 0)
			return -1;
		len += (size_t)n;
		buf[len] = '\0';
		if (memchr(buf, '\0', len))
			return -1;
		if (strstr(buf, "\r\n\r\n")) {
			alarm(0);
			return (ssize_t)len;
		}
	}
	return -1;
}

/* Whether the request uses the server's printed name: exactly one Host header with it. */
static bool host_fits(const struct server *s, const char *head)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	const char *line = strstr(head, "\r\n");
	unsigned int fits = 0, hosts = 0;
	char want[32];
	size_t len;

	for (; line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
		if (strncasecmp(line + 2, "host:", 5))
			continue;
		hosts++;
		line += 7;
		line += strspn(line, " \t");
		len = strcspn(line, " \t\r\n");
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			snprintf(want, sizeof(want), "%s:%u", names[i], s->port);
			fits += len == strlen(want) && !strncmp(line, want, len);
		}
		line += len - 2;
	}
	return hosts == 1 && fits == 1;
}

/* Compares in constant time. */
static bool token_fits(const struct server *s, const char *path)
{
	unsigned char differ = 0;

	if (path[0] != '/' || strlen(path) < 1 + sizeof(s->token))
		return false;
	for (size_t i = 0; i < sizeof(s->token) - 1; i++)
		differ |= (unsigned char)(path[1 + i] ^ s->token[i]);
	return !differ && path[sizeof(s->token)] == '/';
}

static void answer(const struct server *s, int fd)
{
	char head[REQUEST_MAX + 1], *path, *end;
	const char *what;

	if (read_head(fd, head, REQUEST_MAX) < 0) {
		refuse(fd, "400 Bad Request");
		return;
	}
	path = strchr(head, ' ');
	end = path ? strpbrk(path + 1, " \r\n") : NULL;
	if (!end || strncmp(end, " HTTP/1.", 8)) {
		refuse(fd, "400 Bad Request");
	} else if (!host_fits(s, head)) {
		refuse(fd, "421 Misdirected Request");
	} else if (strncmp(head, "GET ", 4)) {
		refuse(fd, "405 Method Not Allowed");
	} else {
		*end = '\0';
		what = token_fits(s, path + 1) ? path + 2 + sizeof(s->token) - 1 + 1 : "-";
		if (!strcmp(what, ""))
			send_page(fd);
		else if (!strcmp(what, "trace"))
			send_trace(s, fd);
		else
			refuse(fd, "404 Not Found");
	}
}

/* ---- the server -------------------------------------------------------------------------------- */

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void catch_signals(void)
{
	const struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(end_signals) / sizeof(end_signals[0]); i++)
		sigaction(end_signals[i], &act, NULL);
}

static int listen_at(struct server *s, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int yes = 1;

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return -errno;
	setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(s->listener, (struct sockaddr *)&at, sizeof(at)) || listen(s->listener, 16) ||
	    getsockname(s->listener, (struct sockaddr *)&at, &len))
		return -errno;
	s->port = ntohs(at.sin_port);
	return 0;
}

static int make_token(struct server *s)
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void reap(struct server *s, int flags)
{
	while (s->children && waitpid(-1, NULL, flags) > 0) {
		s->children--;
		flags = WNOHANG;
	}
}

static void serve_connection(struct server *s)
{
	const struct timeval slow = { .tv_sec = SEND_SECONDS };
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid;

	if (fd < 0)
		return;
	reap(s, s->children < CONNECTIONS_MAX ? WNOHANG : 0);
	pid = fork();
	if (!pid) {
		for (size_t i = 0; i < sizeof(end_signals) / sizeof(end_signals[0]); i++)
			signal(end_signals[i], SIG_DFL);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &slow, sizeof(slow));
		answer(s, fd);
		shutdown(fd, SHUT_WR);
		_exit(0);
	}
	s->children += pid > 0;
	close(fd);
}

static void serve(struct server *s)
{
	struct pollfd p = { .fd = s->listener, .events = POLLIN };

	while (!stopped) {
		if (poll(&p, 1, 1000) > 0)
			serve_connection(s);
		reap(s, WNOHANG);
	}
}

static void start_browser(const char *path)
{
	char word[] = "xdg-open", *file = xstrdup(path), *argv[] = { word, file, NULL };
	pid_t pid;

	posix_spawnp(&pid, word, NULL, NULL, argv, environ);
	free(file);
}

/*
 * Starts the desktop's browser, if there is one, but not as root. It gets a page that leads to the address,
 * because the address has the token and other users can read command lines.
 */
static void open_browser(const char *url, struct redirect_page *page)
{
	int err;

	if (!geteuid() || !(getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
		return;
	err = redirect_page_init(page, url);
	if (err)
		log_warn(
			"view: cannot write a page for the browser: %s (TMPDIR sets its directory); "
			"open the address above",
			strerror(-err));
	else
		start_browser(buf_cstr(&page->file));
}

/* Prints the address, and serves until a signal. */
static void serve_address(struct server *s, bool no_open)
{
	struct redirect_page page = { 0 };
	char url[128];

	catch_signals();
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s/", s->port, s->token);
	printf("%s\n", url);
	fflush(stdout);
	if (!no_open)
		open_browser(url, &page);
	serve(s);
	redirect_page_fini(&page);
}

/* The trace to show as a file: the input itself, if possible. */
static int prepare(struct server *s, const struct view_server_opts *opts)
{
	/* what can be read once only is kept */
	if (!select_opts_are_used(&opts->sel) && spool_has_name(s->path))
		return trace_bytes_check("view", s->path);
	return trace_bytes_to_temp("view", &opts->sel, s->path, &s->temp);
}

/* What precedes damage is shown. */
static bool has_bytes(const struct server *s, int code)
{
	struct stat st;

	return code == CMD_OK ||
	       (code == CMD_INPUT && s->temp >= 0 && !fstat(s->temp, &st) && st.st_size > 0);
}

static int view_file(const void *arg, const char *path)
{
	const struct view_server_opts *opts = arg;
	struct server s = { .path = path, .temp = -1, .listener = -1 };
	int code = prepare(&s, opts), err = -ENODATA;

	if (has_bytes(&s, code)) {
		err = make_token(&s);
		err = err ? err : listen_at(&s, (uint16_t)opts->port);
		if (err) {
			log_error("view: cannot listen on 127.0.0.1: %s%s", strerror(-err),
				  err == -EADDRINUSE ?
					  "; use another --port, or none for any free port" :
				  err == -EACCES && opts->port ? "; use a --port above 1023" :
								 "");
			code = CMD_START;
		}
	}
	if (!err)
		serve_address(&s, opts->no_open);
	if (s.listener >= 0)
		close(s.listener);
	if (s.temp >= 0)
		close(s.temp);
	return code;
}

int cmd_view(int argc, char **argv)
{
	struct view_server_opts opts = { 0 };

	return select_run(&serve_spec, argc, argv, &opts, &opts.sel, view_file);
}
