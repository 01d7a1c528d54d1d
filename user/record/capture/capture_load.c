// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_load.c - loads the programs, and reports why the verifier refused one
 *
 * libbpf loads programs in order and stops at the first refused one, which only its messages name. Programs share
 * one buffer for the verifier's log: libbpf requests a log only after a refusal.
 */
#include "record/capture/capture_load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture_files.h"
#include "record/capture/load_aside.h"

/* The largest size that all kernels accept. Untouched pages cost nothing. */
#define LOG_BYTES ((16U << 20) - 1)

/* The names in libbpf's messages about the failed load. The callback has no context. */
static char refused_program[CAPTURE_LOAD_NAME], refused_map[CAPTURE_LOAD_NAME];
/* -errno of a file that could not be opened during the load. libbpf's return value may be a consequence of it. */
static int lacked_file;

static void note_name(const char *text)
{
	if (strstr(text, "BPF program load failed") &&
	    sscanf(text, "libbpf: prog '%63[^']'", refused_program) != 1)
		refused_program[0] = '\0';
	if (strstr(text, "failed to create") &&
	    sscanf(text, "libbpf: map '%63[^']'", refused_map) != 1)
		refused_map[0] = '\0';
}

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *fmt, va_list ap)
{
	char text[CAPTURE_LOAD_TEXT];
	va_list copy;

	va_copy(copy, ap);
	vsnprintf(text, sizeof(text), fmt, copy);
	va_end(copy);
	note_name(text);
	if (level == LIBBPF_WARN && !lacked_file)
		lacked_file = capture_files_lack();
	if (level == LIBBPF_DEBUG || log_get_level() < LOG_LEVEL_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static char *map_log(void)
{
	void *mem = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static bool starts(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* "Func#8 ('f') is safe for any args that match its prototype" */
static bool is_success(const char *line, size_t len)
{
	const char *const safe = "') is safe for any args", *const valid = "') is global and";

	return starts(line, "Validating ") ||
	       (starts(line, "Func#") &&
		(memmem(line, len, safe, strlen(safe)) || memmem(line, len, valid, strlen(valid))));
}

/* "12: (85) call", "; source", registers, statistics: these show the place, not the reason. */
static bool is_reason(const char *line, size_t len)
{
	const size_t digits = strspn(line, "0123456789");

	return len && *line != ';' && *line != ' ' && *line != '\t' &&
	       !(digits && line[digits] == ':') && !starts(line, "processed ") &&
	       !starts(line, "verification time") && !starts(line, "stack depth") &&
	       !starts(line, "from ") && !starts(line, "frame") && !starts(line, "max_states") &&
	       !starts(line, "last_idx") && !starts(line, "regs=") && !starts(line, "parent ") &&
	       !starts(line, "mark_precise") && !starts(line, "-- ") && !is_success(line, len);
}

void capture_load_reason(const char *log, char *out)
{
	const char *line = log, *end;

	out[0] = '\0';
	for (; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (is_reason(line, (size_t)(end - line)))
			snprintf(out, CAPTURE_LOAD_TEXT, "%.*s", (int)(end - line), line);
	}
}

static bool has_log(const struct prof *skel, const char *program, const char *log)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(skel->obj, program);
	size_t sz;

	return log && prog && bpf_program__log_buf(prog, &sz) == log;
}

static void refuse(const struct prof *skel, struct capture_refusal *why, int err, const char *log)
{
	*why = (struct capture_refusal){ .err = lacked_file ? lacked_file : err };
	memcpy(why->program, refused_program, sizeof(why->program));
	memcpy(why->map, refused_map, sizeof(why->map));
	why->logged = has_log(skel, why->program, log);
	if (!log || !*log)
		return;
	why->log = xstrdup(log);
	capture_load_reason(log, why->reason);
}

/* Replaces buffer @from by @to; other buffers belong to a caller and stay. */
static void set_logs(struct prof *skel, char *from, char *to)
{
	struct bpf_program *prog;
	size_t sz;

	bpf_object__for_each_program(prog, skel->obj)
		if (bpf_program__log_buf(prog, &sz) == from)
			bpf_program__set_log_buf(prog, to, to ? LOG_BYTES : 0);
}

int capture_load(struct prof *skel, struct capture_refusal *why)
{
	char *log = map_log();
	int err;

	libbpf_set_print(print_libbpf);
	refused_program[0] = refused_map[0] = '\0';
	lacked_file = 0;
	if (log)
		set_logs(skel, NULL, log);
	err = load_aside_find_targets(skel);
	if (!err)
		err = prof__load(skel);
	if (err)
		refuse(skel, why, err, log);
	if (err && log && *log && log_get_level() >= LOG_LEVEL_DEBUG)
		fprintf(stderr, "%s: verifier log:\n%s\n", why->program, log);
	if (log) {
		set_logs(skel, log, NULL);
		munmap(log, LOG_BYTES);
	}
	return err ? why->err : 0;
}

bool capture_refusal_is_verifiers(const struct capture_refusal *why)
{
	if (!why->program[0] || why->err == -EMFILE || why->err == -ENFILE)
		return false;
	if (why->reason[0])
		return true;
	return why->err != -EPERM && why->err != -ENOMEM && (why->err != -EACCES || !why->logged);
}

void capture_refusal_fini(struct capture_refusal *why)
{
	free(why->log);
	*why = (struct capture_refusal){ 0 };
}
