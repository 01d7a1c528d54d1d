// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which texts of a trace identify a machine or user, and replaces them. Owns the table of replacements and
 * the list of harmless texts; independent of encoders and files.
 *
 * Texts not known to be harmless are replaced, so texts of unknown events cannot leak. Harmless texts are the same
 * on every machine: names of the kernel and of shared libraries in system directories, names of kernel threads, and
 * the recorder's own vocabulary.
 */
#include "rewrite/copy/anonymize.h"

#include <string.h>

static const char deleted[] = " (deleted)";

void anonymize_fini(struct anonymize *a)
{
	strtab_fini(&a->names);
}

/* ---- what may stay ----------------------------------------------------------------------------- */

static bool starts(const char **s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*s, prefix, n) != 0)
		return false;
	*s += n;
	return true;
}

/* A shared library directly in /lib, /usr/lib64, /usr/lib/x86_64-linux-gnu or similar. */
static bool is_system_library(const char *path)
{
	const char *base, *triplet;

	starts(&path, "/usr");
	if (!starts(&path, "/lib"))
		return false;
	if (!starts(&path, "32") && !starts(&path, "x32"))
		starts(&path, "64");
	if (*path != '/')
		return false;
	base = strrchr(path, '/');
	if (base != path) {
		triplet = strstr(path, "-linux-");
		if (!triplet || triplet > base || memchr(path + 1, '/', (size_t)(base - path - 1)))
			return false;
	}
	base = strstr(base, ".so");
	return base && (!base[3] || base[3] == '.');
}

static bool is_system(const struct names *n, uint32_t module)
{
	const struct names_module *m = names_module(n, module);

	if (!module || !m->announced)
		return false;
	if (m->kind == PROF_MODULE_KERNEL || m->kind == PROF_MODULE_KMOD ||
	    m->kind == PROF_MODULE_VDSO)
		return true;
	return m->kind == PROF_MODULE_ELF && is_system_library(names_str(n, m->path, NULL));
}

/* "swapper/0", "kworker/1:2H", "rcu_preempt": names that differ only in a number. */
static bool is_kernel_thread(const char *s, size_t len)
{
	static const char *const whole[] = { "kthreadd",   "rcu_sched",	 "rcu_preempt", "kswapd0",
					     "kcompactd0", "khugepaged", "ksmd" };
	static const char *const numbered[] = { "swapper/", "ksoftirqd/", "migration/", "kworker/",
						"cpuhp/" };
	size_t n;

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (len == strlen(whole[i]) && !memcmp(s, whole[i], len))
			return true;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		n = strlen(numbered[i]);
		if (len <= n || memcmp(s, numbered[i], n) != 0)
			continue;
		while (n < len && strchr("0123456789:uH", s[n]) && s[n])
			n++;
		if (n == len)
			return true;
	}
	return false;
}

/* The path of a mapping without a file. */
static bool is_pseudo_path(const char *s, size_t len)
{
	static const char *const known[] = { "//anon", "[anon]", "[heap]",   "[stack]",
					     "[vdso]", "[jit]",	 "[unknown]" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len == strlen(known[i]) && !memcmp(s, known[i], len))
			return true;
	return false;
}

/* ---- which text is what ------------------------------------------------------------------------ */

enum anonymize_as anonymize_field(const struct names *n, const struct trace_event *ev, size_t i,
				  uint32_t module)
{
	const int32_t *role = ev->schema->role;

	if (ev->kind == TRACE_TP_SYMBOL || ev->kind == TRACE_LOST || ev->kind == TRACE_STATS)
		return ANONYMIZE_KEEP;
	if (ev->kind == TRACE_MODULE_STATUS && (int32_t)i == role[ROLE_STATUS])
		return ANONYMIZE_KEEP;
	if (ev->kind == TRACE_MODULE_STATUS && (int32_t)i == role[ROLE_DETAIL])
		return ANONYMIZE_DROP;
	if (ev->kind == TRACE_MODULE || ev->kind == TRACE_SYMBOL) {
		if (is_system(n, module))
			return ANONYMIZE_KEEP;
		/* names of functions may contain slashes, but are not paths */
		if ((int32_t)i == role[ROLE_SYMBOL_NAME])
			return ANONYMIZE_WORD;
	}
	return ANONYMIZE_PATH;
}

notes_copy_may anonymize_notes(enum trace_kind kind)
{
	return kind == TRACE_OTHER ? field_units_is_common : NULL;
}

enum anonymize_as anonymize_meta(const char *key, size_t len)
{
	static const char *const keep[] = {
		PROF_META_KERNEL,
		PROF_META_ARCH,
		PROF_META_CPUS,
		PROF_META_VERSION,
		PROF_META_CLOCK,
		PROF_META_SAMPLE_EVENT,
		PROF_META_SAMPLE_PERIOD_NS,
		PROF_META_SAMPLE_HZ,
		PROF_META_SWITCH_STACKS,
		PROF_META_OFF_MIN_NS,
		PROF_META_OFF_MAX_NS,
		PROF_META_CALL_GRAPH,
		PROF_META_START_REALTIME_NS,
		PROF_META_RING_BYTES,
		PROF_META_WAKING_STACKS,
		PROF_META_TARGET_PIDS,
		PROF_META_RECORDER_PID,
		PROF_META_RECORDER_HELPERS,
		PROF_META_INHERIT,
	};

	for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
		if (len == strlen(keep[i]) && !memcmp(key, keep[i], len))
			return ANONYMIZE_KEEP;
	return ANONYMIZE_WORD;
}

/* ---- stand-ins --------------------------------------------------------------------------------- */

static void put_word(struct anonymize *a, const char *s, size_t len, struct buf *out)
{
	buf_printf(out, "name%u", strtab_add(&a->names, s, len) + 1);
}

static void put_path(struct anonymize *a, const char *s, size_t len, struct buf *out)
{
	const char *end = s + len, *slash;

	for (;; s = slash + 1) {
		slash = memchr(s, '/', (size_t)(end - s));
		len = (size_t)((slash ? slash : end) - s);
		if (len && !(len <= 2 && !memcmp(s, "..", len)))
			put_word(a, s, len, out);
		else
			buf_add(out, s, len);
		if (!slash)
			return;
		buf_addch(out, '/');
	}
}

void anonymize_text(struct anonymize *a, enum anonymize_as as, const char *s, size_t len,
		    struct buf *out)
{
	size_t tail = sizeof(deleted) - 1;

	if (as == ANONYMIZE_DROP || !len)
		return;
	if (as == ANONYMIZE_KEEP || is_pseudo_path(s, len) ||
	    (as == ANONYMIZE_PATH && is_kernel_thread(s, len))) {
		buf_add(out, s, len);
	} else if (as == ANONYMIZE_WORD) {
		if (!names_is_label(s, len)) {
			put_word(a, s, len, out);
			return;
		}
		buf_addch(out, '[');
		put_word(a, s + 1, len - 2, out);
		buf_addch(out, ']');
	} else if (len > tail && !memcmp(s + len - tail, deleted, tail)) {
		put_path(a, s, len - tail, out);
		buf_addstr(out, deleted);
	} else {
		put_path(a, s, len, out);
	}
}

void anonymize_event(struct anonymize *a, enum trace_kind kind, const char *s, size_t len,
		     struct buf *out)
{
	const char *colon = kind == TRACE_OTHER ? memchr(s, ':', len) : NULL;
	size_t n = colon ? (size_t)(colon - s) + 1 : len;

	buf_add(out, s, n);
	if (n < len)
		put_word(a, s + n, len - n, out);
}

void anonymize_bytes(struct anonymize *a, enum anonymize_as as, const void *p, size_t sz,
		     struct buf *out)
{
	uint32_t number;

	if (as == ANONYMIZE_KEEP || !sz) {
		buf_add(out, p, sz);
		return;
	}
	number = strtab_add(&a->names, p, sz) + 1;
	for (size_t i = 0; i < sz; i++)
		buf_addch(out, (char)(i < sizeof(number) ? number >> 8 * i : 0));
}
