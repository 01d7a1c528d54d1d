// SPDX-License-Identifier: BSD-2-Clause
/*
 * detach.c - a child detaches the programs after this process has ended
 *
 * The kernel takes tens of milliseconds per tracepoint. Handles only descriptors, of any kind.
 */
#include "record/capture/detach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A reader of the trace waits for its last writer, and a file system with open files cannot be unmounted. Programs,
 * their links and perf events have no path: all other files are closed. @keep: stays open, too.
 */
static void close_other_files(int keep)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *ent;
	char to[16] = "";
	int fd;

	while (dir && (ent = readdir(dir))) {
		fd = atoi(ent->d_name);
		if (*ent->d_name == '.' || fd == keep || fd == dirfd(dir))
			continue;
		if (readlinkat(dirfd(dir), ent->d_name, to, sizeof(to)) < 0 ||
		    strncmp(to, "anon_inode:", 11))
			close(fd);
	}
	if (dir)
		closedir(dir);
	if (chdir("/"))
		return;
}

/*
 * The child shares all descriptors and mappings. When this process ends, the other end of the pipe closes. Then the
 * child ends, too, and the kernel detaches.
 */
void detach_later(void)
{
	int ends[2];
	char c;

	if (pipe(ends))
		return;
	if (fork() == 0) {
		setsid();
		close(ends[1]);
		close_other_files(ends[0]);
		while (read(ends[0], &c, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(ends[0]);
}
