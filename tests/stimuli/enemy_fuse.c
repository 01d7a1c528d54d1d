// SPDX-License-Identifier: BSD-2-Clause
/*
 * enemy_fuse [--now] DIRECTORY
 *
 * Mounts a file system of its own at DIRECTORY/mnt, in a mount namespace of its own, maps an executable page of
 * a file in it, and from then on answers nothing: opens and reads of the file hang. Runs in the page until
 * killed; then its server ends too, and the kernel ends the hanging calls. If the kernel has no such file
 * systems, it prints "ready unsupported" and ends.
 */
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "badelf.h"
#include "stimulus.h"

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, REQUEST_MAX = 256 << 10, LIFE_S = 120 };

static uint8_t *file;
static size_t file_sz;

static void answer(int fd, const struct fuse_in_header *in, int error, const void *data, size_t sz)
{
	static uint8_t out[REQUEST_MAX];
	struct fuse_out_header head = { .len = sizeof(head) + sz,
					.error = error,
					.unique = in->unique };

	memcpy(out, &head, sizeof(head));
	if (sz)
		memcpy(out + sizeof(head), data, sz);
	if (write(fd, out, head.len) < 0)
		err(2, "answer");
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
				   .size = node == ROOT ? 0 : file_sz,
				   .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
				   .nlink = 1,
				   .blksize = BADELF_PAGE };
}

static void answer_read(int fd, const struct fuse_in_header *in, const struct fuse_read_in *want)
{
	size_t sz = want->size;

	if (want->offset >= file_sz)
		sz = 0;
	else if (sz > file_sz - want->offset)
		sz = file_sz - want->offset;
	answer(fd, in, 0, file + (sz ? want->offset : 0), sz);
}

static void serve_one(int fd, const struct fuse_in_header *in, const void *arg)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_write = BADELF_PAGE };
	struct fuse_entry_out entry = { .nodeid = FILE_NODE,
					.entry_valid = LIFE_S,
					.attr_valid = LIFE_S,
					.attr = attr_of(FILE_NODE) };
	struct fuse_attr_out attr = { .attr_valid = LIFE_S, .attr = attr_of(in->nodeid) };
	struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(fd, in, arg);
		break;
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fd, in, -ENOSYS, NULL, 0);
	}
}

/* Until `done` is readable: then requests are no longer answered, while the file system stays. */
static void serve(int fd, int done)
{
	struct pollfd polled[] = { { .fd = done, .events = POLLIN },
				   { .fd = fd, .events = POLLIN } };
	static uint8_t request[REQUEST_MAX];
	struct fuse_in_header in;
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S);
	while (poll(polled, 2, -1) > 0 && !polled[0].revents) {
		n = read(fd, request, sizeof(request));
		if (n < (ssize_t)sizeof(in))
			continue;
		memcpy(&in, request, sizeof(in));
		serve_one(fd, &in, request + sizeof(in));
	}
	for (;;)
		pause();
}

static void read_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	file_sz = st.st_size;
	file = malloc(file_sz);
	if (!file || read(fd, file, file_sz) != st.st_size)
		err(2, "%s", path);
	close(fd);
}

static bool mount_own(int fd, const char *at)
{
	char opts[128];

	if (mkdir(at, 0755))
		err(2, "%s", at);
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	return fd >= 0 && !unshare(CLONE_NEWNS) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("fuse", at, "fuse", MS_NOSUID | MS_NODEV, opts);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	char path[600], at[512];
	int fd, done[2];
	struct badelf e;
	void *page;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/enemy.elf", argv[1]);
	snprintf(at, sizeof(at), "%s/mnt", argv[1]);
	badelf_init(&e);
	badelf_write(&e, path);
	read_file(path);
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (!mount_own(fd, at)) {
		puts("ready unsupported");
		return 0;
	}
	if (pipe(done))
		err(2, "pipe");
	if (fork() == 0)
		serve(fd, done[0]);
	close(fd);
	snprintf(path, sizeof(path), "%s/enemy.elf", at);
	page = badelf_map(path, NULL);
	(void)*(volatile uint8_t *)page;
	if (write(done[1], "", 1) != 1)
		err(2, "pipe");
	stim_start(now, "");
	badelf_run(page);
	return 0;
}
