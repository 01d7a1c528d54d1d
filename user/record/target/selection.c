// SPDX-License-Identifier: BSD-2-Clause
/*
 * selection.c - translates command-line filters to data that BPF programs compare
 *
 * Owns the lookup of users, cgroups and CPUs, and compiles globs to tables for matching character by character
 * without backtracking. Independent of programs and maps.
 */
#include "record/target/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "kernel/cpus.h"

static bool has_task_filter(const struct prof_select_task *task)
{
	static const struct prof_select_task none;

	return memcmp(task, &none, sizeof(none)) != 0;
}

bool selection_is_by_task(const struct selection_cfg *cfg)
{
	return cfg->cgroups.cnt || cfg->users.cnt || cfg->comms.cnt || cfg->no_comms.cnt ||
	       cfg->threads.cnt || has_task_filter(&cfg->task);
}

/* ---- globs -------------------------------------------------------------------------------------- */

int selection_glob(const char *pattern, struct prof_glob *out)
{
	const char *c;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (c = pattern; *c; c++) {
		if (*c == '*') {
			out->repeats |= 1 << out->end;
			continue;
		}
		if (out->end == PROF_COMM_SIZE - 1)
			return -E2BIG;
		for (i = 1; i < 256; i++)
			if (*c == '?' || i == (unsigned char)*c)
				out->accepts[i] |= 1 << out->end;
		out->end++;
	}
	return 0;
}

static int make_globs(const char *option, const struct selection_words *words,
		      struct prof_glob *out, uint8_t *cnt)
{
	size_t i;

	if (words->cnt > PROF_SELECT_GLOBS) {
		log_error("record: %s is given %zu times; the limit is %d", option, words->cnt,
			  PROF_SELECT_GLOBS);
		return -E2BIG;
	}
	for (i = 0; i < words->cnt; i++)
		if (selection_glob(words->v[i], &out[i])) {
			log_error("record: %s %s cannot match: the kernel keeps %d characters "
				  "of a name",
				  option, words->v[i], PROF_COMM_SIZE - 1);
			return -E2BIG;
		}
	*cnt = words->cnt;
	return 0;
}

/* ---- users -------------------------------------------------------------------------------------- */

static int add_user(const char *word, struct prof_select *out)
{
	const struct passwd *pw;
	uint64_t id;

	if (out->user_cnt == PROF_SELECT_USERS) {
		log_error("record: -u: at most %d users", PROF_SELECT_USERS);
		return -E2BIG;
	}
	if (str_parse_u64(word, UINT32_MAX - 1, &id)) {
		pw = getpwnam(word);
		if (!pw) {
			log_error("record: -u: there is no user '%s'", word);
			return -ENOENT;
		}
		id = pw->pw_uid;
	}
	out->users[out->user_cnt++] = id;
	return 0;
}

static int make_users(const struct selection_words *words, struct prof_select *out)
{
	char *list, *save, *word;
	size_t i;
	int err = 0;

	for (i = 0; i < words->cnt && !err; i++) {
		list = xstrdup(words->v[i]);
		save = NULL;
		word = strtok_r(list, ",", &save);
		if (!word)
			err = add_user("", out);
		for (; word && !err; word = strtok_r(NULL, ",", &save))
			err = add_user(word, out);
		free(list);
	}
	return err;
}

/* ---- cgroups ------------------------------------------------------------------------------------ */

static int find_mount(const char *mounts, struct buf *out)
{
	FILE *f = setmntent(mounts, "re");
	struct mntent *ent;
	int err = -ENODEV;

	if (!f)
		return -errno;
	while (err && (ent = getmntent(f)))
		if (!strcmp(ent->mnt_type, "cgroup2")) {
			buf_addstr(out, ent->mnt_dir);
			err = 0;
		}
	endmntent(f);
	return err;
}

/* A path to a cgroup is used unchanged; other paths are relative to the mount. */
static int open_cgroup(const char *mounts, const char *path)
{
	struct buf full = { 0 };
	struct statfs fs;
	int fd, err;

	if (*path == '/' && !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	err = find_mount(mounts, &full);
	if (!err) {
		buf_printf(&full, "/%s", path);
		fd = open(buf_cstr(&full), O_PATH | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? -errno : fd;
	}
	buf_free(&full);
	return err;
}

int selection_cgroup_id(const char *mounts, const char *path, __u64 *id)
{
	int fd = open_cgroup(mounts, path), err = 0;
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return fd == -ENOTDIR ? -EINVAL : fd;
	if (fstatfs(fd, &fs) || fstat(fd, &st))
		err = -errno;
	else if (fs.f_type != CGROUP2_SUPER_MAGIC)
		err = -EINVAL;
	else
		*id = st.st_ino; /* the id, if inodes have 64 bits */
	close(fd);
	return err;
}

static void put_missing_place(struct buf *out)
{
	buf_addstr(out, "no such cgroup v2 directory below ");
	find_mount("/proc/mounts", out);
}

static int make_cgroups(const struct selection_words *words, struct prof_select *out)
{
	struct buf missing = { 0 };
	size_t i;
	int err;

	if (words->cnt > PROF_SELECT_CGROUPS) {
		log_error("record: -G is given %zu times; the limit is %d", words->cnt,
			  PROF_SELECT_CGROUPS);
		return -E2BIG;
	}
	for (i = 0; i < words->cnt; i++) {
		err = selection_cgroup_id("/proc/mounts", words->v[i], &out->cgroups[i]);
		if (!err)
			continue;
		put_missing_place(&missing);
		log_error("record: -G %s: %s", words->v[i],
			  err == -ENODEV ? "no cgroup2 is mounted; run \"mount -t cgroup2 "
					   "cgroup2 /sys/fs/cgroup/unified\" first" :
			  err == -EINVAL ? "not a cgroup v2 directory" :
			  err == -ENOENT ? buf_cstr(&missing) :
					   strerror(-err));
		buf_free(&missing);
		return err;
	}
	out->cgroup_cnt = words->cnt;
	return 0;
}

/* ---- CPUs --------------------------------------------------------------------------------------- */

static bool is_among(uint32_t cpu, const uint32_t *cpus, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static void print_ranges(const uint32_t *cpus, size_t cnt, struct buf *out)
{
	uint32_t cpu, last;

	for (cpu = 0; cnt && cpu < PROF_CPUS_MAX; cpu++) {
		if (!is_among(cpu, cpus, cnt))
			continue;
		for (last = cpu; is_among(last + 1, cpus, cnt); last++)
			;
		buf_printf(out, last == cpu ? "%s%u" : "%s%u-%u", out->len ? "," : "", cpu, last);
		cpu = last;
	}
}

static int refuse_cpu(uint32_t cpu, const uint32_t *online, size_t cnt)
{
	struct buf ranges = { 0 };

	print_ranges(online, cnt, &ranges);
	if (cpu < PROF_CPUS_MAX)
		log_error("record: -C: CPU %u is not online; these are: %s", cpu,
			  buf_cstr(&ranges));
	else
		log_error("record: -C: CPU %d and higher are not supported; online are: %s",
			  PROF_CPUS_MAX, buf_cstr(&ranges));
	buf_free(&ranges);
	return -ENODEV;
}

static int make_cpus(const struct selection_cfg *cfg, struct prof_select *out)
{
	uint32_t *online = NULL;
	size_t cnt = 0, i;
	int err = cfg->cpu_cnt ? cpus_online(&online, &cnt) : 0;

	for (i = 0; i < cfg->cpu_cnt && !err; i++) {
		uint32_t cpu = cfg->cpus[i];

		if (cpu < PROF_CPUS_MAX && is_among(cpu, online, cnt))
			out->cpus[cpu / 64] |= 1ULL << cpu % 64;
		else
			err = refuse_cpu(cpu, online, cnt);
	}
	out->by_cpu = cfg->cpu_cnt > 0;
	free(online);
	return err;
}

int selection_make(const struct selection_cfg *cfg, bool system_wide, struct prof_select *out)
{
	int err;

	/* events on some CPUs only do not show readers the creation of each child */
	*out = (struct prof_select){ .by_task = selection_is_by_task(cfg) ||
						(cfg->cpu_cnt && !system_wide),
				     .task = cfg->task };
	err = make_cpus(cfg, out);
	if (!err)
		err = make_users(&cfg->users, out);
	if (!err)
		err = make_cgroups(&cfg->cgroups, out);
	if (!err)
		err = make_globs("--comm", &cfg->comms, out->comms, &out->comm_cnt);
	if (!err)
		err = make_globs("--no-comm", &cfg->no_comms, out->no_comms, &out->no_comm_cnt);
	return err ? err : make_globs("--thread", &cfg->threads, out->threads, &out->thread_cnt);
}

/* ---- for people --------------------------------------------------------------------------------- */

static void describe_words(struct buf *out, const char *what, const struct selection_words *words)
{
	size_t i;

	for (i = 0; i < words->cnt; i++)
		buf_printf(out, "%s%s %s", out->len ? ", " : "", what, words->v[i]);
}

void selection_describe(const struct selection_cfg *cfg, struct buf *out)
{
	describe_words(out, "cgroup", &cfg->cgroups);
	describe_words(out, "user", &cfg->users);
	describe_words(out, "process", &cfg->comms);
	describe_words(out, "not process", &cfg->no_comms);
	describe_words(out, "thread", &cfg->threads);
	if (cfg->task.no_kthread)
		buf_printf(out, "%sno kernel threads", out->len ? ", " : "");
}

void selection_describe_cpus(const struct selection_cfg *cfg, struct buf *out)
{
	print_ranges(cfg->cpus, cfg->cpu_cnt, out);
}
