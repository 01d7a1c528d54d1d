// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signatures of an apitrace stream: what a call, a structure, an enumeration, a bit mask and a stack
 * frame look like.
 *
 * Owns all their names and keeps each text once. Ids are whatever the tracer used, up to 2^64 - 1, so
 * they are keys of a map and never an index; who wants dense numbers takes idx. This is the only memory
 * of a reader that grows with the trace, and it has a cap, because counts and names come from the file.
 */
#include "formats/apitrace/signatures.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

void apitrace_sig_fini(struct apitrace_sigs *sigs)
{
	for (size_t k = 0; k < APITRACE_SIG_KINDS; k++) {
		for (size_t i = 0; i < sigs->cnt[k]; i++) {
			free(sigs->list[k][i]->v);
			free(sigs->list[k][i]->frame);
			free(sigs->list[k][i]);
		}
		free(sigs->list[k]);
		hmap_fini(&sigs->by_id[k]);
	}
	strtab_fini(&sigs->names);
	*sigs = (struct apitrace_sigs){ 0 };
}

const struct apitrace_sig *apitrace_sig_get(const struct apitrace_sigs *sigs,
					    enum apitrace_sig_kind kind, uint64_t id)
{
	return hmap_get(&sigs->by_id[kind], id);
}

struct dial9_str apitrace_sig_text(struct apitrace_sigs *sigs, const char *s, size_t len)
{
	struct dial9_str out;

	out.ptr = strtab_get(&sigs->names, strtab_add(&sigs->names, len ? s : "", len), &out.len);
	return out;
}

bool apitrace_sig_full(const struct apitrace_sigs *sigs, size_t extra_entries)
{
	size_t entries = extra_entries * sizeof(struct apitrace_entry);

	return sigs->bytes + sigs->names.bytes + entries > APITRACE_SIG_BYTES_MAX;
}

int apitrace_sig_add(struct apitrace_sigs *sigs, const struct apitrace_sig *sig,
		     const struct apitrace_sig **out)
{
	enum apitrace_sig_kind kind = sig->kind;
	size_t entries = sig->cnt * sizeof(*sig->v);
	struct apitrace_sig *own;

	if (apitrace_sig_full(sigs, sig->cnt))
		return -E2BIG;
	own = xmemdup(sig, sizeof(*sig));
	own->idx = (uint32_t)sigs->cnt[kind];
	own->v = sig->cnt ? xmemdup(sig->v, entries) : NULL;
	own->frame = sig->frame ? xmemdup(sig->frame, sizeof(*sig->frame)) : NULL;
	sigs->list[kind] = array_reserve(sigs->list[kind], &sigs->cap[kind], sigs->cnt[kind] + 1,
					 sizeof(*sigs->list[kind]));
	sigs->list[kind][sigs->cnt[kind]++] = own;
	hmap_set(&sigs->by_id[kind], sig->id, own);
	sigs->bytes += sizeof(*own) + entries + (own->frame ? sizeof(*own->frame) : 0) + 64;
	*out = own;
	return 0;
}

const struct apitrace_entry *apitrace_sig_enum_name(const struct apitrace_sig *sig, uint8_t tag,
						    uint64_t magnitude)
{
	uint64_t value = tag == 3 ? 0 - magnitude : magnitude;
	bool negative = tag == 3 && magnitude;

	for (size_t i = 0; i < sig->cnt; i++) {
		const struct apitrace_entry *e = &sig->v[i];

		if ((e->tag == 3 ? 0 - e->value : e->value) == value &&
		    (e->tag == 3 && e->value) == negative)
			return e;
	}
	return NULL;
}

const struct apitrace_entry *apitrace_sig_mask_next(const struct apitrace_sig *sig, size_t *pos,
						    uint64_t *rest)
{
	bool first = !*pos;

	while (*pos < sig->cnt) {
		const struct apitrace_entry *e = &sig->v[(*pos)++];

		if (e->value ? (*rest & e->value) == e->value : first && !*rest) {
			*rest &= ~e->value;
			return e;
		}
		first = false;
		if (!*rest)
			break;
	}
	return NULL;
}

/* ---- what a name gives away ---------------------------------------------------------------------- */

/* No API has longer names. */
#define NAME_MAX_LEN 255

static bool matches(struct dial9_str name, const char *const *patterns, size_t cnt)
{
	char text[NAME_MAX_LEN + 1];

	if (name.len > NAME_MAX_LEN || memchr(name.ptr, 0, name.len))
		return false;
	memcpy(text, name.ptr, name.len);
	text[name.len] = 0;
	for (size_t i = 0; i < cnt; i++)
		if (str_glob(patterns[i], text))
			return true;
	return false;
}

bool apitrace_func_ends_frame(struct dial9_str name)
{
	static const char *const patterns[] = {
		"glXSwapBuffers",  "wglSwapBuffers",   "wglSwapLayerBuffers",
		"eglSwapBuffers*", "CGLFlushDrawable", "glFrameTerminatorGREMEDY",
		"*::Present",	   "*::Present1",      "*::PresentEx",
	};

	return matches(name, patterns, sizeof(patterns) / sizeof(patterns[0]));
}

const char *apitrace_func_api(struct dial9_str name)
{
	static const char *const egl[] = { "egl[A-Z]*" };
	static const char *const gl[] = { "gl[A-Z]*", "glX*", "wgl*", "CGL*" };
	static const char *const dx[] = { "Direct*",  "D3D*",  "Create*",
					  "IDirect*", "ID3D*", "IDXGI*" };

	if (matches(name, egl, sizeof(egl) / sizeof(egl[0])))
		return "EGL";
	if (matches(name, gl, sizeof(gl) / sizeof(gl[0])))
		return "GL";
	if (matches(name, dx, sizeof(dx) / sizeof(dx[0])))
		return "DX";
	return NULL;
}
