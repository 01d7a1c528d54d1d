// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls [--now] [DIR]
 *
 * Calls the kernel with arguments that can be recognised in a trace: names itself "renamed", opens a missing
 * file, requests a priority with invalid arguments, signals itself, sends one datagram of 123 bytes over loopback,
 * writes and syncs a file in DIR (/tmp), sleeps, and runs /bin/true.
 *
 *	filename=ADDRESS  flags=N	of the missing file
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "stimulus.h"

enum { DATAGRAM = 123, BLOCK = 1 << 20 };

static const char absent[] = "/no/such/file";

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

static void send_datagram(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(to);
	char text[DATAGRAM] = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	check(fd >= 0 && bind(fd, (struct sockaddr *)&to, len) == 0, "bind");
	check(getsockname(fd, (struct sockaddr *)&to, &len) == 0, "getsockname");
	check(sendto(fd, text, sizeof(text), 0, (struct sockaddr *)&to, len) == DATAGRAM, "sendto");
	check(recv(fd, text, sizeof(text), 0) == DATAGRAM, "recv");
	close(fd);
}

static void write_file(const char *dir)
{
	static char block[BLOCK];
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/calls.%d", dir, getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	check(fd >= 0 && write(fd, block, sizeof(block)) == BLOCK && fsync(fd) == 0, path);
	close(fd);
	unlink(path);
}

static void run_true(void)
{
	int status;

	if (fork() == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(2);
	}
	check(wait(&status) > 0 && status == 0, "/bin/true");
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	struct timespec nap = { .tv_nsec = 1000000 };

	signal(SIGUSR1, SIG_IGN);
	stim_start(now, "");
	prctl(PR_SET_NAME, "renamed");
	syscall(SYS_openat, AT_FDCWD, absent, O_RDONLY | O_CLOEXEC, 0);
	syscall(SYS_getpriority, 0x11112222, 0x33334444, 0x55556666);
	kill(getpid(), SIGUSR1);
	send_datagram();
	write_file(argc > 1 ? argv[1] : "/tmp");
	nanosleep(&nap, NULL);
	run_true();
	printf("filename=%lu\nflags=%d\n", (unsigned long)absent, O_RDONLY | O_CLOEXEC);
	stim_done(now);
	return 0;
}
