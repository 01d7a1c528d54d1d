/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_HASH_H
#define D9_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/mix.h"
#include "base/strtab.h"

/* Like hash_u64(), for any number of bytes */
uint64_t hash_bytes(const void *p, size_t n);

#endif /* D9_BASE_HASH_H */
