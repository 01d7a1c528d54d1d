/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_FUNC_H
#define D9_FORMATS_APITRACE_FUNC_H

#include <stdbool.h>

#include "dial9.h"

/* What the name of a traced function gives away, since the trace itself says neither. */

/* The call that ends a frame: a buffer swap or a present. */
bool apitrace_func_ends_frame(struct dial9_str name);

/* "GL", "EGL", "DX", or NULL for a name of no known API. Static. */
const char *apitrace_func_api(struct dial9_str name);

#endif /* D9_FORMATS_APITRACE_FUNC_H */
