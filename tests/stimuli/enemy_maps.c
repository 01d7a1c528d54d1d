// SPDX-License-Identifier: BSD-2-Clause
/*
 * enemy_maps [--now] KIND DIRECTORY
 *
 * Does the same to its address space or its name without end, as fast as it can, until killed:
 *
 *	flood   one executable page, mapped and unmapped at falling addresses
 *	paths   an executable page of a file that has another, long path each time
 *	names   a new name for itself
 */
#include <limits.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "badelf.h"
#include "stimulus.h"

enum { NAME_LEN = 240, DIRS = 12 };

static void map_and_unmap(int fd, char *at)
{
	void *page = mmap(at, BADELF_PAGE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, BADELF_TEXT);

	if (page == MAP_FAILED || munmap(page, BADELF_PAGE))
		err(2, "mmap");
}

static void flood(int fd)
{
	char *const top = (char *)0x600000000000, *const bottom = (char *)0x500000000000;

	for (char *at = top;; at = at > bottom ? at - BADELF_PAGE : top)
		map_and_unmap(fd, at);
}

/* A directory so deep that each path in it takes about three kilobytes; it becomes the current directory. */
static void go_deep(const char *dir)
{
	char name[NAME_LEN + 1];

	memset(name, 'd', NAME_LEN);
	name[NAME_LEN] = '\0';
	if (chdir(dir))
		err(2, "%s", dir);
	for (int i = 0; i < DIRS; i++)
		if ((mkdir(name, 0755) && errno != EEXIST) || chdir(name))
			err(2, "mkdir");
}

static void paths(const char *dir, const char *file)
{
	char from[NAME_LEN + 1], to[NAME_LEN + 1];
	int fd;

	go_deep(dir);
	memset(from, 'f', NAME_LEN);
	from[NAME_LEN] = '\0';
	strcpy(to, from);
	if (link(file, from))
		err(2, "link");
	fd = open(from, O_RDONLY | O_CLOEXEC);
	for (unsigned int i = 0;; i++) {
		snprintf(to, 11, "%010u", i);
		to[10] = 'f';
		if (rename(from, to))
			err(2, "rename");
		map_and_unmap(fd, NULL);
		strcpy(from, to);
	}
}

static void names(void)
{
	char name[16];

	for (unsigned int i = 0;; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		prctl(PR_SET_NAME, name);
	}
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	char path[PATH_MAX];
	struct badelf e;
	int fd;

	if (argc != 3)
		return 2;
	snprintf(path, sizeof(path), "%s/enemy.elf", argv[2]);
	badelf_init(&e);
	badelf_write(&e, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	stim_start(now, "");
	if (!strcmp(argv[1], "flood"))
		flood(fd);
	else if (!strcmp(argv[1], "paths"))
		paths(argv[2], path);
	else if (!strcmp(argv[1], "names"))
		names();
	return 2;
}
