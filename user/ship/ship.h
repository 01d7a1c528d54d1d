/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SHIP_H
#define D9_SHIP_SHIP_H

#include "ship/ship_file.h"

/* Precedes the URL of a Pyroscope server. */
#define SHIP_PYROSCOPE "pyroscope+"

#define SHIP_LABELS_MAX 16
#define SHIP_LABELS_TOO_MANY "too many labels: at most 16"

enum ship_target {
	SHIP_TO_CLICKHOUSE, /* rows, as the tables of ship_tables.h */
	SHIP_TO_PYROSCOPE, /* profiles; of sender only the server is used */
};

enum ship_target ship_target_of(const char *url);

enum ship_label {
	SHIP_LABEL_GOOD,
	SHIP_LABEL_NO_PAIR,
	SHIP_LABEL_BAD_NAME, /* for Pyroscope */
};

#define SHIP_LABEL_NO_PAIR_TEXT "expected NAME=VALUE"
#define SHIP_LABEL_BAD_NAME_TEXT "Pyroscope takes names of letters, digits, underscores and dots"

/* Whether the server takes a label of --label. */
enum ship_label ship_judge_label(const char *label, enum ship_target target);

struct ship_opts {
	const char *dir;
	enum ship_target target;
	struct sender_opts sender; /* without attempts */
	struct attempts_opts attempts; /* without idle, ctx and stop */
	const char *const *labels; /* "key=value" */
	size_t label_cnt;
	bool anonymize;
	bool events; /* also rows of events that have no other table; not with @anonymize */
	const char *key_file; /* of anonymizer_read(); NULL: a key in the directory */
	uint64_t disk_max; /* of finished files; 0: no limit */
	uint64_t poll_ns; /* between looks for new files */
	bool once; /* ends when no file is left, also after the end of sender.end_fd */
	const volatile sig_atomic_t *stop;
};

/*
 * Ships the finished files of a directory, oldest first, and deletes each when the server has it. 0 when stopped, or with
 * @once at the end; -ETIMEDOUT, -EPROTO as sender_insert() or pyroscope_send(); other -errno of the directory. Errors are printed.
 */
int ship_run(const struct ship_opts *opts, struct ship_counts *counts);

#endif /* D9_SHIP_SHIP_H */
