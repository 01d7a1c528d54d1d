// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of traced functions that mean something beyond the call: where a frame ends, which API it is.
 * A table of shell-like patterns and nothing else; a new API is a row.
 */
#include "formats/apitrace/func.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"

/* Names longer than this are of no API. */
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
