// SPDX-License-Identifier: BSD-2-Clause
/*
 * given_btf.c - the kernel's types from a file, if /sys/kernel/btf/vmlinux cannot be read
 *
 * libbpf reads the ids of tracepoints' types only from that path. So a thread gets its own mount namespace with the
 * file at that path. Other threads do not see these mounts, and they end with the thread.
 */
#include "record/capture/given_btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "kernel/btf.h"

enum { BYTES_MAX = 512 << 20 }; /* a vmlinux with debug information is smaller */

struct run {
	const char *command, *path;
	const struct btf *btf;
	int (*fn)(void *ctx);
	void *ctx;
	int result;
};

static int fail(const struct run *r, int err, const char *what)
{
	log_error("%s: --btf %s: %s", r->command, r->path, what);
	return err;
}

/* -ENOEXEC: the byte order of another machine. */
static int read_magic(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	uint16_t magic = 0;

	if (fd < 0)
		return -errno;
	if (read(fd, &magic, sizeof(magic)) != sizeof(magic))
		err = -EINVAL;
	else if (magic == __builtin_bswap16(BTF_MAGIC))
		err = -ENOEXEC;
	close(fd);
	return err;
}

static struct btf *parse_silently(const char *path)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__parse(path, NULL);

	libbpf_set_print(print);
	return btf;
}

static int parse(const struct run *r, struct btf **out)
{
	struct stat st;
	struct btf *btf;
	int err;

	if (stat(r->path, &st))
		return fail(r, -errno, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
		return fail(r, -EINVAL, "not a regular file of at most 512 MiB");
	err = read_magic(r->path);
	if (err)
		return fail(r, err,
			    err == -ENOEXEC ? "BTF of a machine with another byte order" :
			    err == -EINVAL  ? "no BTF in it" :
					      strerror(-err));
	btf = parse_silently(r->path);
	if (!btf)
		return fail(r, -EINVAL, "no BTF in it");
	if (btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) < 0) {
		btf__free(btf);
		return fail(r, -EINVAL, "not the BTF of a kernel: it has no task_struct");
	}
	*out = btf;
	return 0;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Mounts an empty directory over the deepest existing one, so that the path need not exist in it. */
static int make_dir(void)
{
	const char *at = is_dir("/sys/kernel/btf") ? "/sys/kernel/btf" :
			 is_dir("/sys/kernel")	   ? "/sys/kernel" :
						     "/sys";

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("btf", at, "tmpfs", 0, "mode=0700"))
		return -errno;
	if ((mkdir("/sys/kernel", 0700) && errno != EEXIST) ||
	    (mkdir("/sys/kernel/btf", 0700) && errno != EEXIST))
		return -errno;
	return 0;
}

static int put_file(const struct btf *btf)
{
	int fd = open(KERNEL_BTF, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	uint32_t sz = 0, done = 0;
	const char *data = btf__raw_data(btf, &sz);
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (data && done < sz && n > 0) {
		n = write(fd, data + done, sz - done);
		if (n > 0)
			done += (uint32_t)n;
	}
	close(fd);
	return data && done == sz ? 0 : -ENOSPC;
}

static void *run(void *arg)
{
	struct run *r = arg;
	int err = make_dir();

	if (!err)
		err = put_file(r->btf);
	if (err == -EPERM)
		fail(r, err, "only CAP_SYS_ADMIN can use it: run it with sudo");
	else if (err)
		fail(r, err, strerror(-err));
	r->result = err ? err : r->fn(r->ctx);
	return NULL;
}

int given_btf_run(const char *command, const char *path, int (*fn)(void *ctx), void *ctx)
{
	struct run r = { .command = command, .path = path, .fn = fn, .ctx = ctx };
	struct btf *btf = NULL;
	pthread_t thread;
	int err = parse(&r, &btf);

	if (err)
		return err;
	r.btf = btf;
	err = -pthread_create(&thread, NULL, run, &r);
	if (err)
		fail(&r, err, strerror(-err));
	else
		pthread_join(thread, NULL);
	btf__free(btf);
	return err ? err : r.result;
}
