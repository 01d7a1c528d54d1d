// SPDX-License-Identifier: BSD-2-Clause
/*
 * Linker names to source names. libiberty demangles C++ and both Rust schemes, and omits Rust
 * hashes.
 *
 * A mangled name can refer to its own parts, so a few hundred bytes can expand to gigabytes of
 * text. libiberty limits its recursion but not its output. It passes text to a callback, and a
 * longjmp is the only way to stop it. At worst this leaks the few kilobytes of a Rust identifier in
 * punycode.
 */
#include "symbol/demangle.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else /* some distributions have the archive without this header */
#include <stddef.h>

#define DMGL_PARAMS (1 << 0)
#define DMGL_ANSI (1 << 1)

typedef void (*demangle_callbackref)(const char *text, size_t len, void *ctx);
int cplus_demangle_v3_callback(const char *mangled, int opts, demangle_callbackref fn, void *ctx);
int rust_demangle_callback(const char *mangled, int opts, demangle_callbackref fn, void *ctx);
#endif
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

struct sink {
	struct buf *out;
	size_t start;
	jmp_buf too_long;
};

static void on_text(const char *s, size_t n, void *opaque)
{
	struct sink *sink = opaque;

	if (n > DEMANGLE_MAX - (sink->out->len - sink->start))
		longjmp(sink->too_long, 1);
	buf_add(sink->out, s, n);
}

/* Appends the name and returns true; otherwise does not change out. */
static bool demangle(struct buf *out, const char *mangled)
{
	const int opts = DMGL_PARAMS | DMGL_ANSI;
	struct sink sink = { .out = out, .start = out->len };

	if (!setjmp(sink.too_long)) {
		if (rust_demangle_callback(mangled, opts, on_text, &sink))
			return true;
		out->len = sink.start;
		if (cplus_demangle_v3_callback(mangled, opts, on_text, &sink))
			return true;
	}
	out->len = sink.start;
	if (out->data)
		out->data[out->len] = '\0';
	return false;
}

void demangle_name(struct buf *out, const char *mangled, size_t len)
{
	char name[DEMANGLE_MAX + 1];
	char *mark;

	if (len > DEMANGLE_MAX)
		len = DEMANGLE_MAX;
	memcpy(name, mangled, len);
	name[len] = '\0';
	mark = strstr(name, ".llvm.");
	if (mark && mark > name && strspn(mark + 6, "0123456789") == strlen(mark + 6))
		*mark = '\0';
	if (name[0] != '_' || !demangle(out, name))
		buf_addstr(out, name);
}
