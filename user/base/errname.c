// SPDX-License-Identifier: BSD-2-Clause
/* errname.c - names of error numbers, for glibc versions that cannot print them */
#include "base/errname.h"

#include <stddef.h>

/* defines `const char *const errno_names[]`, indexed by number, from the compiler's headers */
#include "errno_names.h"

const char *errname(int err)
{
	if (err < 0 || (size_t)err >= sizeof(errno_names) / sizeof(errno_names[0]))
		return NULL;
	return errno_names[err];
}
