/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_DECODE_H
#define D9_LIBDIAL9_DECODE_H

#include "dial9.h"

struct copy_slabs;

/* Where copies of a decoder's events go. Not a part of what a reader of the decoder sees. */
struct copy_slabs *decode_slabs(const struct dial9_dec *d);

#endif
