/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks in /proc.
 *
 * Parsing is separate from reading, so tests can give any text to the parsers. Names are difficult:
 * a thread may be called "a) R 1\n2 (b", so stat is split at its last parenthesis. A file name may
 * contain newlines, which maps writes as \012. A task may exit between two calls; the result is
 * then always -ESRCH, for each error number that the kernel uses for this.
 */
#include "kernel/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#define FILE_MAX (64UL << 20)
#define DELETED " (deleted)"

#ifndef PIDFD_GET_MNT_NAMESPACE
#define PIDFD_GET_MNT_NAMESPACE _IO(0xff, 3) /* linux/pidfd.h, since Linux 6.11 */
#endif

/* The unread rest of a text */
struct cursor {
	const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

static bool skip_char(struct cursor *c, char want)
{
	if (c->at >= c->end || *c->at != want)
		return false;
	c->at++;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Reads an unsigned number; false if there is none or it does not fit. */
static bool read_number(struct cursor *c, unsigned int base, uint64_t *out)
{
	const char *start = c->at;
	uint64_t v = 0;

	for (; c->at < c->end && (unsigned int)digit_of(*c->at) < base; c->at++) {
		if (v > (UINT64_MAX - 15) / base)
			return false;
		v = v * base + digit_of(*c->at);
	}
	*out = v;
	return c->at > start;
}

static bool read_u32(struct cursor *c, unsigned int base, uint32_t *out)
{
	uint64_t v;

	if (!read_number(c, base, &v) || v > UINT32_MAX)
		return false;
	*out = v;
	return true;
}

static bool read_pid(struct cursor *c, pid_t *out)
{
	uint64_t v;

	skip_blanks(c);
	if (!read_number(c, 10, &v) || v > INT_MAX)
		return false;
	*out = (pid_t)v;
	return true;
}

/* Reads the next line without its newline; false at the end. */
static bool read_line(struct cursor *c, struct cursor *line)
{
	const char *newline;

	if (c->at >= c->end)
		return false;
	newline = memchr(c->at, '\n', c->end - c->at);
	line->at = c->at;
	line->end = newline ? newline : c->end;
	c->at = newline ? newline + 1 : c->end;
	return true;
}

/* ---- maps ---------------------------------------------------------------------------------- */

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool proc_path_is_anon(const char *path)
{
	static const char *const prefixes[] = { "//anon", "/memfd:",   "/anon_hugepage",
						"/SYSV",  "/dev/zero", "/[aio]" };

	if (path[0] != '/')
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!starts_with(path, prefixes[i]))
			continue;
		if (strcmp(prefixes[i], "/dev/zero"))
			return true;
		return !path[9] || !strcmp(path + 9, DELETED);
	}
	return false;
}

static bool read_perms(struct cursor *c, struct proc_map *m)
{
	if (c->end - c->at < 4)
		return false;
	m->read = c->at[0] == 'r';
	m->write = c->at[1] == 'w';
	m->exec = c->at[2] == 'x';
	m->shared = c->at[3] == 's';
	c->at += 4;
	return true;
}

/* Restores newlines and removes the mark of a deleted file. A changed path is stored in scratch. */
static void set_path(struct proc_map *m, const struct cursor *c, struct buf *scratch)
{
	const size_t mark = sizeof(DELETED) - 1;

	buf_clear(scratch);
	for (const char *p = c->at; p < c->end; p++) {
		if (c->end - p >= 4 && !memcmp(p, "\\012", 4)) {
			buf_addch(scratch, '\n');
			p += 3;
		} else {
			buf_addch(scratch, *p);
		}
	}
	buf_cstr(scratch);
	m->kind = PROC_MAP_FILE;
	if (!strcmp(scratch->data, "[vdso]"))
		m->kind = PROC_MAP_VDSO;
	else if (proc_path_is_anon(scratch->data))
		m->kind = PROC_MAP_ANON;
	if (scratch->len > mark && !strcmp(scratch->data + scratch->len - mark, DELETED)) {
		m->deleted = true;
		scratch->len -= mark;
		scratch->data[scratch->len] = '\0';
	}
	m->path = scratch->data;
	m->path_len = scratch->len;
}

/* "7f00a000-7f00b000 r-xp 00001000 fd:01 1234      /usr/lib/x.so" */
static bool parse_map(struct cursor c, struct proc_map *m, struct buf *scratch)
{
	*m = (struct proc_map){ 0 };
	if (!read_number(&c, 16, &m->start) || !skip_char(&c, '-') ||
	    !read_number(&c, 16, &m->end) || !skip_char(&c, ' ') || !read_perms(&c, m) ||
	    !skip_char(&c, ' ') || !read_number(&c, 16, &m->pgoff) || !skip_char(&c, ' ') ||
	    !read_u32(&c, 16, &m->dev_major) || !skip_char(&c, ':') ||
	    !read_u32(&c, 16, &m->dev_minor) || !skip_char(&c, ' ') ||
	    !read_number(&c, 10, &m->inode))
		return false;
	if (m->start >= m->end || (c.at < c.end && *c.at != ' ') ||
	    memchr(c.at, '\0', c.end - c.at))
		return false;
	skip_blanks(&c);
	set_path(m, &c, scratch);
	return true;
}

int proc_parse_maps(const char *text, size_t len, int (*cb)(const struct proc_map *map, void *ctx),
		    void *ctx, size_t *bad)
{
	struct cursor c = { .at = text, .end = text + len }, line;
	struct buf scratch = { 0 };
	struct proc_map map;
	size_t bad_cnt = 0;
	int err = 0;

	while (!err && read_line(&c, &line)) {
		if (parse_map(line, &map, &scratch))
			err = cb(&map, ctx);
		else
			bad_cnt++;
	}
	buf_free(&scratch);
	if (bad)
		*bad = bad_cnt;
	return err;
}

/* ---- status, stat, cgroup --------------------------------------------------------- */

/* If the line starts with the key, moves c past it. */
static bool skip_key(struct cursor *c, const char *key)
{
	size_t len = strlen(key);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, key, len))
		return false;
	c->at += len;
	skip_blanks(c);
	return true;
}

/* "NSpid:	4711	17": the last number. */
static void read_innermost(struct cursor *c, pid_t *out)
{
	pid_t pid;

	while (read_pid(c, &pid))
		*out = pid;
}

static void parse_status_line(struct cursor line, struct proc_status *out, bool *has_vm,
			      uint64_t *kthread)
{
	if (skip_key(&line, "Tgid:"))
		read_pid(&line, &out->tgid);
	else if (skip_key(&line, "Pid:"))
		read_pid(&line, &out->pid);
	else if (skip_key(&line, "PPid:"))
		read_pid(&line, &out->ppid);
	else if (skip_key(&line, "NSpid:"))
		read_innermost(&line, &out->nspid);
	else if (skip_key(&line, "Uid:"))
		read_u32(&line, 10, &out->uid);
	else if (skip_key(&line, "Gid:"))
		read_u32(&line, 10, &out->gid);
	else if (skip_key(&line, "voluntary_ctxt_switches:"))
		read_number(&line, 10, &out->voluntary);
	else if (skip_key(&line, "nonvoluntary_ctxt_switches:"))
		read_number(&line, 10, &out->involuntary);
	else if (skip_key(&line, "CapEff:"))
		read_number(&line, 16, &out->caps);
	else if (skip_key(&line, "Kthread:"))
		read_number(&line, 10, kthread);
	else if (skip_key(&line, "VmSize:"))
		*has_vm = true;
}

int proc_parse_status(const char *text, size_t len, struct proc_status *out)
{
	struct cursor c = { .at = text, .end = text + len }, line;
	uint64_t kthread = UINT64_MAX;
	bool has_vm = false;

	*out = (struct proc_status){ 0 };
	while (read_line(&c, &line))
		parse_status_line(line, out, &has_vm, &kthread);
	out->kthread = kthread == UINT64_MAX ? !has_vm : kthread != 0;
	return out->pid && out->tgid ? 0 : -EINVAL;
}

/* Parses the fields of stat after the name: numbers from 3 (state) on, some negative. */
static bool parse_stat_fields(struct cursor c, struct proc_stat *out)
{
	uint64_t v;

	for (int field = 4; field <= 22; field++) {
		skip_blanks(&c);
		skip_char(&c, '-');
		if (!read_number(&c, 10, &v))
			return false;
		if (field == 4)
			out->ppid = (pid_t)(v & INT_MAX);
		else if (field == 9)
			out->flags = v;
		else if (field == 14)
			out->utime = v;
		else if (field == 15)
			out->stime = v;
		else if (field == 16)
			out->cutime = v;
		else if (field == 17)
			out->cstime = v;
		else if (field == 22)
			out->starttime = v;
	}
	return true;
}

int proc_parse_stat(const char *text, size_t len, struct proc_stat *out)
{
	struct cursor c = { .at = text, .end = text + len };
	const char *close = len ? memrchr(text, ')', len) : NULL;
	size_t comm_len;

	*out = (struct proc_stat){ 0 };
	if (!close || !read_pid(&c, &out->pid) || !skip_char(&c, ' ') || !skip_char(&c, '(') ||
	    close < c.at)
		return -EINVAL;
	comm_len = close - c.at;
	if (comm_len > sizeof(out->comm) - 1)
		comm_len = sizeof(out->comm) - 1;
	memcpy(out->comm, c.at, comm_len);
	c.at = close + 1;
	if (!skip_char(&c, ' ') || c.at >= c.end)
		return -EINVAL;
	out->state = *c.at++;
	return parse_stat_fields(c, out) ? 0 : -EINVAL;
}

int proc_parse_cgroup(const char *text, size_t len, struct buf *out)
{
	struct cursor c = { .at = text, .end = text + len }, line, best = { 0 };

	while (read_line(&c, &line)) {
		bool v2 = skip_key(&line, "0::");
		const char *colon = NULL;

		if (!v2) {
			colon = memchr(line.at, ':', line.end - line.at);
			if (colon)
				colon = memchr(colon + 1, ':', line.end - colon - 1);
			if (!colon)
				continue;
			line.at = colon + 1;
		}
		if (line.at >= line.end || *line.at != '/')
			continue;
		if (v2 || line.end - line.at > best.end - best.at)
			best = line;
		if (v2)
			break;
	}
	if (best.at)
		buf_add(out, best.at, best.end - best.at);
	else
		buf_addch(out, '/');
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Maps the kernel's different errors for a missing task to -ESRCH. */
static int task_error(int err)
{
	return err == ENOENT || err == ESRCH ? -ESRCH : -err;
}

int proc_read_file(pid_t pid, const char *name, struct buf *out)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	err = file_read(AT_FDCWD, path, FILE_MAX, out);
	return err ? task_error(-err) : 0;
}

/* Removes the last line if the file was longer. */
static bool cut_lines(struct buf *text, size_t sz_max)
{
	if (text->len < sz_max)
		return false;
	while (text->len && text->data[text->len - 1] != '\n')
		text->len--;
	return true;
}

int proc_read_maps(pid_t pid, size_t sz_max, bool *cut,
		   int (*cb)(const struct proc_map *map, void *ctx), void *ctx)
{
	struct buf text = { 0 };
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	err = file_read(AT_FDCWD, path, sz_max, &text);
	*cut = !err && cut_lines(&text, sz_max);
	err = err ? task_error(-err) : proc_parse_maps(text.data, text.len, cb, ctx, NULL);
	buf_free(&text);
	return err;
}

int proc_read_status(pid_t tid, struct proc_status *out)
{
	struct buf text = { 0 };
	int err = proc_read_file(tid, "status", &text);

	if (!err)
		err = proc_parse_status(text.data, text.len, out);
	buf_free(&text);
	return err;
}

int proc_read_stat(pid_t tid, struct proc_stat *out)
{
	struct buf text = { 0 };
	int err = proc_read_file(tid, "stat", &text);

	if (!err)
		err = proc_parse_stat(text.data, text.len, out);
	buf_free(&text);
	return err;
}

int proc_read_cgroup(pid_t tid, struct buf *out)
{
	struct buf text = { 0 };
	int err = proc_read_file(tid, "cgroup", &text);

	if (!err)
		err = proc_parse_cgroup(text.data, text.len, out);
	buf_free(&text);
	return err;
}

int proc_read_comm(pid_t tid, struct buf *out)
{
	size_t start = out->len;
	int err = proc_read_file(tid, "comm", out);

	if (!err && out->len > start && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
	return err;
}

/*
 * The inode number of the mount namespace; 0: unknown. /proc/PID/ns waits for an exec of the process to
 * end, and on a busy machine that takes long. Only kernels before 6.11 are asked there.
 */
static uint64_t mount_namespace(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), ns = -1, err = errno;
	char path[64];
	struct stat st;
	bool known;

	if (pidfd >= 0) {
		ns = ioctl(pidfd, PIDFD_GET_MNT_NAMESPACE, 0);
		err = errno;
		close(pidfd);
	}
	if (ns >= 0) {
		known = !fstat(ns, &st);
		close(ns);
		return known ? st.st_ino : 0;
	}
	if (err != ENOTTY && err != EINVAL && err != ENOSYS)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

uint64_t proc_owner(pid_t pid)
{
	struct stat process, ours;
	char path[64];
	uint64_t its;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &process))
		return PROC_OWNER_GONE;
	if (process.st_uid)
		return 1ull << 32 | process.st_uid;
	its = mount_namespace(pid);
	if (!its || stat("/proc/self/ns/mnt", &ours) || its == ours.st_ino)
		return 2ull << 32 | (uint32_t)pid;
	return 3ull << 32 | (uint32_t)its;
}

uint64_t proc_own_bytes(pid_t pid)
{
	unsigned long long size, resident, shared;
	struct buf text = { 0 };
	uint64_t bytes = 0;

	if (!proc_read_file(pid, "statm", &text) &&
	    sscanf(buf_cstr(&text), "%llu %llu %llu", &size, &resident, &shared) == 3 &&
	    resident > shared)
		bytes = (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
	buf_free(&text);
	return bytes;
}

uint64_t proc_realm(pid_t pid)
{
	struct proc_status status;
	char path[64];
	struct stat ns;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (pid <= 0 || stat(path, &ns) || proc_read_status(pid, &status))
		return 0;
	return (uint64_t)status.uid << 32 | (uint32_t)ns.st_ino;
}

int proc_read_exe(pid_t pid, struct buf *out)
{
	const size_t mark = sizeof(DELETED) - 1;
	char path[64], target[PATH_MAX + 16];
	ssize_t n;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, target, sizeof(target));
	if (n < 0) {
		err = errno;
		/* Kernel threads have the link, but it has no target. */
		snprintf(path, sizeof(path), "/proc/%d", pid);
		if (err == ENOENT && !access(path, F_OK))
			return -ENOENT;
		return task_error(err);
	}
	if ((size_t)n > mark && !memcmp(target + n - mark, DELETED, mark))
		n -= mark;
	buf_add(out, target, n);
	return 0;
}

static int list_numbers(const char *path, pid_t **arr, size_t *cnt)
{
	DIR *dir = opendir(path);
	pid_t *pids = NULL, pid;
	size_t n = 0, cap = 0;
	struct dirent *ent;

	if (!dir)
		return task_error(errno);
	while ((ent = readdir(dir))) {
		struct cursor c = { .at = ent->d_name, .end = ent->d_name + strlen(ent->d_name) };

		if (!isdigit((unsigned char)*c.at) || !read_pid(&c, &pid) || c.at != c.end)
			continue;
		pids = array_reserve(pids, &cap, n + 1, sizeof(*pids));
		pids[n++] = pid;
	}
	closedir(dir);
	*arr = pids;
	*cnt = n;
	return 0;
}

int proc_list_pids(pid_t **arr, size_t *cnt)
{
	return list_numbers("/proc", arr, cnt);
}

int proc_list_tids(pid_t pid, pid_t **arr, size_t *cnt)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	err = list_numbers(path, arr, cnt);
	if (!err && !*cnt)
		err = -ESRCH; /* the last thread exited during the loop */
	return err;
}

int proc_read_boot_id(char out[PROC_BOOT_ID_SIZE])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	int got;

	if (!f)
		return -errno;
	got = fscanf(f, "%36[0-9a-f-]", out);
	fclose(f);
	return got == 1 ? 0 : -EIO;
}
