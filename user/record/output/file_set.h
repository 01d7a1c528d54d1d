/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_FILE_SET_H
#define D9_RECORD_OUTPUT_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The rotated files of one name in their directory, including those from earlier runs: NAME.N.bin, NAME.N.bin.gz or
 * NAME.N.bin.zst when finished, NAME.N.bin.active while written. One thread at a time may use it.
 */
struct file_set;

/* The end of the name of an unfinished file. */
#define FILE_SET_ACTIVE ".active"

struct file_set_cfg {
	const char *name; /* path before .N.bin, without a time stamp */
	const char *stamp; /* NULL: none. Otherwise this run's files are NAME.STAMP.N.bin */
	uid_t uid; /* owner of new files; -1: left as created */
	gid_t gid;
};

/*
 * Opens the directory and finds the files of earlier runs. An .active file that no recorder has locked becomes a
 * finished file, or is removed if it is empty. Prints one line and returns -errno.
 */
int file_set_open(const struct file_set_cfg *cfg, struct file_set **out);
/* NULL is allowed. */
void file_set_free(struct file_set *s);

/* A file that is being written. */
struct file_set_file {
	int fd; /* the caller closes it */
	uint64_t number;
};

/*
 * Creates NAME.N.bin.active, N after the highest existing number, and locks it against other recorders of the same
 * name. Silent -errno.
 */
int file_set_create(struct file_set *s, struct file_set_file *out);
/* Gives the file its finished name. @suffix: ".gz", ".zst" or "". Silent -errno. */
int file_set_finish(struct file_set *s, const struct file_set_file *f, const char *suffix,
		    uint64_t bytes);
/* Removes an unfinished file; its number is reused if it was the last one. */
void file_set_discard(struct file_set *s, const struct file_set_file *f);

/* Path of the file, for messages. @end: the part after ".bin". The caller frees. */
char *file_set_path(const struct file_set *s, uint64_t number, const char *end);

/* Finished files and their bytes, including those that cannot be deleted. */
size_t file_set_cnt(const struct file_set *s);
uint64_t file_set_bytes(const struct file_set *s);
/* Deletes the oldest finished file. False: there is none that can be deleted. */
bool file_set_drop_oldest(struct file_set *s);
/* Forgets finished files that another process has removed. */
void file_set_refresh(struct file_set *s);

#endif
