// SPDX-License-Identifier: BSD-2-Clause
/*
 * notify.c - readiness, reloads and the watchdog of a service manager
 *
 * The protocol of sd_notify(3) is a datagram with lines of NAME=VALUE. It is documented as stable, and its code is
 * smaller than the library in a static program. The thread that drains pings the watchdog, so that a stuck drain is
 * noticed.
 */
#include "record/control/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "record/encode/status.h"

#define US_NS 1000ULL
#define STATUS_NS 10000000000ULL
#define RELOAD_NS 5000000000ULL /* a reload ends after this time at the latest */
#define WATCHDOG_MIN_US 1000ULL

enum { UNSENT_MAX = 8 };

struct notify {
	int ready_fd; /* -1: none, or done */
	int sock; /* -1: none */
	struct sockaddr_un addr;
	socklen_t addr_sz;
	struct buf unsent[UNSENT_MAX]; /* messages that could not be sent yet, oldest first */
	size_t unsent_cnt;
	uint64_t ping_ns; /* between two pings; 0: no watchdog */
	uint64_t ping_due_ns, status_due_ns;
	const volatile sig_atomic_t *reload_asked;
	sig_atomic_t asked;
	bool ready;
	uint64_t reloading_ns; /* start of the reload; 0: none */
};

/* ---- start ------------------------------------------------------------------------------------------ */

/* The value, removed from the environment; the caller frees. NULL: not set. */
static char *consume_variable(const char *name)
{
	const char *value = getenv(name);
	char *copy = value ? xstrdup(value) : NULL;

	unsetenv(name);
	return copy;
}

static int open_ready_fd(struct notify *n, int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	int err = 0;

	if (flags < 0)
		err = -errno;
	else if ((flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
		err = -EBADF;
	if (err) {
		log_error("record: --ready-fd %d: cannot write to this descriptor: %s", fd,
			  strerror(-err));
		return err;
	}
	/* neither the command nor a helper process inherits it */
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	n->ready_fd = fd;
	return 0;
}

/* "/PATH" or "@NAME" in the abstract namespace. */
static int set_address(struct notify *n, const char *text)
{
	const size_t len = strlen(text);

	if ((*text != '/' && *text != '@') || len < 2 || len >= sizeof(n->addr.sun_path))
		return -EINVAL;
	n->addr.sun_family = AF_UNIX;
	memcpy(n->addr.sun_path, text, len);
	n->addr_sz = offsetof(struct sockaddr_un, sun_path) + len + (*text == '/');
	if (*text == '@')
		n->addr.sun_path[0] = '\0';
	return 0;
}

static void open_socket(struct notify *n, const char *text)
{
	if (set_address(n, text)) {
		log_warn(
			"record: NOTIFY_SOCKET: expected /PATH or @NAME: readiness is not reported");
		return;
	}
	n->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->sock < 0)
		log_warn("record: NOTIFY_SOCKET: no socket: %s: readiness is not reported",
			 strerror(errno));
}

/* Pings at half the manager's timeout. */
static void read_watchdog(struct notify *n, const char *usec, const char *pid)
{
	uint64_t us, watched;

	if (!usec || n->sock < 0)
		return;
	if (pid && !str_parse_u64(pid, INT32_MAX, &watched) && watched != (uint64_t)getpid())
		return;
	if (str_parse_u64(usec, UINT64_MAX / US_NS, &us) || us < WATCHDOG_MIN_US)
		log_warn(
			"record: WATCHDOG_USEC: expected microseconds, at least %llu: the watchdog gets no "
			"pings",
			WATCHDOG_MIN_US);
	else
		n->ping_ns = us * US_NS / 2;
}

int notify_new(const struct notify_cfg *cfg, struct notify **out)
{
	struct notify *n = xcalloc(1, sizeof(*n));
	char *sock = consume_variable("NOTIFY_SOCKET");
	char *usec = consume_variable("WATCHDOG_USEC"), *pid = consume_variable("WATCHDOG_PID");
	int err;

	n->ready_fd = n->sock = -1;
	n->reload_asked = cfg->reload_asked;
	n->asked = cfg->reload_asked ? *cfg->reload_asked : 0;
	err = cfg->ready_fd ? open_ready_fd(n, cfg->ready_fd) : 0;
	if (!err && sock)
		open_socket(n, sock);
	if (!err)
		read_watchdog(n, usec, pid);
	free(sock);
	free(usec);
	free(pid);
	if (err)
		notify_free(n);
	else
		*out = n;
	return err;
}

static void close_ready_fd(struct notify *n)
{
	if (n->ready_fd >= 0)
		close(n->ready_fd);
	n->ready_fd = -1;
}

static void drop_unsent(struct notify *n)
{
	buf_free(&n->unsent[0]);
	n->unsent_cnt--;
	memmove(n->unsent, n->unsent + 1, n->unsent_cnt * sizeof(*n->unsent));
	n->unsent[n->unsent_cnt] = (struct buf){ 0 };
}

static void close_socket(struct notify *n)
{
	if (n->sock >= 0)
		close(n->sock);
	n->sock = -1;
	while (n->unsent_cnt)
		drop_unsent(n);
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	close_ready_fd(n);
	close_socket(n);
	free(n);
}

/* ---- messages --------------------------------------------------------------------------------------- */

/* 0, or -EAGAIN. Other errors close the socket. */
static int send_text(struct notify *n, const char *text, size_t len)
{
	ssize_t sent = sendto(n->sock, text, len, MSG_NOSIGNAL | MSG_DONTWAIT,
			      (struct sockaddr *)&n->addr, n->addr_sz);

	if (sent >= 0)
		return 0;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return -EAGAIN;
	log_warn("record: NOTIFY_SOCKET: cannot send: %s: the service manager gets no messages",
		 strerror(errno));
	close_socket(n);
	return -EPIPE;
}

static void send_unsent(struct notify *n)
{
	while (n->unsent_cnt && !send_text(n, n->unsent[0].data, n->unsent[0].len))
		drop_unsent(n);
}

/*
 * States are sent in order: an unsent state delays the ones after it. Each is a separate message, since in one
 * message READY=1 would end a reload before it began. If the manager does not read, the oldest two are dropped: the
 * rest still alternates, and the last state is correct.
 */
static void send_state(struct notify *n, const char *lines)
{
	if (n->sock < 0)
		return;
	if (n->unsent_cnt == UNSENT_MAX) {
		drop_unsent(n);
		drop_unsent(n);
	}
	buf_addstr(&n->unsent[n->unsent_cnt], lines);
	buf_addch(&n->unsent[n->unsent_cnt++], '\n');
	send_unsent(n);
}

/* Not queued: the next message replaces it. */
static void send_passing(struct notify *n, const char *line)
{
	if (n->sock >= 0 && !n->unsent_cnt)
		send_text(n, line, strlen(line));
}

/* Always a single line, whatever a file name contains. */
static void add_state(struct buf *out, const char *prefix, const char *text)
{
	const size_t from = out->len + strlen("STATUS=");
	size_t i;

	buf_printf(out, "STATUS=%s%s", prefix, text);
	for (i = from; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = '?';
}

/* A closed pipe is ignored; a full pipe does not block the drain. */
static void write_ready_fd(struct notify *n)
{
	struct pollfd fd = { .fd = n->ready_fd, .events = POLLOUT };

	if (n->ready_fd < 0)
		return;
	errno = EAGAIN;
	if ((poll(&fd, 1, 0) != 1 || write(n->ready_fd, "\n", 1) != 1) && errno != EPIPE)
		log_warn("record: --ready-fd: cannot write: %s", strerror(errno));
}

void notify_ready(struct notify *n, const char *what)
{
	struct buf text = { 0 };

	if (!n)
		return;
	write_ready_fd(n);
	close_ready_fd(n);
	n->ready = true;
	n->status_due_ns = clock_mono_ns() + STATUS_NS;
	buf_addstr(&text, "READY=1\n");
	add_state(&text, what ? "Recording to " : "Recording", what ? what : "");
	send_state(n, buf_cstr(&text));
	buf_free(&text);
}

static void report_state(struct notify *n, uint64_t now, struct status *status)
{
	struct status_totals totals;
	char events[32], lost[32], bytes[32];
	struct buf text = { 0 };

	if (now < n->status_due_ns)
		return;
	n->status_due_ns = now + STATUS_NS;
	status_totals(status, now, &totals);
	str_count(events, totals.stats.written);
	str_count(lost, totals.stats.lost);
	str_bytes(bytes, totals.stats.bytes_written);
	buf_printf(&text, "STATUS=Recording: %s events, %s lost, %s written", events, lost, bytes);
	send_passing(n, buf_cstr(&text));
	buf_free(&text);
}

static void report_reload(struct notify *n, uint64_t now)
{
	struct buf text = { 0 };

	if (n->reloading_ns && now - n->reloading_ns > RELOAD_NS)
		notify_reloaded(n);
	if (!n->reload_asked || *n->reload_asked == n->asked)
		return;
	n->asked = *n->reload_asked;
	if (n->reloading_ns)
		return;
	n->reloading_ns = now;
	buf_printf(&text, "RELOADING=1\nMONOTONIC_USEC=%llu", clock_timer_ns() / US_NS);
	send_state(n, buf_cstr(&text));
	buf_free(&text);
}

void notify_step(struct notify *n, uint64_t now_ns, struct status *status)
{
	if (!n || n->sock < 0)
		return;
	send_unsent(n);
	if (n->ping_ns && now_ns >= n->ping_due_ns) {
		n->ping_due_ns = now_ns + n->ping_ns;
		send_passing(n, "WATCHDOG=1");
	}
	if (n->ready)
		report_reload(n, now_ns);
	if (n->ready && status)
		report_state(n, now_ns, status);
}

void notify_reloaded(struct notify *n)
{
	if (!n || !n->reloading_ns)
		return;
	n->reloading_ns = 0;
	send_state(n, "READY=1");
}

void notify_stopping(struct notify *n)
{
	if (n)
		send_state(n, "STOPPING=1\nSTATUS=Writing the remaining data");
}
