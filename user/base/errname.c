// SPDX-License-Identifier: BSD-2-Clause
/* errname.c - names of error numbers: only newer versions of glibc have a function for that */
#include "base/errname.h"

#include <stddef.h>

/* `const char *const errno_names[]` by number, from the headers of the compiler */
#include "errno_names.h"

const char *errname(int err)
{
	if (err < 0 || (size_t)err >= sizeof(errno_names) / sizeof(errno_names[0]))
		return NULL;
	return errno_names[err];
}
